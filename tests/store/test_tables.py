"""TinyDB over a journal still is TinyDB, for several processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tinydb import Query, where
from tinydb.operations import increment
from tinydb.table import Document

from sidecar.store.ids import Ids
from sidecar.store.journals import Journal
from sidecar.store.locks import Lock
from sidecar.store.tables import JournalDatabase, JournalStorage
from tests.support import FixedClock


def open_database(folder: Path) -> JournalDatabase:
    lock = Lock(folder / "lock")
    journal = Journal(folder / "db.jsonl", lock)
    return JournalDatabase(journal, lock, Ids(FixedClock()), storage=JournalStorage)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[JournalDatabase]:
    with open_database(tmp_path) as database:
        yield database


def test_documents_get_ulids_and_come_back(database: JournalDatabase, tmp_path: Path) -> None:
    table = database.table("people")
    ids = table.insert_multiple([{"name": "Ada"}, {"name": "Bob", "tags": ["x"]}])
    assert ids == sorted(ids)
    with open_database(tmp_path) as other:
        assert other.table("people").all() == [{"name": "Ada"}, {"name": "Bob", "tags": ["x"]}]
        assert other.table("people").get(doc_id=ids[1]) == {"name": "Bob", "tags": ["x"]}


def test_two_databases_on_one_file_see_each_other(
    database: JournalDatabase, tmp_path: Path
) -> None:
    with open_database(tmp_path) as other:
        for turn in range(10):
            (database if turn % 2 else other).table("t").insert({"turn": turn})
        assert [d["turn"] for d in database.table("t")] == list(range(10))
        assert [d["turn"] for d in other.table("t")] == list(range(10))


def test_equality_queries_use_the_index_and_stay_right_after_changes(
    database: JournalDatabase,
) -> None:
    table = database.table("t")
    table.insert_multiple({"kind": "odd" if n % 2 else "even", "n": n} for n in range(20))
    assert len(table.search(where("kind") == "odd")) == 10
    table.update({"kind": "even"}, where("n") == 3)
    table.remove(where("n") == 5)
    assert {d["n"] for d in table.search(where("kind") == "odd")} == {1, 7, 9, 11, 13, 15, 17, 19}
    query = Query()
    assert table.search((query.kind == "even") & (query.n == 3)) == [{"kind": "even", "n": 3}]
    assert len(table.search((query.kind == "even") | (query.n == 7))) == 12


def test_queries_for_lists_and_missing_fields_are_answered_like_tinydb(
    database: JournalDatabase,
) -> None:
    table = database.table("t")
    table.insert_multiple([{"tags": ["a"]}, {"tags": []}, {"other": None}])
    assert table.search(where("tags") == ["a"]) == [{"tags": ["a"]}]
    assert table.search(where("other") == None) == [{"other": None}]  # noqa: E711  # TinyDB's way to ask
    assert table.get(where("missing") == 1) is None


def test_update_callbacks_get_copies(database: JournalDatabase) -> None:
    table = database.table("t")
    identifier = table.insert({"nested": {"list": [1]}, "count": 1})
    kept = database.journal.rows("t").documents[str(identifier)]

    def change(document: dict[str, dict[str, list[int]]]) -> None:
        document["nested"]["list"].append(2)

    table.update(change)  # type: ignore[arg-type]  # TinyDB types the callback's mapping loosely
    table.update(increment("count"))
    assert kept == {"nested": {"list": [1]}, "count": 1}
    assert table.all() == [{"nested": {"list": [1, 2]}, "count": 2}]


def test_an_update_that_changes_nothing_writes_nothing(
    database: JournalDatabase, tmp_path: Path
) -> None:
    database.table("t").insert({"a": 1})
    before = (tmp_path / "db.jsonl").read_bytes()
    database.table("t").update({"a": 1})
    assert (tmp_path / "db.jsonl").read_bytes() == before


def test_inserting_an_id_twice_is_refused_and_changes_nothing(database: JournalDatabase) -> None:
    table = database.table("t")
    identifier = table.insert({"a": 1})
    with pytest.raises(ValueError, match="already exists"):
        table.insert(Document({"a": 2}, identifier))
    assert table.all() == [{"a": 1}]


def test_tables_can_be_truncated_and_dropped(database: JournalDatabase, tmp_path: Path) -> None:
    database.table("a").insert({"x": 1})
    database.table("b").insert({"x": 1})
    database.table("a").truncate()
    database.drop_table("b")
    with open_database(tmp_path) as other:
        assert other.tables() == set()
        assert other.table("a").all() == []


def test_upsert_inserts_once(database: JournalDatabase) -> None:
    table = database.table("t")
    for count in range(3):
        table.upsert({"name": "Ada", "count": count}, where("name") == "Ada")
    assert table.all() == [{"name": "Ada", "count": 2}]
