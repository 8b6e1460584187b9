"""What can be computed again, in a file that may be deleted at any time: any error there means "not cached"."""

import contextlib
import itertools
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from protocol.errors import StorageFailedError, ThreadlineError
from sidecar.search.rules.similarities import DIMENSION, MODEL
from sidecar.storage import prepared
from sidecar.storage.database import DamagedError, Database, deadline
from sidecar.text.hashing import blake2b

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


T = TypeVar("T")

NAME = prepared.CACHE
_VERSION = 2
_SCHEMA = (
    """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, edition TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS passages (digest BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (id TEXT PRIMARY KEY, digest BLOB NOT NULL, data BLOB NOT NULL);
"""
    + prepared.SCHEMA
)
_PATIENCE = 0.2
_DIGEST = 16
_NUMBER = 8
_REACH = "embedded texts"
_AT_ONCE = 500
"""Texts in one query."""

_log = logging.getLogger(__name__)


class Cache:
    """Values by name, and whatever else can be computed again."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path, _SCHEMA, _VERSION, is_durable=False)
        self.database.before_open = self._check_folder
        self.close = self.database.close

    def _check_folder(self) -> None:
        # The folder of a purged project must not come back.
        if not self.database.path.parent.exists():
            raise StorageFailedError(f"cannot use {self.database.path}: its project is gone")

    def get(self, name: str, kind: type[T], edition: str = "") -> T | None:
        """Return a value that was put by the same edition of its maker, or None."""
        query = "SELECT data FROM facts WHERE name = ? AND edition = ?"
        rows = self.rows(query, (name, edition))
        try:
            return msgspec.msgpack.decode(rows[0][0], type=kind) if rows else None
        except msgspec.DecodeError as error:
            _log.debug("no cache: %s", error)
            return None

    def put(self, name: str, value: object, edition: str = "") -> None:
        """Keep a value in place of the one before."""
        row = (name, edition, msgspec.msgpack.encode(value))
        self.write("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", [row])

    def drop(self, *names: str) -> None:
        """Forget values for good; an error is raised, since somebody relies on it."""
        self.change("DELETE FROM facts WHERE name = ?", [(name,) for name in names])

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a query and return all its rows; none where the cache fails."""
        return self.trying(lambda: self.database.rows(query, values), [])

    def write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row; where the cache fails nothing is kept."""
        self.trying(lambda: self.change(statement, rows), None)

    def change(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row; an error is raised, since somebody relies on it."""
        with self.database.transaction():
            self.database.execute_all(statement, rows)

    def trying(self, action: Callable[[], T], otherwise: T) -> T:
        """Return what an action on the cache returns; where the cache fails it is none, and a damaged one goes."""
        try:
            with deadline(_PATIENCE):
                return action()
        except DamagedError as error:
            _log.warning("%s; it is made anew", error)
            self.discard()
        except (ThreadlineError, OSError) as error:
            _log.debug("no cache: %s", error)
        return otherwise

    def discard(self) -> None:
        """Delete the file."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{self.database.path}{suffix}").unlink(missing_ok=True)


class Vectors:
    """The vectors of memories' texts, in half precision, which moves a cosine by less than 0.001."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._mutex = threading.Lock()
        self._matrix: tuple[int, Matrix] | None = None

    def count(self) -> int:
        """Count the memories that have a vector."""
        return sum(row[0] for row in self._cache.rows("SELECT count(*) FROM vectors"))

    def lacking(self, texts: Mapping[str, str]) -> list[str]:
        """Return the memories whose vector is missing or was made of another text."""
        known = self._digests()
        return [key for key, text in texts.items() if known.get(key) != _digest(text)]

    def unlike(self, meanings: Mapping[str, int]) -> list[str]:
        """Name the same, told by what `meaning` returns for their texts."""
        known = self._digests()
        return [key for key, wanted in meanings.items() if _number(known.get(key, b"")) != wanted]

    def add(self, texts: Mapping[str, str], vectors: "NDArray[np.float32]") -> None:
        """Keep the vectors of memories' texts, row by row."""
        rows = [
            (key, _digest(text), vector.astype("<f2").tobytes())
            for (key, text), vector in zip(texts.items(), vectors, strict=True)
        ]
        statement = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)"
        self._cache.trying(lambda: self._change(statement, rows), None)

    def remove(self, memory_ids: Collection[str]) -> None:
        """Forget memories' vectors for good."""
        self._change("DELETE FROM vectors WHERE id = ?", [(key,) for key in memory_ids])

    def matrix(self) -> "Matrix":
        """Return all vectors; the same object until something changes."""
        import numpy as np  # noqa: PLC0415  # only who has vectors needs it

        database = self._cache.database
        revision = self._cache.trying(lambda: database.revisions().get("vectors", 0), 0)
        with self._mutex:
            if self._matrix is None or self._matrix[0] != revision:
                rows = [
                    row
                    for row in self._cache.rows("SELECT id, data FROM vectors")
                    if len(row[1]) == 2 * DIMENSION
                ]
                halves = np.frombuffer(b"".join(row[1] for row in rows), "<f2")
                vectors = halves.reshape(-1, DIMENSION).astype(np.float32)
                self._matrix = (revision, Matrix(tuple(row[0] for row in rows), vectors))
            return self._matrix[1]

    def _change(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._cache.database.transaction():
            self._cache.change(statement, rows)
            self._cache.database.next_seq("vectors")

    def _digests(self) -> dict[str, bytes]:
        return dict(self._cache.rows("SELECT id, digest FROM vectors"))


class Passages:
    """The vectors of passages by the hash of their text, in half precision."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def some(self, texts: Collection[str]) -> "dict[str, NDArray[np.float32]]":
        """Return the vectors of those texts whose meaning is known."""
        import numpy as np  # noqa: PLC0415  # only who has vectors needs it

        by_digest = {_digest(text): text for text in texts}
        keys = list(by_digest)
        known: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            query = f"SELECT digest, data FROM passages WHERE digest IN ({marks})"  # noqa: S608
            for digest, data in self._cache.rows(query, part):
                if len(data) == 2 * DIMENSION:
                    known[by_digest[digest]] = np.frombuffer(data, "<f2").astype(np.float32)
        return known

    def add(self, texts: Collection[str], vectors: "NDArray[np.float32]") -> None:
        """Keep the vectors of texts, row by row."""
        rows = [
            (_digest(text), vector.astype("<f2").tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]
        self._cache.write("INSERT OR REPLACE INTO passages VALUES (?, ?)", rows)

    def reach(self) -> tuple[int, int]:
        """Return the first and the last number of the texts whose passages were all embedded; (0, 0) for none."""
        return self._cache.get(_REACH, tuple[int, int]) or (0, 0)

    def note_reach(self, first: int, last: int) -> None:
        """Note that the passages of all texts between these numbers were embedded."""
        self._cache.put(_REACH, (first, last))

    def clear(self) -> None:
        """Forget all of them: a vector tells a little of its text."""
        self._cache.change("DELETE FROM passages", [()])
        self._cache.change("DELETE FROM facts WHERE name = ?", [(_REACH,)])


class Matrix:
    """The vectors of memories, one row each."""

    def __init__(self, memory_ids: tuple[str, ...], vectors: "NDArray[np.float32]") -> None:
        self.memory_ids = memory_ids
        self.vectors = vectors
        self.rows = {memory_id: row for row, memory_id in enumerate(memory_ids)}

    def compare(self, vector: "NDArray[np.float32]") -> "Cosines":
        """Return the cosines of all memories with a vector of length one."""
        return Cosines(self, self.vectors @ vector)


class Cosines:
    """What a comparison found; memories that have no vector have no cosine."""

    def __init__(self, matrix: Matrix, cosines: "NDArray[np.float32]") -> None:
        self._matrix = matrix
        self._cosines = cosines

    def best(self, count: int, is_wanted: Callable[[str], bool] | None) -> dict[str, float]:
        """Return the nearest of the wanted memories."""
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
        """Return the cosines of these memories, where there are any."""
        rows = self._matrix.rows
        known = [memory_id for memory_id in memory_ids if memory_id in rows]
        if not known:
            return {}
        return dict(zip(known, self._cosines[[rows[key] for key in known]].tolist(), strict=True))


def meaning(text: str) -> int:
    """Return a number for a text: another text has another one."""
    return _number(_digest(text))


def _digest(text: str) -> bytes:
    return blake2b(f"{MODEL}\0{text}".encode(), digest_size=_DIGEST).digest()


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:_NUMBER], "little")
