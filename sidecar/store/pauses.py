"""When nothing was recorded in a project: a small file that every process looks at."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sidecar.domain.pauses import Pause
from sidecar.store import files


class Pauses:
    """The pauses of one project; whoever writes holds the store's lock."""

    def __init__(self, path: Path) -> None:
        """Name the file; without it nothing was ever paused."""
        self.path = path

    def read(self) -> tuple[Pause, ...]:
        """Give all pauses, oldest first; a file that cannot be read is set aside."""
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
