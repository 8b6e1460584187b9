"""For orientation: the same durable write with stock TinyDB and with SQLite alone."""

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from tinydb import TinyDB

from benchmarks import stores, storing
from benchmarks.timing import Duel, Go, Row, judge, timed
from sidecar.storage.vault import Vault

_SIZES = {1_000: 60, 10_000: 8}
"""How many documents are there already, and how many rounds stock TinyDB can be asked for."""


def compare(folder: Path) -> Iterator[Row]:
    """Time one durable document against the alternatives, all with as many documents."""
    for size, rounds in _SIZES.items():
        place = folder / str(size)
        with stores.opened(place / "vault", records=size) as vault:
            ours = storing.document(vault)
            with _tinydb(place / "tiny.json", vault, size) as insert:
                yield judge(Duel(f"durable document vs TinyDB, {size:,}", ours, insert, rounds))
            with _sqlite(place / "lite.db", vault, size) as insert:
                yield judge(Duel(f"durable document vs SQLite WAL, {size:,}", ours, insert, 100))


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
    rows = ((str(one["agentId"]), msgspec.json.encode(one)) for one in _documents(vault))
    statement = "INSERT INTO documents VALUES (?, ?)"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE documents (id TEXT PRIMARY KEY, body BLOB)")
        connection.execute("BEGIN")
        connection.executemany(statement, itertools.islice(rows, size))
        connection.execute("COMMIT")

        def go() -> float:
            row = next(rows)
            return timed(lambda: connection.execute(statement, row))

        yield go


def _documents(vault: Vault) -> Iterator[dict[str, Any]]:
    for number in itertools.count():
        yield msgspec.to_builtins(stores.put_document(vault, f"rival {number}").record)
