"""Typed records in a TinyDB table."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from tinydb import where

from protocol.values import Record
from sidecar.store import lines
from sidecar.store.lines import Document, Kept, Op
from sidecar.store.tables import JournalDatabase, JournalTable

T = TypeVar("T", bound=Record)

_log = logging.getLogger(__name__)


class Revision(NamedTuple):
    """A state of a table: where two are equal nothing was written to it in between, by whoever."""

    generation: int
    number: int


NEVER = Revision(-1, 0)
"""Before anything was seen."""
_TYPED = 2_000
"""Records that are remembered beside those that are read all at once."""


class Shelf(Generic[T]):
    """The records of one kind; `find` looks up by equal fields, spelled as on the wire."""

    def __init__(self, database: JournalDatabase, name: str, kind: type[T]) -> None:
        """Stand on a table of this database."""
        self.name = name
        self._kind = kind
        self._table: JournalTable = database.table(name)  # type: ignore[assignment]  # our table_class
        self._journal = database.journal
        self._decoder: msgspec.json.Decoder[T] | None = None
        self._records: dict[str, T] = {}
        self._seen = NEVER
        self._typed: dict[str, tuple[Kept, T]] = {}
        """Records that were read one by one lately, each with the document that it was read from."""

    @property
    def revision(self) -> Revision:
        """Tell which state the table is in now; it costs one look at the file."""
        with self._journal.mutex:
            self._journal.refresh()
            return Revision(self._journal.generation, self._journal.rows(self.name).revision)

    def changes(self, since: Revision) -> tuple[Revision, set[str] | None]:
        """Name the records that were written or removed since then; None where any may have been."""
        with self._journal.mutex:
            now = self.revision
            if now.generation != since.generation:
                return now, None
            return now, self._journal.rows(self.name).since(since.number)

    def get(self, identifier: str) -> T | None:
        """Read one record."""
        with self._journal.mutex:
            self._journal.refresh()
            document = self._journal.rows(self.name).documents.kept.get(identifier)
        return None if document is None else self._type(identifier, document)

    def some(self, identifiers: Iterable[str]) -> dict[str, T]:
        """Read those of the records that are there and can be read."""
        with self._journal.mutex:
            self._journal.refresh()
            kept = self._journal.rows(self.name).documents.kept
            found = {key: kept[key] for key in identifiers if key in kept}
        typed = ((key, self._try(key, document)) for key, document in found.items())
        return {key: record for key, record in typed if record is not None}

    def peek(self, identifier: str) -> Document | None:
        """Give one record's document as it is kept; it is not to be changed."""
        with self._journal.mutex:
            self._journal.refresh()
            return self._journal.rows(self.name).documents.find(identifier)

    def fingerprints(self) -> dict[str, int]:
        """Give a number for each record that is another one when the record is."""
        with self._journal.mutex:
            self._journal.refresh()
            return self._journal.rows(self.name).fingerprints()

    def fingerprints_of(self, identifiers: Iterable[str]) -> dict[str, int]:
        """Give the same for those of these records that are there."""
        with self._journal.mutex:
            self._journal.refresh()
            kept = self._journal.rows(self.name).documents.kept
            return {key: lines.fingerprint(kept[key]) for key in identifiers if key in kept}

    def __contains__(self, identifier: str) -> bool:
        """Tell whether there is such a record."""
        with self._journal.mutex:
            self._journal.refresh()
            return identifier in self._journal.rows(self.name).documents.kept

    def ids(self, first: str = "") -> list[str]:
        """List the ids of all records, or of those alone that are not less than one, in their order."""
        with self._journal.mutex:
            self._journal.refresh()
            rows = self._journal.rows(self.name)
            return rows.from_on(first) if first else list(rows.documents.kept)

    def values(self, field: str, first: str = "") -> set[Any]:
        """Give what stands in a field of all records, or of those alone whose ids are not less than one; none is read."""
        with self._journal.mutex:
            self._journal.refresh()
            kept, see = self._journal.rows(self.name).documents.kept, lines.glimpse(field)
            return {see(document) for key, document in kept.items() if key >= first}

    def glimpses(self, identifiers: Iterable[str], *fields: str) -> dict[str, tuple[Any, ...]]:
        """Give two fields or more, as they stand on the wire, of those records that are there; none is read whole."""
        with self._journal.mutex:
            self._journal.refresh()
            kept, see = self._journal.rows(self.name).documents.kept, lines.glimpse(*fields)
            return {key: see(kept[key]) for key in identifiers if key in kept}

    def all(self) -> list[T]:
        """Read every record; those that have not changed come from memory."""
        return list(self.by_id().values())

    def by_id(self) -> Mapping[str, T]:
        """Give every record by its id: the same mapping and the same records until they change."""
        with self._journal.mutex:
            now, changed = self.changes(self._seen)
            if now != self._seen:
                self._records = self._read_all() if changed is None else self._reread(changed)
                self._seen = now
            return self._records

    def find(self, field: str, value: str) -> list[T]:
        """Read the records whose field has this value, by index."""
        return [self.read(document) for document in self._table.search(where(field) == value)]

    def tally(self, *fields: str) -> dict[tuple[Any, ...], int]:
        """Count the records by the values of two fields or more, by index."""
        with self._journal.mutex:
            self._journal.refresh()
            index = self._journal.rows(self.name).index(*fields)
            return {values: len(ids) for values, ids in index.items()}

    def put(self, identifier: str, record: T) -> Op:
        """Say how to write a record; `Journal.append` does it."""
        return (self.name, identifier, msgspec.to_builtins(record))

    def drop(self, identifier: str) -> Op:
        """Say how to remove a record; `Journal.append` does it."""
        return (self.name, identifier, None)

    def __len__(self) -> int:
        """Count the records."""
        return len(self._table)

    def read(self, document: Kept) -> T:
        """Type a document of this shelf."""
        if not isinstance(document, msgspec.Raw):
            return msgspec.convert(document, self._kind)
        if self._decoder is None:
            self._decoder = msgspec.json.Decoder(self._kind)
        return self._decoder.decode(document)

    def _read_all(self) -> dict[str, T]:
        """Read everything; what says the same as before stays the same object."""
        known = self._records
        rows = self._journal.rows(self.name).documents.kept.items()
        typed = ((key, self._try(key, document, keep=False)) for key, document in rows)
        found = ((key, record) for key, record in typed if record is not None)
        return {key: old if (old := known.get(key)) == one else one for key, one in found}

    def _reread(self, changed: Iterable[str]) -> dict[str, T]:
        """Give a new mapping: who holds the previous one goes on to see what was."""
        records = dict(self._records)
        found = self.some(changed)
        for key in changed:
            if key in found:
                records[key] = found[key]
            else:
                records.pop(key, None)
        return records

    def _type(self, key: str, document: Kept) -> T:
        """Type a document, unless that was done lately: while it is the same object, so is its record."""
        known = self._typed.get(key)
        if known is not None and known[0] is document:
            return known[1]
        record = self.read(document)
        if len(self._typed) >= _TYPED:
            self._typed.clear()
        self._typed[key] = (document, record)
        return record

    def _try(self, key: str, document: Kept, *, keep: bool = True) -> T | None:
        try:
            return self._type(key, document) if keep else self.read(document)
        except msgspec.ValidationError as error:
            # One record that is not as it should be must not hide the others.
            _log.warning("%s %s cannot be read: %s", self.name, key, error)
            return None
