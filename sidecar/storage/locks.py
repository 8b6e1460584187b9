"""A lock between processes that the operating system gives back when its holder dies."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from protocol.errors import BusyError, ThreadlineError
from sidecar.storage import files
from sidecar.storage.database import time_left, waiting

_BREATH = 0.005


class Lock:
    """A re-entrant lock on a file that holds only who took it; for small files and long work, not for the database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads = threading.RLock()
        self._depth = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock; raise BusyError when it cannot be had in the time that is left."""
        deadline = time.monotonic() + time_left()
        with waiting():
            is_ours = self._threads.acquire(timeout=time_left())
        if not is_ours:
            raise self._busy()
        try:
            if self._depth:
                yield
                return
            with waiting():
                descriptor = self._take(deadline)
            self._depth = 1
            try:
                yield
            finally:
                self._depth = 0
                os.close(descriptor)
        finally:
            self._threads.release()

    def is_free(self) -> bool:
        """Whether nobody holds it at this moment."""
        if not self._threads.acquire(blocking=False):
            return False
        try:
            if self._depth:
                return False
            descriptor = self._open()
            try:
                return self._try(descriptor)
            finally:
                os.close(descriptor)
        finally:
            self._threads.release()

    def holder(self) -> str:
        """Return the process that took it last, where the system lets us see it."""
        try:
            return (files.read(self.path) or b"").decode("ascii", "replace") or "another"
        except (OSError, ThreadlineError):
            return "another"

    def _open(self) -> int:
        try:
            return files.open_private(self.path)
        except IsADirectoryError:
            files.set_aside(self.path)
            return files.open_private(self.path)

    def _take(self, deadline: float) -> int:
        descriptor = self._open()
        try:
            while not self._try(descriptor):
                if time.monotonic() >= deadline:
                    raise self._busy()  # noqa: TRY301
                time.sleep(_BREATH)
            with contextlib.suppress(OSError):
                # For whoever waits; a full disk keeps nobody from working.
                os.ftruncate(descriptor, 0)
                os.write(descriptor, b"%d" % os.getpid())
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _try(self, descriptor: int) -> bool:
        with files.refusing(self.path):
            return _try_lock(descriptor)

    def _busy(self) -> BusyError:
        return BusyError(f"{self.path} is held by process {self.holder()}; try again")


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
