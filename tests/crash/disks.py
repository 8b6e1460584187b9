"""What a disk may hold after a power cut, told by a record of file operations.

Names change in the order in which they were changed, folder by folder, as journalling file systems have it; they are
sure once their folder is synced. What was written to a file is sure once the file is synced; of anything later any
part may be there, in any order, sector by sector.
"""

import os
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.crash.theatre import MKDIR, OPEN, RENAME, SYNC, TRUNCATE, UNLINK, WRITE

NOTE = 0
SECTOR = 512


class Operation(NamedTuple):
    """Something that a process did, or was told."""

    kind: int
    path: str
    offset: int
    data: bytes


def read(path: Path) -> list[Operation]:
    """Read what `faults.c` has recorded."""
    return list(_read(path.read_bytes()))


def _read(data: bytes) -> Iterator[Operation]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        offset, size = struct.unpack_from("=QQ", data, at + 8)
        at += 24
        path = os.fsdecode(data[at : at + length])
        at += length
        yield Operation(kind, path, offset, data[at : at + size])
        at += size


@dataclass
class _File:
    sure: bytes = b""
    waiting: list[Operation] = field(default_factory=list)

    def after_cut(self, chance: random.Random) -> bytes:
        manner = chance.choice(["none", "all", "first", "any", "any"])
        kept = bytearray(self.sure)
        last = chance.randrange(len(self.waiting) + 1) if manner == "first" else len(self.waiting)
        for index, operation in enumerate(self.waiting[:last]):
            is_torn = manner == "any" or (manner == "first" and index == last - 1)
            if manner != "none":
                _apply(kept, operation, chance if is_torn else None)
        return bytes(kept)

    def settle(self) -> None:
        kept = bytearray(self.sure)
        for operation in self.waiting:
            _apply(kept, operation, None)
        self.sure, self.waiting = bytes(kept), []


def _apply(content: bytearray, operation: Operation, chance: random.Random | None) -> None:
    """Do an operation, or as much of it as chance wills."""
    if operation.kind == TRUNCATE:
        if chance is None or chance.random() < 0.5:
            del content[operation.offset :]
            content.extend(bytes(operation.offset - len(content)))
        return
    for start in range(0, len(operation.data), SECTOR):
        if chance is not None and chance.random() < 0.5:
            continue
        part, at = operation.data[start : start + SECTOR], operation.offset + start
        content.extend(bytes(max(0, at - len(content))))
        content[at : at + len(part)] = part


_Names = dict[str, "_File | None"]
"""Files by path; None for a folder."""


class Disk:
    """Files as processes see them, and what of them would survive."""

    def __init__(self, folder: Path) -> None:
        self._sure: _Names = {}
        for path in sorted(folder.rglob("*")):
            self._sure[str(path)] = _File(path.read_bytes()) if path.is_file() else None
        self._seen: _Names = dict(self._sure)
        self._renamings: list[Operation] = []
        """Changes of names that are not sure yet."""
        self._made: dict[int, _File] = {}

    def follow(self, operation: Operation) -> None:
        """Take an operation into account."""
        file = self._seen.get(operation.path)
        if operation.kind in (WRITE, TRUNCATE):
            if file is not None:
                file.waiting.append(operation)
        elif operation.kind == SYNC:
            if file is not None:
                file.settle()
            else:
                self._settle_names(operation.path)
        elif operation.kind in (OPEN, MKDIR, RENAME, UNLINK):
            if operation.kind == OPEN:
                self._made[id(operation)] = _File()
            self._renamings.append(operation)
            self._rename(self._seen, operation)

    def after_cut(self, chance: random.Random) -> dict[str, bytes | None]:
        """Return what is there when the machine comes back."""
        names = dict(self._sure)
        folders = {folder for operation in self._renamings for folder in _folders(operation)}
        lasts = {folder: chance.randrange(len(self._renamings) + 1) for folder in sorted(folders)}
        for index, operation in enumerate(self._renamings):
            if all(index < lasts[folder] for folder in _folders(operation)):
                self._rename(names, operation)
        content = {
            path: None if file is None else file.after_cut(chance) for path, file in names.items()
        }
        # The shared memory of SQLite's connections is written through a map: anything may be in it.
        for path, data in content.items():
            if path.endswith("-shm") and data is not None:
                content[path] = chance.choice([b"", bytes(len(data)), chance.randbytes(32768)])
        return content

    def _settle_names(self, folder: str) -> None:
        later: list[Operation] = []
        for operation in self._renamings:
            if folder in _folders(operation):
                self._rename(self._sure, operation)
            else:
                later.append(operation)
        self._renamings = later

    def _rename(self, names: _Names, operation: Operation) -> None:
        path = operation.path
        if operation.kind == OPEN:
            names[path] = self._made[id(operation)]
        elif operation.kind == MKDIR:
            names[path] = None
        elif operation.kind == UNLINK:
            names.pop(path, None)
        elif path in names:
            target = os.fsdecode(operation.data)
            moved = [name for name in names if name == path or name.startswith(f"{path}/")]
            for name in moved:
                names[target + name[len(path) :]] = names.pop(name)


def _folders(operation: Operation) -> set[str]:
    paths = [operation.path]
    if operation.kind == RENAME:
        paths.append(os.fsdecode(operation.data))
    return {os.path.dirname(path) for path in paths}  # noqa: PTH120  # as it was spelled


def write(content: dict[str, bytes | None], original: Path, folder: Path) -> None:
    """Put what survived into another folder; what lies below a folder that did not is lost."""
    folder.mkdir(parents=True)
    for path in sorted(content):
        target = folder / Path(path).relative_to(original)
        data = content[path]
        if not target.parent.is_dir():
            continue
        if data is None:
            target.mkdir(mode=0o700, exist_ok=True)
        else:
            target.write_bytes(data)
            target.chmod(0o600)
