"""Watch folders for changes, one by one and never whole trees."""

import logging
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify


LIMIT = 50
"""Folders watched at once; a system has few watches, and others want some."""
IDLE = 5.0
"""Seconds after which we look all the same: not every file system tells."""
EAGER = 0.5
"""The same where the system does not let us watch."""
_STEP, _IDLE_STEP = 50, 250
"""Milliseconds between two looks at what the system told, after a change and where nothing happens."""
_GROUPED = 200
"""Milliseconds for which much of it is one."""
_ADDED = 1

_log = logging.getLogger(__name__)


class Watches:
    """Waits for changes in a set of folders, which may differ each time."""

    def __init__(self) -> None:
        """Start without any folder."""
        self._stop = threading.Event()
        self._watched: tuple[str, ...] = ()
        self._notify: RustNotify | None = None
        self._has_complained = False
        self._step = _IDLE_STEP

    def wait(self, places: Iterable[Path], quiet: Iterable[Path]) -> bool:
        """Wait until something may have changed; return False when stopped.

        In a quiet folder only a new folder counts: files come and go there all the time.
        """
        silent = {os.fspath(place) for place in quiet}
        wanted = sorted({*silent, *(os.fspath(place) for place in places)})
        there = tuple(filter(os.path.isdir, wanted))
        if there != self._watched:
            # What happened before the new watch stood is seen by looking once more.
            self._watch(there)
        elif self._notify is None:
            self._stop.wait(EAGER)
        else:
            self._listen(self._notify, silent)
        return not self._stop.is_set()

    @property
    def is_stopped(self) -> bool:
        """Return whether it was stopped."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End all waiting."""
        self._stop.set()

    def rest(self) -> None:
        """Wait for a while, whatever happens."""
        self._stop.wait(IDLE)

    def _listen(self, notify: "RustNotify", silent: set[str]) -> None:
        """Wait for a relevant change, for a limited time."""
        deadline = time.monotonic() + IDLE
        counts = False
        while not counts and (left := int(1000 * (deadline - time.monotonic()))) > 0:
            try:
                told = notify.watch(_GROUPED, self._step, left, self._stop)
            except Exception as error:  # noqa: BLE001  # it raises for a name that is not UTF-8
                _log.debug("watching begins anew: %s", error)
                self._watched = ()
                self._stop.wait(EAGER)
                return
            if told == "signal":
                raise KeyboardInterrupt
            self._step = _IDLE_STEP if isinstance(told, str) else _STEP
            counts = isinstance(told, str) or any(_counts(one, path, silent) for one, path in told)

    def _watch(self, there: tuple[str, ...]) -> None:
        """Watch another set of folders."""
        # The inner class: the documented function cannot say when watching has begun.
        from watchfiles._rust_notify import RustNotify  # noqa: PLC0415  # slow to load, nothing waits for it

        if self._notify is not None:
            self._notify.close()
        self._watched, self._notify = there, None
        if len(there) > LIMIT:
            self._complain(f"{len(there)} folders are too many to watch")
            return
        try:
            # The package's own `watch` cannot say when it has begun, which would leave a gap.
            self._notify = RustNotify([*there], False, False, 0, False, True)  # noqa: FBT003  # its signature
        except (OSError, ValueError) as error:
            self._complain(str(error))

    def _complain(self, problem: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            _log.warning("looking every %s s instead of watching: %s", EAGER, problem)


def _counts(change: int, path: str, silent: set[str]) -> bool:
    folder, name = os.path.split(path)
    is_new_folder = change == _ADDED and os.path.isdir(path)  # noqa: PTH112  # asked for each change
    return folder not in silent or name == ".git" or is_new_folder
