"""TinyDB documents in SQLite: its tables and queries, with one row for each document.

A row has the document as JSON text, a checksum of it, the number of the change that wrote it, and a real column
for each field that is looked up by value. Stock TinyDB rewrites its whole file on every change.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.storages import Storage
from tinydb.table import Document as TinyDocument
from tinydb.table import Table

from protocol.errors import StorageFailedError
from sidecar.storage.conditions import Condition
from sidecar.storage.database import Database

Document = dict[str, Any]

_BY_ID = "ORDER BY length(id), id"
"""As TinyDB gives documents: its ids are numbers, and grow. A change moves none."""
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1

_log = logging.getLogger(__name__)


def checksum(table: str, identifier: str, body: bytes) -> int:
    """Return the sum that a row carries: another table, id or text has another one."""
    return crc32(body, crc32(f"{table}\0{identifier}".encode()))


class DocumentTable(Table):
    """A TinyDB table whose documents are rows; `raw` gives them unread."""

    _storage: "SQLiteStorage"

    def __init__(self, storage: "SQLiteStorage", name: str, **options: Any) -> None:  # noqa: ANN401  # TinyDB's own
        self.columns: tuple[str, ...] = options.pop("columns", ())
        """Fields that conditions look up by SQL; a declared table may have further columns behind them, `width` in all."""
        self._is_declared: bool = options.pop("is_made", False)
        self.database = storage.database
        self._quoted = _quote(name)
        self._select = f"SELECT id, CAST(body AS BLOB), sum, seq FROM {self._quoted}"  # noqa: S608  # a quoted name
        places = ", ?" * (options.pop("width", None) or len(self.columns))
        self._insert = f"INSERT OR REPLACE INTO {self._quoted} VALUES (?, ?, ?{places}, ?)"  # noqa: S608
        super().__init__(storage, name, **options)

    # What collections use

    def raw(self, clause: str = "", values: Iterable[Any] = ()) -> Iterator[tuple[str, bytes, int]]:
        """Yield id, body and number of the rows that a clause picks; a damaged one is left out and logged."""
        if not self._exists():
            return
        for identifier, body, total, seq in self.database.rows(
            f"{self._select} {clause}", [*values]
        ):
            if checksum(self.name, identifier, body) == total:
                yield identifier, body, seq
            else:
                _log.error("%s: %s %s is damaged", self.database.path, self.name, identifier)
                self._storage.damaged.add((self.name, identifier))

    def store(self, identifier: str, body: bytes, values: Sequence[Any] = ()) -> None:
        """Write a document inside a transaction, in place of the one before."""
        self.store_all([(identifier, body, values)])

    def store_all(self, rows: Iterable[tuple[str, bytes, Sequence[Any]]]) -> None:
        """Write documents by id, text and columns inside a transaction, in place of those before."""
        self._make()
        database, name = self.database, self.name
        # The row before goes with the same statement: its id is unique.
        database.execute_all(
            self._insert,
            (
                (database.next_seq(name), key, checksum(name, key, body), *values, body.decode())
                for key, body, values in rows
            ),
        )

    def discard(self, identifier: str) -> bool:
        """Remove a document inside a transaction; False where there is none."""
        if not self._exists():
            return False
        count = self.database.execute(f"DELETE FROM {self._quoted} WHERE id = ?", (identifier,))  # noqa: S608
        if count:
            self.database.note_removal(self.name, identifier)
        return bool(count)

    def pick(
        self, condition: Callable[[Mapping[str, Any]], bool], order: str
    ) -> Iterator[tuple[str, bytes, int]]:
        """Yield the rows that pass, by SQL where the condition carries it and its fields are columns."""
        clause = condition.clause(self.columns) if isinstance(condition, Condition) else None
        where, values = (f"WHERE {clause[0]}", clause[1]) if clause else ("", [])
        for row in self.raw(f"{where} {order}", values):
            if clause or condition(json.loads(row[1])):
                yield row

    # What TinyDB's own methods use

    def search(self, cond: QueryLike) -> list[TinyDocument]:
        """Return the documents that pass, never from a cache."""
        return [
            self.document_class(json.loads(body), self.document_id_class(key))
            for key, body, _ in self.pick(cond, _BY_ID)
        ]

    def get(self, cond: Any = None, doc_id: Any = None, doc_ids: Any = None) -> Any:  # noqa: ANN401  # TinyDB's own signature
        """Return one document by id or by a condition; a list for several ids."""
        if doc_id is not None:
            rows = self.raw("WHERE id = ?", [str(doc_id)])
            return next(
                (self.document_class(json.loads(body), doc_id) for _, body, _ in rows), None
            )
        if cond is not None and doc_ids is None:
            return next(iter(self.search(cond)), None)
        return super().get(cond, doc_id, doc_ids)

    def __len__(self) -> int:
        """Count the documents, reading none."""
        if not self._exists():
            return 0
        return int(self.database.row(f"SELECT count(*) FROM {self._quoted}")[0])  # noqa: S608

    def clear_cache(self) -> None:
        """There is no cache of answers."""

    def insert(self, document: Mapping[Any, Any]) -> Any:  # noqa: ANN401  # TinyDB's own signature
        """Store a document under the next id; nobody else takes it in between."""
        with self.database.transaction():
            return super().insert(document)

    def _get_next_id(self) -> int:
        query = f"SELECT coalesce(max(CAST(id AS INTEGER)), 0) FROM {self._quoted}"  # noqa: S608
        latest = self.database.row(query)[0] if self._exists() else 0
        chosen = int(max(self._next_id or 1, latest + 1))
        self._next_id = chosen + 1  # type: ignore[assignment]  # TinyDB's own, which it types as None
        return chosen

    def _read_table(self) -> dict[str, Mapping[Any, Any]]:
        return {key: json.loads(body) for key, body, _ in self.raw(_BY_ID)}

    def _update_table(self, updater: Callable[[Any], None]) -> None:
        with self.database.transaction():
            rows = self._read_table().items()
            documents = {self.document_id_class(key): document for key, document in rows}
            updater(documents)
            self.become_all(documents)

    def become_all(self, documents: Mapping[Any, Any]) -> None:
        """Make the table hold these documents and no others, inside a transaction."""
        self._make()
        self.database.next_seq(self.name)
        before = {key: _dump(value) for key, value in self._read_table().items()}
        self.become({str(key): _dump(value) for key, value in documents.items()}, before)

    def become(self, after: Mapping[str, bytes], before: Mapping[str, bytes]) -> None:
        """Make the table hold these documents, writing only those that differ."""
        for key in before.keys() - after.keys():
            self.discard(key)
        for key, body in after.items():
            if before.get(key) != body:
                self.store(key, body, self._values(json.loads(body)))

    def _values(self, document: Document) -> list[Any]:
        return [column_value(document.get(column)) for column in self.columns]

    def _exists(self) -> bool:
        return self._is_declared or self.name in self.database.revisions()

    def _make(self) -> None:
        # Nothing is remembered of it: the transaction may be undone, the table dropped by another process.
        if not self._is_declared:
            self.database.execute(table_schema(self.name, self.columns))


class SQLiteStorage(Storage):
    """A TinyDB storage over a database; whoever uses tables never reads or writes it whole."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.damaged: set[tuple[str, str]] = set()
        """Rows whose checksum was found wrong, by collection and id."""

    def table(self, name: str) -> DocumentTable:
        """Return a table of documents without columns of their own."""
        return DocumentTable(self, name)

    def read(self) -> dict[str, dict[str, Any]] | None:
        """Return all tables; None where there is none."""
        names = self._names()
        return {name: dict(self.table(name)._read_table()) for name in names} or None  # noqa: SLF001  # our own class

    def write(self, data: Mapping[str, Mapping[Any, Any]]) -> None:
        """Make the tables equal to `data`, in one transaction."""
        with self.database.transaction():
            for name in self._names():
                if name not in data:
                    self.database.execute(f"DROP TABLE {_quote(name)}")
                    self.database.execute("DELETE FROM collections WHERE name = ?", (name,))
            for name, documents in data.items():
                table = self.table(name)
                with self.database.transaction():
                    table.become_all(documents)

    def _names(self) -> list[str]:
        return [name for name in self.database.revisions() if name]

    def close(self) -> None:
        """Close the file."""
        self.database.close()


class DocumentDatabase(TinyDB):
    """TinyDB with our tables."""

    table_class = DocumentTable  # type: ignore[assignment]  # TinyDB's own way to say it


def table_schema(name: str, columns: Iterable[str]) -> str:
    """Return the statement that makes a table of documents, and its indexes."""
    fields = "".join(f', "{column}"' for column in columns)
    return (
        f"CREATE TABLE IF NOT EXISTS {_quote(name)} (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        f" sum INTEGER NOT NULL{fields}, body TEXT NOT NULL)"
    )


def index_schema(name: str, column: str) -> str:
    """Return the statement that makes an index over a column."""
    return f'CREATE INDEX IF NOT EXISTS "{name}.{column}" ON {_quote(name)} ("{column}")'


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def column_value(value: Any) -> Any:  # noqa: ANN401  # a field of a document
    """Return what a column holds of a field; lists and objects are found by scanning."""
    if isinstance(value, int):
        _refuse_large(value)
    return value if isinstance(value, str | int | float) else None


def _dump(document: Mapping[Any, Any]) -> bytes:
    """Write a document as JSON; what JSON or SQLite cannot hold is refused."""
    try:
        text = json.dumps(dict(document), allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError) as error:
        raise StorageFailedError(f"cannot store a document: {error}; nothing was stored") from error
    json.loads(text, parse_int=_refuse_large)
    return text


def _refuse_large(number: int | str) -> int:
    if not _SMALLEST <= int(number) <= _LARGEST:
        raise StorageFailedError(
            f"cannot store a document: {number} has more than 64 bits; nothing was stored"
        )
    return int(number)
