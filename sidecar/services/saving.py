"""Saving: which files are saved becomes events, a few of them, and never what is in a file."""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from cachetools import LRUCache

from protocol.events import FileChange, NewEvent
from sidecar.domain import paths, saves, secrets
from sidecar.domain.saves import Save
from sidecar.services import recording
from sidecar.storage.vault import Vault

Ignored = Callable[[Iterable[str]], set[str]]
"""Picks the files that git or the user ignores, out of names relative to the project's root."""

_REMEMBERED = 10_000


class Saves:
    """The saves of one project; what was recorded a moment ago is not recorded again."""

    def __init__(self, vault: Vault, ignored: Ignored) -> None:
        """Begin with nothing recorded."""
        self.vault = vault
        self._ignored = ignored
        self._recorded: LRUCache[str, tuple[datetime, str]] = LRUCache(maxsize=_REMEMBERED)
        self._mutex = threading.Lock()

    def record(self, found: Sequence[Save], source: str, interval: timedelta) -> None:
        """Record what is worth it; the names are the file system's own."""
        with self._mutex:
            self._record(found, source, interval)

    def _record(self, found: Sequence[Save], source: str, interval: timedelta) -> None:
        wanted = [save for save in found if _is_wanted(save.path)]
        news = saves.news(wanted, self._recent(wanted), interval)
        ignored = self._ignored(save.path for save in news)
        kept = [save for save in news if save.path not in ignored]
        if not kept:
            return
        placed = recording.ingest(self.vault, [_event(save) for save in kept], source)
        for save, place in zip(kept, placed, strict=True):
            if place.session_id is not None:
                self._recorded[save.path] = (save.at, place.session_id)

    def _recent(self, wanted: Iterable[Save]) -> dict[str, datetime]:
        """Tell when files were recorded, as far as that is in the session that goes on."""
        recent: dict[str, datetime] = {}
        for save in wanted:
            at, session_id = self._recorded.get(save.path, (None, ""))
            if at is None:
                continue
            session = self.vault.sessions.get(session_id)
            if saves.still_counts(session, save.at, self.vault.rule):
                recent[save.path] = at
        return recent


def _is_wanted(path: str) -> bool:
    """Tell whether a file may be named: it holds no secrets, and it is not one that we write ourselves."""
    from sidecar.domain.connections import rules  # noqa: PLC0415  # where nothing is saved, it is not needed

    return not secrets.is_secret(path) and path not in rules.PLACES.values()


def _event(save: Save) -> NewEvent:
    name = paths.read(os.fsencode(save.path))
    return NewEvent(kind="save", occurred_at=save.at, files=(FileChange(path=name),))
