"""When nothing was recorded in a project: a small file that every process looks at."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sidecar.capture.rules.pauses import Pause
from sidecar.storage import files


class Pauses:
    """The pauses of one project; whoever writes holds the store's lock."""

    def __init__(self, path: Path) -> None:
        """Name the file; without it nothing was ever paused."""
        self.path = path
        self._place = str(path)
        self._known: tuple[object, tuple[Pause, ...]] = (None, ())

    def read(self) -> tuple[Pause, ...]:
        """Give all pauses, oldest first; the file is read again once it was replaced."""
        try:
            facts = os.lstat(self._place)
        except FileNotFoundError:
            return ()
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if self._known[0] != stamp:
            self._known = (stamp, self._read())
        return self._known[1]

    def _read(self) -> tuple[Pause, ...]:
        """Read the file; one that cannot be read is set aside."""
        data = files.read(self.path)
        if data is None:
            return ()
        try:
            return msgspec.json.decode(data, type=tuple[Pause, ...])
        except msgspec.DecodeError:
            files.set_aside(self.path)
            self.path.unlink(missing_ok=True)
            return ()

    def write(self, pauses: Sequence[Pause]) -> None:
        """Put these in place of all, durably."""
        files.replace(self.path, msgspec.json.encode(pauses))
