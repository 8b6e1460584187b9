"""Following: what is not any more as it was, whoever changed it."""

from collections.abc import Iterable, Mapping
from typing import Any

from protocol.capture import CaptureState
from protocol.methods import Change, Subject
from sidecar.services import pausing
from sidecar.services.pausing import IsRunning
from sidecar.store.shelves import NEVER, Shelf
from sidecar.store.vaults import Vault


class Follower:
    """Compares a project with how it was when last looked at."""

    def __init__(self, vault: Vault, is_running: IsRunning) -> None:
        """Take everything as it is now for known."""
        self._vault = vault
        self._is_running = is_running
        self._shelves: dict[Subject, _Followed] = {
            "jobs": _Followed(vault.jobs),
            "memories": _Followed(vault.memories),
            "messages": _Followed(vault.messages),
            "tasks": _Followed(vault.tasks),
            "documents": _Followed(vault.documents),
            "links": _Followed(vault.links),
            "conversations": _Followed(vault.conversations),
        }
        self._sessions = vault.sessions.versions()
        self._capture = self._state()

    def changes(self) -> list[Change]:
        """Tell what has changed since the last time."""
        known, self._sessions = self._sessions, self._vault.sessions.versions()
        paused, self._capture = self._capture, self._state()
        compared: dict[Subject, list[str]] = {"sessions": _different(known, self._sessions)}
        compared |= {what: one.changes() for what, one in self._shelves.items()}
        found = [self._change(what, ids) for what, ids in compared.items() if ids]
        if paused != self._capture:
            found.append(self._change("capture", ()))
        return found

    def _change(self, what: Subject, ids: Iterable[str]) -> Change:
        return Change(what=what, project_id=self._vault.project_id, ids=tuple(ids))

    def _state(self) -> CaptureState:
        return pausing.state(self._vault, self._is_running)


class _Followed:
    """A shelf as it was when last looked at; no record is read for that."""

    def __init__(self, shelf: Shelf[Any]) -> None:
        self._shelf = shelf
        self._revision, _ = shelf.changes(NEVER)
        self._known = shelf.fingerprints()

    def changes(self) -> list[str]:
        """Name what came, went or changed."""
        self._revision, changed = self._shelf.changes(self._revision)
        if changed is None:
            known, self._known = self._known, self._shelf.fingerprints()
            return _different(known, self._known)
        now = self._shelf.fingerprints_of(changed)
        before = {key: self._known[key] for key in changed if key in self._known}
        for key in changed:
            self._known.pop(key, None)
        self._known |= now
        return _different(before, now)


def _different(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Name what came, went or changed; what is the same object needs no comparison."""
    return sorted(
        key
        for key in before.keys() | after.keys()
        if before.get(key) is not after.get(key) and before.get(key) != after.get(key)
    )
