"""A shelf gives typed records, reads again only what changed, and leaves older snapshots as they were."""

import pytest
from msgspec.structs import replace

from protocol.jobs import Job
from protocol.memories import Memory
from sidecar.store import rows
from sidecar.store.rows import Rows
from sidecar.store.shelves import NEVER, Shelf
from sidecar.store.vaults import JOURNAL, Vault
from tests.support import NOON, reopen


def memory(vault: Vault, title: str = "Retry twice") -> Memory:
    return Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type="fact",
        title=title,
        content=title,
        occurred_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )


def put(vault: Vault, *kept: Memory) -> None:
    with vault.lock.held():
        vault.journal.append([vault.memories.put(one.memory_id, one) for one in kept])


def put_job(vault: Vault) -> None:
    job = Job(
        job_id=vault.ids.next(),
        project_id=vault.project_id,
        session_id=vault.ids.next(),
        provider="rules",
        created_at=NOON,
    )
    with vault.lock.held():
        vault.journal.append([vault.jobs.put(job.job_id, job)])


def test_a_write_to_another_table_changes_nothing(vault: Vault) -> None:
    put(vault, memory(vault))
    before, revision = vault.memories.by_id(), vault.memories.revision
    put_job(vault)
    assert vault.memories.by_id() is before
    assert vault.memories.revision == revision


def test_only_what_changed_is_read_again(vault: Vault) -> None:
    one, two = memory(vault, "One"), memory(vault, "Two")
    put(vault, one, two)
    before = vault.memories.by_id()
    put(vault, replace(one, title="Another"))
    after = vault.memories.by_id()
    assert after[one.memory_id].title == "Another"
    assert after[two.memory_id] is before[two.memory_id]


def test_an_older_snapshot_stays_as_it_was(vault: Vault) -> None:
    one, two = memory(vault, "One"), memory(vault, "Two")
    put(vault, one)
    before = vault.memories.by_id()
    with vault.lock.held():
        drop = vault.memories.drop(one.memory_id)
        vault.journal.append([drop, vault.memories.put(two.memory_id, two)])
    assert dict(before) == {one.memory_id: one}
    assert dict(vault.memories.by_id()) == {two.memory_id: two}


def test_a_change_by_another_process_is_named(vault: Vault) -> None:
    one = memory(vault)
    put(vault, one)
    seen = vault.memories.revision
    other = reopen(vault)
    changed = replace(one, pinned=True)
    put(other, changed)
    other.close()
    now, ids = vault.memories.changes(seen)
    assert (now != seen, ids) == (True, {one.memory_id})
    assert vault.memories.by_id()[one.memory_id] == changed
    assert vault.memories.changes(now) == (now, set())


def test_after_a_rewrite_anything_may_have_changed(vault: Vault) -> None:
    one, two = memory(vault, "One"), memory(vault, "Two")
    put(vault, one, two)
    before, seen = vault.memories.by_id(), vault.memories.revision
    other = reopen(vault)
    with other.lock.held():
        other.journal.change(
            lambda _, found: found | {"title": "New"} if found.get("title") == "One" else found
        )
    other.close()
    assert vault.memories.changes(seen)[1] is None
    after = vault.memories.by_id()
    assert after[one.memory_id].title == "New"
    assert after[two.memory_id] is before[two.memory_id]
    assert before[one.memory_id].title == "One"


def test_a_lost_journal_leaves_no_records(vault: Vault) -> None:
    put(vault, memory(vault))
    seen = vault.memories.revision
    assert len(vault.memories.by_id()) == 1
    (vault.folder / JOURNAL).unlink()
    assert vault.memories.revision != seen
    assert dict(vault.memories.by_id()) == {}


def test_one_bad_record_hides_no_other(vault: Vault) -> None:
    one = memory(vault)
    put(vault, one)
    with vault.lock.held():
        vault.journal.append([("memories", "bad", {"title": 5})])
    assert dict(vault.memories.by_id()) == {one.memory_id: one}
    assert vault.memories.some([one.memory_id, "bad", "missing"]) == {one.memory_id: one}


def test_a_fingerprint_is_the_same_before_and_after_the_disk(vault: Vault) -> None:
    put(vault, memory(vault, "Grüße aus Köln"), memory(vault))
    other = reopen(vault)
    assert other.memories.fingerprints() == vault.memories.fingerprints()
    other.close()


def test_changes_too_long_ago_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_SLACK", 4)
    made = Rows()
    for number in range(50):
        made.put("a", {"n": number})
    assert made.revision == 50
    assert made.since(49) == {"a"}
    assert made.since(50) == set()
    assert made.since(0) is None
    assert made.since(51) is None


def test_nothing_is_older_than_never(vault: Vault) -> None:
    assert vault.memories.changes(NEVER)[1] is None


def test_documents_are_read_when_asked_for(vault: Vault) -> None:
    one = memory(vault)
    put(vault, one)
    other = reopen(vault)
    shelf: Shelf[Memory] = other.memories
    assert shelf.get(one.memory_id) == one
    document = shelf.peek(one.memory_id)
    assert document is not None
    assert document["title"] == one.title
    assert shelf.peek(one.memory_id) is document
    assert shelf.get(one.memory_id) == one
    assert [found.memory_id for found in shelf.find("title", one.title)] == [one.memory_id]
    other.close()


def test_records_are_counted_by_their_fields_while_they_come_and_go(vault: Vault) -> None:
    one, other = memory(vault), memory(vault)
    put(vault, one, replace(other, verdict="gone", status="stale"))
    reader = reopen(vault)
    expected = {("active", None): 1, ("stale", "gone"): 1}
    assert vault.memories.tally("status", "verdict") == expected
    assert reader.memories.tally("status", "verdict") == expected
    put(vault, replace(one, verdict="changed"), other)
    expected = {("active", "changed"): 1, ("active", None): 1}
    assert vault.memories.tally("status", "verdict") == expected
    assert reader.memories.tally("status", "verdict") == expected
    reader.close()


def test_a_field_is_given_of_all_records_or_of_the_younger_ones(vault: Vault) -> None:
    kept = [memory(vault, title) for title in ("One", "Two", "Three")]
    put(vault, *kept)
    assert vault.memories.values("title") == {"One", "Two", "Three"}
    assert vault.memories.values("title", kept[1].memory_id) == {"Two", "Three"}
    assert vault.memories.ids(kept[1].memory_id) == [one.memory_id for one in kept[1:]]


def test_ids_are_given_in_their_order_while_records_come_and_go(vault: Vault) -> None:
    first, second, third, fourth = (memory(vault, title) for title in ("1", "2", "3", "4"))
    put(vault, third, second)
    assert vault.memories.ids(first.memory_id) == [second.memory_id, third.memory_id]
    put(vault, fourth, first, replace(third, title="Three"))
    with vault.lock.held():
        vault.journal.append([vault.memories.drop(second.memory_id)])
    expected = [first.memory_id, third.memory_id, fourth.memory_id]
    assert vault.memories.ids(first.memory_id) == expected


def test_a_record_that_is_read_again_is_the_same_until_it_changes(vault: Vault) -> None:
    one = memory(vault)
    put(vault, one)
    reader = reopen(vault)
    read = reader.memories.get(one.memory_id)
    assert reader.memories.get(one.memory_id) is read
    put(vault, replace(one, title="Retry thrice"))
    changed = reader.memories.get(one.memory_id)
    assert changed is not None
    assert changed.title == "Retry thrice"
    reader.close()


def test_revisions_of_one_file_opened_twice_are_never_the_same(vault: Vault) -> None:
    put(vault, memory(vault))
    other = reopen(vault)
    assert other.memories.revision != vault.memories.revision
    assert other.memories.changes(vault.memories.revision)[1] is None
    other.close()
