"""What was found out of memories at one HEAD, in the deletable cache: so that a new process need not ask git again.

It holds hashes, no words. What is damaged is nothing.
"""

import logging
import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.errors import StorageFailedError, StoreRefusedError
from protocol.memories import Verdict
from sidecar.store import files

_SUM = 4

_log = logging.getLogger(__name__)


class Found(Struct, frozen=True, array_like=True):
    """Verdicts at a HEAD, by hashes of memories as they were."""

    head: str
    verdicts: dict[int, Verdict | None]


class Findings:
    """The findings of one project on the disk; whoever writes them holds the store's lock."""

    def __init__(self, path: Path) -> None:
        """Name the file."""
        self._path = path

    def read(self, head: str) -> Mapping[int, Verdict | None]:
        """Give what was found out at a HEAD; nothing where it was at another."""
        try:
            data = files.read(self._path) or b""
            if data[:_SUM] != _sum(data[_SUM:]):
                return {}
            found = msgspec.msgpack.decode(data[_SUM:], type=Found)
        except (StorageFailedError, StoreRefusedError, msgspec.DecodeError) as error:
            _log.warning("%s; memories are held against the code anew", error)
            return {}
        return found.verdicts if found.head == head else {}

    def write(self, head: str, verdicts: Mapping[int, Verdict | None]) -> None:
        """Put findings in the place of those that are there."""
        body = msgspec.msgpack.encode(Found(head, dict(verdicts)))
        files.ensure_folder(self._path.parent)
        files.replace(self._path, _sum(body) + body)


def _sum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_SUM, "little")
