"""How a project's sessions went; a session is read again only after its file has changed."""

from protocol.sessions import Session
from sidecar.domain import paces
from sidecar.domain.paces import Pace
from sidecar.store.chronicles import Chronicle

_KNOWN = 5_000
"""Sessions of which it is remembered."""


class Paces:
    """Tells how sessions went, from what it keeps or from their events."""

    def __init__(self, sessions: Chronicle) -> None:
        """Stand on the sessions; nothing is read before it is asked for."""
        self._sessions = sessions
        self._known: dict[str, tuple[object, Pace]] = {}

    def of(self, session: Session) -> Pace:
        """Tell how a session went."""
        key = session.session_id
        state = (session.started_at, self._sessions.state(key))
        known = self._known.get(key)
        if known is not None and known[0] == state:
            return known[1]
        pace = paces.measure(session.started_at, self._sessions.arrivals(key))
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[key] = (state, pace)
        return pace
