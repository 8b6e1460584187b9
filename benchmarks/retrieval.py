"""Whether what answers is found: `python -m benchmarks.retrieval --data FOLDER [--repositories FOLDER]`.

Every set is asked four ways: the newest, FTS5 alone, our search, and our search with the open file; with --everything
also words and meaning over all texts instead of the best 100. The sets, each only where it is there:

- DATA/retrieval/NAME.{sessions,queries}.jsonl.gz: which earlier sessions wrote the lines that a commit changes.
- DATA/talk/meetings.jsonl.gz: which turns of a meeting answer a question.
- DATA/why/questions.jsonl, with clones in REPOSITORIES: which commit says why (`benchmarks/why.py` reads them).
- questions in other words about an invented project (`benchmarks/paraphrases.py`).

A score is the share of the right texts among the first five (`why`, questions: whether one is there). No weight was
chosen on these sets; that commits of the open file are candidates was decided on `why`. Embeddings have no time limit here, so that a slow machine scores the same.
"""

import argparse
import gzip
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import stores, why
from benchmarks.paraphrases import PAIRS
from benchmarks.timing import Row
from protocol.recall import SearchParams
from sidecar.search import find
from sidecar.search.embeddings import model as embeddings_model
from sidecar.search.meanings import Meanings
from sidecar.search.rules import snippets, terms
from sidecar.storage import texts
from sidecar.storage.texts import Text
from sidecar.storage.vault import Vault

Line = TypeVar("Line")
_SHOWN = 5
_SAMPLE = 40
"""Questions of each set."""
_DRAWN = 2_000
"""Samples of the bootstrap."""
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Case(NamedTuple):
    """A question, and which texts answer it."""

    question: str
    gold: frozenset[str]
    now: datetime = _NOW
    file: str = ""
    is_any_enough: bool = True


class Corpus(NamedTuple):
    """Texts, and questions about them."""

    name: str
    rows: list[Text]
    cases: list[Case]


class Answer(NamedTuple):
    """What was found, best first, and how many characters a reader gets."""

    ids: Sequence[str]
    size: int = 0


Way = Callable[[Vault, Case], Answer]
Scores = Mapping[str, tuple[list[float], float]]
"""Of each way, the score of every question and the mean size of an answer."""


def main() -> int:
    """Ask every way and print what it finds."""
    options = _parser().parse_args()
    model = embeddings_model.load()
    if isinstance(model, embeddings_model.Absence):
        sys.exit(model.reason)
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table("set", "questions", "way", "recall@5", "beside FTS5 (95 %)", "characters")
    for corpus in _corpora(options.data, options.repositories, options.sample):
        scores = measure(corpus, model, is_everything=options.everything)
        words = scores["FTS5 alone"][0]
        for way, (found, size) in scores.items():
            low, high = interval(found, words)
            beside = f"{mean(found) - mean(words):+.3f} ({low:+.3f} to {high:+.3f})"
            cells = (corpus.name, str(len(found)), way, f"{mean(found):.3f}", beside)
            table.add_row(*cells, f"{size:.0f}" if size else "")
    console.print(table)
    return 0


def rows(data: Path | None) -> Iterator[Row]:
    """Hold the search against FTS5 alone, on every set of the data."""
    model = embeddings_model.load()
    if isinstance(model, embeddings_model.Absence):
        return
    for corpus in _corpora(data, None, _SAMPLE):
        scores = measure(corpus, model)
        ours, words = scores["ours"][0], scores["FTS5 alone"][0]
        is_missed = interval(ours, words)[1] < 0
        yield Row(
            what=f"right texts among the first five, {corpus.name}, vs FTS5 alone",
            ours=f"{mean(ours):.3f}",
            baseline=f"{mean(words):.3f}",
            ratio=f"{mean(ours) - mean(words):+.3f}",
            gate="not below",
            verdict="MISSED" if is_missed else "holds",
            is_missed=is_missed,
        )


def interval(ours: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return the paired bootstrap's 95 % interval of the difference between two ways."""
    differences = np.array(ours) - np.array(others)
    drawn = np.random.default_rng(1).choice(differences, (_DRAWN, len(differences))).mean(axis=1)
    low, high = np.percentile(drawn, (2.5, 97.5)).tolist()
    return low, high


def measure(
    corpus: Corpus, model: embeddings_model.Model, *, is_everything: bool = False
) -> Scores:
    """Ask all questions of a set, each way."""
    meanings = Meanings(lambda: model)
    ways: dict[str, Way] = {"recency": _newest, "FTS5 alone": _words, "ours": _ours(meanings)}
    if any(case.file for case in corpus.cases):
        ways["ours, with the open file"] = _ours(meanings, is_opened=True)
    if is_everything:
        ways["everything reranked"] = _everything(corpus, model)
    usual, find.BUDGET = find.BUDGET, float("inf")
    try:
        with tempfile.TemporaryDirectory() as folder:
            vault = stores.open_store(Path(folder))
            with vault.transaction():
                texts.put(vault.database, corpus.rows)
            answers = {
                name: [way(vault, case) for case in corpus.cases] for name, way in ways.items()
            }
            vault.close()
    finally:
        find.BUDGET = usual
    return {
        name: (
            [score(case, answer.ids) for case, answer in zip(corpus.cases, found, strict=True)],
            mean(answer.size for answer in found),
        )
        for name, found in answers.items()
    }


def score(case: Case, ids: Sequence[str]) -> float:
    """Return the share of the right texts among the first; 1 for any of them where one is enough."""
    right = len(case.gold.intersection(ids[:_SHOWN]))
    return float(right > 0) if case.is_any_enough else right / len(case.gold)


def _newest(vault: Vault, case: Case) -> Answer:
    query = "SELECT id FROM texts WHERE at < ? ORDER BY at DESC LIMIT ?"
    micros = (case.now - _EPOCH) // timedelta(microseconds=1)
    return Answer([row[0] for row in vault.database.rows(query, (micros, _SHOWN))])


def _words(vault: Vault, case: Case) -> Answer:
    found = texts.find(vault.database, case.question, _SHOWN, between=(None, case.now))
    return Answer([match.text.id for match in found])


def _ours(meanings: Meanings, *, is_opened: bool = False) -> Way:
    def ask(vault: Vault, case: Case) -> Answer:
        vault.clock = lambda: case.now
        files = (case.file,) if is_opened and case.file else ()
        params = SearchParams(
            query=case.question[:10_000], top_k=_SHOWN, until=case.now, files_at_hand=files
        )
        hits = find.search(vault, params, meanings, lambda _: ())[0]
        size = sum(len(hit.title) + len(hit.text) for hit in hits)
        return Answer([hit.id for hit in hits], size)

    return ask


def _everything(corpus: Corpus, model: embeddings_model.Model) -> Way:
    """Compare all texts by words and meaning, in equal parts."""
    passages = [snippets.passages(row.title, row.text)[0] for row in corpus.rows]
    matrix = model.embed(passages)

    def ask(vault: Vault, case: Case) -> Answer:
        found = texts.find(vault.database, case.question, len(corpus.rows))
        words = {match.text.id: match.score for match in found}
        best = max(words.values(), default=1.0)
        cosines = np.maximum(matrix @ model.embed([case.question])[0], 0.0)
        closest = float(cosines.max()) or 1.0
        total = {
            row.id: words.get(row.id, 0.0) / best + float(cosine) / closest
            for row, cosine in zip(corpus.rows, cosines, strict=True)
            if row.at < case.now
        }
        return Answer(sorted(total, key=lambda key: -total[key])[:_SHOWN])

    return ask


# The sets


def _corpora(data: Path | None, repositories: Path | None, sample: int) -> Iterator[Corpus]:
    yield _paraphrases()
    if data is None:
        return
    for path in sorted((data / "retrieval").glob("*.sessions.jsonl.gz")):
        yield _history(path, sample)
    if (meetings := data / "talk" / "meetings.jsonl.gz").exists():
        yield _talk(meetings, sample)
    if repositories is not None:
        yield from _reasons(data, repositories)


def _paraphrases() -> Corpus:
    made = [
        _row(str(number), (pair.title, pair.content), _NOW - timedelta(days=number * 37 % 400))
        for number, pair in enumerate(PAIRS)
    ]
    asked = [Case(pair.question, frozenset({str(number)})) for number, pair in enumerate(PAIRS)]
    return Corpus("in other words", made, asked)


class _Session(msgspec.Struct, frozen=True):
    subjects: tuple[str, ...]
    files: tuple[str, ...]
    end: float


class _Query(msgspec.Struct, frozen=True):
    text: str
    files: tuple[str, ...]
    ts: float
    n_visible: int
    prov: dict[str, float]


def _history(path: Path, sample: int) -> Corpus:
    name = path.name.removesuffix(".sessions.jsonl.gz")
    made = [
        _row(str(number), ("", "\n".join(one.subjects)), _moment(one.end), one.files)
        for number, one in enumerate(_lines(path, _Session))
    ]
    queries = list(_lines(path.with_name(f"{name}.queries.jsonl.gz"), _Query))
    random.Random(name).shuffle(queries)
    asked = []
    for query in queries[:sample]:
        numbers = (int(key.rpartition("/s")[2]) for key in query.prov)
        gold = frozenset(str(number) for number in numbers if number < query.n_visible)
        if gold:
            file = query.files[0] if query.files else ""
            now = _moment(query.ts)
            asked.append(Case(query.text, gold, now, file, is_any_enough=False))
    return Corpus(f"commits of {name}", made, asked)


class _Turn(msgspec.Struct, frozen=True):
    speaker: str
    text: str


class _Asked(msgspec.Struct, frozen=True):
    query: str
    spans: tuple[tuple[int, int], ...]


class _Meeting(msgspec.Struct, frozen=True):
    turns: tuple[_Turn, ...]
    queries: tuple[_Asked, ...]


def _talk(path: Path, sample: int) -> Corpus:
    """Put all meetings together, so that a question has to find its meeting, too."""
    made, asked = [], []
    for number, meeting in enumerate(_lines(path, _Meeting)):
        for place, turn in enumerate(meeting.turns):
            at = _NOW - timedelta(days=400 - number) + timedelta(seconds=place)
            row = _row(f"{number}/{place:05}", ("", turn.text), at)
            made.append(row._replace(kind="turn", origin=str(number), author=turn.speaker))
        for query in meeting.queries:
            places = {at for first, last in query.spans for at in range(first, last + 1)}
            asked.append(Case(query.query, frozenset(f"{number}/{at:05}" for at in places)))
    random.Random(1).shuffle(asked)
    return Corpus("talk", made, asked[: 4 * sample])


def _reasons(data: Path, repositories: Path) -> Iterator[Corpus]:
    questions = why.read(data)
    for name in dict.fromkeys(question.repo for question in questions):
        if not (repositories / name).is_dir():
            continue
        made = why.read_texts(repositories / name)
        by_sha = {row.origin: row.id for row in made}
        asked = [
            Case(
                question.question,
                frozenset(by_sha[sha] for sha in question.gold if sha in by_sha),
                datetime.now(UTC),
                question.open_file,
            )
            for question in questions
            if question.repo == name
        ]
        yield Corpus(f"why, {name}", made, asked)


def _row(identifier: str, said: tuple[str, str], at: datetime, files: Sequence[str] = ()) -> Text:
    title, text = said
    paths = "\n".join(files[:50])
    extra = terms.beyond_words(f"{title} {text} {paths}")
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return Text(identifier, "commit", micros, "", identifier, "", *said, files=paths, extra=extra)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    with gzip.open(path) as file:
        for line in file:
            yield msgspec.json.decode(line, type=kind)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="has the sets")
    parser.add_argument("--repositories", type=Path, metavar="FOLDER", help="has the clones")
    parser.add_argument("--sample", type=int, default=_SAMPLE, help=f"questions ({_SAMPLE})")
    parser.add_argument("--everything", action="store_true", help="rerank all texts, too: slow")
    return parser


if __name__ == "__main__":
    sys.exit(main())
