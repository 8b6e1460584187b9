"""The 4-hour rule: which session an event belongs to, and what a session records."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct

from protocol.events import Event
from protocol.sessions import Session
from protocol.timelines import CommitMark
from protocol.values import Record

FILES_KEPT = 500
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DOOMSDAY = datetime(9999, 1, 1, tzinfo=UTC)


class Rule(Record, frozen=True, kw_only=True):
    """How long a session takes events, and how far ahead a clock may be."""

    window: timedelta = timedelta(hours=4)
    tolerance: timedelta = timedelta(minutes=10)


class Plan(Record, frozen=True, kw_only=True):
    """Where a batch goes."""

    session_ids: tuple[str, ...]
    """One per event, in the batch's order."""
    sessions: dict[str, Session]
    """The sessions it opens or closes."""


Opener = Callable[[datetime, int], Session]
"""Makes the session that the event at this moment, the batch's n-th, begins."""


def clamp(moment: datetime, now: datetime, rule: Rule) -> datetime:
    """Take a moment as it is, unless it lies in the future."""
    return now if moment > now + rule.tolerance else moment


def bounded(moment: datetime) -> datetime:
    """Move a moment that no arithmetic survives into the centuries we can count."""
    return moment if EPOCH <= moment <= DOOMSDAY else min(max(moment, EPOCH), DOOMSDAY)


def sharpen(moment: datetime, timeline: Sequence[Session]) -> datetime:
    """Take a moment that is known only to the second as being in the session that began in that second."""
    place = bisect_right(timeline, moment, key=_start)
    if moment.microsecond == 0 and place < len(timeline):
        start = _start(timeline[place])
        return start if start < moment + timedelta(seconds=1) else moment
    return moment


def credible(timeline: Sequence[Session], now: datetime, rule: Rule) -> Sequence[Session]:
    """Leave out the sessions that a clock running ahead has put into the future."""
    if not timeline or _start(timeline[-1]) <= now + rule.tolerance:
        return timeline
    return timeline[: bisect_right(timeline, now + rule.tolerance, key=_start)]


def covers(session: Session, moment: datetime, rule: Rule) -> bool:
    """Return whether an event at this moment belongs to the session."""
    return session.started_at <= moment < session.started_at + rule.window and (
        session.ended_at is None or moment < session.ended_at
    )


def plan(
    moments: Sequence[datetime], timeline: Sequence[Session], rule: Rule, begin: Opener
) -> Plan:
    """Place each moment, one after the other, in a timeline sorted by start.

    An event belongs to the session that started last before it, if that one covers it. Otherwise it
    opens a session: the active one if nothing started later, else a closed one in the past.
    """
    line: Sequence[Session] = timeline
    changed: dict[str, Session] = {}
    chosen: list[str] = []
    active: list[Session] | None = None
    for number, moment in enumerate(moments):
        is_newest = bool(line) and _start(line[-1]) <= moment
        place = len(line) if is_newest else bisect_right(line, moment, key=_start)
        latest = _latest(line, place)
        before = line[latest] if latest >= 0 else None
        if before is None or not covers(before, moment, rule):
            opened = begin(moment, number)
            line = line if isinstance(line, _Draft) else _Draft(line)
            if place < len(line):
                opened = close(opened, min(_start(line[place]), moment + rule.window))
            else:
                for session in active if active is not None else _active(line):
                    line[_index(line, session)] = changed[session.session_id] = close(
                        session, moment
                    )
                active = [opened]
            line.insert(place, opened)
            before = changed[opened.session_id] = opened
        chosen.append(before.session_id)
    return Plan(session_ids=tuple(chosen), sessions=changed)


def close(session: Session, moment: datetime) -> Session:
    """End a session; never before it began."""
    return msgspec.structs.replace(
        session, status="closed", ended_at=max(moment, session.started_at)
    )


def expire(sessions: Iterable[Session], now: datetime, rule: Rule) -> list[Session]:
    """Close the active sessions whose window is over, or that began in a future that was none."""
    return [
        close(session, now)
        for session in sessions
        if session.status == "active"
        and not now - rule.window < session.started_at <= now + rule.tolerance
    ]


def summarise(session: Session, events: Iterable[Event]) -> Session:
    """Derive from its events what a session says about them; events come in order of arrival."""
    events = list(events)
    if not events:
        return msgspec.structs.replace(session, message_count=0)
    commits = [event for event in events if event.commit and not event.commit.dropped]
    # Git counts whole seconds: of two commits in one, the one that came last is the latest.
    head = max(reversed(commits), key=lambda event: event.occurred_at, default=None)
    files = list(dict.fromkeys(change.path for event in events for change in event.files))
    return msgspec.structs.replace(
        session,
        last_event_at=max(event.occurred_at for event in events),
        head_commit_sha=head.commit.sha if head and head.commit else None,
        sources=tuple(dict.fromkeys(event.source for event in events)),
        message_count=len(events),
        files_modified=tuple(files[:FILES_KEPT]),
        files_overflow=max(len(files) - FILES_KEPT, 0),
    )


def extended(session: Session, events: Sequence[Event]) -> Session | None:
    """Add to what a session says of its events what further ones say; None where all must be read for that."""
    commits = [event for event in events if event.commit and not event.commit.dropped]
    files = dict.fromkeys(session.files_modified)
    files |= dict.fromkeys(change.path for event in events for change in event.files)
    head = max(reversed(commits), key=lambda event: event.occurred_at, default=None)
    is_late = head is not None and head.occurred_at < session.last_event_at
    if session.files_overflow or len(files) > FILES_KEPT or is_late:
        return None
    return msgspec.structs.replace(
        session,
        last_event_at=max(session.last_event_at, *(event.occurred_at for event in events)),
        head_commit_sha=head.commit.sha if head and head.commit else session.head_commit_sha,
        sources=tuple(dict.fromkeys([*session.sources, *(event.source for event in events)])),
        message_count=session.message_count + len(events),
        files_modified=tuple(files),
    )


def restore(session_id: str, project_id: str, events: Sequence[Event], rule: Rule) -> Session:
    """Make a lost session record anew from its events."""
    started = min(event.occurred_at for event in events)
    session = Session(
        session_id=session_id,
        project_id=project_id,
        started_at=started,
        ended_at=started + rule.window,
        last_event_at=started,
        status="closed",
        source=events[0].source,
        sources=(events[0].source,),
    )
    return summarise(session, events)


def _latest(line: Sequence[Session], place: int) -> int:
    """Find who started last before a place, or -1; a session that ended as it began is nobody."""
    while place and line[place - 1].ended_at == line[place - 1].started_at:
        place -= 1
    return place - 1


def _active(line: Sequence[Session]) -> list[Session]:
    """List who takes events: one at most, unless an import brought another."""
    return [session for session in line if session.status == "active"]


def _index(line: Sequence[Session], session: Session) -> int:
    index = bisect_left(line, session.started_at, key=_start)
    while line[index] is not session:
        index += 1
    return index


class _Draft(list[Session]):
    """A timeline of our own, which may be changed."""


def _start(session: Session) -> datetime:
    return session.started_at


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
    """Return how a session went that began then."""
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


def commit_key(sha: str) -> str:
    """Return the idempotency key of a commit, whoever reports it."""
    return f"commit:{sha}"


def keys(event: Event) -> Iterator[str]:
    """Yield every key an event is known by: its own, and those of the commits it replaced."""
    if event.idempotency_key is not None:
        yield event.idempotency_key
    yield from earlier_keys(event)


def earlier_keys(event: Event) -> Iterator[str]:
    """Yield the keys of the commits that an event replaced."""
    if event.commit is not None:
        yield from map(commit_key, event.commit.replaces)


def mentions(event: Event, query: str) -> bool:
    """Return whether each word of a query stands in an event, in capitals or not."""
    words = query.casefold().split()
    if not words:
        return True
    said = "\n".join(_said(event)).casefold()
    return all(word in said for word in words)


def _said(event: Event) -> Iterator[str]:
    """Yield all that a reader sees of an event."""
    yield event.text or ""
    yield event.source
    yield event.agent_id or ""
    if event.commit is not None:
        commit = event.commit
        yield from (
            commit.sha,
            commit.subject,
            commit.body,
            commit.author_name,
            commit.author_email,
        )
        yield commit.branch or ""
    for file in event.files:
        yield from (file.path, file.previous_path or "")
