"""Histories of commits, real or invented, and repositories made of them; contents are always invented."""

import gzip
import itertools
import random
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

_SEED = 7
_BEGIN = 1_600_000_000
_LINES_KEPT = 400
_LINES_CHANGED = 100
_AUTHORS = ("ada", "grace", "alan", "barbara", "edsger")
_WORDS = [
    "add",
    "fix",
    "move",
    "test",
    "name",
    "drop",
    "split",
    "guard",
    "cache",
    "parse",
    "store",
    "index",
    "quote",
    "merge",
    "sort",
]


class Change(msgspec.Struct, frozen=True):
    """One file of a commit, as `git log --numstat` told it."""

    path: str
    status: str
    added: int | None = None
    deleted: int | None = None
    previous: str | None = msgspec.field(name="from", default=None)


class Commit(msgspec.Struct, frozen=True, rename="camel"):
    """A commit without its contents."""

    author: str
    author_time: int
    commit_time: int
    subject: str
    body: str
    files: tuple[Change, ...]


def read(path: Path, count: int) -> list[Commit]:
    """Read the first commits of a real history."""
    with gzip.open(path) as lines:
        return [msgspec.json.decode(line, type=Commit) for line in itertools.islice(lines, count)]


def invent(count: int) -> list[Commit]:
    """Invent a history: bursts of work, a few files at a time, some of them far more often."""
    chance = random.Random(_SEED)
    clock = itertools.accumulate(_pause(chance) for _ in range(count))
    return [_invent_commit(chance, _BEGIN + seconds) for seconds in clock]


def build(commits: Iterable[Commit], folder: Path) -> None:
    """Make a repository without files in which these commits follow each other on one branch."""
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(folder)], check=True)
    # Packing well takes longer than everything else here and hardly changes how fast git reads.
    command = ["git", "-C", str(folder), "-c", "pack.compression=1", "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        if process.stdin is not None:
            process.stdin.writelines(_stream(commits))
            process.stdin.close()
        if process.wait() != 0:
            raise RuntimeError(f"git fast-import failed with exit code {process.returncode}")


def _pause(chance: random.Random) -> int:
    """Give the seconds to the next commit: mostly minutes, now and then a night."""
    nights = chance.random() < 1 / 5
    return chance.randrange(36_000, 72_000) if nights else chance.randrange(60, 3_600)


def _invent_commit(chance: random.Random, seconds: int) -> Commit:
    numbers = {int(chance.paretovariate(0.5)) % 2_000 for _ in range(chance.randrange(1, 6))}
    return Commit(
        author=chance.choice(_AUTHORS),
        author_time=seconds,
        commit_time=seconds,
        subject=" ".join(chance.choices(_WORDS, k=7)),
        body=" ".join(chance.choices(_WORDS, k=20)) if chance.random() < 1 / 3 else "",
        files=tuple(
            Change(f"part{number % 30}/file{number}.py", "M", added=9, deleted=6)
            for number in sorted(numbers)
        ),
    )


def _stream(commits: Iterable[Commit]) -> Iterator[bytes]:
    """Say it in the words of git fast-import."""
    chance = random.Random(_SEED)
    contents: dict[str, list[bytes]] = {}
    for commit in commits:
        yield b"commit refs/heads/main\n"
        for role, seconds in (("author", commit.author_time), ("committer", commit.commit_time)):
            yield f"{role} {commit.author} <{commit.author}@example.org> {seconds} +0000\n".encode()
        yield _data(f"{commit.subject}\n\n{commit.body}".strip().encode())
        for change in commit.files:
            if _is_plain(change.path):
                yield from _apply(change, contents, chance)


def _apply(
    change: Change, contents: dict[str, list[bytes]], chance: random.Random
) -> Iterator[bytes]:
    gone = change.path if change.status == "D" else change.previous
    lines = contents.pop(gone, None) if gone else None
    if lines is not None:
        yield f"D {gone}\n".encode()
    if change.status != "D":
        lines = contents.setdefault(change.path, lines or [])
        _edit(lines, change, chance)
        yield f"M 100644 inline {change.path}\n".encode()
        yield _data(b"".join(lines))


def _edit(lines: list[bytes], change: Change, chance: random.Random) -> None:
    """Replace as many lines as the commit did, up to a size that keeps this quick."""
    deleted = min(change.deleted or 0, len(lines), _LINES_CHANGED)
    place = chance.randrange(len(lines) - deleted + 1)
    added = min(change.added or 0, _LINES_CHANGED)
    lines[place : place + deleted] = [
        b"line %d %d\n" % (chance.randrange(10**9), chance.randrange(10**9)) for _ in range(added)
    ]
    del lines[_LINES_KEPT:]


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _is_plain(path: str) -> bool:
    """Tell whether a path can stand in the stream without quotes."""
    return path.isprintable() and not set(path) & {'"', "\\"}
