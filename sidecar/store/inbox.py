"""Where events wait that were reported while the store could not be opened.

Capturing hooks append to `current.jsonl` and are done. Whoever opens the store next moves that file
aside and places what it holds. A writer that finds the store's lock stuck leaves a batch of its own.
Only the standard library is imported below: a hook pays for every module it loads.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from protocol.errors import BusyError
from sidecar.store import files
from sidecar.store.locks import Lock

_PATIENCE = 0.5
_CURRENT = "current.jsonl"
_BATCH = ".batch.jsonl"


class Inbox:
    """Lines that wait, in the order they came."""

    def __init__(self, folder: Path) -> None:
        """Stand on a folder that may not exist yet."""
        self.folder = folder
        self._lock = Lock(folder / "lock", _PATIENCE)

    def drop(self, line: bytes) -> None:
        """Keep one line durably; the caller sees it placed later."""
        files.ensure_folder(self.folder)
        path = self.folder / _CURRENT
        with self._lock.held():
            is_new = not os.path.lexists(path)
            descriptor = files.open_private(path)
            try:
                # Whoever wrote before may have been killed in the middle of a line.
                files.append(descriptor, b"" if files.ends_line(descriptor) else b"\n", path)
                files.append(descriptor, line + b"\n", path)
                files.sync(descriptor, path)
            finally:
                os.close(descriptor)
            if is_new:
                files.sync_folder(self.folder)

    def spool(self, name: str, lines: Iterable[bytes]) -> None:
        """Keep a batch durably without waiting for anyone; `name` sorts by time."""
        files.ensure_folder(self.folder)
        files.replace(self.folder / f"{name}{_BATCH}", b"".join(line + b"\n" for line in lines))

    def is_empty(self) -> bool:
        """Tell whether nothing waits."""
        try:
            with os.scandir(self.folder) as entries:
                return not any(entry.name.endswith((_CURRENT, _BATCH)) for entry in entries)
        except FileNotFoundError:
            return True

    def collect(self, name: str) -> list[Path]:
        """Give all batches, oldest first; the caller holds the store's lock and calls `done`."""
        current = self.folder / _CURRENT
        if os.path.lexists(current):
            # Whoever keeps the inbox's lock is about to add a line; it is taken next time.
            with contextlib.suppress(BusyError), self._lock.held():
                current.rename(self.folder / f"{name}{_BATCH}")
        return self._batches()

    def read(self, batch: Path) -> list[bytes]:
        """Give a batch's lines."""
        return (files.read(batch) or b"").split(b"\n")[:-1]

    def set_aside(self, batch: Path) -> None:
        """Keep a copy of a batch that cannot be read whole."""
        files.set_aside(batch)

    def done(self, batch: Path) -> None:
        """Forget a batch that is in the store."""
        batch.unlink(missing_ok=True)
        files.sync_folder(self.folder)

    def count(self) -> int:
        """Count the lines that wait."""
        paths = [*self._batches(), self.folder / _CURRENT]
        return sum((files.read(path) or b"").count(b"\n") for path in paths)

    def close(self) -> None:
        """Give the lock's file back."""
        self._lock.close()

    def _batches(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{_BATCH}"))
