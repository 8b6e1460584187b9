"""Where repositories are and whose they are, as git said it: a process that has just begun need not ask again."""

import contextlib
import logging
from pathlib import Path

import msgspec

from protocol.errors import StorageFailedError, StoreRefusedError
from protocol.values import Record
from sidecar.domain.identities import Facts
from sidecar.storage import files

_MOST = 100
"""Repositories that are remembered."""

_log = logging.getLogger(__name__)


class Landmark(Record, frozen=True, kw_only=True):
    """A repository, as it was when git was asked."""

    stamp: str
    """What is another once the repository is another, or is set up otherwise."""
    gitdir: str
    common: str
    folder: str
    facts: Facts


class Landmarks:
    """A small file; losing it costs a few questions to git."""

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is read yet."""
        self._path = path
        self._known: dict[str, Landmark] | None = None

    def find(self, root: str, stamp: str) -> Landmark | None:
        """Give what is known of the repository at a place, if it still is that one."""
        found = self._read().get(root)
        return found if found is not None and found.stamp == stamp else None

    def put(self, root: str, landmark: Landmark) -> None:
        """Remember a repository; whoever does holds the home's lock."""
        self._known = None
        known = {key: one for key, one in self._read().items() if key != root}
        kept = dict(list(known.items())[1 - _MOST :])
        self._known = kept | {root: landmark}
        files.replace(self._path, msgspec.json.encode(self._known))

    def clear(self) -> None:
        """Forget all repositories, also those that are not to be forgotten: git is asked again."""
        self._known = {}
        with contextlib.suppress(FileNotFoundError), files.refusing(self._path):
            self._path.unlink()

    def _read(self) -> dict[str, Landmark]:
        if self._known is None:
            try:
                data = files.read(self._path) or b"{}"
                self._known = msgspec.json.decode(data, type=dict[str, Landmark])
            except (msgspec.DecodeError, StorageFailedError, StoreRefusedError) as error:
                _log.warning("%s is of no use: %s", self._path, error)
                self._known = {}
        return self._known
