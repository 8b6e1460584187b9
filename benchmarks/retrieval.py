"""How well memories are found: `python -m benchmarks.retrieval --data FOLDER`.

FOLDER/retrieval has, per project, sessions and queries of its history (`NAME.sessions.jsonl.gz`,
`NAME.queries.jsonl.gz`): a query is a commit's subject, relevant are the sessions that last wrote the lines it changes
(`prov`) or share rare files with it (`cofile`). Every query sees only the sessions before it. Without --data only the
questions in other words (`benchmarks/paraphrases.py`) are asked.
"""

import argparse
import gzip
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.paraphrases import PAIRS
from benchmarks.timing import Row
from sidecar.search.embeddings import model as embeddings_model
from sidecar.search.rules.catalogues import Catalogue, Item
from sidecar.search.rules.indexes import Entry
from sidecar.search.rules.ranking import MEASURED, Question, Weights, rank
from sidecar.search.rules.similarities import Similarities
from sidecar.storage.cache import Matrix

Line = TypeVar("Line")
Array = NDArray[np.float32]
_SHOWN, _COUNTED = 5, 20
_SAMPLE = 40
"""Queries of each project."""
_NOTHING = Weights(files=0.0, company=0.0, company_with_files=0.0, recency=0.0)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Session(msgspec.Struct, frozen=True):
    """What a memory is made of."""

    subjects: tuple[str, ...]
    files: tuple[str, ...]
    end: float


class Query(msgspec.Struct, frozen=True):
    """A commit to come, and the sessions that matter for it."""

    text: str
    files: tuple[str, ...]
    ts: float
    n_visible: int
    prov: dict[str, float]
    cofile: dict[str, float]


class Project(NamedTuple):
    """Sessions and queries with their embeddings."""

    sessions: list[Session]
    queries: list[Query]
    session_vectors: Array
    query_vectors: Array


class Way(NamedTuple):
    """One way to rank."""

    weights: Weights
    is_semantic: bool = True
    has_file: bool = False


WAYS = {
    "BM25 alone": Way(_NOTHING, is_semantic=False),
    "+ recency": Way(replace(_NOTHING, recency=MEASURED.recency), is_semantic=False),
    "+ embedding": Way(replace(_NOTHING, recency=MEASURED.recency)),
    "+ company: all, no file at hand": Way(MEASURED),
    "the same without embedding": Way(MEASURED, is_semantic=False),
    "all, with the open file": Way(MEASURED, has_file=True),
    "  without words": Way(replace(MEASURED, words=0.0), has_file=True),
    "  without embedding": Way(MEASURED, is_semantic=False, has_file=True),
    "  without company": Way(replace(MEASURED, company_with_files=0.0), has_file=True),
    "  without recency": Way(replace(MEASURED, recency=0.0), has_file=True),
}

Answers = Callable[[Catalogue, Query, Similarities], Sequence[str]]


class Score(NamedTuple):
    """Means over queries."""

    recall: float
    reciprocal: float


def main() -> int:
    """Ask every way and print what it finds."""
    arguments = _parser().parse_args()
    model = embeddings_model.load()
    if isinstance(model, embeddings_model.Absence):
        sys.exit(model.reason)
    console = Console(width=None if sys.stdout.isatty() else 160)
    if arguments.data:
        names = sorted(_names(arguments.data / "retrieval"))
        results = {
            name: _measure(_read(arguments.data / "retrieval", name, arguments.sample, model))
            for name in names
        }
        for relevance in ("prov", "cofile"):
            console.print(_table(relevance, results))
    console.print(_paraphrased(model))
    return 0


def rows(data: Path | None) -> Iterator[Row]:
    """Hold the ranking against BM25 alone, in every project of the data and for questions in other words."""
    model = embeddings_model.load()
    if isinstance(model, embeddings_model.Absence):
        return
    folder = (data or Path()) / "retrieval"
    for name in sorted(_names(folder)) if data else ():
        measured = _measure(_read(folder, name, _SAMPLE, model))
        words, *better = (
            measured[way]["prov"].recall
            for way in ("BM25 alone", "+ company: all, no file at hand", "all, with the open file")
        )
        for way, recall in zip(("", ", with the open file"), better, strict=True):
            yield _row(f"right session among the first five, {name}{way}", recall, words)
    found = _shares(model)
    yield _row(
        "right answer to a question in other words", found["hybrid"][1], found["BM25 alone"][1]
    )


def _row(what: str, ours: float, words: float) -> Row:
    is_missed = ours <= words
    return Row(
        what=f"{what} vs BM25 alone",
        ours=f"{ours:.2f}",
        baseline=f"{words:.2f}",
        ratio=f"{ours / words:.2f} x" if words else "",
        gate="> 1 x",
        verdict="MISSED" if is_missed else "holds",
        is_missed=is_missed,
    )


def _names(folder: Path) -> Iterator[str]:
    for path in folder.glob("*.sessions.jsonl.gz"):
        yield path.name.removesuffix(".sessions.jsonl.gz")


def _read(folder: Path, name: str, sample: int, model: embeddings_model.Model) -> Project:
    sessions = list(_lines(folder / f"{name}.sessions.jsonl.gz", Session))
    queries = list(_lines(folder / f"{name}.queries.jsonl.gz", Query))
    random.Random(name).shuffle(queries)
    chosen = sorted(queries[:sample], key=lambda query: query.n_visible)
    return Project(
        sessions,
        chosen,
        model.embed(["\n".join(session.subjects) for session in sessions]),
        model.embed([query.text for query in chosen]),
    )


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    with gzip.open(path) as file:
        for line in file:
            yield msgspec.json.decode(line, type=kind)


def _measure(project: Project) -> dict[str, dict[str, Score]]:
    """Score every way by every relevance."""
    ways = {"random": _random, "recency alone": _newest} | {
        name: _ranking(way) for name, way in WAYS.items()
    }
    found: dict[str, list[Sequence[str]]] = {name: [] for name in ways}
    for query, catalogue, similarities in _moments(project):
        for name, answer in ways.items():
            found[name].append(answer(catalogue, query, similarities))
    return {
        name: {
            "prov": _score(project, answers, "prov"),
            "cofile": _score(project, answers, "cofile"),
        }
        for name, answers in found.items()
    }


def _moments(project: Project) -> Iterator[tuple[Query, Catalogue, Similarities]]:
    """Give each query with the memory of its moment."""
    catalogue = Catalogue()
    ids = tuple(map(_id, range(len(project.sessions))))
    for row, query in enumerate(project.queries):
        for number in range(len(catalogue.traits), query.n_visible):
            catalogue.put(_item(number, project.sessions[number]))
        seen = slice(query.n_visible)
        matrix = Matrix(ids[seen], project.session_vectors[seen])
        yield query, catalogue, matrix.compare(project.query_vectors[row])


def _item(number: int, session: Session) -> Item:
    return Item(
        memory_id=_id(number),
        entry=Entry(content="\n".join(session.subjects), files=session.files),
        occurred_at=datetime.fromtimestamp(session.end, UTC),
    )


def _id(number: int) -> str:
    return f"{number:026}"


def _ranking(way: Way) -> Answers:
    def answer(catalogue: Catalogue, query: Query, similarities: Similarities) -> list[str]:
        question = Question(
            now=datetime.fromtimestamp(query.ts, UTC),
            text=query.text,
            open_file=query.files[0] if way.has_file else None,
            limit=_COUNTED,
        )
        cosines = similarities if way.is_semantic else None
        return [one.memory_id for one in rank(catalogue, question, cosines, weights=way.weights)]

    return answer


def _random(catalogue: Catalogue, query: Query, _: Similarities) -> list[str]:
    return random.Random(query.text).sample(list(catalogue.traits), min(_COUNTED, query.n_visible))


def _newest(catalogue: Catalogue, query: Query, _: Similarities) -> list[str]:
    question = Question(now=datetime.fromtimestamp(query.ts, UTC), limit=_COUNTED)
    return [one.memory_id for one in rank(catalogue, question)]


def _score(project: Project, answers: Iterable[Sequence[str]], relevance: str) -> Score:
    scores = []
    for query, answer in zip(project.queries, answers, strict=True):
        named: Mapping[str, float] = getattr(query, relevance)
        numbers = (int(name.rpartition("/s")[2]) for name in named)
        relevant = {_id(number) for number in numbers if number < query.n_visible}
        if relevant:
            scores.append(_score_one(answer, relevant))
    return Score(*np.mean(scores, axis=0).tolist()) if scores else Score(0.0, 0.0)


def _score_one(answer: Sequence[str], relevant: set[str]) -> tuple[float, float]:
    first = next((rank for rank, one in enumerate(answer, 1) if one in relevant), None)
    return len(relevant & set(answer[:_SHOWN])) / len(relevant), 1 / first if first else 0.0


def _table(relevance: str, results: Mapping[str, Mapping[str, Mapping[str, Score]]]) -> Table:
    table = Table(
        title=f"recall@{_SHOWN} / MRR of {relevance}",
        box=None,
        pad_edge=False,
        title_justify="left",
    )
    for heading in ("way", *results, "mean"):
        table.add_column(heading, no_wrap=True)
    for way in next(iter(results.values())):
        scores = [result[way][relevance] for result in results.values()]
        mean = Score(*np.mean(scores, axis=0).tolist())
        table.add_row(way, *(f"{one.recall:.3f} / {one.reciprocal:.3f}" for one in (*scores, mean)))
    return table


def _paraphrased(model: embeddings_model.Model) -> Table:
    table = Table(title="questions in other words", box=None, pad_edge=False, title_justify="left")
    for heading in ("way", "recall@1", f"recall@{_SHOWN}"):
        table.add_column(heading, no_wrap=True)
    for name, shares in _shares(model).items():
        table.add_row(name, *(f"{share:.3f}" for share in shares))
    return table


def _shares(model: embeddings_model.Model) -> dict[str, tuple[float, ...]]:
    """Ask in other words; the memories' ages say nothing."""
    catalogue = Catalogue()
    for number, pair in enumerate(PAIRS):
        entry = Entry(title=pair.title, content=pair.content)
        occurred_at = _NOW - timedelta(days=number * 37 % 400)
        catalogue.put(Item(memory_id=_id(number), entry=entry, occurred_at=occurred_at))
    matrix = Matrix(
        tuple(catalogue.traits), model.embed([f"{pair.title}\n{pair.content}" for pair in PAIRS])
    )
    vectors = model.embed([pair.question for pair in PAIRS])
    found: dict[str, tuple[float, ...]] = {}
    for name, way in {
        "BM25 alone": Way(_NOTHING, is_semantic=False),
        "embedding alone": Way(replace(_NOTHING, words=0.0)),
        "hybrid": Way(MEASURED),
    }.items():
        ranks = [
            _place(catalogue, _id(number), matrix.compare(vectors[number]), way)
            for number in range(len(PAIRS))
        ]
        found[name] = tuple(
            sum(one <= limit for one in ranks) / len(ranks) for limit in (1, _SHOWN)
        )
    return found


def _place(catalogue: Catalogue, wanted: str, similarities: Similarities, way: Way) -> int:
    text = PAIRS[int(wanted)].question
    cosines = similarities if way.is_semantic else None
    question = Question(now=_NOW, text=text, limit=_COUNTED)
    answer = [one.memory_id for one in rank(catalogue, question, cosines, weights=way.weights)]
    return answer.index(wanted) + 1 if wanted in answer else len(PAIRS)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="has retrieval/*.jsonl.gz")
    parser.add_argument(
        "--sample", type=int, default=_SAMPLE, help=f"queries per project ({_SAMPLE})"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
