"""Recording: batches, keys, late events, hand-closed sessions, the inbox."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from protocol.errors import ConflictError
from protocol.events import Commit, FileChange, NewEvent
from protocol.methods import CloseSessionParams, ListSessionsParams, SessionEventsParams
from protocol.sessions import Session
from protocol.settings import Settings
from sidecar.capture import record, timeline
from sidecar.capture.record import Waiting
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance
from tests.support import HOUR, MINUTE, NOON, FixedClock, reopen, save


def listed(vault: Vault) -> tuple[Session, ...]:
    return timeline.list_sessions(vault, ListSessionsParams()).sessions


def test_the_first_event_opens_a_session(vault: Vault) -> None:
    """A1, A2, A3."""
    (placed,) = record.ingest(vault, [save("src/a.py")], "vscode")
    assert placed.outcome == "stored"
    assert listed(vault) == (
        Session(
            session_id=str(placed.session_id),
            project_id="a-project",
            team_id="personal",
            started_at=NOON,
            ended_at=None,
            last_event_at=NOON,
            head_commit_sha=None,
            status="active",
            source="vscode",
            sources=("vscode",),
            message_count=1,
            files_modified=("src/a.py",),
            files_overflow=0,
            enrichment_status="none",
        ),
    )


def test_one_session_takes_events_of_many_sources(vault: Vault) -> None:
    """A2."""
    record.ingest(vault, [save()], "vscode")
    named = msgspec.structs.replace(save(), source="my-own-tool")
    record.ingest(vault, [save(), named], "claude-code")
    (session,) = listed(vault)
    assert session.source == "vscode"
    assert session.sources == ("vscode", "claude-code", "my-own-tool")


def test_four_hours_after_its_start_a_session_is_over(vault: Vault, clock: FixedClock) -> None:
    """A3. Part of A5."""
    record.ingest(vault, [save()], "vscode")
    clock.pass_(4 * HOUR - MINUTE)
    record.ingest(vault, [save()], "vscode")
    assert len(listed(vault)) == 1
    clock.pass_(MINUTE)
    record.ingest(vault, [save()], "vscode")
    second, first = listed(vault)
    assert (first.status, first.ended_at, first.message_count) == ("closed", clock.now, 2)
    assert (second.status, second.started_at) == ("active", clock.now)


def test_repeating_a_batch_changes_nothing(vault: Vault, clock: FixedClock) -> None:
    """A7."""
    batch = [save(key="a"), save(key="b", at=NOON - 10 * HOUR), save(key="c")]
    first = record.ingest(vault, batch, "vscode")
    before = [vault.sessions.events(session.session_id) for session in listed(vault)]
    clock.pass_(9 * HOUR)
    for _ in range(3):
        again = record.ingest(reopen(vault), batch, "cursor")
        assert [e.outcome for e in again] == ["duplicate"] * 3
        assert [(e.event_id, e.session_id) for e in again] == [
            (e.event_id, e.session_id) for e in first
        ]
    assert [vault.sessions.events(session.session_id) for session in listed(vault)] == before


def test_a_key_given_twice_in_one_batch_counts_once(vault: Vault) -> None:
    """A7."""
    first, second = record.ingest(vault, [save("a", key="k"), save("b", key="k")], "vscode")
    assert (first.outcome, second.outcome) == ("stored", "duplicate")
    assert first.event_id == second.event_id
    assert listed(vault)[0].files_modified == ("a",)


def test_a_late_event_joins_the_session_that_covers_it(vault: Vault, clock: FixedClock) -> None:
    """A4."""
    record.ingest(vault, [save("a")], "vscode")
    clock.pass_(10 * HOUR)
    record.ingest(vault, [save("b")], "vscode")
    record.ingest(vault, [save("late", at=NOON + HOUR)], "vscode")
    later, earlier = listed(vault)
    assert earlier.files_modified == ("a", "late")
    assert earlier.last_event_at == NOON + HOUR
    assert later.files_modified == ("b",)
    assert listed(reopen(vault)) == (later, earlier)


def test_an_event_from_the_future_counts_as_now(vault: Vault, clock: FixedClock) -> None:
    """A3: one bad stamp never captures what comes later."""
    record.ingest(vault, [save("x", at=NOON + timedelta(days=3650))], "vscode")
    clock.pass_(HOUR)
    record.ingest(vault, [save("y")], "vscode")
    (session,) = listed(vault)
    assert (session.started_at, session.last_event_at) == (NOON, NOON + HOUR)


def test_a_clock_that_was_ten_years_ahead_spoils_nothing(vault: Vault, clock: FixedClock) -> None:
    """A3."""
    clock.pass_(timedelta(days=3650))
    record.ingest(vault, [save("ahead")], "vscode")
    clock.now = NOON
    record.ingest(vault, [save("now")], "vscode")
    clock.pass_(HOUR)
    record.ingest(vault, [save("then")], "vscode")
    ahead, today = listed(vault)
    assert (ahead.status, ahead.files_modified) == ("closed", ("ahead",))
    assert (today.status, today.files_modified) == ("active", ("now", "then"))
    assert ahead.ended_at is not None
    assert ahead.ended_at >= ahead.started_at


def test_after_a_close_by_hand_the_next_event_opens_a_new_session(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of A5."""
    record.ingest(vault, [save("a")], "vscode")
    clock.pass_(HOUR)
    closed = timeline.close_session(vault, CloseSessionParams())
    assert (closed.status, closed.ended_at, closed.message_count) == ("closed", clock.now, 1)
    record.ingest(vault, [save("b")], "vscode")
    record.ingest(vault, [save("late", at=NOON + 30 * MINUTE)], "vscode")
    second, first = listed(vault)
    assert first.files_modified == ("a", "late")
    assert second.files_modified == ("b",)
    with pytest.raises(ConflictError):
        timeline.close_session(vault, CloseSessionParams(session_id=first.session_id))


def test_maintenance_closes_a_session_that_has_run_out(vault: Vault, clock: FixedClock) -> None:
    """Part of A5."""
    record.ingest(vault, [save()], "vscode")
    clock.pass_(4 * HOUR)
    maintenance.maintain(vault, Settings())
    (session,) = listed(vault)
    assert (session.status, session.ended_at) == ("closed", clock.now)


def test_what_waits_in_the_inbox_is_placed_once(vault: Vault, clock: FixedClock) -> None:
    """H1."""
    for number in range(3):
        waiting = Waiting(source="claude-code", recorded_at=NOON, events=(save(f"file-{number}"),))
        vault.defer(msgspec.json.encode(waiting))
    vault.defer(b"not json")
    assert vault.count_deferred() == 4
    clock.pass_(HOUR)
    assert record.drain(reopen(vault)) == 3
    assert record.drain(vault) == 0
    (session,) = listed(vault)
    assert session.files_modified == ("file-0", "file-1", "file-2")
    assert (session.started_at, session.sources) == (NOON, ("claude-code",))
    assert vault.count_deferred() == 0
    assert len(vault.damaged_copies()) == 1


def test_a_batch_that_comes_back_after_a_crash_is_not_doubled(vault: Vault) -> None:
    """H1."""
    waiting = Waiting(source="claude-code", recorded_at=NOON, events=(save("a"), save("b")))
    vault.defer(msgspec.json.encode(waiting))
    (batch,) = (vault.folder / "inbox").glob("*.batch.jsonl")
    content = batch.read_bytes()
    record.drain(vault)
    batch.write_bytes(content)
    batch.chmod(0o600)
    record.drain(vault)
    assert [s.message_count for s in listed(vault)] == [2]


def test_any_key_and_any_time_is_taken(vault: Vault) -> None:
    """A7, H4."""
    east = timezone(timedelta(hours=14))
    odd = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=east),
        datetime(9999, 12, 31, tzinfo=UTC),
    ]
    batch = [
        save("a"),
        save("b", key="#0"),
        save("c", key="0"),
        *(save(at=moment) for moment in odd),
    ]
    placed = record.ingest(vault, batch, "vscode")
    assert [event.outcome for event in placed] == ["stored"] * 6
    assert len({event.event_id for event in placed}) == 6
    for moment in odd:
        waiting = Waiting(source="x", recorded_at=moment, events=(save(at=moment),))
        vault.defer(msgspec.json.encode(waiting))
    maintenance.maintain(vault, Settings())
    assert sum(session.message_count for session in listed(vault)) == 9


def test_no_time_of_a_commit_blocks_those_who_come_later(vault: Vault) -> None:
    """H1, H4: what waits in the inbox is placed before anything else."""
    west = timezone(timedelta(hours=-14))
    odd = [datetime(9999, 12, 31, 23, tzinfo=west), datetime(1, 1, 1, tzinfo=UTC)]
    commits = [Commit(sha="b" * 40, authored_at=moment, committed_at=moment) for moment in odd]
    events = tuple(NewEvent(kind="commit", commit=commit) for commit in commits)
    waiting = Waiting(source="x", recorded_at=NOON, events=events)
    vault.defer(msgspec.json.encode(waiting))
    record.ingest(vault, [save()], "vscode")
    assert sum(session.message_count for session in listed(vault)) == 3


def test_all_times_are_served_in_utc(vault: Vault) -> None:
    """A1."""
    local = NOON.astimezone(timezone(timedelta(hours=2)))
    commit = Commit(sha="a" * 40, authored_at=local, committed_at=local)
    event = NewEvent(kind="commit", occurred_at=local, commit=commit)
    (placed,) = record.ingest(vault, [event], "vscode")
    (stored,) = vault.sessions.events(str(placed.session_id))
    assert msgspec.json.encode(stored).count(b'"2026-03-02T12:00:00Z"') == 4


def test_a_session_that_ended_as_it_began_hides_no_other(vault: Vault, clock: FixedClock) -> None:
    """A3: the clock was five hours fast for one event."""
    clock.pass_(HOUR)
    record.ingest(vault, [save("first")], "vscode")
    clock.now = NOON + 6 * HOUR
    record.ingest(vault, [save("fast")], "vscode")
    clock.now = NOON + 2 * HOUR
    record.ingest(vault, [save("second")], "vscode")
    clock.now = NOON + 6 * HOUR + MINUTE
    record.ingest(vault, [save("later")], "vscode")
    assert [session.status for session in listed(vault)].count("active") == 1
    clock.pass_(MINUTE)
    record.ingest(vault, [save("latest")], "vscode")
    assert listed(vault)[0].files_modified[-1] == "latest"
    assert [session.status for session in listed(vault)].count("active") == 1


def test_events_are_read_in_the_order_they_happened(vault: Vault) -> None:
    names = ["c", "a", "b"]
    times = [NOON + 2 * MINUTE, NOON, NOON + MINUTE]
    record.ingest(vault, [save(n, at=t) for n, t in zip(names, times, strict=True)], "vscode")
    sessions = listed(vault)
    pages = [
        timeline.list_events(
            vault, SessionEventsParams(session_id=session.session_id, limit=1, offset=0)
        )
        for session in sessions
    ]
    assert sum(page.total for page in pages) == 3
    events = [event for s in reversed(sessions) for event in vault.sessions.events(s.session_id)]
    assert [event.files[0].path for event in events] == ["a", "b", "c"]


def test_pages_of_sessions_follow_each_other(vault: Vault, clock: FixedClock) -> None:
    for _ in range(5):
        record.ingest(vault, [save()], "vscode")
        clock.pass_(5 * HOUR)
    seen: list[str] = []
    before = None
    while True:
        page = timeline.list_sessions(vault, ListSessionsParams(limit=2, before=before))
        assert page.total == 5
        seen += [session.session_id for session in page.sessions]
        before = page.next
        if before is None:
            break
    assert seen == [session.session_id for session in listed(vault)]
    closed = timeline.list_sessions(vault, ListSessionsParams(status="closed"))
    assert (closed.total, len(closed.sessions)) == (4, 4)


def test_a_capture_and_a_commit_without_their_part_are_refused() -> None:
    """H4."""
    for kind in ("commit", "save", "capture"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"kind": kind}, NewEvent)
    assert NewEvent(kind="save", files=(FileChange(path="a"),)).files[0].status == "modified"
