"""Paces: how a session went, from its first event to its last."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from protocol.events import Event
from protocol.timelines import CommitMark

QUARTER = timedelta(minutes=15)
QUARTERS = 96
"""A day of them; what lies beyond counts to the last."""
COMMITS = 200
"""Commits of a session that are told one by one."""


class Pace(Struct, frozen=True, kw_only=True):
    """When what happened in a session."""

    saves: int
    commit_count: int
    commits: tuple[CommitMark, ...]
    activity: tuple[int, ...]
    """Events in each quarter of an hour from the start on."""


def measure(start: datetime, events: Iterable[Event]) -> Pace:
    """Tell how a session went that began then."""
    ordered = sorted(events, key=lambda event: (event.occurred_at, event.event_id))
    made = [mark for mark in map(_mark, ordered) if mark is not None]
    return Pace(
        saves=sum(event.kind == "save" for event in ordered),
        commit_count=len(made),
        commits=tuple(made[:COMMITS]),
        activity=_activity(start, ordered),
    )


def _mark(event: Event) -> CommitMark | None:
    commit = event.commit
    if commit is None or commit.dropped:
        return None
    return CommitMark(sha=commit.sha, subject=commit.subject, at=event.occurred_at)


def _activity(start: datetime, events: Iterable[Event]) -> tuple[int, ...]:
    quarters = Counter(_quarter(event.occurred_at - start) for event in events)
    return tuple(quarters[number] for number in range(max(quarters, default=-1) + 1))


def _quarter(since: timedelta) -> int:
    return min(max(since // QUARTER, 0), QUARTERS - 1)
