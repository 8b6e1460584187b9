"""The 4-hour rule, by examples and by properties."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.events import Commit, Event, FileChange
from protocol.sessions import Session
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Rule
from tests.support import HOUR, MINUTE, NOON

RULE = Rule()
SECOND = timedelta(seconds=1)


def begin(moment: datetime, number: int) -> Session:
    return Session(
        session_id=f"{moment.isoformat()}#{number}",
        project_id="p",
        started_at=moment,
        last_event_at=moment,
        source="vscode",
        sources=("vscode",),
    )


class Engine:
    """Applies plans one after the other, as the store does."""

    def __init__(self) -> None:
        self.timeline: list[Session] = []
        self.homes: list[str] = []

    def feed(self, moments: Sequence[datetime]) -> "Engine":
        offset = len(self.homes)
        plan = sessions.plan(moments, self.timeline, RULE, lambda m, n: begin(m, n + offset))
        known = {session.session_id: session for session in self.timeline} | plan.sessions
        self.timeline = sorted(known.values(), key=lambda s: (s.started_at, s.session_id))
        self.homes += plan.session_ids
        return self


def check(moments: Sequence[datetime], expected: Sequence[int]) -> None:
    """Place moments in their order; `expected` numbers the session of each by first appearance."""
    homes = Engine().feed(moments).homes
    numbers = {home: number for number, home in enumerate(dict.fromkeys(homes))}
    assert [numbers[home] for home in homes] == list(expected)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ([0 * HOUR], [0]),
        ([0 * HOUR, 4 * HOUR - SECOND], [0, 0]),
        ([0 * HOUR, 4 * HOUR], [0, 1]),
        ([0 * HOUR, 3 * HOUR, 6 * HOUR], [0, 0, 1]),
        ([0 * HOUR, 0 * HOUR], [0, 0]),
        ([10 * HOUR, 9 * HOUR], [0, 1]),
        ([10 * HOUR, 9 * HOUR, 9 * HOUR + MINUTE, 11 * HOUR], [0, 1, 1, 0]),
        ([0 * HOUR, 10 * HOUR, 3 * HOUR, 5 * HOUR], [0, 1, 0, 2]),
    ],
)
def test_an_event_joins_the_session_that_started_less_than_four_hours_before(
    offsets: list[timedelta], expected: list[int]
) -> None:
    """A3, A4."""
    check([NOON + offset for offset in offsets], expected)


def test_the_old_session_closes_at_the_event_that_opens_the_next() -> None:
    """Part of A5."""
    first, second = Engine().feed([NOON, NOON + 5 * HOUR]).timeline
    assert (first.status, first.ended_at) == ("closed", NOON + 5 * HOUR)
    assert (second.status, second.ended_at) == ("active", None)


def test_a_late_event_gets_a_closed_session_of_its_own_in_the_past() -> None:
    """A4."""
    past, active = Engine().feed([NOON, NOON - HOUR]).timeline
    assert (past.status, past.ended_at) == ("closed", NOON)
    assert active.status == "active"


def test_a_session_closed_by_hand_takes_only_events_from_before_its_close() -> None:
    """A4. Part of A5."""
    closed = sessions.close(begin(NOON, 0), NOON + HOUR)
    assert sessions.covers(closed, NOON + HOUR - SECOND, RULE)
    assert not sessions.covers(closed, NOON + HOUR, RULE)


def test_sessions_expire_when_their_window_is_over_or_they_began_in_the_future() -> None:
    """Part of A5."""
    running, over, ahead = begin(NOON, 0), begin(NOON - 4 * HOUR, 1), begin(NOON + HOUR, 2)
    expired = sessions.expire([running, over, ahead], NOON, RULE)
    assert expired == [sessions.close(over, NOON), sessions.close(ahead, NOON)]
    assert all(session.ended_at and session.ended_at >= session.started_at for session in expired)


moments = st.lists(
    st.integers(0, 60 * 60 * 48).map(lambda seconds: NOON + timedelta(seconds=seconds)), max_size=60
)


@given(moments, st.data())
def test_any_split_into_batches_gives_the_same_sessions(
    stream: list[datetime], data: st.DataObject
) -> None:
    """A4, A7."""
    whole = Engine().feed(stream)
    cut = data.draw(st.integers(0, len(stream)))
    parts = Engine().feed(stream[:cut]).feed(stream[cut:])
    assert parts.homes == whole.homes
    assert parts.timeline == whole.timeline


@given(moments)
def test_in_order_the_rule_is_the_rule_applied_by_hand(stream: list[datetime]) -> None:
    """A3, A4."""
    starts: list[datetime] = []
    expected: list[int] = []
    for moment in sorted(stream):
        if not starts or moment - starts[-1] >= RULE.window:
            starts.append(moment)
        expected.append(len(starts) - 1)
    check(sorted(stream), expected)


@given(moments, moments)
def test_late_events_never_reshuffle(early: list[datetime], late: list[datetime]) -> None:
    """A4."""
    before = Engine().feed(early)
    starts = {session.session_id: session.started_at for session in before.timeline}
    after = Engine().feed(early).feed(late)
    assert after.homes[: len(early)] == before.homes
    kept = {s.session_id: s.started_at for s in after.timeline if s.session_id in starts}
    assert kept == starts


@given(moments)
def test_every_event_lies_in_its_session_and_only_the_last_session_is_active(
    stream: list[datetime],
) -> None:
    """A3, A4: durations are never negative, and no two sessions are active."""
    engine = Engine().feed(stream)
    by_id = {session.session_id: session for session in engine.timeline}
    for moment, home in zip(stream, engine.homes, strict=True):
        assert by_id[home].started_at <= moment < by_id[home].started_at + RULE.window
    assert [s.status for s in engine.timeline[:-1]] == ["closed"] * len(engine.timeline[:-1])


@given(moments, st.sampled_from([-10, 10]))
def test_a_clock_that_jumped_ten_years_never_captures_later_events(
    stream: list[datetime], years: int
) -> None:
    jumped = NOON + timedelta(days=365 * years)
    stray = begin(jumped, 99)
    latest = max(stream, default=NOON)
    timeline = sessions.credible([stray] if years > 0 else [], latest, RULE)
    plan = sessions.plan(stream, timeline, RULE, begin)
    assert stray.session_id not in plan.session_ids
    assert sessions.clamp(jumped, NOON, RULE) == min(jumped, NOON)


def event(number: int, *, at: datetime, paths: Sequence[str] = (), source: str = "vscode") -> Event:
    return Event(
        event_id=f"{number:026}",
        session_id="s",
        kind="save",
        occurred_at=at,
        recorded_at=at,
        source=source,
        files=tuple(FileChange(path=path) for path in paths),
    )


def test_a_session_says_what_its_events_say() -> None:
    """A1, A2."""
    summary = sessions.summarise(
        begin(NOON, 0),
        [
            event(1, at=NOON, paths=["a", "b"]),
            event(2, at=NOON + HOUR, paths=["b", "c"], source="claude-code"),
            event(3, at=NOON + MINUTE, source="something-new"),
        ],
    )
    assert summary.message_count == 3
    assert summary.last_event_at == NOON + HOUR
    assert summary.files_modified == ("a", "b", "c")
    assert summary.sources == ("vscode", "claude-code", "something-new")
    assert summary.head_commit_sha is None


def test_the_latest_commit_is_the_last_to_come_of_those_of_one_second() -> None:
    """A1."""
    made = [(1, NOON), (2, NOON + SECOND), (3, NOON + SECOND), (4, NOON)]
    events = [
        msgspec.structs.replace(
            event(number, at=at), commit=Commit(sha=f"{number:040}", authored_at=at)
        )
        for number, at in made
    ]
    assert sessions.summarise(begin(NOON, 0), events).head_commit_sha == f"{3:040}"


def test_the_first_five_hundred_files_are_kept_and_the_others_counted() -> None:
    """A1."""
    paths = [f"file-{number}" for number in range(501)]
    summary = sessions.summarise(begin(NOON, 0), [event(1, at=NOON, paths=[*paths, *paths])])
    assert summary.files_modified == tuple(paths[:500])
    assert summary.files_overflow == 1
