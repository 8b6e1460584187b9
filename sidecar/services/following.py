"""Following: what is not any more as it was, whoever changed it."""

from collections.abc import Iterable, Mapping

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
        self._jobs = vault.jobs.by_id()
        self._memories = vault.memories.by_id()
        self._capture = self._state()

    def changes(self) -> list[Change]:
        """Tell what has changed since the last time."""
        sessions, self._sessions = self._sessions, self._vault.sessions.versions()
        jobs, self._jobs = self._jobs, self._vault.jobs.by_id()
        memories, self._memories = self._memories, self._vault.memories.by_id()
        paused, self._capture = self._capture, self._state()
        compared: list[tuple[Subject, list[str]]] = [
            ("sessions", _different(sessions, self._sessions)),
            ("jobs", _different(jobs, self._jobs)),
            ("memories", _different(memories, self._memories)),
        ]
        found = [self._change(what, ids) for what, ids in compared if ids]
        if paused != self._capture:
            found.append(self._change("capture", ()))
        return found

    def _change(self, what: Subject, ids: Iterable[str]) -> Change:
        return Change(what=what, project_id=self._vault.project_id, ids=tuple(ids))

    def _state(self) -> CaptureState:
        return pausing.state(self._vault, self._is_running)


def _different(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Name what came, went or changed; what is the same object needs no comparison."""
    return sorted(
        key
        for key in before.keys() | after.keys()
        if before.get(key) is not after.get(key) and before.get(key) != after.get(key)
    )
