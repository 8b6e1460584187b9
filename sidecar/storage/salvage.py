"""Reading what is left of a damaged SQLite file: every table page by itself, whatever leads to it.

Rows carry a checksum over their collection, id and text, so a row that is found anywhere says by itself where it
belongs and that it is whole. SQLite cannot do this: one bad page above them hides thousands of good rows.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sidecar.storage.engine import checksum

_MAGIC = b"SQLite format 3\0"
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x0A, 0x02
"""Kinds of pages; those above the leaves of an index hold rows of their own."""
_FRAME_HEADER, _WAL_HEADER = 24, 32
_DEFAULT_PAGE = 4096
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


class Row(NamedTuple):
    """A document as it was written."""

    collection: str
    identifier: str
    seq: int
    body: bytes


class Removal(NamedTuple):
    """That a document was removed."""

    collection: str
    identifier: str
    seq: int


class Block(NamedTuple):
    """Compressed events of a session."""

    session: str
    number: int
    events: int
    data: bytes


def salvage(path: Path, collections: Iterable[str]) -> Iterator[Row | Removal | Block]:
    """Yield whatever is whole in a database file and its WAL, in no order."""
    names = list(collections)
    pages, size = _pages(path)
    for number, page in pages.items():
        start = 100 if number == 1 else 0
        kind = page[start] if len(page) == size else 0
        if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
            continue
        for rowid, values in _cells(page, start, kind, size, pages):
            found = _recognise(rowid, values, names) if kind == _TABLE_LEAF else _block(values)
            if found is not None:
                yield found


def _recognise(rowid: int, values: list[object], names: list[str]) -> Row | Removal | None:
    match values:
        case [None, str(identifier), int(total), *_, str(text)]:
            body = text.encode("utf-8", "surrogateescape")
            owner = (name for name in names if checksum(name, identifier, body) == total)
            name = next(owner, None)
            return None if name is None else Row(name, identifier, rowid, body)
        case [None, str(collection), str(identifier)] if collection in names:
            return Removal(collection, identifier, rowid)
    return None


def _block(values: list[object]) -> Block | None:
    match values:
        case [str(session), int(number), int(count), int(total), bytes(data)]:
            return Block(session, number, count, data) if zlib.crc32(data) == total else None
    return None


def _pages(path: Path) -> tuple[dict[int, bytes], int]:
    """Return all pages by number as of the last commit, those in the WAL over those in the file."""
    data = path.read_bytes() if path.is_file() else b""
    log = Path(f"{path}-wal")
    frames = log.read_bytes() if log.is_file() else b""
    size = int.from_bytes(data[16:18], "big") if data.startswith(_MAGIC) else 0
    size = 65536 if size == 1 else size or int.from_bytes(frames[8:12], "big") or _DEFAULT_PAGE
    if size & (size - 1) or not 512 <= size <= 65536:  # noqa: PLR2004  # SQLite's own limits
        size = _DEFAULT_PAGE
    pages = {at // size + 1: data[at : at + size] for at in range(0, len(data), size)}
    waiting: dict[int, bytes] = {}
    for at in range(_WAL_HEADER, len(frames) - size - _FRAME_HEADER + 1, size + _FRAME_HEADER):
        if frames[at + 8 : at + 16] != frames[16:24]:
            break
        number, is_commit = struct.unpack(">II", frames[at : at + 8])
        waiting[number] = frames[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        if is_commit:
            pages |= waiting
            waiting = {}
    return pages, size


def _cells(
    page: bytes, start: int, kind: int, size: int, pages: dict[int, bytes]
) -> Iterator[tuple[int, list[object]]]:
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    head = 12 if kind == _INDEX_INTERIOR else 8
    for index in range(count):
        at = start + head + 2 * index
        try:
            yield _cell(page, int.from_bytes(page[at : at + 2], "big"), kind, size, pages)
        except (IndexError, ValueError, KeyError):
            continue


def _cell(
    page: bytes, at: int, kind: int, size: int, pages: dict[int, bytes]
) -> tuple[int, list[object]]:
    length, at = _varint(page, at + 4 if kind == _INDEX_INTERIOR else at)
    rowid = 0
    if kind == _TABLE_LEAF:
        rowid, at = _varint(page, at)
    most = size - 35 if kind == _TABLE_LEAF else (size - 12) * 64 // 255 - 23
    local = length
    if length > most:
        least = (size - 12) * 32 // 255 - 23
        fitting = least + (length - least) % (size - 4)
        local = fitting if fitting <= most else least
    payload = page[at : at + local]
    following = int.from_bytes(page[at + local : at + local + 4], "big") if length > local else 0
    while following and len(payload) < length:
        overflow = pages[following]
        payload += overflow[4 : 4 + length - len(payload)]
        following = int.from_bytes(overflow[:4], "big")
    if len(payload) != length:
        raise ValueError("a part of the row is missing")
    return rowid, _record(payload)


def _record(payload: bytes) -> list[object]:
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[object] = []
    for kind in kinds:
        width = _WIDTHS.get(kind, (kind - 12) // 2)
        raw = payload[at : at + width]
        if len(raw) != width:
            raise ValueError("a part of the row is missing")
        at += width
        values.append(_value(kind, raw))
    return values


def _value(kind: int, raw: bytes) -> object:
    if kind == 0:
        return None
    if kind <= 6:  # noqa: PLR2004  # integers
        return int.from_bytes(raw, "big", signed=True)
    if kind == 7:  # noqa: PLR2004  # a float
        return struct.unpack(">d", raw)[0]
    if kind in (8, 9):
        return kind - 8
    return raw.decode("utf-8", "surrogateescape") if kind % 2 else raw


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(9):
        byte = data[at + index]
        if index == 8:  # noqa: PLR2004  # the ninth has all its bits
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004
            return value, at + index + 1
    raise ValueError("no number")
