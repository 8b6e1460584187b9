"""Following: what is not any more as it was, whoever changed it."""

from collections.abc import Iterable

from protocol.capture import CaptureState
from protocol.methods import Change, Subject
from sidecar.services import pausing
from sidecar.services.pausing import IsRunning
from sidecar.store.vaults import Vault


class Follower:
    """Compares a project with how it was when last looked at."""

    def __init__(self, vault: Vault, is_running: IsRunning) -> None:
        """Take everything as it is now for known."""
        self._vault = vault
        self._is_running = is_running
        self._sessions = vault.sessions.versions()
        self._capture = self._state()

    def changes(self) -> list[Change]:
        """Tell what has changed since the last time."""
        before, self._sessions = self._sessions, self._vault.sessions.versions()
        paused, self._capture = self._capture, self._state()
        ids = sorted(
            session_id
            for session_id in before.keys() | self._sessions.keys()
            if before.get(session_id) != self._sessions.get(session_id)
        )
        found: list[Change] = []
        if ids:
            found.append(self._change("sessions", ids))
        if paused != self._capture:
            found.append(self._change("capture", ()))
        return found

    def _change(self, what: Subject, ids: Iterable[str]) -> Change:
        return Change(what=what, project_id=self._vault.project_id, ids=tuple(ids))

    def _state(self) -> CaptureState:
        return pausing.state(self._vault, self._is_running)
