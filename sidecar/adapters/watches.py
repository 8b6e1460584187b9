"""Folders that tell when something changes in them, watched one by one and never as whole trees."""

import logging
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles import Change

LIMIT = 50
"""Folders watched at once; a system has few watches, and others want some."""
IDLE = 5.0
"""Seconds after which we look all the same: not every file system tells."""
EAGER = 0.5
"""The same where the system does not let us watch."""
_STEP = 50
_GROUPED = 200
"""Milliseconds between two looks at what the system told, and for which much of it is one."""

_log = logging.getLogger(__name__)


class Watches:
    """Waits for changes in a set of folders that may be another one each time."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._stop = threading.Event()
        self._places: frozenset[Path] = frozenset()
        self._told: Iterator[object] | None = None
        self._has_complained = False

    def wait(self, places: Iterable[Path], quiet: Iterable[Path]) -> bool:
        """Wait until something changed, or may have; False once it is time to stop.

        In a quiet folder only a new folder counts: files come and go there all the time.
        """
        wanted = [*dict.fromkeys((*places, *quiet))]
        self._watch(wanted[:LIMIT], set(quiet))
        if len(wanted) > LIMIT:
            self._complain(f"{len(wanted)} folders are too many to watch")
        if self._told is None or len(wanted) > LIMIT:
            return not self._stop.wait(EAGER)
        try:
            next(self._told)
        except StopIteration:
            self._told = None
        except OSError as error:
            self._told, self._places = None, frozenset()
            self._complain(str(error))
        return not self._stop.is_set()

    def stop(self) -> None:
        """End all waiting."""
        self._stop.set()

    def _watch(self, places: list[Path], quiet: set[Path]) -> None:
        """Watch another set of folders, if it is another one."""
        there = frozenset(place for place in places if place.is_dir())
        if there == self._places or not there:
            return
        from watchfiles import watch  # noqa: PLC0415  # slow to load, and nothing waits for it

        logging.getLogger("watchfiles").setLevel(logging.WARNING)
        names = {os.fspath(place) for place in quiet}
        self._places = there
        self._told = watch(
            *there,
            watch_filter=lambda change, path: _counts(change, path, names),
            debounce=_GROUPED,
            step=_STEP,
            stop_event=self._stop,
            rust_timeout=int(IDLE * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        )

    def _complain(self, problem: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            _log.warning("looking every %s s instead of watching: %s", EAGER, problem)


def _counts(change: "Change", path: str, quiet: set[str]) -> bool:
    folder, name = os.path.split(path)
    is_new = change.name == "added"
    return folder not in quiet or name == ".git" or (is_new and os.path.isdir(path))  # noqa: PTH112  # for each change
