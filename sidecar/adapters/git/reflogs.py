"""Git's log of where HEAD was, read from the file that git appends to."""

import re
from datetime import datetime
from pathlib import Path

import msgspec

from sidecar.adapters import plain, skips
from sidecar.adapters.git import commits, runner
from sidecar.domain.hashing import blake2b
from sidecar.domain.moves import NOWHERE, Mark, Move

_LINE = re.compile(
    rb"(?P<old>[0-9a-f]{40,64}) (?P<new>[0-9a-f]{40,64}) .*> (?P<at>\d+) [+-]\d+(?:\t(?P<reason>.*))?"
)

_TAIL = 1024 * 1024
"""Bytes of a log that are read: its last thousands of moves."""
_BEGINNING = 200
"""Bytes in which no two logs agree: two commits, a name, a time."""


def read(log: Path, mark: Mark, tree: Path | None = None) -> tuple[list[Move], list[Mark]] | None:
    """Give the moves since a mark, each with the mark after it; None where there is no log.

    Of a very long log only the end is read; what was passed over is noted for the working tree.
    """
    tail = _tail(log)
    if tail is None:
        return None
    start, data = tail
    if tree is not None and 0 < mark.offset < start:
        skips.note(tree, str(log), f"moves before the last {_TAIL:,} bytes")
    is_same = _is_same(start, data, mark)
    offset = max(start, mark.offset) if is_same else start + _find(data, mark)
    moves: list[Move] = []
    marks: list[Mark] = []
    for line in _lines(data[offset - start :]):
        offset += len(line)
        move = _parse(line)
        if move is not None:
            moves.append(move)
            marks.append(
                msgspec.structs.replace(
                    mark, head=move.new, seen_at=move.at, offset=offset, digest=_digest(line)
                )
            )
    return moves, marks


def at_end(log: Path, now: datetime, since: datetime) -> Mark:
    """Mark everything that was logged before a moment as known."""
    mark = Mark(seen_at=now)
    _, marks = read(log, mark) or ([], [])
    known = [later for later in marks if later.seen_at < since]
    return known[-1] if known else mark


def continues(log: Path, mark: Mark) -> bool:
    """Tell whether a log has the line that a mark was made at, where it was."""
    tail = _tail(log)
    return tail is not None and mark.offset > 0 and _is_same(*tail, mark)


def beginning(log: Path) -> bytes:
    """Give what a log begins with; nothing where there is none."""
    return (plain.read(log, _BEGINNING) or b"").partition(b"\n")[0]


def read_all(log: Path) -> list[Move]:
    """Give every move that a log has, or the last of very many."""
    _, data = _tail(log) or (0, b"")
    return [move for line in _lines(data) if (move := _parse(line))]


def _tail(log: Path) -> tuple[int, bytes] | None:
    """Read the last whole lines of a log, and tell where in it they begin; None where there is no log."""
    found = plain.read_tail(log, _TAIL)
    if found is None:
        return None
    start, data = found
    if start:
        first = data.find(b"\n") + 1
        start, data = start + first, data[first:]
    return start, data[: data.rfind(b"\n") + 1]


def _is_same(start: int, data: bytes, mark: Mark) -> bool:
    if mark.offset == 0:
        return True
    before = data[: max(0, mark.offset - start)]
    return start + len(before) == mark.offset and _digest(_last_line(before)) == mark.digest


def _find(data: bytes, mark: Mark) -> int:
    """Find where to go on in a log that was written anew.

    That is behind the known line; where git has forgotten it, at what came next: the first move away
    from the known place, or the first that is later.
    """
    offset = len(data)
    following = len(data)
    for line in reversed(_lines(data)):
        if _digest(line) == mark.digest:
            return offset
        offset -= len(line)
        move = _parse(line)
        if move and (move.at > mark.seen_at or (move.at, move.old) == (mark.seen_at, mark.head)):
            following = offset
    return following


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]]


def _last_line(data: bytes) -> bytes:
    return data[data.rfind(b"\n", 0, len(data) - 1) + 1 :]


def _parse(line: bytes) -> Move | None:
    found = _LINE.match(line.rstrip(b"\n"))
    if found is None:
        return None
    return Move(
        old=_place(found["old"]),
        new=_place(found["new"]),
        at=commits.moment(found["at"]),
        reason=runner.text(found["reason"] or b""),
    )


def _place(sha: bytes) -> str:
    return sha.decode() if sha.strip(b"0") else NOWHERE


def _digest(line: bytes) -> str:
    return blake2b(line, digest_size=8).hexdigest()
