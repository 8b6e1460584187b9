"""A file of the deletable cache: one value with its checksum; what is damaged is nothing.

It is not written durably, since it can be made anew: after a loss of power it may be the old one, or none.
"""

import logging
import zlib
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from protocol.errors import StorageFailedError, StoreRefusedError
from sidecar.store import files

_SUM = 4
_T = TypeVar("_T")

_log = logging.getLogger(__name__)


class Cache(Generic[_T]):
    """One value on the disk; whoever writes it holds the store's lock."""

    def __init__(self, path: Path, kind: type[_T]) -> None:
        """Name the file, and what is in it."""
        self._path = path
        self._kind = kind

    def read(self) -> _T | None:
        """Give what is kept; None where that is nothing, or nothing that can be believed."""
        try:
            data = files.read(self._path) or b""
            if data[:_SUM] != _sum(data[_SUM:]):
                return None
            return msgspec.msgpack.decode(data[_SUM:], type=self._kind)
        except (StorageFailedError, StoreRefusedError, msgspec.DecodeError) as error:
            _log.warning("%s; what %s is for is found out anew", error, self._path.name)
            return None

    def write(self, value: _T) -> None:
        """Put a value in the place of the one that is there."""
        body = msgspec.msgpack.encode(value)
        files.ensure_folder(self._path.parent)
        draft = self._path.with_name(f"{self._path.name}.draft")
        files.create(draft, str(self._path), _sum(body) + body)


def _sum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_SUM, "little")
