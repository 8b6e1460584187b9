"""How much staleness is found, how often in vain, and what looking costs: `python -m benchmarks.drift`."""

import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks import evolving
from benchmarks.evolving import History
from benchmarks.fates import Truth
from benchmarks.sources import PYTHON, Function
from benchmarks.timing import Duel, Go, Row, judge, timed
from protocol.memories import Evidence, Memory
from sidecar.code.codebase import Codebase
from sidecar.memory import drift
from sidecar.memory.rules.drafts import Draft

MEMORIES = 10_000
FOUND, FALSE = 0.90, 0.05
"""The least share of what is stale that must be found, and the share of what is fresh that stays below."""
_ROUNDS, _SEED = 6, 20
_FILES, _FUNCTIONS = 2_000, 5
_GOES = 3

Tally = Counter[tuple[Truth, str, str]]
"""How often a truth, with its fate, was told as what."""


def truths(folder: Path) -> Iterator[Row]:
    """Hold the verdicts on generated histories against what is known of them."""
    tally = told(evolving.evolve(folder / "evolved", _ROUNDS, _SEED))
    yield _row("stale memories found", share(tally, "stale", "stale"), FOUND, is_least=True)
    yield _row("fresh memories called stale", share(tally, "fresh", "stale"), FALSE)
    what = "memories of other branches kept out"
    yield _row(what, share(tally, "elsewhere", "elsewhere"), FOUND, is_least=True)
    yield _row("fresh memories kept out", share(tally, "fresh", "elsewhere"), FALSE)


def costs(folder: Path) -> Iterator[Row]:
    """Time the checking of many memories against git's own listing of the files they are about."""
    repository = folder / "large"
    _build(repository)
    memories = _memories(repository)
    listing = _listing(repository)
    what = f"check {MEMORIES:,} memories"
    kept = Codebase(repository)
    drift.check(memories, kept)
    yield judge(
        Duel(f"{what}, first time, vs ls-tree", _first(repository, memories), listing, _GOES)
    )
    yield judge(Duel(f"{what}, HEAD unmoved, vs ls-tree", _check(kept, memories), listing, _GOES))
    yield judge(
        Duel(f"{what}, one commit on, vs ls-tree", _after(repository, memories), listing, _GOES)
    )
    few = memories[:: MEMORIES // 20]
    yield judge(
        Duel("check 20 memories, HEAD unmoved, vs ls-tree", _check(kept, few), listing, _GOES)
    )


def told(history: History) -> Tally:
    """Make memories at HEAD's side as they were made then, and count what is said of them now."""
    code = Codebase(history.folder)
    drafts = drift.anchor([one.draft for one in history.told], code)
    memories = [evolving.memory(draft, number) for number, draft in enumerate(drafts)]
    verdicts = drift.check(memories, code, history.fates)
    away = drift.elsewhere(memories, code, history.fates)
    said = {"fresh": "fresh", "changed": "stale", "gone": "stale"}
    return Counter(
        (one.truth, one.fate, "elsewhere" if name in away else said[verdicts[name]])
        for one, name in zip(history.told, (m.memory_id for m in memories), strict=True)
    )


def share(tally: Tally, truth: Truth, said: str) -> float:
    """Tell which share of those with a truth was told as something."""
    all_of_it = sum(count for (true, _, _), count in tally.items() if true == truth)
    return (
        sum(n for (true, _, told), n in tally.items() if (true, told) == (truth, said)) / all_of_it
    )


def _row(what: str, found: float, gate: float, *, is_least: bool = False) -> Row:
    is_missed = found < gate if is_least else found >= gate
    return Row(
        what=what,
        ours=f"{found:.1%}",
        baseline="",
        ratio="",
        gate=f"{'≥' if is_least else '<'} {gate:.0%}",
        verdict="MISSED" if is_missed else "holds",
        is_missed=is_missed,
    )


def _build(folder: Path) -> None:
    """Make a repository in which each commit changes one function of one file."""
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(folder)], check=True)
    _import(folder, b"".join(_stream(random.Random(_SEED))))


def _import(folder: Path, stream: bytes) -> None:
    command = ["git", "-C", str(folder), "fast-import", "--quiet"]
    subprocess.run(command, input=stream, check=True)


def _stream(chance: random.Random) -> Iterator[bytes]:
    """Say it in the words of git fast-import; now and then a file is renamed or deleted."""
    files = {
        f"part{number % 40}/file{number}.py": [
            Function(f"do_{number}_{index}", index) for index in range(_FUNCTIONS)
        ]
        for number in range(_FILES)
    }
    yield _commit(0)
    for path, functions in files.items():
        yield _file(path, functions)
    for number in range(1, MEMORIES + 1):
        path = chance.choice(list(files))
        functions = files[path]
        yield _commit(number)
        index = chance.randrange(_FUNCTIONS)
        functions[index] = Function(functions[index].name, number)
        yield _file(path, functions)
        if number % 50 == 0:
            yield f"D {path}\n".encode()
            del files[path]
        elif number % 25 == 0:
            target = f"moved/{path}"
            yield f"R {path} {target}\n".encode()
            files[target] = files.pop(path)


def _commit(number: int) -> bytes:
    who = f"Ada <ada@example.org> {1_700_000_000 + 60 * number} +0000"
    return f"commit refs/heads/main\ncommitter {who}\ndata <<END\nChange {number}\nEND\n".encode()


def _file(path: str, functions: list[Function]) -> bytes:
    text = PYTHON.write(functions).encode()
    return f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n"


def _memories(folder: Path) -> list[Memory]:
    """Make a memory of every commit."""
    listed = subprocess.run(
        ["git", "rev-list", "--max-count", str(MEMORIES), "HEAD"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    drafts = [
        Draft(
            type="fact",
            title="A change",
            content="Something was changed for a reason.",
            evidence=(Evidence(quote="Change", commit_sha=sha),),
        )
        for sha in listed.stdout.decode().split()
    ]
    anchored = drift.anchor(drafts, Codebase(folder))
    return [evolving.memory(draft, number) for number, draft in enumerate(anchored)]


def _listing(folder: Path) -> Go:
    command = ["git", "ls-tree", "-r", "HEAD"]
    return lambda: timed(
        lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True)
    )


def _first(folder: Path, memories: list[Memory]) -> Go:
    return lambda: timed(lambda: drift.check(memories, Codebase(folder)))


def _check(code: Codebase, memories: list[Memory]) -> Go:
    return lambda: timed(lambda: drift.check(memories, code))


def _after(folder: Path, memories: list[Memory]) -> Go:
    """Check after each of many commits."""
    code = Codebase(folder)
    drift.check(memories, code)
    numbers = itertools.count(MEMORIES + 1)

    def go() -> float:
        number = next(numbers)
        text = (
            _commit(number)
            + b"from refs/heads/main^0\n"
            + _file("new.py", [Function("new", number)])
        )
        _import(folder, text)
        return timed(lambda: drift.check(memories, code))

    return go


def main() -> int:
    """Measure both, and tell whether every gate holds."""
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    is_missed = False
    with tempfile.TemporaryDirectory(prefix="threadline-drift-") as folder:
        for measurement in (truths, costs):
            for row in measurement(Path(folder)):
                cells = (row.ours, row.baseline, row.ratio, row.gate, row.verdict)
                print(f"{row.what:50}", "  ".join(cell for cell in cells if cell), flush=True)
                is_missed |= row.is_missed
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
