"""Typed records in a TinyDB table."""

import logging
from collections.abc import Mapping
from typing import Generic, TypeVar

import msgspec
from tinydb import where

from protocol.values import Record
from sidecar.store.lines import Document, Op
from sidecar.store.tables import JournalDatabase, JournalTable

T = TypeVar("T", bound=Record)

_log = logging.getLogger(__name__)


class Shelf(Generic[T]):
    """The records of one kind; `find` looks up by equal fields, spelled as on the wire."""

    def __init__(self, database: JournalDatabase, name: str, kind: type[T]) -> None:
        """Stand on a table of this database."""
        self.name = name
        self._kind = kind
        self._table: JournalTable = database.table(name)  # type: ignore[assignment]  # our table_class
        self._journal = database.journal
        self._known: dict[str, tuple[Document, T]] = {}
        self._records: dict[str, T] = {}
        self._seen = -1

    def get(self, identifier: str) -> T | None:
        """Read one record."""
        document = self.peek(identifier)
        return None if document is None else self.read(document)

    def peek(self, identifier: str) -> Document | None:
        """Give one record's document as it is kept; it is not to be changed."""
        with self._journal.mutex:
            self._journal.refresh()
            return self._journal.rows(self.name).documents.get(identifier)

    def __contains__(self, identifier: str) -> bool:
        """Tell whether there is such a record."""
        return self.peek(identifier) is not None

    def ids(self) -> list[str]:
        """List the ids of all records."""
        with self._journal.mutex:
            self._journal.refresh()
            return list(self._journal.rows(self.name).documents)

    def all(self) -> list[T]:
        """Read every record; those that have not changed come from memory."""
        return list(self.by_id().values())

    def by_id(self) -> Mapping[str, T]:
        """Give every record by its id: the same mapping and the same records until they change."""
        with self._journal.mutex:
            self._journal.refresh()
            if self._seen != self._journal.revision:
                documents = self._journal.rows(self.name).documents
                read = ((key, self._reread(key, documents[key])) for key in documents)
                self._known = {key: known for key, known in read if known is not None}
                self._records = {key: record for key, (_, record) in self._known.items()}
                self._seen = self._journal.revision
            return self._records

    def find(self, field: str, value: str) -> list[T]:
        """Read the records whose field has this value, by index."""
        return [self.read(document) for document in self._table.search(where(field) == value)]

    def put(self, identifier: str, record: T) -> Op:
        """Say how to write a record; `Journal.append` does it."""
        return (self.name, identifier, msgspec.to_builtins(record))

    def drop(self, identifier: str) -> Op:
        """Say how to remove a record; `Journal.append` does it."""
        return (self.name, identifier, None)

    def __len__(self) -> int:
        """Count the records."""
        return len(self._table)

    def _reread(self, key: str, document: Document) -> tuple[Document, T] | None:
        known = self._known.get(key)
        if known is not None and known[0] is document:
            return known
        try:
            return document, self.read(document)
        except msgspec.ValidationError as error:
            # One record that is not as it should be must not hide the others.
            _log.warning("%s %s cannot be read: %s", self.name, key, error)
            return None

    def read(self, document: Document) -> T:
        """Type a document of this shelf."""
        return msgspec.convert(document, self._kind)
