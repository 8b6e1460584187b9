"""Check task conditions after commits."""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path, PurePath

from protocol.errors import ThreadlineError
from sidecar.code.codebase import Codebase
from sidecar.tasks.open_tasks import Look

_log = logging.getLogger(__name__)


class Checks:
    """Checks folders again, one at a time, in a thread that ends when all are checked."""

    def __init__(self, complete: Callable[[Path], None], rest: float = 0.0) -> None:
        """Check with `complete`, this many seconds after the first request; later requests join it."""
        self._complete = complete
        self._rest = rest
        self._wanted: dict[Path, None] = {}
        self._running: threading.Thread | None = None
        self._mutex = threading.Lock()

    def want(self, folder: Path) -> None:
        """Request a check; a folder requested during its check is checked again."""
        with self._mutex:
            self._wanted[folder] = None
            if self._running is None:
                self._running = threading.Thread(target=self._run, daemon=True)
                self._running.start()

    def settle(self, seconds: float = 5.0) -> None:
        """Wait for a limited time until all checks are done."""
        running = self._running
        if running is not None and running is not threading.current_thread():
            running.join(seconds)

    def _run(self) -> None:
        time.sleep(self._rest)
        while (folder := self._next()) is not None:
            try:
                self._complete(folder)
            except ThreadlineError as error:
                _log.warning("%s", error)
            except Exception:  # noqa: BLE001  # the boundary of the thread
                _log.exception("%s could not be looked at", folder)

    def _next(self) -> Path | None:
        """Return the next folder; without one the thread ends, and the next request starts another."""
        with self._mutex:
            folder = next(iter(self._wanted), None)
            if folder is None:
                self._running = None
            else:
                del self._wanted[folder]
            return folder


def look(root: PurePath, code: Codebase | None) -> Look:
    """Return how to check a working tree; paths that lead out of it answer None."""

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
        return any(symbol.name == name for symbols in found.values() for symbol in symbols)

    def names_in(folder: str) -> list[str]:
        try:
            return os.listdir(root / folder) if path_exists(folder) else []  # noqa: PTH208  # a pure path has no entries
        except (OSError, ValueError):
            return []

    return Look(path_exists=path_exists, symbol_exists=symbol_exists, names_in=names_in)
