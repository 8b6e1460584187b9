"""Read a host's message from standard input, and JSON by the scanner within the standard library's own.

`json` itself loads `re`, and a hook would cost 2.2 instead of 1.3 times Python's start.
"""

import os
import select
import time
from _json import encode_basestring_ascii, make_scanner

MOST = 16 * 1024 * 1024
"""Bytes of a message; a longer one is ignored. Hosts send the text of an edited file several times over."""
_CHUNK = 1 << 16
_BLANK = " \t\r\n"


def read(descriptor: int, seconds: float) -> bytes:
    """Return a message, read to its end or until it is complete while the host leaves the pipe open."""
    deadline = time.monotonic() + seconds
    data = bytearray()
    while (left := deadline - time.monotonic()) > 0 and _is_ready(descriptor, left):
        chunk = os.read(descriptor, _CHUNK)
        if len(data) <= MOST:
            # What is too long is still read, so that its writer is not blocked.
            data += chunk
        if not chunk or _is_whole(data, descriptor):
            break
    return bytes(data)


def parse(data: bytes) -> dict[str, object]:
    """Return a message as an object; a ValueError says that it is none."""
    if len(data) > MOST:
        raise ValueError(f"a message of more than {MOST} bytes")
    message = decode(data.removeprefix(b"\xef\xbb\xbf").decode())
    if not isinstance(message, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  # one kind of refusal for whatever is wrong
    return message


def _is_ready(descriptor: int, seconds: float) -> bool:
    if os.name != "posix":
        return True
    return bool(select.select([descriptor], [], [], seconds)[0])


def _is_whole(data: bytearray, descriptor: int) -> bool:
    if data[-16:].rstrip()[-1:] != b"}" or _is_ready(descriptor, 0.02):
        return False
    try:
        parse(bytes(data))
    except ValueError:
        return False
    return True


def decode(text: str) -> object:
    """Read JSON strictly: no name twice, no number that JSON does not know, nothing behind it.

    Whatever is wrong with it is a ValueError.
    """
    stripped = text.strip(_BLANK)
    try:
        value, end = _scan(stripped, 0)
    except (StopIteration, RecursionError, SystemError):
        # The scanner of Python 3.11 takes its own error from the package that is not loaded, and fails at that.
        end = -1
    if end != len(stripped):
        raise ValueError("no JSON")
    return value


def decode_or_none(text: str) -> object:
    """Read JSON; None where it is none."""
    try:
        return decode(text)
    except ValueError:
        return None


def encode(fields: dict[str, object]) -> bytes:
    """Return an object of texts, booleans, lists and objects as one line of ASCII."""
    return _written(fields).encode("ascii")


def _written(value: object) -> str:
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    if isinstance(value, dict):
        pairs = (
            f"{encode_basestring_ascii(str(name))}:{_written(inner)}"
            for name, inner in value.items()
        )
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return encode_basestring_ascii(str(value))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("an object has a name twice")
    return fields


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


class _Rules:
    """The options that the scanner reads."""

    strict = True
    object_hook = None
    object_pairs_hook = staticmethod(_unique)
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse)
    memo: dict[str, str] = {}  # noqa: RUF012  # the scanner's own


_scan = make_scanner(_Rules())  # type: ignore[arg-type]  # any object with these attributes
