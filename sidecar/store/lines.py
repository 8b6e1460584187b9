r"""One line of a journal: a JSON object that carries its own checksum.

`{"sum":"1c291ca3","ops":[["sessions","01J…",{…}],["sessions","01J…",null]]}`: each op sets a document
of a table, or removes it. One line is one transaction: all of it counts, or none.
"""

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

Document = dict[str, Any]
Kept = Document | msgspec.Raw
"""A document, or its bytes as they stand in a line: most are never asked for."""
Op = tuple[str, str, Document | None]
"""Table, id, and the document; None removes it."""
Writable = tuple[str, str, object]
"""An operation whose document is anything that encodes as one."""

_HEAD = b'{"sum":"'
_SUM = slice(len(_HEAD), len(_HEAD) + 8)
_BODY = len(_HEAD) + 8 + len(b'",')
_OPS = _BODY + len(b'"ops":[')


class Line(NamedTuple):
    """A decoded line: a header names its format, any other line holds operations, their documents unread."""

    ops: Sequence[tuple[str, str, msgspec.Raw | None]] = ()
    format: int | None = None


class _Line(msgspec.Struct, gc=False):
    ops: list[tuple[str, str, msgspec.Raw]] = []
    format: int | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Line)
_reader = msgspec.json.Decoder(Document)
_BEGINNINGS = _OBJECT, _NULL = b"{n"
"""An operation has an object, or null."""


def encode(ops: Iterable[Writable]) -> bytes:
    """Write operations as one line."""
    return _seal(b'"ops":' + _encoder.encode(tuple(ops)) + b"}")


def encode_header(version: int) -> bytes:
    """Write the line every journal begins with."""
    return _seal(b'"format":%d}' % version)


def decode(line: bytes) -> Line | None:
    """Read a line without its newline; None if one bit of it is wrong."""
    body = line[_BODY:]
    if not line.startswith(_HEAD) or line[_SUM] != b"%08x" % crc32(body):
        return None
    try:
        if not body.isascii():
            body.decode()
        found = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    ops: list[tuple[str, str, msgspec.Raw | None]] = []
    for table, identifier, document in found.ops:
        first = memoryview(document)[0]
        if first not in _BEGINNINGS:
            return None
        ops.append((table, identifier, document if first == _OBJECT else None))
    return Line(ops, found.format)


def starts(line: bytes, read: Line) -> list[int] | None:
    """Tell where in a line each operation's document begins; None where it is not written as `encode` writes."""
    found: list[int] = []
    at = _OPS
    for table, identifier, document in read.ops:
        head = b"[%b,%b," % (quote(table), quote(identifier))
        if not line.startswith(head, at):
            return None
        at += len(head)
        found.append(at)
        at += len(b"null" if document is None else memoryview(document)) + len(b"],")
    return found


def quote(text: str) -> bytes:
    """Write a text as it stands in a line."""
    return _encoder.encode(text)


def read(document: Kept) -> Document:
    """Give a document that may be unread."""
    return _reader.decode(document) if isinstance(document, msgspec.Raw) else document


@functools.cache
def glimpse(*fields: str) -> Callable[[Kept], Any]:
    """Make what gives a field of documents, or a tuple of several; what is unread stays so, in a tenth of the time."""
    names = {f"field_{number}": field for number, field in enumerate(fields)}
    typed = [(name, Any, None) for name in names]
    kind = msgspec.defstruct("_Glimpse", typed, rename=names, gc=False)
    decode = msgspec.json.Decoder(kind).decode
    take = operator.attrgetter(*names)
    return lambda document: take(
        decode(document) if isinstance(document, msgspec.Raw) else kind(*map(document.get, fields))
    )


def fingerprint(document: Kept) -> int:
    """Give a number that is another one when a document is; it tells changes, not attacks."""
    data = document if isinstance(document, msgspec.Raw) else _encoder.encode(document)
    return memoryview(data).nbytes << 32 | crc32(data)


def _seal(body: bytes) -> bytes:
    return b'%b%08x",%b\n' % (_HEAD, crc32(body), body)
