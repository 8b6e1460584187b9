"""TinyDB over a journal: its tables, queries and documents, without its rewriting of the whole file."""

import copy
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from sidecar.store.ids import Ids
from sidecar.store.journals import Journal
from sidecar.store.lines import Document, Op
from sidecar.store.locks import Lock
from sidecar.store.rows import is_indexable

Tables = dict[str, dict[str, Document]]


class JournalStorage(Storage):
    """A TinyDB storage that writes what changed, under the store's lock."""

    def __init__(self, journal: Journal, lock: Lock, ids: Ids) -> None:
        """Stand on a journal; the lock is the store's own."""
        self.journal = journal
        self.lock = lock
        self.ids = ids

    def read(self) -> Tables:
        """Give all tables as they are now, for anyone to keep and change."""
        with self.journal.mutex:
            self.journal.refresh()
            rows = {
                name: dict(rows.documents) for name, rows in self.journal.tables.items() if rows
            }
            return copy.deepcopy(rows)

    def write(self, data: Tables) -> None:
        """Make the tables equal to `data`, as one transaction."""
        with self.lock.held():
            self.journal.refresh()
            ops: list[Op] = []
            for name in self.journal.tables.keys() | data.keys():
                changes = Changes(self.journal.rows(name).documents)
                changes.become(data.get(name, {}))
                ops.extend(changes.ops(name))
            if ops:
                self.journal.append(ops)

    def close(self) -> None:
        """Give the file back."""
        self.journal.close()


class JournalTable(Table):
    """A TinyDB table whose every update is one line, and whose equality queries use an index."""

    document_id_class = str  # type: ignore[assignment]  # TinyDB types ids as int but allows any class
    _storage: JournalStorage

    def search(self, cond: QueryLike) -> list[TinyDocument]:
        """Search by index where the query demands equal values, and never from a stale cache."""
        journal = self._storage.journal
        with journal.mutex:
            journal.refresh()
            rows = journal.rows(self.name)
            demands = _equalities(getattr(cond, "_hash", None))
            keys = rows.where(*demands[0]) if demands else list(rows.documents)
            candidates = [(key, rows.documents[key]) for key in keys]
        return [
            self.document_class(document, key)  # type: ignore[arg-type]  # ids are strings here
            for key, document in candidates
            if cond(document)
        ]

    def get(self, cond: Any = None, doc_id: Any = None, doc_ids: Any = None) -> Any:  # noqa: ANN401  # TinyDB's own signature
        """Get one document by id, or the first that a query finds."""
        if doc_id is not None:
            journal = self._storage.journal
            with journal.mutex:
                journal.refresh()
                document = journal.rows(self.name).documents.find(str(doc_id))
            return None if document is None else self.document_class(document, doc_id)
        if cond is not None and doc_ids is None:
            return next(iter(self.search(cond)), None)
        return super().get(cond, doc_id, doc_ids)

    def __len__(self) -> int:
        """Count the documents, reading none."""
        journal = self._storage.journal
        with journal.mutex:
            journal.refresh()
            return len(journal.rows(self.name))

    def _read_table(self) -> dict[str, Mapping[Any, Any]]:
        journal = self._storage.journal
        with journal.mutex:
            journal.refresh()
            return dict(journal.rows(self.name).documents)

    def _update_table(self, updater: Callable[[Any], None]) -> None:
        with self._storage.lock.held():
            journal = self._storage.journal
            journal.refresh()
            changes = Changes(journal.rows(self.name).documents)
            updater(changes)
            ops = changes.ops(self.name)
            if ops:
                journal.append(ops)

    def _get_next_id(self) -> Any:  # noqa: ANN401  # TinyDB types ids as int
        return self._storage.ids.next()


class JournalDatabase(TinyDB):
    """TinyDB with our table class."""

    table_class = JournalTable

    @property
    def journal(self) -> Journal:
        """The journal below."""
        storage: JournalStorage = self.storage  # type: ignore[assignment]  # the one we are made with
        return storage.journal


class Changes(MutableMapping[str, Document]):
    """A table as an updater may change it; what it was given are copies."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        """Look at documents that stay as they are."""
        self._documents = documents
        self._touched: dict[str, Document | None] = {}

    def __getitem__(self, key: str) -> Document:
        """Give a deep copy, for callbacks that change documents in place."""
        if key not in self._touched:
            self._touched[key] = copy.deepcopy(self._documents[key])
        document = self._touched[key]
        if document is None:
            raise KeyError(key)
        return document

    def __setitem__(self, key: str, document: Document) -> None:
        """Note a new or changed document."""
        self._touched[key] = document

    def __delitem__(self, key: str) -> None:
        """Note a removal."""
        if key not in self:
            raise KeyError(key)
        self._touched[key] = None

    def __contains__(self, key: object) -> bool:
        """Tell whether the document is there after the changes so far."""
        if key in self._touched:
            return self._touched[key] is not None
        return key in self._documents

    def __iter__(self) -> Iterator[str]:
        """Go through the ids that are there."""
        keys = dict.fromkeys([*self._documents, *self._touched])
        return iter([key for key in keys if key in self])

    def __len__(self) -> int:
        """Count the documents that are there."""
        return sum(1 for _ in self)

    def become(self, documents: Mapping[str, Document]) -> None:
        """Change everything that differs from `documents`."""
        for key in self._documents.keys() - documents.keys():
            del self[key]
        self._touched.update(documents)

    def ops(self, table: str) -> list[Op]:
        """Say what really changed."""
        return [
            (table, key, document)
            for key, document in self._touched.items()
            if document != self._documents.get(key)
        ]


def _equalities(query: Any) -> list[tuple[str, Any]]:  # noqa: ANN401  # TinyDB's query hashes are untyped
    """Find the `field == value` demands that every match of a TinyDB query meets."""
    match query:
        case ("==", (str() as field,), value) if is_indexable(value):
            return [(field, value)]
        case ("and", frozenset() as parts):
            return [demand for part in parts for demand in _equalities(part)]
        case _:
            return []
