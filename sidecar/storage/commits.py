"""The commits among a project's events, and how its sessions went; a session is read again only after it changed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from cachetools import LRUCache

from protocol.events import Commit, Event
from protocol.sessions import Session
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Pace
from sidecar.storage.sessions import Sessions
from sidecar.tasks.rules import conditions
from sidecar.tasks.rules.conditions import Change

_KNOWN = 5_000
"""Sessions of which it is remembered."""
_LONGEST = timedelta(days=2)
"""No session is longer than a day."""


class Commits:
    """What was committed, as far as it was recorded and is still there."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: LRUCache[str, tuple[int, tuple[Event, ...]]] = LRUCache(_KNOWN)
        self._since: tuple[int, dict[datetime, list[Change]]] = (0, {})

    def since(self, moment: datetime) -> list[Change]:
        """Return the commits since a moment, the newest first; the same list until it changes."""
        revision = self._sessions.records.revision
        seen, lists = self._since
        if seen == revision and moment in lists:
            return lists[moment]
        found = self._look(moment)
        before = lists.get(moment)
        kept = before if before == found and before is not None else found
        self._since = (revision, ({} if seen != revision else lists) | {moment: kept})
        return kept

    def of(self, session_id: str) -> tuple[Commit, ...]:
        """Return the commits of a session as they were recorded, also those that are gone."""
        return tuple(event.commit for event in self._read(session_id) if event.commit is not None)

    def _look(self, moment: datetime) -> list[Change]:
        changes: list[Change] = []
        for session in self._sessions.newest():
            if session.started_at < moment - _LONGEST:
                break
            changes += _changes(self._read(session.session_id))
        since = [change for change in changes if conditions.is_since(change, moment)]
        return sorted(since, key=lambda change: change.at, reverse=True)

    def _read(self, session_id: str) -> tuple[Event, ...]:
        state = self._sessions.state(session_id)
        known = self._known.get(session_id)
        if known is not None and known[0] == state:
            return known[1]
        events = tuple(
            event for event in self._sessions.events(session_id) if event.commit is not None
        )
        self._known[session_id] = (state, events)
        return events


class Paces:
    """How sessions went, from what is remembered or from their events."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: LRUCache[str, tuple[int, Pace]] = LRUCache(_KNOWN)

    def of(self, session: Session) -> Pace:
        """Return how a session went."""
        state = self._sessions.state(session.session_id)
        known = self._known.get(session.session_id)
        if known is not None and known[0] == state:
            return known[1]
        pace = sessions.measure(session.started_at, self._sessions.arrivals(session.session_id))
        self._known[session.session_id] = (state, pace)
        return pace


def _changes(events: tuple[Event, ...]) -> Iterator[Change]:
    for event in events:
        commit = event.commit
        if commit is not None and not commit.dropped:
            names = (name for file in event.files for name in (file.path, file.previous_path))
            yield Change(
                sha=commit.sha,
                at=event.occurred_at,
                message=f"{commit.subject}\n\n{commit.body}".strip(),
                paths=tuple(dict.fromkeys(filter(None, names))),
            )
