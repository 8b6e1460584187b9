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
        self._known = self._look()
        self._capture = self._state()

    def changes(self) -> list[Change]:
        """Tell what has changed since the last time."""
        known, self._known = self._known, self._look()
        paused, self._capture = self._capture, self._state()
        compared = [(what, _different(known[what], now)) for what, now in self._known.items()]
        found = [self._change(what, ids) for what, ids in compared if ids]
        if paused != self._capture:
            found.append(self._change("capture", ()))
        return found

    def _look(self) -> dict[Subject, Mapping[str, object]]:
        vault = self._vault
        return {
            "sessions": vault.sessions.versions(),
            "jobs": vault.jobs.by_id(),
            "memories": vault.memories.by_id(),
            "messages": vault.messages.by_id(),
            "tasks": vault.tasks.by_id(),
            "documents": vault.documents.by_id(),
            "conversations": vault.conversations.by_id(),
        }

    def _change(self, what: Subject, ids: Iterable[str]) -> Change:
        return Change(what=what, project_id=self._vault.project_id, ids=tuple(ids))

    def _state(self) -> CaptureState:
        return pausing.state(self._vault, self._is_running)


def _different(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Name what came, went or changed; what is the same object needs no comparison."""
    if before is after:
        return []
    return sorted(
        key
        for key in before.keys() | after.keys()
        if before.get(key) is not after.get(key) and before.get(key) != after.get(key)
    )
