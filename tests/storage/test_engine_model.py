"""Our tables answer as TinyDB's own do, whatever is asked of them, and SQL as the condition that carries it."""

import copy
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tinydb import Query, TinyDB, where
from tinydb.operations import delete
from tinydb.operations import set as set_field
from tinydb.storages import MemoryStorage
from tinydb.table import Document

from sidecar.storage.conditions import Condition, field
from sidecar.storage.database import Database
from sidecar.storage.engine import DocumentDatabase, DocumentTable, SQLiteStorage

COLUMNS = ("kind", "size")
"""Fields that are looked up by SQL; `note` is found by scanning."""
NAMES = (*COLUMNS, "note")
LEAST, MOST = -(1 << 63), (1 << 63) - 1

texts = st.one_of(
    st.sampled_from(
        ["", "a", "b", "a\0b", "a\0", "\ufffd", "it's", 'a "b"', "😀", "Ä", "1", "a\ufffdb"]
    ),
    st.text(max_size=6),
)
numbers = st.one_of(
    st.integers(-2, 2),
    st.sampled_from(
        [LEAST, MOST, 2**53, 2**53 + 1, 0.0, -0.0, 1.0, 0.5, 1e300, float(2**53), float(2**63)]
    ),
)
plain = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.one_of(plain, st.lists(plain, max_size=2), st.fixed_dictionaries({"in": plain}))
documents = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)
asked = st.one_of(
    plain, st.sampled_from([float("nan"), float("inf"), 1 << 70, "\ud800", "a\udfffb"])
)
"""Values that a condition may name: also those that no document can have."""


Pair = tuple[Condition, Callable[[Any], bool]]
"""A condition, and the same as Python says it."""


def compared(name: str, operator: str, value: Any) -> Pair:
    def has(document: Any, test: Callable[[Any], bool]) -> bool:
        try:
            return name in document and test(document[name])
        except TypeError:
            return False

    made = field(name)
    return {
        "==": (made == value, lambda document: has(document, lambda here: here == value)),
        "!=": (made != value, lambda document: has(document, lambda here: here != value)),
        "<": (made < value, lambda document: has(document, lambda here: here < value)),
        "<=": (made <= value, lambda document: has(document, lambda here: here <= value)),
        ">": (made > value, lambda document: has(document, lambda here: here > value)),
        ">=": (made >= value, lambda document: has(document, lambda here: here >= value)),
    }[operator]


def chosen(name: str, wanted: list[Any]) -> Pair:
    return field(name).one_of(
        wanted
    ), lambda document: name in document and document[name] in wanted


leaves = st.one_of(
    st.builds(
        compared, st.sampled_from(NAMES), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), asked
    ),
    st.builds(chosen, st.sampled_from(NAMES), st.lists(asked, max_size=3)),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a, b: (a[0] & b[0], lambda d: a[1](d) and b[1](d)), inner, inner),
        st.builds(lambda a, b: (a[0] | b[0], lambda d: a[1](d) or b[1](d)), inner, inner),
        st.builds(lambda a: (~a[0], lambda d: not a[1](d)), inner),
    ),
    max_leaves=5,
)
queries = st.one_of(
    st.builds(lambda name, value: where(name) == value, st.sampled_from(NAMES), plain),
    st.builds(lambda name, value: where(name) != value, st.sampled_from(NAMES), plain),
    st.builds(lambda name: where(name).exists(), st.sampled_from(NAMES)),
    st.builds(lambda name, value: Query()[name]["in"] == value, st.sampled_from(NAMES), plain),
    st.builds(
        lambda name, wanted: where(name).one_of(wanted), st.sampled_from(NAMES), st.lists(plain)
    ),
    st.builds(lambda name, value: ~(where(name) == value), st.sampled_from(NAMES), plain),
    st.builds(
        lambda pair, name: pair[0] & where(name).exists(), conditions, st.sampled_from(NAMES)
    ),
    st.builds(
        lambda name, pair: where(name).exists() | pair[0], st.sampled_from(NAMES), conditions
    ),
    st.builds(lambda pair: pair[0], conditions),
)


class SameAsTinyDB(RuleBasedStateMachine):
    """The same is done to TinyDB in memory and to ours; both must say the same."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.ours = self.opened()
        self.stock = TinyDB(storage=MemoryStorage)

    def opened(self) -> DocumentTable:
        database = Database(self.folder / "model.sqlite", "", 1, is_durable=False)
        table = DocumentDatabase(database, storage=SQLiteStorage).table("things", columns=COLUMNS)
        assert isinstance(table, DocumentTable)
        return table

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.ours.database.close()
            shutil.rmtree(self.folder)

    @property
    def theirs(self) -> Any:
        return self.stock.table("things")

    def same(self, action: Callable[[Any], Any]) -> None:
        """Do it to both, each with its own objects, and hold the answers against each other."""
        assert seen(action(self.ours)) == seen(action(self.theirs))

    @rule(document=documents)
    def insert(self, document: dict[str, Any]) -> None:
        self.same(lambda table: table.insert(copy.deepcopy(document)))

    @rule(document=documents, number=st.integers(1, 40))
    def insert_with_an_id(self, document: dict[str, Any], number: int) -> None:
        def insert(table: Any) -> Any:
            try:
                return table.insert(Document(copy.deepcopy(document), number))
            except ValueError as error:
                return str(error)

        self.same(insert)

    @rule(several=st.lists(documents, max_size=4))
    def insert_multiple(self, several: list[dict[str, Any]]) -> None:
        self.same(lambda table: table.insert_multiple(copy.deepcopy(several)))

    @rule(fields=documents, condition=queries)
    def update(self, fields: dict[str, Any], condition: Any) -> None:
        self.same(lambda table: sorted(table.update(copy.deepcopy(fields), condition)))

    @rule(name=st.sampled_from(NAMES), value=values)
    def update_all_by_an_operation(self, name: str, value: Any) -> None:
        self.same(lambda table: sorted(table.update(set_field(name, copy.deepcopy(value)))))

    @rule(name=st.sampled_from(NAMES))
    def delete_a_field(self, name: str) -> None:
        self.same(lambda table: sorted(table.update(delete(name), where(name).exists())))

    @rule(fields=documents, condition=queries)
    def upsert(self, fields: dict[str, Any], condition: Any) -> None:
        self.same(lambda table: sorted(table.upsert(copy.deepcopy(fields), condition)))

    @rule(condition=queries)
    def remove(self, condition: Any) -> None:
        self.same(lambda table: sorted(table.remove(condition)))

    @rule(numbers=st.lists(st.integers(1, 12), max_size=3, unique=True))
    def remove_by_ids(self, numbers: list[int]) -> None:
        self.same(lambda table: sorted(table.remove(doc_ids=numbers)))

    @rule()
    def truncate(self) -> None:
        self.same(lambda table: table.truncate())

    @rule(condition=queries)
    def look(self, condition: Any) -> None:
        self.same(lambda table: table.search(condition))
        self.same(lambda table: table.count(condition))
        self.same(lambda table: table.contains(condition))
        found = self.ours.get(condition)
        # Which of several TinyDB gives first depends on when they came; ours gives the lowest id.
        expected = min(self.theirs.search(condition), key=lambda one: one.doc_id, default=None)
        assert seen(found) == seen(expected)

    @rule(number=st.integers(0, 12))
    def look_by_id(self, number: int) -> None:
        self.same(lambda table: table.get(doc_id=number))
        self.same(lambda table: table.contains(doc_id=number))
        self.same(lambda table: table.get(doc_ids=[number, number + 1]))

    @rule()
    def reopen(self) -> None:
        """A process that opens the file later gives the same; it does not know which ids were given before."""
        self.ours.database.close()
        highest = self.theirs._next_id
        self.ours = self.opened()
        self.ours._next_id = highest

    @invariant()
    def have_the_same(self) -> None:
        if hasattr(self, "folder"):
            self.same(lambda table: table.all())
            self.same(len)


def seen(answer: Any) -> Any:
    """Documents with their ids and exact types, in the order of ids: 1, 1.0 and True are three values."""
    if isinstance(answer, list) and answer and isinstance(answer[0], Document):
        return [seen(one) for one in sorted(answer, key=lambda one: one.doc_id)]
    if isinstance(answer, Document):
        return (answer.doc_id, {name: repr(value) for name, value in answer.items()})
    return answer


SameAsTinyDB.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
test_our_tables_answer_as_tinydb_does = SameAsTinyDB.TestCase


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[DocumentTable]]:
    """Give tables that have a column for every field, for some, and for none."""
    path = tmp_path_factory.mktemp("model") / "model.sqlite"
    database = Database(path, "", 1, is_durable=False)
    storage = SQLiteStorage(database)
    shapes = {"all": NAMES, "some": COLUMNS, "none": ()}
    yield [DocumentTable(storage, name, columns=columns) for name, columns in shapes.items()]
    database.close()


@settings(max_examples=200, deadline=None)
@given(several=st.lists(documents, max_size=8), pair=conditions)
def test_a_condition_means_the_same_in_sql_in_tinydb_and_in_python(
    tables: list[DocumentTable], several: list[dict[str, Any]], pair: Pair
) -> None:
    condition, test = pair
    expected = [number for number, one in enumerate(several, 1) if test(one)]
    assert [number for number, one in enumerate(several, 1) if condition(one)] == expected
    for table in tables:
        table.truncate()
        table.insert_multiple(copy.deepcopy(several))
        assert [one.doc_id for one in table.search(condition)] == expected
