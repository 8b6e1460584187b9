"""One lock between threads and processes; the operating system lets go when its holder dies."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from protocol.errors import BusyError
from sidecar.store import files

PATIENCE = 3.0
"""Seconds to wait for a holder that does not let go."""


class Lock:
    """A re-entrant lock on a file that holds nothing."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        """Name the file; it is opened when the lock is first taken."""
        self.path = path
        self.patience = patience
        self._threads = threading.RLock()
        self._depth = 0
        self._turn = 0
        self._holder = 0
        self._descriptor = -1
        self._waiter: _Waiter | None = None

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

    def is_free(self) -> bool:
        """Tell whether nobody holds it at this moment."""
        if not self._threads.acquire(blocking=False):
            return False
        try:
            return self._depth == 0 and self._can_be_had()
        finally:
            self._threads.release()

    def close(self) -> None:
        """Give the file back."""
        with self._threads:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def _can_be_had(self) -> bool:
        descriptor = files.open_private(self.path)
        try:
            return _try_lock(descriptor)
        finally:
            os.close(descriptor)

    def _take(self, deadline: float) -> None:
        """Lock the file that is there now; a deleted one excludes nobody."""
        while True:
            if self._descriptor < 0:
                self._descriptor = files.open_private(self.path)
            if not _try_lock(self._descriptor):
                self._wait(deadline)
            if files.is_at(self._descriptor, self.path):
                return
            self.close()

    def _wait(self, deadline: float) -> None:
        if self._waiter is None or not self._waiter.is_joined():
            self._waiter = _Waiter(files.open_private(self.path))
        if not self._waiter.has_served(max(deadline - time.monotonic(), 0)):
            raise self._busy()
        os.close(self._descriptor)
        self._descriptor, self._waiter = self._waiter.descriptor, None

    def _busy(self) -> BusyError:
        return BusyError(
            f"{self.path} was held by another process for {self.patience:g} s; try again"
        )


class _Waiter:
    """Stands in the system's own queue for a lock, which is fair, in a thread that may be left behind.

    Asking again and again would let a busy writer starve the others; a plain wait could never be given
    up. Whoever loses patience leaves the waiter standing: the next to ask joins it, and if nobody does,
    it lets the lock go as soon as it gets it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._mutex = threading.Lock()
        self._is_wanted = True
        self._is_over = False
        self._served = threading.Event()
        threading.Thread(target=self._stand, daemon=True).start()

    def is_joined(self) -> bool:
        """Want this waiter's lock, too; False if it is not standing any more."""
        with self._mutex:
            self._is_wanted = not self._is_over
            return self._is_wanted

    def has_served(self, seconds: float) -> bool:
        """Wait that long for the lock; False if nobody wants it any more after that."""
        try:
            self._served.wait(seconds)
        except BaseException:
            self._leave()
            raise
        with self._mutex:
            self._is_wanted = self._is_over
            return self._is_over

    def _leave(self) -> None:
        with self._mutex:
            self._is_wanted = False
            if self._is_over:
                os.close(self.descriptor)

    def _stand(self) -> None:
        _lock(self.descriptor)
        with self._mutex:
            self._is_over = True
            if not self._is_wanted:
                os.close(self.descriptor)
            self._served.set()


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(descriptor: int) -> None:
        while not _try_lock(descriptor):
            time.sleep(0.005)

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

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
