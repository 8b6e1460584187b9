"""One lock between threads and processes; the operating system lets go when its holder dies."""

import contextlib
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from protocol.errors import BusyError
from sidecar.store import files

PATIENCE = 3.0
"""Seconds to wait for a holder that does not let go."""
_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.01


class Lock:
    """A re-entrant lock on a file that holds nothing."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        """Name the file; it is opened when the lock is first taken."""
        self.path = path
        self.patience = patience
        self._threads = threading.RLock()
        self._depth = 0
        self._descriptor = -1
        self._turn = 0
        self._holder = 0

    @property
    def turn(self) -> int | None:
        """Number this thread's holding of the lock; None while it does not hold it."""
        return self._turn if self._holder == threading.get_ident() else None

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock; raise BusyError when it cannot be had in time."""
        deadline = time.monotonic() + self.patience
        if not self._threads.acquire(timeout=self.patience):
            raise self._busy()
        try:
            if self._depth == 0:
                self._take(deadline)
                self._turn += 1
                self._holder = threading.get_ident()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._holder = 0
                    _unlock(self._descriptor)
        finally:
            self._threads.release()

    def close(self) -> None:
        """Give the file back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _take(self, deadline: float) -> None:
        if self._descriptor < 0:
            self._descriptor = files.open_private(self.path)
        pause = _FIRST_PAUSE
        while not _try_lock(self._descriptor):
            if time.monotonic() >= deadline:
                raise self._busy()
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311  # spreads waiters, guards nothing
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _busy(self) -> BusyError:
        return BusyError(
            f"{self.path} was held by another process for {self.patience:g} s; try again"
        )


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
