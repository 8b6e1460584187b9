"""For orientation: the same durable write with stock TinyDB and with SQLite."""

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec
from tinydb import TinyDB

from benchmarks import stores, storing
from benchmarks.timing import Duel, Go, Row, judge, timed
from sidecar.store.lines import Document
from sidecar.store.vaults import Vault

_SIZES = {1_000: 100, 10_000: 10}
"""How many documents are there already, and how many rounds stock TinyDB can be asked for."""


def compare(folder: Path) -> Iterator[Row]:
    """Time one durable record against the alternatives, all with as many documents."""
    for size, rounds in _SIZES.items():
        place = folder / str(size)
        with stores.opened(place / "vault", records=size) as vault:
            ours = storing.record(vault)
            with _tinydb(place / "tiny.json", vault, size) as insert:
                yield judge(Duel(f"durable record vs TinyDB, {size:,}", ours, insert, rounds))
            with _sqlite(place / "lite.db", vault, size) as insert:
                yield judge(Duel(f"durable record vs SQLite WAL, {size:,}", ours, insert, 100))


@contextlib.contextmanager
def _tinydb(path: Path, vault: Vault, size: int) -> Iterator[Go]:
    """Insert with the storage TinyDB comes with, which waits for the disk too."""
    documents = _documents(vault)
    with TinyDB(path) as database:
        database.insert_multiple(itertools.islice(documents, size))

        def go() -> float:
            document = next(documents)
            return timed(lambda: database.insert(document))

        yield go


@contextlib.contextmanager
def _sqlite(path: Path, vault: Vault, size: int) -> Iterator[Go]:
    """Insert with a write-ahead log that is synced at every commit."""
    rows = ((str(d["sessionId"]), msgspec.json.encode(d)) for d in _documents(vault))
    statement = "INSERT INTO sessions VALUES (?, ?)"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, body BLOB)")
        connection.execute("BEGIN")
        connection.executemany(statement, itertools.islice(rows, size))
        connection.execute("COMMIT")

        def go() -> float:
            row = next(rows)
            return timed(lambda: connection.execute(statement, row))

        yield go


def _documents(vault: Vault) -> Iterator[Document]:
    for number in itertools.count():
        _, _, document = stores.put_session(vault, number, ago=timedelta(hours=4))
        if document is not None:
            yield document
