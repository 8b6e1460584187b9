"""Merging is a union: the same entries give the same records, in whatever order they come."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.storage.team import entries, merge
from sidecar.storage.team.entries import Change, Entry, Head
from sidecar.storage.team.merge import DELETED, ERASED, Value

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
VALUES = st.one_of(
    st.sampled_from(("", "a", "b", "ä")), st.integers(0, 9), st.none(), st.just(entries.ABSENT)
)
FIELDS = st.dictionaries(
    st.sampled_from(("title", "content", "notes/1", DELETED, ERASED)), VALUES, min_size=1
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(("a", "b", "c")), st.sampled_from(("x", "y")), FIELDS), max_size=25
)


def written(changes: list[tuple[str, str, dict[str, Any]]]) -> list[tuple[Entry, Change]]:
    """Let writers tell changes; their clocks go at different paces."""
    heads: dict[str, Head] = {}
    told = []
    for number, (writer, key, fields) in enumerate(changes):
        head = heads.get(writer, Head())
        said = {name: True if name.startswith("$") else fields[name] for name in fields}
        change = Change(collection="tasks", id=key, fields=said)
        payload = entries.encode(change)
        clock = entries.tick(
            head.clock or "0" * 13 + "-000000", NOW + timedelta(seconds=number // 3)
        )
        entry = Entry(
            project="p",
            writer=writer,
            sequence=head.sequence + 1,
            clock=clock,
            previous=head.hash,
            digest=entries.hashed(payload),
            payload=payload,
        )
        heads[writer] = entries.head_of(entry)
        told.append((entry, change))
    return told


def merged(told: list[tuple[Entry, Change]]) -> bytes:
    """Merge entries one after the other, as a replica does."""
    records: dict[tuple[str, str], dict[str, list[Value]]] = {}
    for entry, change in told:
        key = (change.collection, change.id)
        before = [value for kept in records.get(key, {}).values() for value in kept]
        records[key] = merge.settle([*before, *merge.values_of(entry, change)])
    return merge.export(records)


@given(CHANGES, st.data())
def test_any_interleaving_duplication_or_delay_yields_the_same_bytes(
    changes: list[tuple[str, str, dict[str, Any]]], data: st.DataObject
) -> None:
    """J3."""
    told = written(changes)
    again = data.draw(st.lists(st.sampled_from(told), max_size=10)) if told else []
    shuffled = data.draw(st.permutations([*told, *again]))
    assert merged(list(shuffled)) == merged(told)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.just("x"), FIELDS), min_size=40, max_size=60))
def test_a_long_history_is_cut_in_the_same_way_everywhere(
    changes: list[tuple[str, str, dict[str, Any]]],
) -> None:
    """J3."""
    told = written(changes)
    assert merged(told) == merged(told[::-1])


def test_concurrent_edits_of_two_fields_are_both_kept_and_a_loser_stays_in_the_history() -> None:
    """J3."""
    told = written(
        [("a", "x", {"title": "first", "status": "todo"}), ("b", "x", {"title": "second"})]
    )
    values = [value for pair in told for value in merge.values_of(*pair)]
    record = merge.settle(values)
    assert merge.document("tasks", record) == {"title": "second", "status": "todo"}
    assert [value.body for value in record["title"]] == [b'"second"', b'"first"']


def test_what_was_erased_stays_away_also_when_it_comes_late() -> None:
    """J4."""
    told = written([("a", "x", {"title": "secret"}), ("b", "x", {"title": "", ERASED: True})])
    for order in (told, told[::-1]):
        assert b"secret" not in merged(order)


def test_parts_that_two_machines_add_are_all_kept() -> None:
    note = {"at": "2026-03-02T09:00:00Z", "agentId": None, "text": "one"}
    other = {"at": "2026-03-02T09:01:00Z", "agentId": None, "text": "two"}
    first = merge.split("tasks", {"notes": [note]})
    second = merge.split("tasks", {"notes": [other]})
    record = merge.settle(
        Value(name, f"{number:013d}-000000", "w", body)
        for number, fields in enumerate((first, second))
        for name, body in fields.items()
    )
    assert merge.document("tasks", record) == {"notes": [note, other]}
    read = {"deliveredAt": "2026-03-02T09:00:00Z"}
    fields = merge.split("messages", {"handlings": {"cursor": read, "a/b": read}})
    record = merge.settle(Value(name, "1", "w", body) for name, body in fields.items())
    assert merge.document("messages", record) == {"handlings": {"cursor": read, "a/b": read}}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"project": "q"}, "project q"),
        ({"sequence": 3}, "does not follow"),
        ({"previous": "0" * 64}, "does not follow"),
        ({"payload": b"{}"}, "hash"),
        ({"payload": b"x" * (entries.LIMIT + 1)}, "larger"),
        ({"clock": "9999999999999-000000"}, "ahead"),
        ({"clock": "0000000000001-000000"}, "goes back"),
        ({"clock": "soon"}, "malformed"),
        ({"writer": "../x\n"}, "malformed"),
    ],
)
def test_an_entry_that_cannot_be_believed_is_refused(changed: dict[str, Any], reason: str) -> None:
    """J2."""
    (first, _), (second, _) = written([("a", "x", {"title": "1"}), ("a", "x", {"title": "2"})])
    head = entries.head_of(first)
    assert entries.refusal(second, "p", head, NOW) is None
    refusal = entries.refusal(msgspec.structs.replace(second, **changed), "p", head, NOW)
    assert refusal is not None
    assert reason in refusal


def test_clocks_grow_whatever_the_time_does() -> None:
    first = entries.tick("0" * 13 + "-000000", NOW)
    second = entries.tick(first, NOW - timedelta(days=1))
    third = entries.tick(second, NOW + timedelta(milliseconds=1))
    assert first < second < third
    assert entries.moment(first) == NOW
