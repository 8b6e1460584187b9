"""Read files without trust: no pipes, no devices, limited size."""

import os
import stat
from pathlib import Path

SMALL = 64 * 1024
"""Bytes of a file that holds a name, such as HEAD."""


def read(path: Path, size: int = SMALL) -> bytes | None:
    """Return the beginning of a regular file; None for anything else or where it cannot be read."""
    found = _read(path, size, from_end=False)
    return None if found is None else found[1]


def read_tail(path: Path, size: int) -> tuple[int, bytes] | None:
    """Return the end of a regular file and its offset, or None."""
    return _read(path, size, from_end=True)


def size(path: Path) -> int:
    """Return the size of a file; 0 where there is none."""
    try:
        return os.stat(path).st_size  # noqa: PTH116  # asked before each question to git
    except (OSError, ValueError):
        return 0


def _read(path: Path, size: int, *, from_end: bool) -> tuple[int, bytes] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                return None
            start = max(0, facts.st_size - size) if from_end else 0
            file.seek(start)
            return start, file.read(size)
    except (OSError, ValueError):
        return None
