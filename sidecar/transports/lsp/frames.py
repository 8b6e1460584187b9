"""LSP's base protocol, read strictly: a frame after the other, whatever stands between them."""

import re
from collections.abc import Iterator

HEADER_LIMIT = 8 * 1024
BODY_LIMIT = 32 * 1024 * 1024
_SKIPPED = 1024 * 1024 * 1024
"""A body too large to keep, yet small enough to be passed over as a whole."""
_END = b"\r\n\r\n"
_LENGTH = re.compile(
    rb"(?:^|\r\n)content-length[ \t]*:[ \t]*(\d{1,15})[ \t]*(?:\r\n|$)", re.IGNORECASE
)
_BEGINNING = re.compile(rb"content-length[ \t]*:", re.IGNORECASE)
_BEGINNING_LENGTH = 32


class BadFrame(Exception):  # noqa: N818  # a thing that is answered, not an error of ours
    """What stood where a frame should; its text says what is wrong with it."""


class Frames:
    """Takes bytes as they come and gives complete bodies."""

    def __init__(self) -> None:
        """Begin before the first header."""
        self._buffer = bytearray()
        self._length: int | None = None
        self._to_skip = 0

    def feed(self, data: bytes) -> Iterator[bytes | BadFrame]:
        """Take more bytes; give the bodies that are complete with them, and what was no frame."""
        self._buffer += data
        while True:
            skipped = min(self._to_skip, len(self._buffer))
            del self._buffer[:skipped]
            self._to_skip -= skipped
            if self._length is None:
                problem = None if self._to_skip else self._read_header()
                if problem is not None:
                    yield problem
                elif self._length is None:
                    return
            elif len(self._buffer) >= self._length:
                body = bytes(self._buffer[: self._length])
                del self._buffer[: self._length]
                self._length = None
                yield body
            else:
                return

    def _read_header(self) -> BadFrame | None:
        """Read the next header if it is complete; pass over what is none."""
        end = self._buffer.find(_END, 0, HEADER_LIMIT)
        if end < 0:
            if len(self._buffer) < HEADER_LIMIT:
                return None
            self._find_next()
            return BadFrame(f"a header of more than {HEADER_LIMIT} bytes")
        header = bytes(self._buffer[:end])
        match = _LENGTH.search(header)
        if match is None:
            self._find_next(end + len(_END))
            return BadFrame("a header without a usable Content-Length")
        length = int(match[1])
        if length > BODY_LIMIT:
            del self._buffer[: end + len(_END)]
            if length <= _SKIPPED:
                self._to_skip = length
            else:
                self._find_next(0)
            return BadFrame(f"a body of {length} bytes, more than {BODY_LIMIT}")
        del self._buffer[: end + len(_END)]
        self._length = length
        return None

    def _find_next(self, at_least: int = 1) -> None:
        match = _BEGINNING.search(self._buffer, min(at_least, len(self._buffer)))
        if match is None:
            del self._buffer[: max(at_least, len(self._buffer) - _BEGINNING_LENGTH)]
        else:
            del self._buffer[: match.start()]
