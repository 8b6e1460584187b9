"""The raw events of each session, in that session's own journal; of a compacted one, in its archive."""

import contextlib
import itertools
import os
import re
import threading
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from cachetools import LRUCache

from protocol.errors import BusyError
from protocol.events import Event
from sidecar.domain import events as known
from sidecar.store import files, lines
from sidecar.store.archives import Archives
from sidecar.store.ids import Ids
from sidecar.store.journals import FORMAT, Change, Journal
from sidecar.store.lines import Kept, Op
from sidecar.store.locks import Lock
from sidecar.store.tables import JournalDatabase, JournalStorage

TABLE = "events"
ALIASES = "aliases"
"""Keys of commits that were replaced, each with the event that stands for them now."""
SUFFIX = ".jsonl"

_OURS = re.compile(r"([0-7][0-9A-HJKMNP-TV-Z]{25})\.jsonl")
"""A session's journal; a copy that somebody left beside it is none."""
_OPEN_AT_ONCE = 32


_decode = msgspec.json.Decoder(Event).decode


class Events:
    """Journals by session id, a few of them open at a time."""

    def __init__(self, folder: Path, lock: Lock, ids: Ids) -> None:
        """Stand on a folder; the lock is the store's own."""
        self.folder = folder
        self._draft = folder / "new.draft"
        self._prefix = f"{folder}{os.sep}"
        self._lock = lock
        self._ids = ids
        self._archives = Archives(folder.parent / "archives")
        self._open: _OpenJournals = _OpenJournals(maxsize=_OPEN_AT_ONCE)
        self._mutex = threading.RLock()
        self._typed: tuple[str, dict[str, tuple[Kept, Event]]] = ("", {})
        """The session that was read last, and its events by their ids, each with the document it was read from."""

    def read(self, session_id: str) -> list[Event]:
        """Give a session's events in the order of their arrival."""
        if not self._has_journal(session_id):
            return self._archives.read(session_id) or []
        self._mend(session_id)
        with self._mutex:
            journal = self._database(session_id).journal
            journal.refresh()
            kept = journal.rows(TABLE).documents.kept
            return self._events(session_id, kept.items())

    def latest(self, session_id: str, most: int) -> list[Event]:
        """Give the events of a session that came last, in the order of their arrival."""
        if not self._has_journal(session_id):
            return (self._archives.read(session_id) or [])[-most:]
        self._mend(session_id)
        with self._mutex:
            journal = self._database(session_id).journal
            journal.refresh()
            kept = journal.rows(TABLE).documents.kept
            last = list(itertools.islice(reversed(kept.items()), most))
            return self._events(session_id, reversed(last))

    def _events(self, session_id: str, kept: Iterable[tuple[str, Kept]]) -> list[Event]:
        """Type events, unless that was done lately: while a document is the same object, so is its event."""
        if self._typed[0] != session_id:
            self._typed = (session_id, {})
        typed = self._typed[1]
        return [
            read[1]
            if (read := typed.get(key)) is not None and read[0] is document
            else _typed(typed, key, document)
            for key, document in kept
        ]

    def keys(self, session_id: str) -> Mapping[str, Collection[str]]:
        """Give the ids of a session's events by every key they are known by."""
        if not self._has_journal(session_id):
            events = self._archives.read(session_id) or []
            return {key: {event.event_id: None} for event in events for key in known.keys(event)}
        with self._mutex:
            journal = self._database(session_id).journal
            journal.refresh()
            own = journal.rows(TABLE).index("idempotencyKey")
            aliases = journal.rows(ALIASES).documents
            return ChainMap(own, {key: {row["eventId"]: None} for key, row in aliases.items()})

    def exists(self, session_id: str) -> bool:
        """Tell whether a session has events on the disk."""
        return self._has_journal(session_id) or self._archives.exists(session_id)

    def size(self, session_id: str) -> int:
        """Tell how many bytes a session's journal has; none, once it is compacted."""
        try:
            return os.lstat(self._name(session_id)).st_size
        except FileNotFoundError:
            return 0

    def state(self, session_id: str) -> tuple[int, int, int] | None:
        """Tell which file holds a session's events, how long it is and when it was written."""
        try:
            facts = os.lstat(self._name(session_id))
        except FileNotFoundError:
            try:
                facts = os.lstat(self._archives.path(session_id))
            except FileNotFoundError:
                return None
        return facts.st_ino, facts.st_size, facts.st_mtime_ns

    def is_empty(self, session_id: str) -> bool:
        """Tell whether a session has no event at all."""
        if not self._has_journal(session_id):
            return not self._archives.read(session_id)
        self._mend(session_id)
        with self._mutex:
            return not len(self._database(session_id).table(TABLE))

    def append(self, batches: Mapping[str, Sequence[Event]], new: Collection[str]) -> None:
        """Add events to their sessions, `new` or not; when this returns they are on the disk."""
        is_lone = len(batches) == 1 and not new
        for session_id, events in batches.items():
            if session_id in new:
                self._create(session_id, events)
            else:
                with self._mutex:
                    journal = self._database(session_id).journal
                    journal.append(_ops(events), durable=is_lone)
        if batches and not is_lone:
            files.sync_all(self.folder, [self._name(session_id) for session_id in batches])

    def replace(self, event: Event) -> None:
        """Put an event in the place it has, durably; what it does not stand for any more is free again."""
        with self._mutex:
            journal = self._database(event.session_id).journal
            journal.refresh()
            stood = journal.rows(ALIASES).where("eventId", event.event_id)
            free = set(stood).difference(known.earlier_keys(event))
            journal.append([*((ALIASES, key, None) for key in free), *_ops([event])])

    def remove(self, session_id: str, event_ids: Iterable[str]) -> None:
        """Take events out of a session, durably."""
        with self._mutex:
            journal = self._database(session_id).journal
            journal.append([(TABLE, event_id, None) for event_id in event_ids])

    def session_ids(self) -> Iterator[str]:
        """Go through all sessions that have events on the disk."""
        found = set(self._archives.session_ids())
        with contextlib.suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            found.update(name[1] for entry in entries if (name := _OURS.fullmatch(entry.name)))
        yield from sorted(found)

    def raw(self, session_id: str) -> bytes:
        """Give the bytes of a session's file, readable."""
        if self._has_journal(session_id):
            return files.read(Path(self._name(session_id))) or b""
        return self._archives.raw(session_id) or b""

    def rewrite(self, session_id: str, change: Change) -> None:
        """Write a session's file anew, each event changed or left out."""
        if not self._has_journal(session_id):
            self._archives.rewrite(session_id, lambda event: change(TABLE, event))
            return
        with self._mutex:
            journal = self._database(session_id).journal
            journal.change(change)

    def pack(self, session_id: str) -> int:
        """Write a session's events into an archive, durably; tell its size. The journal stays."""
        return self._archives.write(session_id, self.read(session_id))

    def drop_journal(self, session_id: str) -> None:
        """Remove the journal of a session whose archive is on the disk."""
        with self._mutex:
            self._open.pop(session_id, None)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._name(session_id))  # noqa: PTH108  # names are strings here

    def unpack(self, session_ids: Iterable[str]) -> list[str]:
        """Give compacted sessions among these their journals back, before they change; tell which."""
        found = [one for one in session_ids if not self._has_journal(one)]
        found = [one for one in found if self._archives.exists(one)]
        for session_id in found:
            self._create(session_id, self._archives.read(session_id) or [])
        if found:
            files.sync_all(self.folder, [self._name(session_id) for session_id in found])
        return found

    def halved(self) -> list[str]:
        """Name the sessions with a journal and an archive: a crash cut short what was done with them."""
        return [one for one in self._archives.session_ids() if self._has_journal(one)]

    def drop_archives(self, session_ids: Iterable[str]) -> None:
        """Remove the archives of sessions that have a journal."""
        for session_id in session_ids:
            self._archives.drop(session_id)

    def close(self) -> None:
        """Give all files back."""
        with self._mutex:
            while self._open:
                self._open.popitem()

    def _has_journal(self, session_id: str) -> bool:
        return os.path.lexists(self._name(session_id))

    def _mend(self, session_id: str) -> None:
        """Heal a damaged journal, unless another process keeps the lock; it comes before our mutex."""
        with self._mutex:
            journal = self._database(session_id).journal
            journal.refresh()
        if journal.is_damaged:
            with contextlib.suppress(BusyError), self._lock.held(), self._mutex:
                self._database(session_id).journal.prepare()

    def _create(self, session_id: str, events: Sequence[Event]) -> None:
        """Write a session's first events and its journal in one go."""
        line = lines.encode(_ops(events, lambda event: event))
        files.create(self._draft, self._name(session_id), lines.encode_header(FORMAT) + line)

    def _database(self, session_id: str) -> JournalDatabase:
        database = self._open.get(session_id)
        if database is None:
            journal = Journal(Path(self._name(session_id)), self._lock)
            database = JournalDatabase(journal, self._lock, self._ids, storage=JournalStorage)
            self._open[session_id] = database
        return database

    def _name(self, session_id: str) -> str:
        return f"{self._prefix}{session_id}{SUFFIX}"


def _typed(typed: dict[str, tuple[Kept, Event]], key: str, document: Kept) -> Event:
    event = _read(document)
    typed[key] = (document, event)
    return event


def _read(document: Kept) -> Event:
    if isinstance(document, msgspec.Raw):
        return _decode(document)
    return msgspec.convert(document, Event)


def _ops(events: Iterable[Event], write: Callable[[Event], Any] = msgspec.to_builtins) -> list[Op]:
    """Say how to write events, and the keys of what they replaced."""
    ops: list[Op] = []
    for event in events:
        ops.append((TABLE, event.event_id, write(event)))
        ops += [(ALIASES, key, {"eventId": event.event_id}) for key in known.earlier_keys(event)]
    return ops


class _OpenJournals(LRUCache[str, JournalDatabase]):
    """Closes what it lets go."""

    def pop(self, key: str, *default: JournalDatabase | None) -> JournalDatabase | None:  # type: ignore[override]  # only as it is used here
        database = super().pop(key, *default)
        if database is not None:
            database.close()
        return database

    def popitem(self) -> tuple[str, JournalDatabase]:
        session_id, database = super().popitem()
        database.close()
        return session_id, database
