"""The ledger of what was written into files of others."""

import contextlib
from collections.abc import Iterator
from pathlib import Path, PurePath

import msgspec

from sidecar.hosts.rules.ledger import Written
from sidecar.storage.files import JsonFile
from sidecar.storage.locks import Lock


class Ledger:
    """Rows by path, in a file of the home; all processes of a user share it."""

    def __init__(self, folder: Path, lock: Lock) -> None:
        """Name the home's folder and the lock that guards it."""
        self._file = JsonFile(folder / "connections.json", tuple[Written, ...], ())
        self._lock = lock

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from connecting anything meanwhile."""
        with self._lock.held():
            yield

    def rows(self) -> dict[str, Written]:
        """Return all rows; a ledger that cannot be read is set aside."""
        return {row.path: row for row in self._file.read()}

    def put(self, path: str, row: Written | None) -> None:
        """Keep a row, or none, for a path."""
        with self._lock.held():
            rows = self.rows()
            rows.pop(path, None)
            if row is not None:
                rows[path] = row
            self._file.write(tuple(rows.values()))

    def bequeath(self, gone: Written) -> None:
        """Hand on folders that are not empty yet to another file of ours in them, which may be their last."""
        for row in self.rows().values():
            mine = [folder for folder in gone.folders if PurePath(row.path).is_relative_to(folder)]
            if mine:
                folders = tuple(dict.fromkeys((*mine, *row.folders)))
                self.put(row.path, msgspec.structs.replace(row, folders=folders))
                return
