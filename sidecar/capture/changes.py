"""What changed in the store since a client last looked."""

from collections.abc import Iterable
from typing import Any

from protocol.capture import CaptureState
from protocol.methods import Change, Subject
from sidecar.capture import pause
from sidecar.capture.pause import IsRunning
from sidecar.storage.collection import Collection
from sidecar.storage.vault import Vault


class Follower:
    """Compares a project with how it was when last looked at."""

    def __init__(self, vault: Vault, is_running: IsRunning) -> None:
        """Take everything as it is now for known."""
        self._vault = vault
        self._is_running = is_running
        self._shelves: dict[Subject, _Followed] = {
            "sessions": _Followed(vault.sessions.records),
            "jobs": _Followed(vault.jobs),
            "memories": _Followed(vault.memories),
            "messages": _Followed(vault.messages),
            "tasks": _Followed(vault.tasks),
            "documents": _Followed(vault.documents),
            "links": _Followed(vault.links),
            "conversations": _Followed(vault.conversations),
        }
        self._capture = self._state()

    def changes(self) -> list[Change]:
        """Return what has changed since the last time."""
        paused, self._capture = self._capture, self._state()
        compared = {what: one.changes() for what, one in self._shelves.items()}
        found = [self._change(what, ids) for what, ids in compared.items() if ids]
        if paused != self._capture:
            found.append(self._change("capture", ()))
        return found

    def _change(self, what: Subject, ids: Iterable[str]) -> Change:
        return Change(what=what, project_id=self._vault.project_id, ids=tuple(ids))

    def _state(self) -> CaptureState:
        return pause.state(self._vault, self._is_running)


class _Followed:
    """A shelf as it was when last looked at; no record is read for that."""

    def __init__(self, shelf: Collection[Any]) -> None:
        self._shelf = shelf
        self._revision = shelf.revision

    def changes(self) -> list[str]:
        """Name what came, went or changed; all, where that is not known any more."""
        self._revision, changed = self._shelf.changes(self._revision)
        return sorted(self._shelf.ids() if changed is None else changed)
