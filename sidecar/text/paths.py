"""File names as readable UTF-8, and back to the same bytes."""

import re

_ESCAPE = re.compile(rb"\\x([0-9a-f]{2})")


def read(raw: bytes) -> str:
    """Turn a path's bytes into text."""
    if b"\\" in raw:
        raw = _ESCAPE.sub(rb"\\x5cx\1", raw)
    return raw.decode("utf-8", "backslashreplace")


def write(path: str) -> bytes:
    """Turn text from `read` back into the path's bytes."""
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), path.encode())
