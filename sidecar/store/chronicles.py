"""A project's sessions and their events, kept so that a crash between two files loses nothing.

An event's line in its session's journal is the commit point. What the session says about its events is
derived: computed from the journal while the session is *unsettled*, written into its record once it is
closed. A session is marked unsettled, durably, before its journal takes an event; the mark goes only
after the events and their keys are on the disk. So what is settled can be trusted without looking.
"""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.errors import StorageFailedError
from protocol.events import Event
from protocol.sessions import EnrichmentStatus, Session
from protocol.values import Record
from sidecar.domain import events as known
from sidecar.domain import sessions
from sidecar.domain.sessions import Rule
from sidecar.store.events import Events
from sidecar.store.ids import Ids
from sidecar.store.journals import Change
from sidecar.store.keys import Keys
from sidecar.store.lines import Op
from sidecar.store.locks import Lock
from sidecar.store.shelves import NEVER, Revision, Shelf
from sidecar.store.tables import JournalDatabase

_KEYS = "keys"
_SUMMARIES = 100

_log = logging.getLogger(__name__)


class Unsettled(Record, frozen=True, kw_only=True):
    """A mark: this session's record may lag behind its events."""

    session_id: str


class Cache(Record, frozen=True, kw_only=True):
    """How large a derived file is; a shorter one was cut and is made anew."""

    size: int


TABLES = ("sessions", "unsettled")
"""Where a project's journal says which sessions there are, and of which their own journals say more."""


class _Seen(Struct, frozen=True):
    """What the timeline was made of."""

    journal: int
    tables: tuple[Revision, Revision]


class Chronicle:
    """Sessions and events; the caller of everything that writes holds the store's lock."""

    def __init__(self, folder: Path, database: JournalDatabase, lock: Lock, ids: Ids) -> None:
        """Stand on the vault's journal and on the folder of session journals."""
        self._journal = database.journal
        self._records = Shelf(database, TABLES[0], Session)
        self._unsettled = Shelf(database, TABLES[1], Unsettled)
        self._caches = Shelf(database, "caches", Cache)
        self._events = Events(folder / "sessions", lock, ids)
        self._keys = Keys(folder / "cache" / "keys", self._settled_keys)
        self._read_keys = Keys(folder / "cache" / "keys", self._settled_keys)
        """The same as readers see them, who hold no lock and write nothing."""
        self._reading = threading.Lock()
        self._summaries: dict[str, tuple[Session, object, Session]] = {}
        """What was last said of sessions that are unsettled, and of which record and file."""
        self._timeline: tuple[_Seen, list[Session]] = (_Seen(-1, (NEVER, NEVER)), [])

    def timeline(self) -> Sequence[Session]:
        """Give all sessions by start; while one is unsettled, its counts are not up to date here."""
        with self._journal.mutex:
            self._journal.refresh()
            seen, line = self._timeline
            if seen.journal == self._journal.revision:
                return line
            now = _Seen(self._journal.revision, (self._records.revision, self._unsettled.revision))
            if seen.tables == now.tables:
                self._timeline = (now, line)
                return line
            records = self._records.all()
            marked = self._marked()
        empty = {session_id for session_id in marked if self._events.is_empty(session_id)}
        kept = (record for record in records if record.session_id not in empty)
        line = sorted(kept, key=lambda session: (session.started_at, session.session_id))
        # A session may get its first event without a word in this journal.
        if not empty:
            self._timeline = (now, line)
        return line

    def get(self, session_id: str) -> Session | None:
        """Read a session with what its events say now."""
        is_unsettled = session_id in self._unsettled
        record = self._records.get(session_id)
        if record is None or not is_unsettled:
            return record
        session = self._summarised(record)
        return session if session.message_count else None

    def record(self, session_id: str) -> Session | None:
        """Read a session's record; while it is unsettled, its counts are not up to date here."""
        return self._records.get(session_id)

    def versions(self) -> dict[str, object]:
        """Give for each session something that is different after it has changed."""
        versions: dict[str, object] = {session.session_id: session for session in self.timeline()}
        for session_id in self._marked():
            if session_id in versions:
                versions[session_id] = (versions[session_id], self._events.size(session_id))
        return versions

    def stamp(self) -> object:
        """Give something that is different after any session has changed; cheaper than `versions`."""
        return self._journal.revisions(TABLES), self.states()

    def states(self) -> object:
        """Give something that is different after an event came to a session that was unsettled at the last look."""
        with self._journal.mutex:
            marked = list(self._journal.rows(self._unsettled.name).documents.kept)
        return tuple((one, self._events.state(one)) for one in marked)

    def state(self, session_id: str) -> object:
        """Give something that is different after a session's events have, or after they were worded anew."""
        return self._events.state(session_id)

    def arrivals(self, session_id: str) -> list[Event]:
        """Read a session's events in the order they came."""
        return self._events.read(session_id)

    def latest(self, session_id: str, most: int) -> list[Event]:
        """Read the events of a session that came last, in the order they came."""
        return self._events.latest(session_id, most)

    def events(self, session_id: str) -> list[Event]:
        """Read a session's events in the order they happened."""
        events = self._events.read(session_id)
        return sorted(events, key=lambda event: (event.occurred_at, event.event_id))

    def find(self, keys: Iterable[str]) -> dict[str, str]:
        """Tell for each key that has an event which session it is in; the caller holds the lock."""
        self._keys.refresh(self._expected_keys())
        unsettled = [(session_id, self._events.keys(session_id)) for session_id in self._marked()]
        found: dict[str, str] = {}
        for key in keys:
            holders = (session_id for session_id, known in unsettled if key in known)
            session_id = next(holders, None) or self._keys.find(key)
            if session_id is not None:
                found[key] = session_id
        return found

    def holder(self, key: str) -> tuple[str | None, bool]:
        """Tell which session has the event of a key, without the lock, and whether that is certain."""
        for session_id in self._marked():
            if key in self._events.keys(session_id):
                return session_id, True
        with self._reading:
            is_certain = self._read_keys.catch_up()
            return (self._read_keys.find(key) if is_certain else None), is_certain

    def event_id(self, session_id: str, key: str) -> str | None:
        """Give the id of the event that a session holds under an idempotency key."""
        return next(iter(self._events.keys(session_id).get(key, ())), None)

    def append(self, changed: Mapping[str, Session], events: Sequence[Event]) -> None:
        """Store events and the sessions they open or close; durable when this returns."""
        batches: dict[str, list[Event]] = {}
        for event in events:
            batches.setdefault(event.session_id, []).append(event)
        new = {
            session_id: batch
            for session_id, batch in batches.items()
            if session_id not in self._records and not self._events.exists(session_id)
        }
        calm = [session_id for session_id in batches if session_id not in self._unsettled]
        reopened = self._events.unpack(calm)
        ops = [self._records.put(session_id, session) for session_id, session in changed.items()]
        ops += [op for session_id in calm for op in self._woken(session_id)]
        ops += [
            self._unsettled.put(session_id, Unsettled(session_id=session_id)) for session_id in calm
        ]
        if ops:
            self._journal.append(ops)
        self._events.drop_archives(reopened)
        self._events.append(batches, new.keys())
        self._settle(new)

    def replace(self, event: Event, gone: Sequence[Event]) -> None:
        """Store an event in its own place and take out those that it stands for from now on."""
        touched = dict.fromkeys([event.session_id, *(old.session_id for old in gone)])
        marks = [
            self._unsettled.put(session_id, Unsettled(session_id=session_id))
            for session_id in touched
            if session_id not in self._unsettled
        ]
        reopened = self._events.unpack(touched)
        marks += self._closed_again(reopened)
        if marks:
            self._journal.append(marks)
        self._events.drop_archives(reopened)
        self._events.replace(event)
        for old in gone:
            self._events.remove(old.session_id, [old.event_id])
        self._drop_empty()
        self._settle({})

    def enriched(
        self, session_id: str, status: EnrichmentStatus, summary: str | None = None
    ) -> list[Op]:
        """Say how to write down how far a session's enrichment is, if that is new."""
        record = self._records.get(session_id)
        if record is None or (record.enrichment_status == status and summary is None):
            return []
        changed = msgspec.structs.replace(
            record, enrichment_status=status, summary=summary or record.summary
        )
        return [self._records.put(session_id, changed)]

    def _woken(self, session_id: str) -> list[Op]:
        """Say how to write down that a session at rest gets more to hold, and to be read."""
        record = self._records.get(session_id)
        if record is None:
            return []
        is_read = record.enrichment_status == "completed"
        woken = msgspec.structs.replace(
            record,
            status="closed" if record.status == "compacted" else record.status,
            enrichment_status="pending" if is_read else record.enrichment_status,
        )
        return [] if woken == record else [self._records.put(session_id, woken)]

    def compact(self, session: Session) -> tuple[int, int]:
        """Keep a closed session's events compressed; tell how many bytes they took and take."""
        before = self._events.size(session.session_id)
        after = self._events.pack(session.session_id)
        compacted = msgspec.structs.replace(session, status="compacted")
        self._journal.append([self._records.put(session.session_id, compacted)])
        self._events.drop_journal(session.session_id)
        return before, after

    def close_sessions(self, closed: Iterable[Session]) -> None:
        """Store sessions that were closed, with what their events say."""
        ops: list[Op] = []
        for session in closed:
            ops.append(self._records.put(session.session_id, session))
            mark = Unsettled(session_id=session.session_id)
            ops.append(self._unsettled.put(session.session_id, mark))
        if ops:
            self._journal.append(ops)
            self._settle({})

    def put(self, record: Session, events: Sequence[Event]) -> None:
        """Store a session that came from elsewhere, without the events that are already here."""
        here = {event.event_id for event in self._events.read(record.session_id)}
        keys = set(self.find(event.idempotency_key for event in events if event.idempotency_key))
        missing: list[Event] = []
        for event in events:
            if event.event_id not in here and event.idempotency_key not in keys:
                missing.append(event)
                here.add(event.event_id)
                keys.update(filter(None, [event.idempotency_key]))
        if not missing:
            return
        if record.session_id in self._records:
            self.append({}, missing)
            return
        if record.status == "active" and any(s.status == "active" for s in self.timeline()):
            record = sessions.close(record, record.last_event_at)
        self.append({record.session_id: record}, missing)

    def repair(self, project_id: str, rule: Rule) -> None:
        """Finish what a crash cut short: no session without events, no events without a session."""
        halved = self._events.halved()
        lost = [*self.recover(project_id, rule), *self._closed_again(halved)]
        if lost:
            self._journal.append(lost)
        self._events.drop_archives(halved)
        self._drop_empty()
        self._settle({})

    def recover(self, project_id: str, rule: Rule) -> Iterator[Op]:
        """Tell how to make records anew for session journals that have none."""
        known = self._journal.rows(self._records.name).documents
        for session_id in self._events.session_ids():
            if session_id not in known:
                events = self._events.read(session_id)
                if events:
                    session = sessions.restore(session_id, project_id, events, rule)
                    yield self._records.put(session_id, session)
                    yield self._unsettled.put(session_id, Unsettled(session_id=session_id))

    def count_events(self) -> int:
        """Count all events, settled or not."""
        marked = self._marked()
        settled = sum(r.message_count for r in self._records.all() if r.session_id not in marked)
        return settled + sum(len(self._events.read(session_id)) for session_id in marked)

    def rewrite(self, change: Change, is_meant: Callable[[bytes], bool]) -> list[str]:
        """Write those session files anew that hold certain bytes, each event changed; tell whose."""
        found = [one for one in self._events.session_ids() if is_meant(self._events.raw(one))]
        for session_id in found:
            self._events.rewrite(session_id, change)
        return found

    def say(self, needle: "re.Pattern[bytes]") -> bool:
        """Tell whether certain bytes stand in the events of any session."""
        return any(map(needle.search, map(self._events.raw, self._events.session_ids())))

    def restate(self, session_ids: Iterable[str]) -> None:
        """Write down anew what sessions say of their events, which are not what they were."""
        ops = [
            self._unsettled.put(session_id, Unsettled(session_id=session_id))
            for session_id in session_ids
        ]
        if ops:
            self._journal.append(ops)
            self._drop_empty()
            self._settle({})

    def close(self) -> None:
        """Give all files back."""
        self._events.close()

    def _summarised(self, record: Session) -> Session:
        """Say of a session what its events say; they are read again once there are others."""
        state = self._events.state(record.session_id)
        known = self._summaries.get(record.session_id)
        if known is not None and known[:2] == (record, state):
            return known[2]
        session = sessions.summarise(record, self._events.read(record.session_id))
        if len(self._summaries) >= _SUMMARIES:
            self._summaries.clear()
        self._summaries[record.session_id] = (record, state, session)
        return session

    def _closed_again(self, session_ids: Iterable[str]) -> list[Op]:
        """Say how to write down that sessions are not compacted any more: they have journals."""
        records = filter(None, map(self._records.get, session_ids))
        return [
            self._records.put(record.session_id, msgspec.structs.replace(record, status="closed"))
            for record in records
            if record.status == "compacted"
        ]

    def _settle(self, at_hand: Mapping[str, Sequence[Event]]) -> None:
        """Write into the records of closed sessions what their events say, and take their marks.

        All of it can be derived, so a disk that refuses now is no failure: the marks stay for later.
        """
        closed = [
            (session_id, self._records.read(document))
            for session_id in self._marked()
            if (document := self._records.peek(session_id)) and document["status"] != "active"
        ]
        if not closed:
            return
        ops: list[Op] = []
        pairs: list[tuple[str, str]] = []
        for session_id, record in closed:
            events = at_hand.get(session_id) or self._events.read(session_id)
            pairs += _pairs(events)
            ops.append(self._records.put(session_id, sessions.summarise(record, events)))
            ops.append(self._unsettled.drop(session_id))
        try:
            self._keys.refresh(self._expected_keys())
            size = self._keys.add(pairs)
            ops.append(self._caches.put(_KEYS, Cache(size=size)))
            self._journal.append(ops, durable=False)
        except StorageFailedError as error:
            _log.warning("%s; what is derived is written down later", error)

    def _drop_empty(self) -> None:
        """Forget the sessions that have no event."""
        empty = [session_id for session_id in self._marked() if self._events.is_empty(session_id)]
        if empty:
            drops = [shelf.drop(key) for key in empty for shelf in (self._records, self._unsettled)]
            self._journal.append(drops)

    def _expected_keys(self) -> int:
        cache = self._caches.peek(_KEYS)
        return 0 if cache is None else int(cache["size"])

    def _marked(self) -> list[str]:
        return self._unsettled.ids()

    def _settled_keys(self) -> Iterator[tuple[str, str]]:
        marked = self._marked()
        for session_id in self._events.session_ids():
            if session_id not in marked:
                yield from _pairs(self._events.read(session_id))


def _pairs(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    for event in events:
        for key in known.keys(event):
            yield key, event.session_id
