"""Background threads that record commits and saves."""

import logging
import queue
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from protocol.methods import Change
from sidecar.app import Application, now
from sidecar.code.folder_watcher import Watches
from sidecar.transports.addresses import path_of

_log = logging.getLogger(__name__)

Told = tuple[str, datetime]


class Capture:
    """Records in the background for as long as the client is there."""

    def __init__(self, app: Application, tell: Callable[[Change], None]) -> None:
        """Do nothing yet; `tell` is called from a thread of ours."""
        self._app = app
        self._tell = tell
        self._watches = Watches()
        self._told: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self._recorder = threading.Thread(target=self._record, name="saves", daemon=True)
        self._watcher: threading.Thread | None = None

    def start(self, folders: Iterable[Path], since: datetime) -> None:
        """Record what happens in these folders from a moment on, instead of any before."""
        if self._watcher is None:
            self._recorder.start()
        else:
            self._watches.stop()
        self._watches = Watches()
        self._watcher = threading.Thread(
            target=self._watch,
            args=(self._watches, self._watcher, tuple(folders), since),
            name="repositories",
            daemon=True,
        )
        self._watcher.start()

    def saved(self, uri: str) -> None:
        """Note that a file was saved; it is recorded soon, and before `stop` returns."""
        self._told.put((uri, now()))

    def stop(self, seconds: float) -> None:
        """Record what was noted so far, and no more."""
        self._watches.stop()
        self._told.put(None)
        if self._watcher is None:
            # A client that ends at once may have saved before it told its settings.
            self._recorder.start()
        self._recorder.join(seconds)

    def _watch(
        self,
        watches: Watches,
        before: threading.Thread | None,
        folders: tuple[Path, ...],
        since: datetime,
    ) -> None:
        if before is not None:
            before.join()
        while not watches.is_stopped:
            try:
                self._app.workspace.arrange(folders, since)
                self._app.watch(watches, self._tell)
            except Exception:  # noqa: BLE001  # the boundary of the watcher's loop
                _log.exception("watching was interrupted")
                watches.rest()

    def _record(self) -> None:
        is_on = True
        while is_on:
            found = [self._told.get()]
            while not self._told.empty():
                found.append(self._told.get())
            is_on = None not in found
            try:
                self._app.workspace.save(_files(one for one in found if one is not None))
            except Exception:  # noqa: BLE001  # the boundary of the recorder's loop
                _log.exception("saves could not be recorded")


def _files(told: Iterable[Told]) -> list[tuple[Path, datetime]]:
    return [(path, moment) for uri, moment in told if (path := path_of(uri))]
