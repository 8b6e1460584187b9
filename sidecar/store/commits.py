"""The commits among a project's events; a session is read again only after its file has changed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec import Struct

from protocol.events import Commit, Event
from sidecar.domain import conditions
from sidecar.domain.conditions import Change
from sidecar.store.chronicles import Chronicle

_LAG = timedelta(days=2)
"""A session's record may not say yet when its last event was; no session is longer than a day."""


class _Read(Struct, frozen=True):
    """What was read of a session, and in which state its file was."""

    state: object
    changes: tuple[Change, ...]
    commits: tuple[Commit, ...]


class Commits:
    """What was committed, as far as it was recorded and is still there."""

    def __init__(self, sessions: Chronicle) -> None:
        """Stand on the sessions; nothing is read before it is asked for."""
        self._sessions = sessions
        self._known: dict[str, _Read] = {}
        self._told: tuple[object, dict[datetime, list[Change]]] = (None, {})
        self._before: dict[datetime, list[Change]] = {}
        """What was told before the last change."""
        self._fresh: dict[str, _Read] = {}
        """What was read since."""

    def since(self, moment: datetime) -> list[Change]:
        """List the commits since a moment, the newest first; the list is not to be changed."""
        stamp = self._sessions.stamp()
        if self._told[0] != stamp:
            # In this order: another thread may go on with what it finds.
            self._fresh, self._before = {}, self._told[1]
            self._told = (stamp, {})
        told, fresh = self._told[1], self._fresh
        if moment not in told:
            found, before = self._look(moment, fresh), self._before.get(moment)
            # Most of what happens is no commit: who holds the list sees at once that it is the same.
            told[moment] = before if before is not None and before == found else found
        return told[moment]

    def of(self, session_id: str) -> tuple[Commit, ...]:
        """Give the commits of a session as they were recorded, also those that are gone."""
        found = self._known[session_id] = self._read(session_id)
        return found.commits

    def _look(self, moment: datetime, fresh: dict[str, _Read]) -> list[Change]:
        wanted = [
            session.session_id
            for session in self._sessions.timeline()
            if session.last_event_at >= moment - _LAG
        ]
        found = {key: fresh.get(key) or self._read(key) for key in wanted}
        self._known |= found
        fresh |= found
        changes = (change for read in found.values() for change in read.changes)
        since = [change for change in changes if conditions.is_since(change, moment)]
        return sorted(since, key=lambda change: change.at, reverse=True)

    def _read(self, session_id: str) -> _Read:
        known = self._known.get(session_id)
        state = self._sessions.state(session_id)
        if known is not None and known.state == state:
            return known
        arrived = self._sessions.arrivals(session_id)
        events = [event for event in arrived if event.commit is not None]
        events.sort(key=lambda event: (event.occurred_at, event.event_id))
        made = tuple(event.commit for event in events if event.commit is not None)
        return _Read(state, tuple(_changes(events)), made)


def _changes(events: list[Event]) -> Iterator[Change]:
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
