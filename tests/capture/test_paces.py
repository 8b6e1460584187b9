"""Paces: no event of a session is lost in the picture of it."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from protocol.events import Commit, Event, FileChange
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import COMMITS, QUARTERS
from tests.support import NOON

SESSION = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def event(number: int, minutes: float, **more: Any) -> Event:
    return Event(
        event_id=f"01ARZ3NDEKTSV4RRFFQ{number:07d}",
        session_id=SESSION,
        kind="commit" if "commit" in more else "save",
        occurred_at=NOON + timedelta(minutes=minutes),
        recorded_at=NOON,
        source="vscode",
        files=(FileChange(path="a.py"),),
        **more,
    )


def commit(number: int, minutes: float, *, dropped: bool = False) -> Event:
    made = Commit(
        sha=f"{number:040x}", authored_at=NOON, subject=f"Commit {number}", dropped=dropped
    )
    return event(number, minutes, commit=made)


def test_events_count_in_the_quarter_they_came_in() -> None:
    pace = sessions.measure(NOON, [event(1, 0), event(2, 14.9), commit(3, 15), event(4, 46)])
    assert pace.activity == (2, 1, 0, 1)
    assert (pace.saves, pace.commit_count) == (3, 1)


def test_a_session_without_events_has_no_pace() -> None:
    pace = sessions.measure(NOON, [])
    assert (pace.activity, pace.commits, pace.saves) == ((), (), 0)


def test_commits_come_in_the_order_they_were_made_without_dropped_ones() -> None:
    pace = sessions.measure(NOON, [commit(2, 9), commit(1, 3), commit(3, 5, dropped=True)])
    assert [mark.subject for mark in pace.commits] == ["Commit 1", "Commit 2"]
    assert pace.commit_count == 2


def test_of_very_many_commits_the_first_are_told_and_all_are_counted() -> None:
    pace = sessions.measure(NOON, [commit(number, number) for number in range(COMMITS + 5)])
    assert (len(pace.commits), pace.commit_count) == (COMMITS, COMMITS + 5)


@given(st.lists(st.floats(min_value=-100, max_value=10_000, allow_nan=False), max_size=40))
def test_every_event_counts_once_however_wrong_the_clocks_were(minutes: list[float]) -> None:
    pace = sessions.measure(NOON, [event(at, minute) for at, minute in enumerate(minutes)])
    assert sum(pace.activity) == len(minutes)
    assert len(pace.activity) <= QUARTERS
    assert not pace.activity or pace.activity[-1] > 0
