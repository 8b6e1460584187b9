"""Sights: what of a working tree tells whether a task is done."""

import os
from pathlib import Path, PurePath

from sidecar.adapters.code.codebases import Codebase
from sidecar.services.tasks import Look


def look(root: PurePath, code: Codebase | None) -> Look:
    """Look at a working tree without leaving it."""

    def path_exists(name: str) -> bool | None:
        place = os.path.join(root, name)  # noqa: PTH118  # asked before each answer
        try:
            # What leads out of the working tree, or nowhere, says nothing of it.
            if not Path(os.path.realpath(place)).is_relative_to(root):
                return None
            os.stat(place)  # noqa: PTH116  # likewise
        except (FileNotFoundError, NotADirectoryError):
            return None if os.path.lexists(place) else False
        except (OSError, ValueError):
            return None
        return True

    def symbol_exists(path: str, name: str) -> bool | None:
        if code is None:
            return None
        with code.held() as head:
            if head is None:
                return None
            found = code.symbols(code.blobs({path}).items())
        return any(one.name == name for symbols in found.values() for one in symbols)

    def names_in(folder: str) -> list[str]:
        try:
            return os.listdir(root / folder) if path_exists(folder) else []  # noqa: PTH208  # a pure path has no entries
        except (OSError, ValueError):
            return []

    return Look(path_exists=path_exists, symbol_exists=symbol_exists, names_in=names_in)
