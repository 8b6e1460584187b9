"""What was said is found by its words, whatever characters it is made of."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.capture import record
from sidecar.storage import texts
from sidecar.storage.vault import Vault
from tests.storage.test_database import undone
from tests.storage.test_sessions_store import any_text, capture, check_words, commit
from tests.support import reopen, save


def found(vault: Vault, words: str) -> list[str]:
    return [identifier for identifier, _ in texts.find(vault.database, words)]


def test_commits_and_captures_are_found_by_all_their_words_and_saves_by_none(vault: Vault) -> None:
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
    assert found(vault, "retries of") == []
    assert found(vault, "retrying payment") == [ids[0]]
    assert set(found(vault, "payments")) == set(ids[:2])
    assert found(vault, "gateway connection") == [ids[0]]
    assert found(vault, "part1") == [ids[0]]
    assert found(vault, "") == found(vault, " \0 ") == []


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
