"""Conditions: how a task says when it is done."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal, get_args

from msgspec import Struct

from sidecar.text.wording import clipped

LONGEST = 1000
"""Letters of a text that is read for conditions."""
Kind = Literal[
    "path exists", "path gone", "commit touches", "commit message matches", "symbol exists"
]
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)} | {
    "file exists": "path exists",
    **dict.fromkeys(("path does not exist", "path not exists", "path is gone"), "path gone"),
    **dict.fromkeys(("file does not exist", "file not exists", "file gone"), "path gone"),
}
"""How conditions are written, also by those who have not read how."""
_OF_COMMITS: frozenset[Kind] = frozenset({"commit touches", "commit message matches"})
_OF_PATHS: frozenset[Kind] = frozenset({"path exists", "path gone"})
_MARKS = ("[FORGOTTEN]", "[REDACTED]", "…")
"""What stands for words that were taken out: nobody can tell what they demanded."""
_EXPRESSION = re.compile(
    r"\\|\(\?|\.[*+]|[])][*+?{]|\([^()]*\||\w\|\w|\[\^|\[[^]]*\w-\w[^]]*\]|\w\{\d|^\^|\$$"
)
"""What only a regular expression has: `feat(api)`, `[docs]` and `C++` are mere words."""
_WANTED = 200
"""Letters that a message can be asked for."""
_MATCHES = re.compile(r"[-*]?\s*commit\s+message\s+matches\s*:", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_MESSAGE = 5_000
"""Letters of a message that are read."""
_MESSAGES = 100_000
"""Letters of all messages that are read, the newest first."""
_LINE, _SUBJECT = "\n", 80
_SECOND = timedelta(seconds=1)


class Condition(Struct, frozen=True):
    """One thing that must hold."""

    kind: Kind
    value: str
    """A path, or what a message must match."""
    symbol: str = ""


class Change(Struct, frozen=True, kw_only=True):
    """A commit, as far as conditions speak of it."""

    sha: str
    at: datetime
    message: str
    paths: tuple[str, ...]


class Facts(Struct, frozen=True, kw_only=True):
    """What conditions are checked against."""

    path_exists: Callable[[str], bool | None]
    """Tells whether a path is in the working tree; None where nobody can tell."""
    symbol_exists: Callable[[str, str], bool | None]
    """Tells whether a file defines a name; None where nobody can tell."""
    commits: Sequence[Change] = ()
    """What was committed since the task was written down, the newest first."""


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Condition, ...] | None:
    """Read conditions; None where the text, or any line of it, is prose."""
    if len(text) > LONGEST:
        return None
    read = [_read(line) for line in text.splitlines() if line.strip()]
    found = tuple(one for one in read if one is not None)
    return found if found and len(found) == len(read) else None


def prose(text: str) -> list[str]:
    """List the lines of a text that are no conditions."""
    return [line.strip() for line in text.splitlines() if line.strip() and _read(line) is None]


def need_commits(conditions: Iterable[Condition]) -> bool:
    """Return whether conditions refer to commits."""
    return any(condition.kind in _OF_COMMITS for condition in conditions)


def paths(conditions: Iterable[Condition]) -> Iterator[str]:
    """Return the paths that conditions refer to in the working tree."""
    return (condition.value for condition in conditions if condition.kind in _OF_PATHS)


def is_since(change: Change, moment: datetime) -> bool:
    """Return whether a commit was made since then; git counts whole seconds."""
    return change.at > moment - _SECOND


def judge(conditions: Iterable[Condition], facts: Facts) -> str | None:
    """Return the evidence that all conditions hold, or None."""
    evidence: list[str] = []
    for condition in conditions:
        shown = _judge(condition, facts)
        if shown is None:
            return None
        evidence.append(shown)
    return "; ".join(dict.fromkeys(evidence)) or None


def told(commit: Change) -> str:
    """Return how a commit is named in evidence."""
    return f"commit {commit.sha[:7]} says “{clipped(commit.message.partition(_LINE)[0], _SUBJECT)}”"


def _judge(condition: Condition, facts: Facts) -> str | None:
    value = condition.value
    match condition.kind:
        case "path exists":
            return f"{value} exists" if facts.path_exists(value) else None
        case "path gone":
            return f"{value} is gone" if facts.path_exists(value) is False else None
        case "symbol exists":
            is_there = facts.symbol_exists(value, condition.symbol)
            return f"{value} defines {condition.symbol}" if is_there else None
        case "commit touches":
            return _touched(value, facts.commits)
        case "commit message matches":
            return _said(value, facts.commits)


def _touched(path: str, commits: Iterable[Change]) -> str | None:
    folder = path.rstrip("/") + "/"
    for commit in commits:
        if any(one + "/" == folder or one.startswith(folder) for one in commit.paths):
            return f"commit {commit.sha[:7]} touches {path}"
    return None


def _said(wanted: str, commits: Iterable[Change]) -> str | None:
    left = _MESSAGES
    for commit in commits:
        message = commit.message[: min(_MESSAGE, left)]
        if is_said(wanted, message):
            return told(commit)
        left -= len(message)
        if left <= 0:
            break
    return None


@functools.lru_cache(maxsize=8192)
def is_said(wanted: str, message: str) -> bool:
    """Return whether a message contains these words; `*` matches any characters within a line."""
    pieces = _pieces(wanted)
    lines = message.splitlines() if "*" in wanted else [message]
    return any(_has_in_order(pieces, line) for line in lines)


def _has_in_order(pieces: Iterable["re.Pattern[str]"], text: str) -> bool:
    # Each piece is taken where it first occurs, which leaves the most room for the others: there is no way back,
    # so the time grows with the text alone.
    place = 0
    for piece in pieces:
        hit = piece.search(text, place)
        if hit is None:
            return False
        place = hit.end()
    return True


@functools.lru_cache(maxsize=256)
def _pieces(wanted: str) -> tuple["re.Pattern[str]", ...]:
    """Return a pattern for the text between `*`: whole words, except next to a `*`."""
    parts = f" {wanted.strip()} ".split("*")
    return tuple(
        re.compile(
            (r"(?<!\w)" if part[0].isspace() else "")
            + r"\s+".join(map(re.escape, part.split()))
            + (r"(?!\w)" if part[-1].isspace() else ""),
            re.IGNORECASE,
        )
        for part in parts
        if part.strip()
    )


def _read(line: str) -> Condition | None:
    name, _, value = line.strip().removeprefix("-").removeprefix("*").partition(":")
    kind = _KINDS.get(" ".join(name.lower().split()))
    value = value.strip().strip("`").strip()
    if kind is None or not value or any(mark in value for mark in _MARKS):
        return None
    if kind == "commit message matches":
        return Condition(kind, value) if _is_readable(value) else None
    path, _, symbol = value.partition("::") if kind == "symbol exists" else (value, "", "")
    inside = inside_path(path.strip())
    if inside is None or (kind == "symbol exists") != bool(symbol.strip()):
        return None
    return Condition(kind, inside, symbol.strip())


def _is_readable(wanted: str) -> bool:
    return len(wanted) <= _WANTED and not _EXPRESSION.search(wanted) and bool(_pieces(wanted))


def expressions(text: str) -> list[str]:
    """Return the lines with regular expressions for commit messages, which older versions supported."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if _MATCHES.match(line) and _EXPRESSION.search(line)]


def inside_path(path: str) -> str | None:
    """Return a normalized path; None where it leaves the repository or is empty."""
    if path.startswith("/") or _DRIVE.match(path) or "\0" in path or "\\" in path:
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        return None
    return "/".join(parts) + ("/" if path.endswith("/") else "")
