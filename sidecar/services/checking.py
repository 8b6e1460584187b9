"""Checking: what follows from a change is looked after a little later, and nobody waits for it."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from protocol.errors import ThreadlineError

_log = logging.getLogger(__name__)


class Checks:
    """Looks again at folders, one at a time, in a thread that ends when it has seen all."""

    def __init__(self, complete: Callable[[Path], None], rest: float = 0.0) -> None:
        """Look with `complete`, so many seconds after the first wish: what else is wished for meanwhile is one look."""
        self._complete = complete
        self._rest = rest
        self._wanted: dict[Path, None] = {}
        self._running: threading.Thread | None = None
        self._mutex = threading.Lock()

    def want(self, folder: Path) -> None:
        """Look soon; what is named while somebody looks is looked at again."""
        with self._mutex:
            self._wanted[folder] = None
            if self._running is None:
                self._running = threading.Thread(target=self._run, daemon=True)
                self._running.start()

    def settle(self, seconds: float = 5.0) -> None:
        """Wait, not for long, until everything was looked at."""
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
        """Give what to look at now; who finds nothing ends, and the next wish begins anew."""
        with self._mutex:
            folder = next(iter(self._wanted), None)
            if folder is None:
                self._running = None
            else:
                del self._wanted[folder]
            return folder
