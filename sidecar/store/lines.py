r"""One line of a journal: a JSON object that carries its own checksum.

`{"sum":"1c291ca3","ops":[["sessions","01J…",{…}],["sessions","01J…",null]]}`: each op sets a document
of a table, or removes it. One line is one transaction: all of it counts, or none.
"""

from collections.abc import Iterable
from typing import Any
from zlib import crc32

import msgspec

Document = dict[str, Any]
Op = tuple[str, str, Document | None]
"""Table, id, and the document; None removes it."""
Writable = tuple[str, str, object]
"""An operation whose document is anything that encodes as one."""

_HEAD = b'{"sum":"'
_SUM = slice(len(_HEAD), len(_HEAD) + 8)
_BODY = len(_HEAD) + 8 + len(b'",')


class Line(msgspec.Struct, frozen=True):
    """A decoded line: a header names its format, any other line holds operations."""

    ops: tuple[Op, ...] = ()
    format: int | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Line)


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
        return _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None


def _seal(body: bytes) -> bytes:
    return b'%b%08x",%b\n' % (_HEAD, crc32(body), body)
