"""The commits among a project's events; a session is read again only after its file has changed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from protocol.events import Event
from sidecar.domain import conditions
from sidecar.domain.conditions import Change
from sidecar.store.chronicles import Chronicle

_LAG = timedelta(days=2)
"""A session's record may not say yet when its last event was; no session is longer than a day."""


class Commits:
    """What was committed, as far as it was recorded and is still there."""

    def __init__(self, sessions: Chronicle) -> None:
        """Stand on the sessions; nothing is read before it is asked for."""
        self._sessions = sessions
        self._known: dict[str, tuple[object, tuple[Change, ...]]] = {}

    def since(self, moment: datetime) -> list[Change]:
        """List the commits since a moment, the newest first."""
        found: dict[str, tuple[object, tuple[Change, ...]]] = {}
        for session in self._sessions.timeline():
            if session.last_event_at >= moment - _LAG:
                found[session.session_id] = self._read(session.session_id)
        self._known |= found
        changes = (change for _, own in found.values() for change in own)
        since = [change for change in changes if conditions.is_since(change, moment)]
        return sorted(since, key=lambda change: change.at, reverse=True)

    def _read(self, session_id: str) -> tuple[object, tuple[Change, ...]]:
        known = self._known.get(session_id)
        state = self._sessions.state(session_id)
        if known is not None and known[0] == state:
            return known
        return state, tuple(_changes(self._sessions.events(session_id)))


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
