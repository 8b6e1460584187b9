"""What was found out of memories at one HEAD, in the deletable cache: so that a new process need not ask git again.

It holds hashes, no words.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from protocol.memories import Verdict
from sidecar.store.caches import Cache


class Found(Struct, frozen=True, array_like=True):
    """Verdicts at a HEAD, by hashes of memories as they were."""

    head: str
    verdicts: dict[int, Verdict | None]


class Findings:
    """The findings of one project on the disk; whoever writes them holds the store's lock."""

    def __init__(self, path: Path) -> None:
        """Name the file."""
        self._cache = Cache(path, Found)

    def read(self, head: str) -> Mapping[int, Verdict | None]:
        """Give what was found out at a HEAD; nothing where it was at another."""
        found = self._cache.read()
        return found.verdicts if found is not None and found.head == head else {}

    def write(self, head: str, verdicts: Mapping[int, Verdict | None]) -> None:
        """Put findings in the place of those that are there."""
        self._cache.write(Found(head, dict(verdicts)))
