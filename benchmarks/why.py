"""Whether the commit that answers a question is found: `python -m benchmarks.why --data FOLDER --repositories FOLDER`.

`DATA/why/questions.jsonl` has questions that a colleague might ask weeks later, in other words than the commit's
(`repo`, `question`, `gold` shas, `open_file`); `REPOSITORIES/NAME` is a clone of each. A hit is a gold commit among the
first five results. Beside it stands FTS5 alone over the same texts. Each repository is scanned into a store of its own.
"""

import argparse
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table

from protocol.recall import SearchResult
from sidecar.app import Application, open_application
from sidecar.storage import texts

_SHOWN = 5


class Question(msgspec.Struct, frozen=True):
    """A question, and the commits that answer it."""

    repo: str
    question: str
    gold: tuple[str, ...]
    open_file: str


class Score(NamedTuple):
    """What was found for the questions about one repository."""

    words: int
    found: int
    with_file: int
    size: int
    questions: int


def main() -> None:
    """Ask all questions about the repositories that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repositories", type=Path)
    options = parser.parse_args()
    console = Console()
    if options.data is None or options.repositories is None:
        console.print(
            "nothing is measured: --data and --repositories say where questions and clones are"
        )
        return
    questions = read(options.data)
    table = Table("repository", "questions", "FTS5 alone", "ours", "with the open file", "bytes")
    for name in dict.fromkeys(question.repo for question in questions):
        folder = options.repositories / name
        if not folder.is_dir():
            console.print(f"{name} is left out: no clone at {folder}")
            continue
        score = measure(folder, [question for question in questions if question.repo == name])
        shares = (f"{hits / score.questions:.2f}" for hits in score[:3])
        table.add_row(name, str(score.questions), *shares, f"{score.size / score.questions:.0f}")
    console.print(table)


def read(data: Path) -> list[Question]:
    """Return the questions of a folder with data; none where it has no such set."""
    path = data / "why" / "questions.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [msgspec.json.decode(line, type=Question) for line in lines]


def read_texts(folder: Path) -> list[texts.Text]:
    """Scan a repository, and return what can be found of it."""
    with tempfile.TemporaryDirectory() as home:
        app = open_application(
            here=folder, source="cli-auto", environment={**os.environ, "THREADLINE_HOME": home}
        )
        app.call("threadline/scan", {})
        database = app.vault(None).database
        rows = database.rows(f"SELECT {texts.COLUMNS} FROM texts")
        app.close()
    return [texts.Text(*row) for row in rows]


def measure(folder: Path, questions: list[Question]) -> Score:
    """Scan a repository and ask all questions about it."""
    with tempfile.TemporaryDirectory() as home:
        app = open_application(
            here=folder, source="cli-auto", environment={**os.environ, "THREADLINE_HOME": home}
        )
        app.call("threadline/scan", {})
        scores = [_ask(app, question) for question in questions]
        app.close()
    return Score(*map(sum, zip(*scores, strict=True)))


def _ask(app: Application, question: Question) -> Score:
    vault = app.vault(None)
    words = texts.find(vault.database, question.question, _SHOWN)
    plain = _search(app, {"query": question.question})
    helped = _search(app, {"query": question.question, "filesAtHand": [question.open_file]})
    return Score(
        words=_holds(question, (match.text.origin for match in words)),
        found=_holds(question, (hit.commit for hit in plain.hits)),
        with_file=_holds(question, (hit.commit for hit in helped.hits)),
        size=sum(len(hit.title) + len(hit.text) for hit in plain.hits),
        questions=1,
    )


def _search(app: Application, params: dict[str, object]) -> SearchResult:
    result = app.call("threadline/memories/search", {**params, "topK": _SHOWN})
    assert isinstance(result, SearchResult)  # the table of methods says so
    return result


def _holds(question: Question, commits: Iterable[str | None]) -> int:
    return int(any(sha in question.gold for sha in commits))


if __name__ == "__main__":
    main()
