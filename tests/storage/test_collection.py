"""Typed records: written in transactions, read as they were, refreshed only where they changed."""

import logging
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.errors import StorageFailedError
from protocol.memories import Memory
from sidecar.storage import collection
from sidecar.storage.conditions import field
from sidecar.storage.vault import Vault
from tests.storage.test_database import undone
from tests.support import NOON, reopen


def memory(identifier: str, **fields: Any) -> Memory:
    """Invent a memory; an agent's name, which may be any text, stands for its id."""
    known = {"title": f"title of {identifier}", "content": "what it says"} | fields
    return Memory(
        memory_id="0" * 26,
        agent_id=identifier,
        project_id="p",
        type="fact",
        importance=3,
        confidence=3,
        occurred_at=NOON,
        created_at=NOON,
        updated_at=NOON,
        **known,
    )


def put(vault: Vault, *memories: Memory) -> None:
    vault.write([vault.memories.put(str(one.agent_id), one) for one in memories])


def test_records_come_back_as_they_were_put(vault: Vault) -> None:
    """H1."""
    first, second = (
        memory("a", tags=("x", "ü")),
        memory("b", idempotency_key="s", content="a\0b 😀"),
    )
    put(vault, first, second)
    for own in (vault, reopen(vault)):
        assert own.memories.get("a") == first
        assert own.memories.get("none") is None
        assert own.memories.some(["b", "none", "a", "b"]) == {"b": second, "a": first}
        assert list(own.memories.some(["b", "a"])) == ["b", "a"]
        assert own.memories.all() == [first, second]
        assert msgspec.convert(own.memories.peek("a"), Memory) == first
        assert ("a" in own.memories, "none" in own.memories) == (True, False)
        assert (len(own.memories), bool(own.memories), bool(own.jobs)) == (2, True, False)
        own.close()


def test_a_record_put_again_takes_the_place_of_the_one_before(vault: Vault) -> None:
    put(vault, memory("a", title="old"), memory("b"))
    put(vault, memory("a", title="new"))
    assert vault.memories.get("a") == memory("a", title="new")
    assert len(vault.memories) == 2
    vault.write([vault.memories.drop("a"), vault.memories.drop("never there")])
    assert vault.memories.ids() == ["b"]


def test_records_are_found_by_columns_by_other_fields_and_by_any_test(vault: Vault) -> None:
    put(
        vault,
        memory("a", idempotency_key="s1", title="one"),
        memory("b", idempotency_key="s2", title="one", status="superseded"),
        memory("c", idempotency_key="s1", title="two"),
    )
    ids = [one.agent_id for one in vault.memories.find("idempotencyKey", "s1")]
    assert ids == ["a", "c"]
    assert [one.agent_id for one in vault.memories.find("title", "one")] == ["a", "b"]
    condition = (field("idempotencyKey") == "s1") & ~(field("title") == "two")
    assert [one.agent_id for one in vault.memories.search(condition)] == ["a"]
    wanted = field("status").one_of(["superseded", "stale"])
    assert [one.agent_id for one in vault.memories.search(wanted)] == ["b"]
    by_lambda = vault.memories.search(lambda document: document["title"] == "two")
    assert [one.agent_id for one in by_lambda] == ["c"]


def test_parts_of_records_are_read_without_the_rest(vault: Vault) -> None:
    put(vault, memory("a", idempotency_key="s1"), memory("b", idempotency_key="s1"), memory("c"))
    assert vault.memories.values("idempotencyKey") == {"s1", None}
    assert vault.memories.values("idempotencyKey", "c") == {None}
    assert vault.memories.values("title", "b") == {"title of b", "title of c"}
    glimpsed = vault.memories.glimpses(["a", "none"], "title", "idempotencyKey")
    assert glimpsed == {"a": ("title of a", "s1")}
    assert vault.memories.tally("idempotencyKey", "status") == {
        ("s1", "active"): 2,
        (None, "active"): 1,
    }
    assert vault.memories.ids("b") == ["b", "c"]


def test_more_ids_than_one_query_takes_are_read_all_the_same(vault: Vault) -> None:
    several = [memory(f"{number:05}") for number in range(1201)]
    put(vault, *several)
    wanted = [str(one.agent_id) for one in reversed(several)]
    assert list(vault.memories.some(wanted)) == wanted
    assert len(vault.memories.fingerprints(wanted)) == 1201
    assert vault.memories.fingerprints() == vault.memories.fingerprints(wanted)


def test_what_has_not_changed_is_the_same_object(vault: Vault) -> None:
    put(vault, memory("a"), memory("b"))
    before = vault.memories.by_id()
    assert vault.memories.by_id() is before
    vault.write([vault.jobs.drop("nothing")])
    assert vault.memories.by_id() is before
    put(vault, memory("b", title="new"))
    after = vault.memories.by_id()
    assert after is not before
    assert after["a"] is before["a"]
    assert after["b"].title == "new"
    assert before["b"].title == "title of b"


def test_what_another_process_wrote_is_seen_and_only_that_is_read(vault: Vault) -> None:
    """H1."""
    put(vault, memory("a"), memory("b"), memory("c"))
    before = vault.memories.by_id()
    since = vault.memories.revision
    other = reopen(vault)
    put(other, memory("b", title="theirs"))
    other.write([other.memories.drop("c")])
    now, changed = vault.memories.changes(since)
    assert changed == {"b", "c"}
    assert now == other.memories.revision > since
    after = vault.memories.by_id()
    assert list(after) == ["a", "b"]
    assert after["a"] is before["a"]
    assert vault.memories.changes(now) == (now, set())
    other.close()


def test_what_was_removed_long_ago_makes_everything_count_as_changed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(vault, memory("a"), memory("b"))
    known, since = vault.memories.by_id(), vault.memories.revision
    other = reopen(vault)
    other.write([other.memories.drop("b")])
    for kept in (collection, __import__("sidecar.storage.database", fromlist=["x"])):
        monkeypatch.setattr(kept, "REMOVALS_KEPT", 20)
    put(other, *(memory(f"more {number}") for number in range(30)))
    assert vault.memories.changes(since) == (vault.memories.revision, None)
    after = vault.memories.by_id()
    assert "b" not in after
    assert len(after) == 31
    assert after["a"] is known["a"]
    other.close()


def test_an_erasure_makes_everything_count_as_changed(vault: Vault) -> None:
    """H3."""
    put(vault, memory("a"))
    since = vault.memories.revision
    with vault.transaction():
        vault.database.note_erasure()
        vault.database.next_seq("memories")
    assert vault.memories.changes(since)[1] is None
    assert vault.erasures() == 1


def test_what_was_never_committed_is_remembered_by_nobody(vault: Vault) -> None:
    """H1."""
    put(vault, memory("a"))
    before = vault.memories.by_id()
    with undone(vault):
        put(vault, memory("a", title="never"), memory("b"))
        assert vault.memories.by_id()["a"].title == "never"
        assert set(vault.memories.by_id()) == {"a", "b"}
    assert vault.memories.by_id() is before
    # The numbers of what was undone are given again; the records must not be taken for one another.
    put(vault, memory("a", title="later"))
    assert vault.memories.by_id()["a"].title == "later"
    with vault.transaction():
        put(vault, memory("c"))
        with undone(vault):
            put(vault, memory("c", title="undone"))
            assert vault.memories.by_id()["c"].title == "undone"
        assert vault.memories.by_id()["c"] == memory("c")
    assert vault.memories.by_id()["c"] == memory("c")


def test_revisions_in_a_transaction_are_its_own_until_it_ends(vault: Vault) -> None:
    put(vault, memory("a"))
    other = reopen(vault)
    before = other.memories.revision
    with vault.transaction():
        put(vault, memory("b"))
        inside = vault.memories.revision
        assert inside > before == other.memories.revision
        assert vault.changes(("memories", "jobs")) == (inside, 0)
    assert other.memories.revision == vault.memories.revision >= inside
    other.close()


def test_a_record_that_cannot_be_read_hides_no_other(
    vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    """H1."""
    put(vault, memory("a"), memory("b"), memory("c"))
    with vault.transaction():
        vault.memories.table.store("b", b'{"memoryId": 1}', [None] * 4)
        vault.database.execute(
            "UPDATE memories SET body = replace(body, 'says', 'sayz') WHERE id = 'c'"
        )
    with caplog.at_level(logging.WARNING):
        assert list(vault.memories.by_id()) == ["a"]
        assert vault.memories.get("c") is None
    assert vault.storage.damaged == {("memories", "c")}
    assert "b cannot be read" in caplog.text


def test_ids_and_texts_that_cannot_be_stored_are_refused_in_words(vault: Vault) -> None:
    """H4."""
    with pytest.raises(StorageFailedError):
        put(vault, memory("a", content="\ud800"))
    with pytest.raises(StorageFailedError):
        put(vault, memory("\udfff"))
    with pytest.raises(StorageFailedError):
        vault.memories.get("\udfff")
    assert vault.memories.all() == []


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["\0", "a\0b", "'\"`", "😀", "\ufffd", "%_", "\u2028"]
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(several=st.dictionaries(texts, st.tuples(texts, texts), max_size=4))
def test_any_text_is_kept_and_found_again(
    vault: Vault, several: dict[str, tuple[str, str]]
) -> None:
    """H2."""
    vault.write([vault.memories.drop(identifier) for identifier in vault.memories.ids()])
    kept = {
        key: memory(key, title=title, idempotency_key=owner)
        for key, (title, owner) in several.items()
    }
    put(vault, *kept.values())
    assert vault.memories.by_id() == kept
    assert vault.memories.ids() == sorted(kept, key=str.encode)
    for key, one in kept.items():
        assert vault.memories.get(key) == one
        assert one in vault.memories.find("idempotencyKey", one.idempotency_key or "")
        assert one in vault.memories.search(field("idempotencyKey") == one.idempotency_key)
        assert one in vault.memories.find("title", one.title)


def test_documents_are_renamed_and_changed_in_one_go(vault: Vault) -> None:
    """H3."""
    put(vault, memory("secret"), memory("plain"), memory("gone"))

    def change(_collection: str, document: dict[str, Any]) -> dict[str, Any] | None:
        if document["agentId"] == "gone":
            return None
        return document | {"title": document["title"].replace("secret", "***")}

    def rename(_collection: str, identifier: str) -> str:
        return identifier.replace("secret", "plain")

    with vault.transaction():
        assert vault.memories.rewrite(change, rename) == 2
    assert vault.memories.ids() == ["plain", "plain 2"]
    assert vault.memories.get("plain 2") == memory("secret", title="title of ***")
