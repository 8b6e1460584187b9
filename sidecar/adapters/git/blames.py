"""Blames: which commit wrote a line, and what a file was called before."""

import itertools
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from protocol.errors import GitFailedError
from sidecar.adapters.git import commits, runner
from sidecar.domain import paths
from sidecar.domain.origins import Origin

SECONDS = 2.0
"""How long git may take for an answer that somebody waits for."""

_BLAME = (
    *("-c", "core.quotePath=false", "blame", "--porcelain", "--root"),
    *("--no-textconv", "--encoding=UTF-8"),
)
_WRITTEN = ("-w", "-M")
"""Who only moved or indented a line has not written it."""
_NO_LIST = "could not open object name list"
"""What blame says of a file of commits to pass over that the user's settings name, and that is not here."""
_LOG = (
    *("log", "-1", "-s", "-z", "--encoding=UTF-8", "--format=%H%x00%at%x00%an%x00%s"),
    *commits.SAFE_DIFF,
)
_FOLLOW = (
    *("--literal-pathspecs", "log", "--follow", "-z", "--format=", "--name-status"),
    *("--diff-filter=R", *commits.SAFE_DIFF),
)
_NAMES = 20
"""Earlier names of a file that are told."""
_ENTRY = re.compile(rb"100(?:644|755) blob ([0-9a-f]{40,64})\t([^\0]+)\0", re.DOTALL)
_HEAD = re.compile(rb"([0-9a-f]{40,64}) (\d+) ")
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|(["\\abtnvfr]))')
_LETTERS = dict(zip(b'"\\abtnvfr', b'"\\\a\b\t\n\v\f\r', strict=True))


def blob(folder: Path, commit: str, path: str) -> str | None:
    """Tell what a commit holds at a path; None where that is no file, an error where git does not say."""
    tree = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", _name(path))
    code, output, problem = runner.ask(folder, *tree, seconds=SECONDS)
    if code != 0:
        raise GitFailedError(f"git cannot tell what {commit} has at {path}: {problem}")
    entry = _ENTRY.fullmatch(output)
    return entry[1].decode() if entry and entry[2] == paths.write(path) else None


def origin(folder: Path, commit: str, path: str, line: int) -> Origin | None:
    """Tell which commit wrote a line of a file as a commit has it; None where git cannot tell, or not in time."""
    where = ("-L", f"{line},{line}", commit, "--", _name(path))
    code, output, problem = runner.ask(folder, *_BLAME, *_WRITTEN, *where, seconds=SECONDS)
    if code != 0 and _NO_LIST in problem:
        return _last_change(folder, commit, path, line)
    return _parse(output) if code == 0 else None


def names(folder: Path, path: str) -> tuple[str, ...]:
    """Tell what a file was called before, the latest first, as far as git can tell in time."""
    _, output, _ = runner.ask(folder, *_FOLLOW, "HEAD", "--", _name(path), seconds=SECONDS)
    tokens = output.split(b"\0")
    earlier = (paths.read(old) for kind, old in itertools.pairwise(tokens) if _is_move(kind))
    return tuple(dict.fromkeys(earlier))[:_NAMES]


def _last_change(folder: Path, commit: str, path: str, line: int) -> Origin | None:
    where = (f"-L{line},{line}:{_name(path)}", commit)
    code, output, _ = runner.ask(folder, *_LOG, *where, seconds=SECONDS)
    sha, *fields = output.split(b"\0")
    facts = dict(zip((b"author-time", b"author", b"summary"), fields, strict=False))
    return _origin((sha, line), facts | {b"filename": paths.write(path)}) if code == 0 else None


def _name(path: str) -> str:
    return os.fsdecode(paths.write(path))


def _is_move(kind: bytes) -> bool:
    return re.fullmatch(rb"R\d{3}", kind.strip(b"\n")) is not None


def _parse(output: bytes) -> Origin | None:
    head = _HEAD.match(output)
    if head is None or not head[1].strip(b"0"):
        return None
    facts = dict(_fact(row) for row in output.split(b"\n\t", 1)[0].split(b"\n")[1:])
    facts[b"filename"] = _unquote(facts.get(b"filename", b""))
    return _origin((head[1], int(head[2])), facts)


def _origin(place: tuple[bytes, int], facts: Mapping[bytes, bytes]) -> Origin | None:
    sha, line = place
    try:
        at = datetime.fromtimestamp(int(facts.get(b"author-time", b"")), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return Origin(
        sha=sha.decode(),
        path=paths.read(facts.get(b"filename", b"")),
        line=line,
        author=runner.text(facts.get(b"author", b"")),
        at=at,
        subject=runner.text(facts.get(b"summary", b"")).rstrip("\n"),
    )


def _fact(row: bytes) -> tuple[bytes, bytes]:
    name, _, value = row.partition(b" ")
    return name, value


def _unquote(name: bytes) -> bytes:
    if not (name.startswith(b'"') and name.endswith(b'"')):
        return name
    return _ESCAPE.sub(
        lambda found: bytes([int(found[1], 8) if found[1] else _LETTERS[found[2][0]]]), name[1:-1]
    )
