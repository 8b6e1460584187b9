"""The outline of a journal, in the deletable cache: so that a new process need not read its every line.

It tells where the living documents stand in the file, as of some length of it, in numbers alone: no word of them.
It is believed where that much of the file has the checksum it had, so it proves as much as the lines' own checksums
do; what was appended since is read line by line. What is damaged, or was made of another file, is no outline.
"""

import logging
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from protocol.errors import StorageFailedError, StoreRefusedError
from sidecar.store import files, lines
from sidecar.store.lines import Line

_LEAST = 1 << 18
"""Bytes that are read line by line sooner than an outline is made of them."""
_HEADER = f"threadline outline 1 {sys.byteorder} ".encode().ljust(63, b".") + b"\n"
_SUM = 4
_NUMBER = "Q"

_log = logging.getLogger(__name__)


class Place(NamedTuple):
    """Where a document and its id stand in their file, the latter without its quotation marks."""

    id_start: int
    id_end: int
    start: int
    end: int
    fingerprint: int
    """Of the document."""


Places = dict[str, dict[str, Place]]
"""By table and id, in the order in which the tables hold them."""
Columns = tuple[bytes, bytes, bytes, bytes, bytes]
"""The places of a table's documents, one number of all after the other."""


class Outline(Struct, frozen=True, array_like=True):
    """Where everything stands in the first bytes of a file."""

    size: int
    checksum: int
    """Of as many bytes of the file."""
    format: int
    """Of the file, as its first line says."""
    operations: int
    """How many have led to this."""
    tables: dict[str, Columns]


class Found(NamedTuple):
    """The documents of one table, with a fingerprint each."""

    documents: dict[str, msgspec.Raw]
    fingerprints: dict[str, int]


class Outlines:
    """The outline of one journal on the disk; whoever writes it holds the store's lock."""

    def __init__(self, path: Path, least: int = _LEAST) -> None:
        """Name the file, and how much of a journal is worth an outline."""
        self._path = path
        self._draft = path.with_name(f"{path.name}.draft")
        self._least = least

    def read(self, data: bytes) -> Outline | None:
        """Give the outline of a file's content; None where there is none that can be believed."""
        if len(data) < self._least:
            return None
        try:
            written = files.read(self._path) or b""
        except (StorageFailedError, StoreRefusedError) as error:
            _log.warning("%s; the journal is read line by line", error)
            return None
        start = len(_HEADER) + _SUM
        body = memoryview(written)[start:]
        if written[:start] != _HEADER + _sum(body):
            return None
        try:
            outline = msgspec.msgpack.decode(body, type=Outline)
        except msgspec.DecodeError:
            return None
        begun = memoryview(data)[: outline.size]
        is_same = len(begun) == outline.size and zlib.crc32(begun) == outline.checksum
        return outline if is_same else None

    def is_due(self, unread: int) -> bool:
        """Tell whether so many bytes beyond what is outlined are worth an outline."""
        return unread >= self._least

    def write(self, outline: Outline) -> None:
        """Keep an outline; not durably, since it can be made anew."""
        body = msgspec.msgpack.encode(outline)
        files.ensure_folder(self._path.parent)
        files.create(self._draft, str(self._path), _HEADER + _sum(body) + body)

    def drop(self) -> None:
        """Leave no outline; one that cannot be removed is not believed any more once its file is another."""
        for path in (self._path, self._draft):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("%s could not be removed: %s", path, error.strerror)


def open_tables(outline: Outline, data: bytes) -> Iterator[tuple[str, Found]]:
    """Give the documents of each table, unread, as they stand in the content."""
    whole = memoryview(data)
    for table, columns in outline.tables.items():
        *names, starts, ends, fingerprints = map(_numbers, columns)
        ids = _ids(data, *names)
        documents = map(msgspec.Raw, map(whole.__getitem__, map(slice, starts, ends)))
        found = dict(zip(ids, documents, strict=True))
        yield table, Found(found, dict(zip(ids, fingerprints, strict=True)))


def draw(data: bytes, places: Places, version: int, operations: int) -> Outline:
    """Make the outline of a file's content."""
    tables = {table: _packed(list(found.values())) for table, found in places.items()}
    return Outline(len(data), zlib.crc32(data), version, operations, tables)


def recall(outline: Outline, data: bytes) -> Places:
    """Give the places that an outline tells of, to go on from there."""
    return {
        table: dict(zip(_ids(data, *map(_numbers, columns[:2])), _places(columns), strict=True))
        for table, columns in outline.tables.items()
    }


def follow(places: Places, offset: int, whole: Sequence[bytes], read: Sequence[Line]) -> bool:
    """Follow lines that stand in the file from an offset on; False where one is not written as we write them."""
    for line, one in zip(whole, read, strict=True):
        starts = lines.starts(line, one)
        if starts is None:
            return False
        for (table, identifier, document), start in zip(one.ops, starts, strict=True):
            known = places.setdefault(table, {})
            if document is None:
                known.pop(identifier, None)
            else:
                known[identifier] = _place(offset + start, identifier, document)
        offset += len(line) + 1
    return True


def _place(start: int, identifier: str, document: msgspec.Raw) -> Place:
    end = start + len(memoryview(document))
    id_end = start - len(b'",')
    id_start = id_end - len(lines.quote(identifier)) + len(b'""')
    return Place(id_start, id_end, start, end, lines.fingerprint(document))


def _places(columns: Columns) -> Iterator[Place]:
    return map(Place, *map(_numbers, columns))


def _ids(data: bytes, starts: "array[int]", ends: "array[int]") -> list[str]:
    quoted = b"\n".join(map(data.__getitem__, map(slice, starts, ends)))
    if b"\\" in quoted:
        return [_unquote(one) for one in quoted.split(b"\n")]
    # Mostly none has to be unquoted, which is done for all of them at once in a fifth of the time.
    return quoted.decode().split("\n") if starts else []


def _unquote(text: bytes) -> str:
    return msgspec.json.decode(b'"%b"' % text, type=str)


def _packed(places: Sequence[Place]) -> Columns:
    columns = zip(*places, strict=True) if places else [()] * len(Place._fields)
    ids, id_ends, starts, ends, fingerprints = (array(_NUMBER, one).tobytes() for one in columns)
    return ids, id_ends, starts, ends, fingerprints


def _numbers(packed: bytes) -> "array[int]":
    numbers = array(_NUMBER)
    numbers.frombytes(packed)
    return numbers


def _sum(body: "bytes | memoryview") -> bytes:
    return zlib.crc32(body).to_bytes(_SUM, "little")
