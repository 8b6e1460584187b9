"""Compacting: a closed session takes less room and answers everything as before."""

import random

import pytest

from protocol.enrichment import Compacted
from protocol.errors import ConflictError
from protocol.events import Commit, FileChange, NewEvent
from protocol.methods import CloseSessionParams, SessionParams
from sidecar.capture import record, timeline
from sidecar.memory import pipeline
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance
from tests.memory.test_pipeline import silent, tools
from tests.support import HOUR, MINUTE, FixedClock, reopen, save


def session_of(vault: Vault, clock: FixedClock, count: int, seed: int = 1) -> str:
    """Record a session of commits and saves, and close it."""
    chosen = random.Random(seed)  # not for secrets
    events = [
        NewEvent(
            kind="commit",
            occurred_at=clock.now + number * MINUTE,
            idempotency_key=f"commit:{seed}/{number}",
            files=tuple(FileChange(path=f"src/part{n}.py") for n in range(number % 4 + 1)),
            commit=Commit(
                sha=f"{chosen.getrandbits(160):040x}",
                authored_at=clock.now,
                author_name="Ada",
                author_email="ada@example.org",
                subject=f"Use part {number} because of reason {chosen.random()}",
                body="It must never be " * (number % 3),
            ),
        )
        for number in range(count)
    ]
    placed = record.ingest(vault, [*events, save("b.py", at=clock.now + count * MINUTE)], "test")
    clock.pass_(HOUR)
    timeline.close_session(vault, CloseSessionParams())
    return str(placed[0].session_id)


def compact(vault: Vault, session_id: str) -> Compacted:
    return maintenance.compact(vault, SessionParams(session_id=session_id))


@pytest.mark.parametrize("count", [1, 12, 60])
def test_a_compacted_session_answers_as_before_in_fewer_bytes(
    vault: Vault, clock: FixedClock, count: int
) -> None:
    """A6."""
    session_id = session_of(vault, clock, count)
    before = timeline.get_session(vault, session_id)
    events = vault.sessions.events(session_id)
    done = compact(vault, session_id)
    assert done.bytes_after < done.bytes_before / 2
    assert done.session.status == "compacted"
    assert done.session.summary
    for own in (vault, reopen(vault)):
        after = timeline.get_session(own, session_id)
        assert own.sessions.events(session_id) == events
        assert (after.files_modified, after.message_count, after.head_commit_sha) == (
            before.files_modified,
            before.message_count,
            before.head_commit_sha,
        )
        assert own.sessions.count_events() == len(events)
    assert not (vault.folder / "sessions" / f"{session_id}.jsonl").exists()


def test_only_a_closed_session_is_compacted(vault: Vault, clock: FixedClock) -> None:
    """Part of A6."""
    (placed,) = record.ingest(vault, [save()], "test")
    with pytest.raises(ConflictError):
        compact(vault, str(placed.session_id))
    clock.pass_(HOUR)
    timeline.close_session(vault, CloseSessionParams())
    compact(vault, str(placed.session_id))
    with pytest.raises(ConflictError):
        compact(vault, str(placed.session_id))


def test_known_events_stay_known(vault: Vault, clock: FixedClock) -> None:
    """Part of A6 and A7."""
    session_id = session_of(vault, clock, 3)
    key = vault.sessions.events(session_id)[1].idempotency_key
    compact(vault, session_id)
    other = reopen(vault)
    again = NewEvent(kind="capture", text="x", idempotency_key=key, occurred_at=clock.now)
    (placed,) = record.ingest(other, [again], "test")
    assert (placed.outcome, placed.session_id) == ("duplicate", session_id)
    other.close()


def test_a_late_event_unpacks_the_session(vault: Vault, clock: FixedClock) -> None:
    """Part of A6."""
    session_id = session_of(vault, clock, 3)
    compact(vault, session_id)
    (placed,) = record.ingest(vault, [save("late.py", at=clock.now - MINUTE)], "test")
    assert placed.session_id == session_id
    session = timeline.get_session(vault, session_id)
    assert (session.status, session.message_count) == ("closed", 5)
    assert session.enrichment_status == "none"
    assert vault.database.rows("SELECT 1 FROM blocks") == []
    compact(vault, session_id)
    assert len(reopen(vault).sessions.events(session_id)) == 5


def test_a_late_event_in_a_session_that_was_read_is_to_be_read(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of A6 and C1."""
    session_id = session_of(vault, clock, 3)
    pipeline.start(vault, session_id, tools(), silent)
    compact(vault, session_id)
    record.ingest(vault, [save("late.py", at=clock.now - MINUTE)], "test")
    session = timeline.get_session(vault, session_id)
    assert (session.status, session.enrichment_status) == ("closed", "pending")
    assert pipeline.start(vault, session_id, tools(), silent).events == 1
