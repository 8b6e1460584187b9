"""Vectors of memories, in the deletable cache: one record of fixed size each, checked by itself.

A record says whose vector it is, of which text (hashed), and sums itself up. A later record of the same memory
replaces an earlier one. What is torn, foreign or of another model is no vector: it is left out, and whoever writes
next takes it away. To forget a memory is to write the file anew without it.
"""

import itertools
import os
import struct
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.domain.hashing import blake2b
from sidecar.store import files
from sidecar.store.locks import Lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HEADER = 128
_NONCE = 16
_ID, _DIGEST, _SUM = 26, 16, 4
_NUMBER = 8
_FLOAT = 2
"""Bytes of a number on the disk: half precision moves a cosine by less than 0.001."""


class Vectors:
    """The vectors of one project; many processes and threads may use the same file."""

    def __init__(self, path: Path, lock: Lock, model: str, dimension: int) -> None:
        """Name the file, the store's lock, and what the vectors are made by."""
        self._path = path
        self._lock = lock
        self._name = f"threadline vectors 1 {model} {dimension} ".encode()
        self._dimension = dimension
        self._size = _ID + _DIGEST + _FLOAT * dimension + _SUM
        self._mutex = threading.RLock()
        self._seen: tuple[int, int, int] | None = None
        self._header = b""
        self._read = 0
        self._rows: dict[str, bytes] = {}
        """The text's digest and the vector of each memory, as on the disk."""
        self._matrix: Matrix | None = None

    def count(self) -> int:
        """Count the memories that have a vector."""
        with self._mutex:
            self._refresh()
            return len(self._rows)

    def lacking(self, texts: Mapping[str, str]) -> list[str]:
        """Name the memories whose vector is missing or was made of another text."""
        with self._mutex:
            self._refresh()
            return [
                memory_id
                for memory_id, text in texts.items()
                if self._rows.get(memory_id, b"")[:_DIGEST] != _digest(text)
            ]

    def unlike(self, meanings: Mapping[str, int]) -> list[str]:
        """Name the same, told by what `meaning` gives for their texts."""
        with self._mutex:
            self._refresh()
            return [
                memory_id
                for memory_id, wanted in meanings.items()
                if _number(self._rows.get(memory_id, b"")) != wanted
            ]

    def add(self, texts: Mapping[str, str], vectors: "NDArray[np.float32]") -> None:
        """Keep the vectors of memories' texts, row by row; a lost one costs its making, so no sync."""
        if any(len(memory_id.encode()) > _ID for memory_id in texts):
            raise ValueError(f"an id of more than {_ID} bytes does not fit a record")
        rows = {
            memory_id: _digest(text) + vector.astype("<f2").tobytes()
            for (memory_id, text), vector in zip(texts.items(), vectors, strict=True)
        }
        with self._lock.held(), self._mutex:
            self._refresh()
            if not self._is_whole() or rows.keys() & self._rows.keys():
                self._replace(self._rows | rows)
            else:
                self._append(rows)
            self._refresh()

    def remove(self, memory_ids: Collection[str]) -> None:
        """Take memories' vectors off the disk; nothing of them stays in the file."""
        with self._lock.held(), self._mutex:
            self._refresh()
            gone = set(memory_ids)
            kept = {key: row for key, row in self._rows.items() if key not in gone}
            # A damaged, replaced or foreign record may be theirs, too.
            if not self._holds_only(kept):
                self._replace(kept)
                self._refresh()

    def matrix(self) -> "Matrix":
        """Give all vectors; the same object until something changes."""
        import numpy as np  # noqa: PLC0415  # only who has vectors needs it

        with self._mutex:
            self._refresh()
            if self._matrix is None:
                data = b"".join(row[_DIGEST:] for row in self._rows.values())
                halves = np.frombuffer(data, "<f2").reshape(-1, self._dimension)
                self._matrix = Matrix(tuple(self._rows), halves.astype(np.float32))
            return self._matrix

    def _refresh(self) -> None:
        """Catch up with the file as it is now, whoever wrote, replaced or deleted it."""
        try:
            descriptor = files.open_private(self._path, os.O_RDONLY)
        except FileNotFoundError:
            self._forget(b"")
            self._seen = None
            return
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            seen = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
            if seen == self._seen:
                return
            header = file.read(_HEADER)
            if header != self._header or facts.st_size < self._read:
                self._forget(header if self._is_ours(header) else b"")
            if self._header:
                file.seek(self._read)
                self._learn(file.read())
            self._seen = seen

    def _is_ours(self, header: bytes) -> bool:
        return len(header) == _HEADER and header.startswith(self._name)

    def _forget(self, header: bytes) -> None:
        self._header, self._read, self._rows, self._matrix = header, _HEADER, {}, None

    def _learn(self, data: bytes) -> None:
        """Take in whole records; the rest may be still being written."""
        for start in range(0, len(data) - self._size + 1, self._size):
            record = data[start : start + self._size]
            if struct.unpack("<I", record[-_SUM:])[0] == zlib.crc32(record[:-_SUM]):
                memory_id = record[:_ID].rstrip(b"\0").decode(errors="replace")
                self._rows[memory_id] = record[_ID:-_SUM]
            self._read += self._size
            self._matrix = None

    def _is_whole(self) -> bool:
        """Tell whether the file is ours and ends with a whole record."""
        return bool(self._header) and self._seen is not None and self._seen[1] == self._read

    def _holds_only(self, rows: Mapping[str, bytes]) -> bool:
        """Tell whether the file has one good record for each of these, and nothing else."""
        size = self._seen[1] if self._seen else 0
        return size in {0, _HEADER + self._size * len(rows)}

    def _append(self, rows: Mapping[str, bytes]) -> None:
        descriptor = files.open_private(self._path)
        try:
            files.append(descriptor, b"".join(map(_record, rows, rows.values())), self._path)
        finally:
            os.close(descriptor)

    def _replace(self, rows: Mapping[str, bytes]) -> None:
        files.ensure_folder(self._path.parent)
        header = (self._name + os.urandom(_NONCE).hex().encode()).ljust(_HEADER - 1, b".") + b"\n"
        files.replace(self._path, header + b"".join(map(_record, rows, rows.values())))


class Matrix:
    """The vectors of memories, one row each."""

    def __init__(self, memory_ids: tuple[str, ...], vectors: "NDArray[np.float32]") -> None:
        """Stand on an array in the order of the ids."""
        self.memory_ids = memory_ids
        self.vectors = vectors
        self.rows = {memory_id: row for row, memory_id in enumerate(memory_ids)}

    def compare(self, vector: "NDArray[np.float32]") -> "Cosines":
        """Give the cosines of all memories with a vector of length one."""
        return Cosines(self, self.vectors @ vector)


class Cosines:
    """What a comparison found; memories that have no vector have no cosine."""

    def __init__(self, matrix: Matrix, cosines: "NDArray[np.float32]") -> None:
        """Stand on an array in the order of the matrix."""
        self._matrix = matrix
        self._cosines = cosines

    def best(self, count: int, is_wanted: Callable[[str], bool] | None) -> dict[str, float]:
        """Give the nearest of the wanted memories."""
        import numpy as np  # noqa: PLC0415  # only who has vectors needs it

        ids = self._matrix.memory_ids
        if is_wanted is not None:
            ordered = np.argsort(-self._cosines, kind="stable").tolist()
            wanted = itertools.islice((row for row in ordered if is_wanted(ids[row])), count)
            return self.of(ids[row] for row in wanted)
        if count >= len(ids):
            return self.of(ids)
        nearest = np.argpartition(-self._cosines, count)[:count]
        return self.of(ids[row] for row in nearest.tolist())

    def of(self, memory_ids: Iterable[str]) -> dict[str, float]:
        """Give the cosines of these memories, where there are any."""
        rows = self._matrix.rows
        known = [memory_id for memory_id in memory_ids if memory_id in rows]
        if not known:
            return {}
        return dict(zip(known, self._cosines[[rows[key] for key in known]].tolist(), strict=True))


def meaning(text: str) -> int:
    """Give a number for a text: another text has another one."""
    return _number(_digest(text))


def _number(row: bytes) -> int:
    return int.from_bytes(row[:_NUMBER], "little")


def _record(memory_id: str, row: bytes) -> bytes:
    body = memory_id.encode().ljust(_ID, b"\0") + row
    return body + struct.pack("<I", zlib.crc32(body))


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=_DIGEST).digest()
