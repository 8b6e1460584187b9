"""Compressed blocks: the events of compacted sessions, each block small and with a checksum of its own."""

import zlib
from collections.abc import Iterable, Iterator

import msgspec

from sidecar.storage.collection import encode

_LARGEST = 64 * 1024
"""Bytes of text in a block, unless one event alone has more: damage costs one block."""
_USUAL = (
    b'[{"eventId":"01","sessionId":"01","kind":"capture","kind":"save","kind":"commit","occurredAt":"2026-01-01T00:00:00Z"'
    b',"recordedAt":"2026-01-01T00:00:00Z","idempotencyKey":"commit:","source":"cli-scan","source":"vscode","agentId":null'
    b',"files":[{"path":"src/","status":"added","status":"deleted","status":"renamed","status":"modified","previousPath":null'
    b',"addedLines":null,"deletedLines":null},{"path":"tests/test_.py","status":"modified","previousPath":null,"addedLines":null'
    b',"deletedLines":null}],"commit":{"sha":"","parents":[""],"authorName":"","authorEmail":"@users.noreply.github.com"'
    b',"authoredAt":"2026-01-01T00:00:00Z","committedAt":"2026-01-01T00:00:00Z","subject":"Merge pull request #","body":""'
    b',"branch":"main","branch":null,"replaces":[],"dropped":false},"text":null}]'
)
"""What most events have in common: with it even a session of one commit shrinks."""


def pack(bodies: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Compress JSON texts, in order; give the number of texts in each block, and the block."""
    part: list[bytes] = []
    for body in bodies:
        if part and sum(map(len, part)) + len(body) > _LARGEST:
            yield len(part), _press(part)
            part = []
        part.append(body)
    if part:
        yield len(part), _press(part)


def unpack(block: bytes) -> list[bytes] | None:
    """Return the texts of a block; None where it is damaged."""
    unpacker = zlib.decompressobj(zdict=_USUAL)
    try:
        data = unpacker.decompress(block)
        texts = msgspec.json.decode(data, type=list[msgspec.Raw]) if unpacker.eof else None
    except (zlib.error, msgspec.DecodeError):
        return None
    return None if texts is None else [bytes(text) for text in texts]


def _press(bodies: list[bytes]) -> bytes:
    packer = zlib.compressobj(9, zdict=_USUAL)
    return packer.compress(encode([msgspec.Raw(body) for body in bodies])) + packer.flush()
