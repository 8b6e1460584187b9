"""Placing: whose file a saved file is."""

import os
import threading
from collections.abc import Iterable
from pathlib import Path

from cachetools import TTLCache

_KNOWN_FOR = 10
_UNKNOWN = Path("?")
"""No folder: they are absolute."""


class Places:
    """Finds the root of the project that a file is in, without asking git."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._tops: TTLCache[Path, Path | None] = TTLCache(maxsize=4096, ttl=_KNOWN_FOR)
        self._mutex = threading.RLock()

    def find(self, path: Path, folders: Iterable[Path]) -> tuple[Path, str] | None:
        """Give a file's project and its name there; None for a file outside these folders, or git's own."""
        real = Path(os.path.realpath(path))
        folder = next((one for one in folders if real.is_relative_to(one)), None)
        if folder is None or real == folder:
            return None
        root = self._top(real.parent) or folder
        name = real.relative_to(root).as_posix()
        return None if ".git" in name.split("/") else (root, name)

    def forget(self) -> None:
        """Look anew from now on."""
        with self._mutex:
            self._tops.clear()

    def _top(self, folder: Path) -> Path | None:
        """Find the root of the working tree that a folder is in."""
        with self._mutex:
            top = self._tops.get(folder, _UNKNOWN)
            if top is _UNKNOWN:
                if os.path.lexists(folder / ".git"):
                    top = folder
                else:
                    top = None if folder == folder.parent else self._top(folder.parent)
                self._tops[folder] = top
            return top
