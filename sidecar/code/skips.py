"""Inputs skipped because they exceed a limit."""

import os
import threading
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_MOST = 500
"""Kinds of skipped input that are remembered at once; a repository may hold any number."""
_LONGEST = 300


class Skip(NamedTuple):
    """One input that was skipped, and why."""

    folder: str
    path: str
    reason: str


_noted: Counter[Skip] = Counter()
_mutex = threading.Lock()


def note(folder: Path, path: str | bytes, reason: str, count: int = 1) -> None:
    """Record that an input of a folder was skipped; never fails."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")[:_LONGEST]
    skip = Skip(str(folder), name, reason)
    with _mutex:
        if skip in _noted or len(_noted) < _MOST:
            _noted[skip] += count


def take() -> dict[Skip, int]:
    """Return all records with their counts, and clear them."""
    with _mutex:
        taken = dict(_noted)
        _noted.clear()
    return taken
