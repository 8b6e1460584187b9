"""How often a task that seems done by a commit is done by it: `python -m benchmarks.suggesting [--verbose]`.

`suggestions.open.toml` are the pairs that rules are written with; those of `suggestions.kept.toml` are kept back:
nobody looks at them while writing rules, so they tell how the rules do on what they have not seen.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.timing import Row
from protocol.tasks import Task
from sidecar.tasks.rules.completion import is_done_by
from sidecar.tasks.rules.conditions import Change

FOLDER = Path(__file__).parent
SHARES = ("open", "kept")
PRECISION = 0.9
"""The share of suggestions that has to be right."""
_ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
_DAY = datetime(2026, 1, 1, tzinfo=UTC)


class WrittenCommit(Struct, frozen=True, forbid_unknown_fields=True):
    """A commit, and whether a careful colleague would say that it has done the task."""

    done: bool
    subject: str
    body: str = ""
    files: tuple[str, ...] = ()
    why: str = ""
    """Why it has not."""


class WrittenTask(Struct, frozen=True, forbid_unknown_fields=True):
    """A task and some commits."""

    title: str
    commits: tuple[WrittenCommit, ...]
    description: str = ""


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    tasks: tuple[WrittenTask, ...]


class Pair(Struct, frozen=True, kw_only=True):
    """A task and a commit, and what is true of them."""

    share: str
    task: Task
    commit: Change
    is_done: bool
    why: str


class Figures(Struct, frozen=True, kw_only=True):
    """How the suggestions of some pairs did."""

    pairs: int
    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of suggestions that are right."""
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        """The share of what is done that is suggested."""
        return self.right / max(self.right + self.missed, 1)


Judge = Callable[[Task, Change], bool]


def load(share: str) -> tuple[Pair, ...]:
    """Read the pairs of a share."""
    path = FOLDER / f"suggestions.{share}.toml"
    written = msgspec.toml.decode(path.read_bytes(), type=_File).tasks
    return tuple(pair for task in written for pair in _pairs(share, task))


def measure(pairs: Iterable[Pair], judge: Judge = is_done_by) -> Figures:
    """Judge pairs and count."""
    told = [(pair.is_done, judge(pair.task, pair.commit)) for pair in pairs]
    return Figures(
        pairs=len(told),
        right=told.count((True, True)),
        wrong=told.count((False, True)),
        missed=told.count((True, False)),
    )


def strangers(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Bring each task together with the commits of all others, none of which has done it."""
    known = tuple(pairs)
    titles = {pair.task.title: pair.task for pair in known}
    for task in titles.values():
        for pair in known:
            if pair.task.title != task.title:
                yield msgspec.structs.replace(pair, task=task, is_done=False, why="a stranger")


def rows() -> Iterator[Row]:
    """Report how each share did."""
    for share in SHARES:
        figures = measure(load(share))
        is_missed = figures.precision < PRECISION
        yield Row(
            what=f"tasks suggested as done, {share} pairs: right",
            ours=f"{figures.precision:.2f}",
            baseline=f"{figures.right + figures.wrong} suggested",
            ratio=f"recall {figures.recall:.2f}",
            gate=f"≥ {PRECISION:g}",
            verdict="missed" if is_missed else "holds",
            is_missed=is_missed,
        )


def main() -> int:
    """Print the figures of each share."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suggesting", description=__doc__)
    parser.add_argument(
        "--verbose", action="store_true", help="list what is wrong in the open share"
    )
    arguments = parser.parse_args()
    for share in SHARES:
        pairs = load(share)
        print(f"{share}: {_told(measure(pairs))}; strangers: {_told(measure(strangers(pairs)))}")
    if arguments.verbose:
        print("\n".join(_complaints(load("open"))))
    return 0


def _pairs(share: str, written: WrittenTask) -> Iterator[Pair]:
    task = Task(
        task_id=_ULID,
        project_id="p",
        title=written.title,
        description=written.description,
        created_at=_DAY,
        updated_at=_DAY,
    )
    for one in written.commits:
        message = f"{one.subject}\n\n{one.body}".strip()
        commit = Change(sha="0" * 40, at=_DAY, message=message, paths=one.files)
        yield Pair(share=share, task=task, commit=commit, is_done=one.done, why=one.why)


def _told(figures: Figures) -> str:
    return (
        f"{figures.pairs} pairs, precision {figures.precision:.2f}, recall {figures.recall:.2f} "
        f"({figures.right} right, {figures.wrong} wrong, {figures.missed} missed)"
    )


def _complaints(pairs: Iterable[Pair]) -> Iterator[str]:
    for pair in pairs:
        if is_done_by(pair.task, pair.commit) != pair.is_done:
            word = "missed" if pair.is_done else f"wrong ({pair.why})"
            subject = pair.commit.message.partition("\n")[0]
            yield f"{word}: {pair.task.title} <- {subject}"


if __name__ == "__main__":
    sys.exit(main())
