"""Turn saved files into events, except ignored and secret ones."""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from cachetools import LRUCache, TTLCache

from protocol.events import FileChange, NewEvent
from sidecar.capture import record
from sidecar.capture.rules import saves
from sidecar.capture.rules.saves import Save
from sidecar.privacy import secret_files
from sidecar.storage.vault import Vault
from sidecar.text import paths

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
        placed = record.ingest(self.vault, [_event(save) for save in kept], source)
        for save, place in zip(kept, placed, strict=True):
            if place.session_id is not None:
                self._recorded[save.path] = (save.at, place.session_id)

    def _recent(self, wanted: Iterable[Save]) -> dict[str, datetime]:
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
    """Return whether a file may be named: it holds no secrets, and it is not one that we write ourselves."""
    from sidecar.hosts import rules_files  # noqa: PLC0415  # where nothing is saved, it is not needed

    return not secret_files.is_secret(path) and path not in rules_files.PLACES.values()


def _event(save: Save) -> NewEvent:
    name = paths.read(os.fsencode(save.path))
    return NewEvent(kind="save", occurred_at=save.at, files=(FileChange(path=name),))


_KNOWN_FOR = 10
_UNKNOWN = Path("?")
"""No folder: they are absolute."""


class Places:
    """Finds the root of the project that a file is in, without asking git."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._tops: TTLCache[Path, Path | None] = TTLCache(maxsize=4096, ttl=_KNOWN_FOR)
        self._mutex = threading.RLock()

    def find(self, path: Path, folders: Iterable[Path]) -> tuple[Path, str] | None:
        """Return a file's project and its name there; None for a file outside these folders, or git's own."""
        real = Path(os.path.realpath(path))
        folder = next((one for one in folders if real.is_relative_to(one)), None)
        if folder is None or real == folder:
            return None
        root = self._top(real.parent) or folder
        name = real.relative_to(root).as_posix()
        return None if ".git" in name.split("/") else (root, name)

    def forget(self) -> None:
        """Look anew from now on."""
        with self._mutex:
            self._tops.clear()

    def _top(self, folder: Path) -> Path | None:
        with self._mutex:
            top = self._tops.get(folder, _UNKNOWN)
            if top is _UNKNOWN:
                if os.path.lexists(folder / ".git"):
                    top = folder
                else:
                    top = None if folder == folder.parent else self._top(folder.parent)
                self._tops[folder] = top
            return top
