"""TinyDB's own tests, on our tables: this takes the place of the `conftest.py` they come with.

Whatever they ask of the `db` fixture is asked of ours; a database that a test opens by itself on a file
is one of ours, too.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tinydb import TinyDB

from sidecar.storage.database import Database
from sidecar.storage.engine import DocumentDatabase, SQLiteStorage

CACHE = "TinyDB's cache of answers is off: other processes write to the same file"
EXCEPTIONS = {
    "test_tables.py::test_query_cache": CACHE,
    "test_tables.py::test_query_cache_size": CACHE,
    "test_tables.py::test_lru_cache": CACHE,
    "test_tinydb.py::test_search": CACHE,
    "test_tinydb.py::test_search_path": CACHE,
    "test_tables.py::test_table_repr": "the pattern in it names TinyDB's own classes",
    "test_tinydb.py::test_repr": "the pattern in it names TinyDB's own classes",
    "test_tinydb.py::test_insert_invalid_dict": (
        "a value that JSON cannot hold is refused with our error, which has a code, not with a TypeError"
    ),
}
"""Tests that are left out, and why: nothing else is."""


def opened(path: Path) -> DocumentDatabase:
    """Open a database of ours."""
    return DocumentDatabase(Database(path, "", 1), storage=SQLiteStorage)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[DocumentDatabase]:
    database = opened(tmp_path / "test.sqlite")
    database.drop_tables()
    database.insert_multiple({"int": 1, "char": char} for char in "abc")
    yield database
    database.close()


@pytest.fixture(autouse=True)
def _ours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let `TinyDB(path)` in a test open ours; with a storage of its own it stays what it is."""
    kept: list[DocumentDatabase] = []

    def instead(path: str | None = None, **options: Any) -> Any:
        if path is None or "storage" in options:
            return TinyDB(*([path] if path else []), **options)
        kept.append(opened(Path(path)))
        return kept[-1]

    if hasattr(request.module, "TinyDB"):
        monkeypatch.setattr(request.module, "TinyDB", instead)
    yield
    for database in kept:
        database.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the exceptions; one that no test is named by is a mistake."""
    is_exception: Callable[[pytest.Item], bool] = lambda item: _name(item) in EXCEPTIONS  # noqa: E731
    left_out = list(filter(is_exception, items))
    unknown = EXCEPTIONS.keys() - {_name(item) for item in left_out}
    if unknown:
        raise pytest.UsageError(f"no such tests: {', '.join(sorted(unknown))}")
    config.hook.pytest_deselected(items=left_out)
    items[:] = itertools.filterfalse(is_exception, items)


def _name(item: pytest.Item) -> str:
    return f"{item.path.name}::{item.name.partition('[')[0]}"
