"""What was said is found by its words, whatever characters it is made of."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.events import FileChange
from protocol.recall import WriteParams
from sidecar.capture import record
from sidecar.memory import remember
from sidecar.search.meanings import Meanings
from sidecar.storage import texts
from sidecar.storage.vault import Vault
from tests.storage.test_database import undone
from tests.storage.test_sessions_store import any_text, capture, check_words, commit
from tests.support import reopen, save


def found(vault: Vault, words: str) -> list[str]:
    return [match.text.id for match in texts.find(vault.database, words)]


def test_commits_and_captures_are_found_by_their_words_and_saves_by_none(vault: Vault) -> None:
    placed = record.ingest(
        vault,
        [
            commit(1, "Retry payments", "The gateway drops connections"),
            capture("payments wait"),
            save("payments.py"),
        ],
        "test",
    )
    ids = [str(one.event_id) for one in placed]
    assert found(vault, "refunds") == []
    assert found(vault, "retrying payment")[0] == ids[0]
    assert set(found(vault, "payments")) == set(ids[:2])
    assert found(vault, "gateway connection") == [ids[0]]
    assert found(vault, "part1") == [ids[0]]
    assert found(vault, "") == found(vault, " \0 ") == []


def test_identifiers_are_found_by_their_parts_and_chinese_by_pairs(vault: Vault) -> None:
    """Part of C13."""
    placed = record.ingest(
        vault, [capture("parseHTTPBody drops snake_case"), capture("我们决定缓存支付结果")], "test"
    )
    ids = [str(event.event_id) for event in placed]
    for words in ("http body", "parsehttpbody", "snake", "parse"):
        assert found(vault, words) == [ids[0]], words
    assert found(vault, "缓存") == found(vault, "支付") == [ids[1]]


def test_a_file_is_known_by_the_names_it_had_before(vault: Vault) -> None:
    """Part of C13."""
    for number, (new, old) in enumerate([("b.py", "a.py"), ("lib/c.py", "b.py")]):
        moved = FileChange(path=new, status="renamed", previous_path=old)
        event = msgspec.structs.replace(commit(number, "Move"), files=(moved,))
        record.ingest(vault, [event], "test")
    assert texts.former_names(vault.database, "lib/c.py") == {"a.py", "b.py"}
    assert texts.former_names(vault.database, "a.py") == set()
    assert texts.former_names(vault.database, '"') == set()


def test_a_memory_is_found_as_it_is_now(vault: Vault) -> None:
    """Part of C13."""
    params = WriteParams(type="decision", title="Cache payments", content="Redis holds them")
    memory = remember.write(vault, params, Meanings(lambda: "no model")).memory
    assert found(vault, "redis") == [memory.memory_id]
    changed = msgspec.structs.replace(memory, content="Memcached holds them")
    vault.write([vault.memories.put(memory.memory_id, changed)])
    assert (found(vault, "redis"), found(vault, "memcached")) == ([], [memory.memory_id])
    vault.write([vault.memories.drop(memory.memory_id)])
    assert found(vault, "memcached") == []


def test_a_title_that_answers_comes_before_a_long_text_that_mentions(vault: Vault) -> None:
    long = "many other words " * 50
    placed = record.ingest(
        vault, [commit(1, "Other", f"{long} cache {long}"), commit(2, "Cache")], "t"
    )
    assert found(vault, "cache") == [placed[1].event_id, placed[0].event_id]


@pytest.mark.parametrize(
    "asked", ['"', "a OR", "NEAR(", "title:", "^a", "a*", "-b", "{", "'; DROP", "\0"]
)
def test_a_question_is_words_and_no_query_language(vault: Vault, asked: str) -> None:
    """H4."""
    record.ingest(vault, [commit(1, "something else")], "test")
    assert found(vault, asked) == []


def test_words_of_what_was_undone_are_not_found(vault: Vault) -> None:
    """H1."""
    with undone(vault):
        record.ingest(vault, [commit(1, "never")], "test")
    assert found(vault, "never") == []
    check_words(vault, set())


def test_words_are_found_by_another_process_at_once(vault: Vault) -> None:
    other = reopen(vault)
    assert found(other, "hello") == []
    (placed,) = record.ingest(vault, [capture("hello there")], "test")
    assert found(other, "hello") == [placed.event_id]
    other.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(several=st.lists(any_text, min_size=1, max_size=4))
def test_any_text_can_be_indexed_and_asked_for(vault: Vault, several: list[str]) -> None:
    """H4."""
    record.ingest(vault, [capture(f"{one} needle") for one in several], "test")
    assert len(found(vault, "needle")) >= min(len(several), 100)
    for one in several:
        found(vault, one)
    events = {row[0] for row in vault.database.rows("SELECT id FROM events")}
    check_words(vault, events)


def test_rebuilding_leaves_the_same_to_be_found_and_no_removed_word(vault: Vault) -> None:
    """H3."""
    placed = record.ingest(vault, [capture("keep this"), capture("secret that")], "test")
    with vault.transaction():
        texts.remove(vault.database, str(placed[1].event_id))
        texts.rebuild(vault.database)
        vault.database.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row)")
    known = {row[0] for row in vault.database.rows("SELECT term FROM vocabulary")}
    assert known == {"keep", "thi"}
    assert found(vault, "keep") == [placed[0].event_id]
