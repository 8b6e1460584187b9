"""Events that were acknowledged while the store was busy: batches that whoever writes next places, each once."""

import os
from collections.abc import Iterable
from pathlib import Path

from sidecar.storage import files

_BATCH = ".batch.jsonl"


class Inbox:
    """Batches of lines, in the order they came; a batch's name is unique, and so are the keys made from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def spool(self, name: str, lines: Iterable[bytes]) -> None:
        """Keep a batch durably without waiting for anyone; `name` sorts by time."""
        files.ensure_folder(self.folder)
        files.replace(self.folder / f"{name}{_BATCH}", b"".join(line + b"\n" for line in lines))

    def is_empty(self) -> bool:
        """Whether nothing waits."""
        try:
            with os.scandir(self.folder) as entries:
                return not any(entry.name.endswith(_BATCH) for entry in entries)
        except FileNotFoundError:
            return True

    def collect(self) -> list[Path]:
        """Return all batches, the oldest first."""
        return sorted(self.folder.glob(f"*{_BATCH}"))

    def read(self, batch: Path) -> list[bytes]:
        """Return a batch's lines."""
        return (files.read(batch) or b"").split(b"\n")[:-1]

    def done(self, batch: Path, *, aside: bool = False) -> None:
        """Forget a batch that is in the store; one with lines that nobody can read is kept aside."""
        if aside:
            files.set_aside(batch)
        else:
            batch.unlink(missing_ok=True)

    def count(self) -> int:
        """Count the lines that wait."""
        return sum((files.read(path) or b"").count(b"\n") for path in self.collect())
