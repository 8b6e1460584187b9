"""Conditions say the same in Python and in SQL, and SQL looks up instead of reading all."""

from pathlib import Path
from typing import Any

import pytest
from tinydb import where

from sidecar.storage.conditions import Condition, field
from sidecar.storage.database import Database
from sidecar.storage.engine import index_schema, table_schema

COLUMNS = ("kind", "size")


@pytest.mark.parametrize(
    ("condition", "document", "passes"),
    [
        (field("kind") == "a", {"kind": "a"}, True),
        (field("kind") == "a", {}, False),
        (field("kind") == None, {"kind": None}, True),  # noqa: E711  # as in TinyDB
        (field("kind") == None, {}, False),  # noqa: E711
        (field("kind") != "a", {"kind": None}, True),
        (field("kind") != "a", {}, False),
        (field("size") < 2, {"size": True}, True),
        (field("size") < 2, {"size": "1"}, False),
        (field("size") >= 2, {"size": 2.0}, True),
        (field("size") > "a", {"size": 5}, False),
        (field("size") <= 2, {"size": None}, False),
        (field("size") <= 2, {"size": [1]}, False),
        (~(field("size") < 2), {"size": "1"}, True),
        (field("kind").one_of(["a", "b"]), {"kind": "b"}, True),
        (field("kind").one_of([]), {"kind": "b"}, False),
        ((field("kind") == "a") & where("size").exists(), {"kind": "a", "size": 1}, True),
        ((field("kind") == "a") | (field("size") == 1), {"size": 1}, True),
    ],
)
def test_a_condition_is_a_test_of_documents(
    condition: Condition, document: dict[str, Any], passes: bool
) -> None:
    assert condition(document) is passes
    assert (~condition)(document) is not passes
    assert not condition.is_cacheable()


@pytest.mark.parametrize(
    "condition",
    [
        field("note") == "a",
        field("kind") == None,  # noqa: E711
        field("kind") == ["a"],
        field("kind") == float("nan"),  # noqa: PLW0177  # a condition
        field("kind") == 1 << 63,
        field("kind") < "\ud800",
        field("kind") != "a",
        field("kind").one_of(["a", None]),
        field("kind").one_of([str(number) for number in range(501)]),
        (field("kind") == "a") & where("kind").exists(),
        (field("kind") == "a") | (field("note") == "a"),
        ~(field("kind") != "a"),
    ],
)
def test_what_sql_cannot_say_is_left_to_python(condition: Condition) -> None:
    assert condition.clause(COLUMNS) is None


@pytest.mark.parametrize(
    "condition",
    [
        field("kind") == "a",
        (field("kind") == "a") & (field("size") > 3),
        field("kind").one_of(["a", "b"]),
        field("size") < 3,
    ],
)
def test_a_lookup_uses_the_index(condition: Condition, tmp_path: Path) -> None:
    schema = [table_schema("things", COLUMNS), *(index_schema("things", name) for name in COLUMNS)]
    database = Database(tmp_path / "file.sqlite", ";\n".join(schema) + ";\n", 1)
    clause = condition.clause(COLUMNS)
    assert clause is not None
    plan = database.rows(f"EXPLAIN QUERY PLAN SELECT id FROM things WHERE {clause[0]}", clause[1])
    assert any("USING INDEX things." in row[3] for row in plan), plan
    database.close()
