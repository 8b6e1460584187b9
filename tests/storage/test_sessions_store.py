"""Sessions and events are one: whatever is done, a session says what its events say, and words are found."""

import random
import tempfile
import zlib
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from protocol.events import Commit, Event, FileChange, NewEvent
from protocol.methods import CloseSessionParams, SessionParams
from protocol.sessions import Session
from sidecar.capture import record, timeline
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Rule
from sidecar.storage import blocks, salvage, texts
from sidecar.storage.collection import encode
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance
from tests.storage.test_database import undone
from tests.support import HOUR, MINUTE, NOON, FixedClock, reopen, save

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["a\0b", "\0", "'\"", "😀 smile", "…", "NEAR(", "a* OR b", "x" * 3000]
)


def commit(number: int, subject: str = "", body: str = "", at: Any = None) -> NewEvent:
    return NewEvent(
        kind="commit",
        occurred_at=at,
        idempotency_key=f"commit:{number:040x}",
        files=(FileChange(path=f"src/part{number % 5}.py"),),
        commit=Commit(sha=f"{number:040x}", authored_at=NOON, subject=subject, body=body),
    )


def capture(text: str, at: Any = None, key: str | None = None) -> NewEvent:
    return NewEvent(kind="capture", text=text or "-", occurred_at=at, idempotency_key=key)


def check(vault: Vault) -> None:
    """Hold sessions, keys, blocks and full-text rows against the events."""
    events: dict[str, Event] = {}
    timeline = vault.sessions.timeline()
    assert vault.sessions.count() == len(timeline)
    assert vault.sessions.count_by() == Counter(one.enrichment_status for one in timeline)
    closed = Counter(one.enrichment_status for one in timeline if one.status == "closed")
    assert vault.sessions.count_by("closed") == closed
    for session in timeline:
        arrived = vault.sessions.arrivals(session.session_id)
        events |= {event.event_id: event for event in arrived}
        assert session.message_count == len(arrived) > 0
        recounted = sessions.summarise(session, arrived)
        assert session == recounted, (session, recounted)
    (total,) = vault.database.row("SELECT count(*) FROM events")
    (packed,) = vault.database.row("SELECT coalesce(sum(count), 0) FROM blocks")
    assert total + packed == len(events) == vault.sessions.count_events()
    kept = vault.database.rows("SELECT key, session, event FROM keys")
    expected = {
        (key, event.session_id, event.event_id)
        for event in events.values()
        for key in sessions.keys(event)
    }
    assert set(kept) == expected
    check_words(vault, {key for key, event in events.items() if texts.of_event(event)})


def check_words(vault: Vault, expected: set[str]) -> None:
    """Each event with words has exactly one row, and the index is of these rows."""
    kept = Counter(row[0] for row in vault.database.rows("SELECT id FROM texts"))
    assert kept == Counter(expected)
    with vault.transaction():
        vault.database.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    indexed = vault.database.rows("SELECT count(*) FROM words_docsize")
    assert indexed == [(len(expected),)]


class Whatever(RuleBasedStateMachine):
    """Events come early and late; sessions are closed, compacted, woken, amended, forgotten, brought from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @initialize()
    def open(self) -> None:
        self.place = tempfile.TemporaryDirectory()
        self.clock = FixedClock()
        self.vault = Vault(Path(self.place.name) / "v", "p", Ids(self.clock), Rule())

    def teardown(self) -> None:
        if hasattr(self, "vault"):
            self.vault.close()
            self.place.cleanup()

    def sessions(self, *statuses: str) -> list[Session]:
        return [one for one in self.vault.sessions.timeline() if one.status in statuses]

    @rule(
        kinds=st.lists(
            st.tuples(st.sampled_from("csx"), any_text, st.integers(-20, 0)), min_size=1, max_size=4
        )
    )
    def record(self, kinds: list[tuple[str, str, int]]) -> None:
        batch = [self.event(*one) for one in kinds]
        placed = record.ingest(self.vault, batch, "test")
        assert {one.outcome for one in placed} == {"stored"}
        again = record.ingest(self.vault, [one for one in batch if one.idempotency_key], "test")
        assert {one.outcome for one in again} <= {"duplicate"}

    def event(self, kind: str, text: str, hours: int) -> NewEvent:
        self.number += 1
        at = self.clock.now + hours * HOUR
        if kind == "c":
            return commit(self.number, text, text * 2, at)
        return save(at=at) if kind == "s" else capture(f"said {text}", at)

    @rule(hours=st.integers(1, 9))
    def wait(self, hours: int) -> None:
        self.clock.pass_(timedelta(hours=hours))

    @precondition(lambda self: hasattr(self, "vault") and self.sessions("active"))
    @rule()
    def close(self) -> None:
        timeline.close_session(self.vault, CloseSessionParams())

    @precondition(lambda self: hasattr(self, "vault") and self.sessions("closed"))
    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(self.sessions("closed")))
        before = self.vault.sessions.arrivals(session.session_id)
        maintenance.compact(self.vault, SessionParams(session_id=session.session_id))
        assert self.vault.sessions.arrivals(session.session_id) == before

    @precondition(lambda self: hasattr(self, "vault") and self.vault.sessions.count())
    @rule(data=st.data(), text=any_text)
    def amend(self, data: st.DataObject, text: str) -> None:
        session = data.draw(st.sampled_from(self.vault.sessions.timeline()))
        events = self.vault.sessions.arrivals(session.session_id)
        event = data.draw(st.sampled_from(events))
        gone = data.draw(
            st.lists(st.sampled_from(events), max_size=2, unique_by=lambda one: one.event_id)
        )
        amended = msgspec.structs.replace(event, text=text) if event.kind == "capture" else event
        with self.vault.transaction():
            self.vault.sessions.replace(
                amended, [one for one in gone if one.event_id != event.event_id]
            )
        assert amended in self.vault.sessions.arrivals(event.session_id)

    @precondition(lambda self: hasattr(self, "vault") and self.vault.sessions.count())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(self.vault.sessions.timeline()))
        victim = data.draw(st.sampled_from(self.vault.sessions.arrivals(session.session_id)))

        def change(_name: str, document: dict[str, Any]) -> dict[str, Any] | None:
            return None if document["eventId"] == victim.event_id else document

        with self.vault.transaction():
            count, touched = self.vault.sessions.rewrite(change)
            self.vault.sessions.restate(touched)
        assert (count, touched) == (1, [victim.session_id])

    @rule()
    def undo(self) -> None:
        before = self.vault.sessions.timeline()
        with undone(self.vault):
            record.ingest(self.vault, [save(), capture("never")], "test")
        assert self.vault.sessions.timeline() == before

    @rule()
    def reopen(self) -> None:
        self.vault.close()

    @invariant()
    def is_consistent(self) -> None:
        if hasattr(self, "vault"):
            check(self.vault)


def test_whatever_is_done_sessions_keys_and_words_are_those_of_the_events() -> None:
    """A3, A4, A6, A7."""
    run_state_machine_as_test(
        Whatever,
        settings=settings(
            max_examples=25,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.fixture
def long_session(vault: Vault, clock: FixedClock) -> str:
    chance = random.Random(1)
    bodies = [" ".join(f"{chance.getrandbits(40):x}" for _ in range(400)) for _ in range(60)]
    events = [
        commit(n, f"subject {n}", body, clock.now + n * MINUTE) for n, body in enumerate(bodies)
    ]
    placed = record.ingest(vault, events, "test")
    clock.pass_(2 * HOUR)
    timeline.close_session(vault, CloseSessionParams())
    return str(placed[0].session_id)


def rows_of(vault: Vault) -> list[tuple[int, int, int, bytes]]:
    return vault.database.rows("SELECT number, count, sum, data FROM blocks ORDER BY number")


def test_compacted_events_lie_in_blocks_of_at_most_64_kilobytes(
    vault: Vault, long_session: str
) -> None:
    """A6."""
    before = vault.sessions.arrivals(long_session)
    maintenance.compact(vault, SessionParams(session_id=long_session))
    kept = rows_of(vault)
    assert len(kept) > 3
    for _, count, total, data in kept:
        unpacked = blocks.unpack(data)
        assert unpacked is not None
        assert (len(unpacked), zlib.crc32(data)) == (count, total)
        assert len(data) <= 64 * 1024
        assert sum(map(len, unpacked)) <= 64 * 1024
    other = reopen(vault)
    assert other.sessions.arrivals(long_session) == before
    assert other.sessions.latest(long_session, 2) == before[-2:]
    other.close()
    check(vault)


def test_a_damaged_block_costs_its_own_events_only(vault: Vault, long_session: str) -> None:
    """A6, H1."""
    before = vault.sessions.arrivals(long_session)
    maintenance.compact(vault, SessionParams(session_id=long_session))
    first = rows_of(vault)[0][1]
    with vault.transaction():
        vault.database.execute("UPDATE blocks SET data = zeroblob(length(data)) WHERE number = 0")
    assert vault.sessions.arrivals(long_session) == before[first:]
    assert vault.storage.damaged == {("blocks", f"0 of session {long_session}")}


def test_a_late_event_wakes_a_compacted_session(vault: Vault, long_session: str) -> None:
    """A4, A6."""
    before = vault.sessions.arrivals(long_session)
    maintenance.compact(vault, SessionParams(session_id=long_session))
    (placed,) = record.ingest(vault, [capture("late", NOON + MINUTE)], "test")
    assert placed.session_id == long_session
    assert vault.sessions.arrivals(long_session)[:-1] == before
    assert rows_of(vault) == []
    check(vault)


def test_blocks_saved_beside_some_of_their_rows_lose_no_event(
    vault: Vault, long_session: str
) -> None:
    """H1: rows that a compaction has deleted may still lie in free pages of a damaged file."""
    before = vault.sessions.arrivals(long_session)
    maintenance.compact(vault, SessionParams(session_id=long_session))
    saved = [
        salvage.Block(long_session, number, count, data)
        for number, count, _, data in rows_of(vault)
    ]
    with vault.transaction():
        vault.database.execute("DELETE FROM blocks")
        vault.sessions.put_event(encode(before[3]))
        vault.sessions.put_blocks(saved)
    found = vault.sessions.arrivals(long_session)
    assert sorted(found, key=lambda one: one.event_id) == before


def test_a_damaged_session_hides_no_older_one(vault: Vault) -> None:
    """H1."""
    events = [save(at=NOON - 5 * number * HOUR) for number in range(130)]
    record.ingest(vault, events, "test")
    whole = vault.sessions.timeline()
    with vault.transaction():
        vault.database.execute(
            "UPDATE sessions SET sum = sum + 1 WHERE id = ?", (whole[-3].session_id,)
        )
    assert vault.sessions.timeline() == [*whole[:-3], *whole[-2:]]


def test_sessions_are_given_page_by_page(vault: Vault) -> None:
    record.ingest(vault, [save(at=NOON - 5 * number * HOUR) for number in range(250)], "test")
    newest = list(vault.sessions.newest())
    assert [one.started_at for one in newest] == sorted(
        (one.started_at for one in newest), reverse=True
    )
    assert len(newest) == 250
    pages: list[Session] = []
    while page := vault.sessions.page(None, pages[-1].session_id if pages else None, 40):
        pages += page
    assert pages == newest
    assert vault.sessions.page("active", None, 9) == newest[:1] == vault.sessions.active()
    assert vault.sessions.oldest() == newest[-1]
    assert vault.sessions.count_by("closed") == {"none": 249}
    assert vault.sessions.unread() == [one.session_id for one in newest[1:]]


def test_an_event_that_stands_for_others_keeps_one_row(vault: Vault) -> None:
    """A7, B2."""
    record.ingest(vault, [commit(1, "old words"), commit(2, "other words")], "test")
    session_id = vault.sessions.active()[0].session_id
    first, second = vault.sessions.arrivals(session_id)
    assert first.commit is not None
    amended = msgspec.structs.replace(
        first,
        commit=msgspec.structs.replace(first.commit, subject="new words", replaces=(f"{2:040x}",)),
    )
    with vault.transaction():
        vault.sessions.replace(amended, [second])
    assert vault.sessions.arrivals(session_id) == [amended]
    assert vault.sessions.find([f"commit:{1:040x}", f"commit:{2:040x}"]) == {
        f"commit:{n:040x}": session_id for n in (1, 2)
    }
    assert texts.find(vault.database, "new words")[0].text.id == first.event_id
    assert texts.find(vault.database, "other") == texts.find(vault.database, "old") == []
    check(vault)


def test_a_session_from_elsewhere_brings_what_is_not_here(vault: Vault, clock: FixedClock) -> None:
    """H2."""
    record.ingest(vault, [commit(1), capture("mine", key="k")], "test")
    here = vault.sessions.active()[0]
    other = Vault(vault.folder.parent / "other", "p", Ids(clock), Rule())
    record.ingest(other, [commit(1), commit(2)], "test")
    theirs = other.sessions.active()[0]
    arrived = other.sessions.arrivals(theirs.session_id)
    for _ in range(2):
        with vault.transaction():
            vault.sessions.put(theirs, arrived)
        check(vault)
        assert vault.sessions.count_events() == 3
    brought = vault.sessions.get(theirs.session_id)
    assert brought is not None
    assert (brought.status, brought.message_count) == ("closed", 1)
    assert vault.sessions.active() == [here]
    other.close()
