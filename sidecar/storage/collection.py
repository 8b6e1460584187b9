"""Typed records in a TinyDB table."""

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from protocol.errors import StorageFailedError
from protocol.values import Record
from sidecar.storage import texts
from sidecar.storage.database import REMOVALS_KEPT
from sidecar.storage.engine import Document, DocumentTable, SQLiteStorage, column_value

T = TypeVar("T", bound=Record)

NEVER = 0
"""The revision before anything was written."""
_AT_ONCE = 500
"""Ids in one query."""

_log = logging.getLogger(__name__)


class Op(NamedTuple):
    """A change that `Vault.write` makes: a record under an id, or None to remove it."""

    collection: "Collection[Any]"
    identifier: str
    record: Record | None


class Collection(Generic[T]):
    """The records of one kind; fields are spelled as on the wire."""

    def __init__(
        self,
        storage: SQLiteStorage,
        name: str,
        kind: type[T],
        columns: tuple[str, ...] = (),
        width: int | None = None,
    ) -> None:
        self.name = name
        self.database = storage.database
        self.table = DocumentTable(storage, name, columns=columns, width=width, is_made=True)
        self._kind = kind
        self.text_of: Callable[[T], texts.Text | None] | None = None
        """Returns what a record is found by in the full-text index, where records of this kind are."""
        self._decoder: msgspec.json.Decoder[T] | None = None
        self._known: tuple[int, dict[str, tuple[int, T]], dict[str, T]] = (NEVER, {}, {})

    @functools.cached_property
    def fields(self) -> frozenset[str]:
        """The names of all fields that a record may have."""
        return frozenset(field.encode_name for field in msgspec.structs.fields(self._kind))

    # What changed

    @property
    def revision(self) -> int:
        """The number of the last change; where two are equal nothing was written in between, by anyone."""
        return self.database.revisions().get(self.name, NEVER)

    def changes(self, since: int) -> tuple[int, set[str] | None]:
        """Return the revision now and what was written or removed since; None where any may have been."""
        now = self.revision
        if now == since:
            return now, set()
        # Removals are not remembered for ever.
        if since == NEVER or not 0 <= self.database.sequence() - since < REMOVALS_KEPT:
            return now, None
        written = self.database.rows(f'SELECT id FROM "{self.name}" WHERE seq > ?', (since,))  # noqa: S608
        removed = self.database.rows(
            "SELECT id FROM removals WHERE seq > ? AND collection = ?", (since, self.name)
        )
        return now, {row[0] for row in (*written, *removed)}

    def fingerprints(self, identifiers: Iterable[str] | None = None) -> dict[str, int]:
        """Return a number for each record, or for these, that is another one when the record is."""
        query = f'SELECT id, seq << 32 | sum FROM "{self.name}"'  # noqa: S608
        if identifiers is None:
            return dict(self.database.rows(query))
        return dict(
            self._by_ids(
                identifiers, lambda clause, ids: self.database.rows(f"{query} {clause}", ids)
            )
        )

    # Reading

    def get(self, identifier: str) -> T | None:
        """Read one record."""
        return next((self._read(body) for _, body, _ in self._raw_of([identifier])), None)

    def some(self, identifiers: Iterable[str]) -> dict[str, T]:
        """Read those of the records that are there and can be read, in the order asked for."""
        wanted = list(dict.fromkeys(identifiers))
        found = self._typed(self._raw_of(wanted))
        return {key: found[key] for key in wanted if key in found}

    def peek(self, identifier: str) -> Document | None:
        """Return one record's document as it is kept."""
        return next((msgspec.json.decode(body) for _, body, _ in self._raw_of([identifier])), None)

    def search(self, condition: Callable[[Mapping[str, Any]], bool]) -> list[T]:
        """Read the records that pass a condition, the oldest change first."""
        return list(self._typed(self.table.pick(condition, "ORDER BY seq")).values())

    def pick(self, clause: str, values: Iterable[Any] = ()) -> list[T]:
        """Read the records that a clause of SQL picks, in its order."""
        return list(self._typed(self.table.raw(clause, values)).values())

    def find(self, name: str, value: str) -> list[T]:
        """Read the records whose field has this value, in the order of their ids."""
        if name in self.table.columns:
            return self.pick(f'WHERE "{name}" = ? ORDER BY id', [value])
        see = glimpse(name)
        rows = (row for row in self.table.raw("ORDER BY id") if see(row[1]) == (value,))
        return list(self._typed(rows).values())

    def __contains__(self, identifier: str) -> bool:
        """Whether there is such a record."""
        return bool(self.database.rows(f'SELECT 1 FROM "{self.name}" WHERE id = ?', (identifier,)))  # noqa: S608

    def __len__(self) -> int:
        """Count the records."""
        return len(self.table)

    def __bool__(self) -> bool:
        """Whether there is any record."""
        return bool(self.database.rows(f'SELECT 1 FROM "{self.name}" LIMIT 1'))  # noqa: S608

    def ids(self, first: str = "") -> list[str]:
        """Return the ids that are not less than `first`, in their order."""
        rows = self.database.rows(
            f'SELECT id FROM "{self.name}" WHERE id >= ? ORDER BY id',  # noqa: S608
            (first,),
        )
        return [row[0] for row in rows]

    def values(self, name: str, first: str = "") -> set[Any]:
        """Return what stands in a field of the records whose ids are not less than `first`."""
        if name in self.table.columns:
            query = f'SELECT DISTINCT "{name}" FROM "{self.name}" WHERE id >= ?'  # noqa: S608
            return {row[0] for row in self.database.rows(query, (first,))}
        see = glimpse(name)
        return {see(body)[0] for _, body, _ in self.table.raw("WHERE id >= ?", [first])}

    def glimpses(self, identifiers: Iterable[str], *fields: str) -> dict[str, tuple[Any, ...]]:
        """Return fields, as they stand on the wire, of those records that are there."""
        see = glimpse(*fields)
        return {key: see(body) for key, body, _ in self._raw_of(identifiers)}

    def tally(self, *columns: str) -> dict[tuple[Any, ...], int]:
        """Count the records by the values of columns."""
        names = ", ".join(f'"{column}"' for column in columns)
        rows = self.database.rows(f'SELECT {names}, count(*) FROM "{self.name}" GROUP BY {names}')  # noqa: S608
        return {tuple(values): count for *values, count in rows}

    def all(self) -> list[T]:
        """Read every record; those that have not changed come from memory."""
        return list(self.by_id().values())

    def by_id(self) -> Mapping[str, T]:
        """Return every record by its id: the same mapping and the same records until they change."""
        seen, kept, shown = self._known
        now, changed = self.changes(seen)
        if now == seen:
            return shown
        rows = self.table.raw("ORDER BY id") if changed is None else self._raw_of(sorted(changed))
        fresh = (
            {} if changed is None else {key: one for key, one in kept.items() if key not in changed}
        )
        for key, body, seq in rows:
            old = kept.get(key)
            record = old[1] if old and old[0] == seq else self._try(key, body)
            if record is not None:
                fresh[key] = (seq, record)
        shown = {key: record for key, (_, record) in fresh.items()}
        # What a transaction has not committed yet is for its own eyes only.
        if not self.database.has_touched(self.name):
            self._known = (now, fresh, shown)
        return shown

    # Writing

    def put(self, identifier: str, record: T) -> Op:
        """Return the change that sets a record; `Vault.write` makes it."""
        return Op(self, identifier, record)

    def drop(self, identifier: str) -> Op:
        """Return the change that removes a record; `Vault.write` makes it."""
        return Op(self, identifier, None)

    def apply(self, identifier: str, record: T | None) -> None:
        """Make a change, inside a transaction."""
        if record is None:
            self.table.discard(identifier)
            self._index(identifier, None)
        else:
            self.apply_all({identifier: record})

    def apply_all(self, records: Mapping[str, T]) -> None:
        """Set records by their ids, inside a transaction."""
        bodies = ((key, encode(record)) for key, record in records.items())
        self.table.store_all((key, body, self._columns(body)) for key, body in bodies)
        for key, record in records.items():
            self._index(key, record)

    def restore(self, identifier: str, body: bytes) -> None:
        """Store a document as it was written before, if it can be read."""
        record = self._read(body)
        self.table.store(identifier, body, self._columns(body))
        self._index(identifier, record)

    def rewrite(
        self, change: Callable[[str, Document], Document | None], rename: Callable[[str, str], str]
    ) -> int:
        """Change every document and its id, inside a transaction; return how many were changed or removed."""
        count = 0
        for key, body, _ in list(self.table.raw("ORDER BY seq")):
            document = msgspec.json.decode(body)
            changed, name = change(self.name, document), rename(self.name, key)
            if changed == document and name == key:
                continue
            count += 1
            self.table.discard(key)
            self._index(key, None)
            if changed is not None:
                free = next(new for new in _names(name) if new not in self)
                written = encode(changed)
                self.table.store(free, written, self._columns(written))
                self._index(free, self._read(written) if self.text_of else None)
        return count

    # Inside

    def _index(self, identifier: str, record: T | None) -> None:
        """Make a record findable by its words as it is now, where records of this kind are."""
        if self.text_of is None:
            return
        texts.remove(self.database, identifier)
        row = None if record is None else self.text_of(record)
        texts.put(self.database, [row and row._replace(id=identifier)])

    def _columns(self, body: bytes) -> list[Any]:
        names = self.table.columns
        return [column_value(value) for value in glimpse(*names)(body)] if names else []

    def _raw_of(self, identifiers: Iterable[str]) -> Iterator[tuple[str, bytes, int]]:
        return self._by_ids(identifiers, self.table.raw)

    def _by_ids(
        self, identifiers: Iterable[str], query: Callable[[str, list[str]], Iterable[Any]]
    ) -> Iterator[Any]:
        wanted = list(identifiers)
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            yield from query(f"WHERE id IN ({', '.join('?' * len(part))})", part)

    def _typed(self, rows: Iterable[tuple[str, bytes, int]]) -> dict[str, T]:
        tried = ((key, self._try(key, body)) for key, body, _ in rows)
        return {key: record for key, record in tried if record is not None}

    def _try(self, key: str, body: bytes) -> T | None:
        try:
            return self._read(body)
        except msgspec.DecodeError as error:
            # One record that cannot be read must not hide the others.
            _log.warning("%s %s cannot be read: %s", self.name, key, error)
            return None

    def _read(self, body: bytes) -> T:
        if self._decoder is None:
            self._decoder = msgspec.json.Decoder(self._kind)
        return self._decoder.decode(body)


def encode(document: Any) -> bytes:  # noqa: ANN401  # a record or a document
    """Write a document as JSON text; what JSON cannot hold is refused."""
    try:
        return msgspec.json.encode(document)
    except (UnicodeEncodeError, OverflowError, TypeError) as error:
        raise StorageFailedError(f"cannot store a document: {error}") from error


@functools.cache
def glimpse(*fields: str) -> Callable[[bytes], tuple[Any, ...]]:
    """Return what reads fields of a document, without reading the rest."""
    names = {f"field_{number}": name for number, name in enumerate(fields)}
    kind = msgspec.defstruct(
        "_Glimpse", [(name, Any, None) for name in names], rename=names, gc=False
    )
    decode = msgspec.json.Decoder(kind).decode
    return lambda body: msgspec.structs.astuple(decode(body))


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} {number}"
        number += 1
