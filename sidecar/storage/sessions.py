"""A project's sessions and their events: an event and what its session says of it are written in one transaction."""

import itertools
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from protocol.events import Event
from protocol.sessions import EnrichmentStatus, Session, SessionStatus
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Rule
from sidecar.storage import blocks, salvage, texts
from sidecar.storage.collection import Collection, Op, encode, glimpse
from sidecar.storage.engine import Document, DocumentTable, SQLiteStorage, checksum, table_schema

SCHEMA = f"""
{table_schema("sessions", ("status", "enrichmentStatus", "started", "count"))};
CREATE INDEX IF NOT EXISTS "sessions.started" ON sessions (started, id);
CREATE INDEX IF NOT EXISTS "sessions.status" ON sessions (status, started, id);
CREATE INDEX IF NOT EXISTS "sessions.unread" ON sessions (started, id) WHERE status = 'closed' AND enrichmentStatus IN ('none', 'pending');
CREATE TABLE IF NOT EXISTS tallies (status TEXT NOT NULL, enrichmentStatus TEXT NOT NULL, sessions INTEGER NOT NULL, events INTEGER NOT NULL, PRIMARY KEY (status, enrichmentStatus)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS "sessions.added" AFTER INSERT ON sessions BEGIN INSERT INTO tallies SELECT new.status, new.enrichmentStatus, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM tallies WHERE status = new.status AND enrichmentStatus = new.enrichmentStatus); UPDATE tallies SET sessions = sessions + 1, events = events + new.count WHERE status = new.status AND enrichmentStatus = new.enrichmentStatus; END;
CREATE TRIGGER IF NOT EXISTS "sessions.removed" AFTER DELETE ON sessions BEGIN UPDATE tallies SET sessions = sessions - 1, events = events - old.count WHERE status = old.status AND enrichmentStatus = old.enrichmentStatus; END;
{table_schema("events", ("sessionId",))};
CREATE INDEX IF NOT EXISTS "events.sessionId" ON events ("sessionId", seq);
CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, session TEXT NOT NULL, event TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS "keys.event" ON keys (event);
CREATE TABLE IF NOT EXISTS blocks (session TEXT NOT NULL, number INTEGER NOT NULL, count INTEGER NOT NULL, sum INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session, number)) WITHOUT ROWID;
"""  # noqa: S608  # names of our own

_PAGE = 100
Change = Callable[[str, Document], Document | None]
"""Returns a collection's document as it is to be; None removes it."""

_log = logging.getLogger(__name__)
_decode = msgspec.json.Decoder(Event).decode
_COLUMNS = glimpse("status", "enrichmentStatus", "startedAt", "messageCount")


class SessionCollection(Collection[Session]):
    """Session records, with the columns by which they are sorted and counted."""

    def __init__(self, storage: SQLiteStorage) -> None:
        super().__init__(storage, "sessions", Session, ("status", "enrichmentStatus"), width=4)

    def _columns(self, body: bytes) -> list[Any]:
        status, enrichment, started, count = _COLUMNS(body)
        moment = msgspec.convert(started, datetime)
        return [status, enrichment, texts.micros(moment), 1 if count is None else count]


class Sessions:
    """Sessions and events; whatever writes is called inside a transaction."""

    def __init__(self, storage: SQLiteStorage) -> None:
        self.database, self._damaged = storage.database, storage.damaged
        self.records = SessionCollection(storage)
        self._events = DocumentTable(storage, "events", columns=("sessionId",), is_made=True)

    # Sessions

    def get(self, session_id: str) -> Session | None:
        """Read a session."""
        return self.records.get(session_id)

    def newest(self, before: datetime | None = None) -> Iterator[Session]:
        """Go through the sessions that started before a moment, the latest first, reading them page by page."""
        edge: tuple[int, str] = (texts.micros(before) if before else 1 << 62, "")
        query = (
            "SELECT started, id FROM sessions WHERE (started, id) < (?, ?)"
            " ORDER BY started DESC, id DESC LIMIT ?"
        )
        while rows := self.database.rows(query, (*edge, _PAGE)):
            # One that is damaged is left out; it must not end the list.
            yield from self.records.some(row[1] for row in rows).values()
            edge = rows[-1]

    def page(self, status: SessionStatus | None, before: str | None, limit: int) -> list[Session]:
        """Return sessions of a status, the latest first, that come after one in that order."""
        clause, values = "1", list[Any]()
        if status is not None:
            clause, values = "status = ?", [status]
        if before is not None:
            clause += " AND (started, id) < (SELECT started, id FROM sessions WHERE id = ?)"
            values.append(before)
        order = "ORDER BY started DESC, id DESC LIMIT ?"
        return self.records.pick(f"WHERE {clause} {order}", [*values, limit])

    def oldest(self) -> Session | None:
        """Return the session that started first."""
        return next(iter(self.records.pick("ORDER BY started, id LIMIT 1")), None)

    def timeline(self) -> Sequence[Session]:
        """Return all sessions by start; for exports, not for answers."""
        return list(self.newest())[::-1]

    def active(self) -> list[Session]:
        """Return the sessions that take events, by start: one, unless an import brought another."""
        return self.records.pick("WHERE status = 'active' ORDER BY started, id")

    def around(self, first: datetime, last: datetime, rule: Rule) -> list[Session]:
        """Return, by start, all sessions that decide where events between two moments belong.

        These are the sessions whose window may cover one, the next one after them, and those that are active.
        """
        start, end = texts.micros(first - rule.window), texts.micros(last)
        return self.records.pick(
            "WHERE started BETWEEN ? AND coalesce((SELECT min(started) FROM sessions WHERE started > ?), ?)"
            " OR status = 'active' ORDER BY started, id",
            [start, end, end],
        )

    def count(self) -> int:
        """Count the sessions."""
        return int(self.database.row("SELECT coalesce(sum(sessions), 0) FROM tallies")[0])

    def count_by(self, status: SessionStatus | None = None) -> dict[str, int]:
        """Count the sessions of a status, or all, by how far their enrichment is."""
        where, values = ("WHERE status = ?", [status]) if status else ("", [])
        query = (
            f"SELECT enrichmentStatus, sum(sessions) FROM tallies {where}"  # noqa: S608
            " GROUP BY enrichmentStatus HAVING sum(sessions)"
        )
        return dict(self.database.rows(query, values))

    def count_events(self) -> int:
        """Count all events."""
        return int(self.database.row("SELECT coalesce(sum(events), 0) FROM tallies")[0])

    def unread(self) -> list[str]:
        """Name the closed sessions that nobody has read, the latest first."""
        query = (
            "SELECT id FROM sessions WHERE status = 'closed' AND enrichmentStatus IN ('none', 'pending')"
            " ORDER BY started DESC, id DESC"
        )
        return [row[0] for row in self.database.rows(query)]

    def enriched(
        self, session_id: str, status: EnrichmentStatus, summary: str | None = None
    ) -> list[Op]:
        """Return the change that notes how far a session's enrichment is, if that is new."""
        record = self.get(session_id)
        if record is None or (record.enrichment_status == status and summary is None):
            return []
        changed = msgspec.structs.replace(
            record, enrichment_status=status, summary=summary or record.summary
        )
        return [self.records.put(session_id, changed)]

    def close_sessions(self, closed: Iterable[Session]) -> None:
        """Store sessions that were closed."""
        self.records.apply_all({session.session_id: session for session in closed})

    # Events

    def arrivals(self, session_id: str) -> list[Event]:
        """Read a session's events in the order they came."""
        return [_decode(body) for body in self._bodies(session_id)]

    def events(self, session_id: str) -> list[Event]:
        """Read a session's events in the order they happened."""
        return sorted(
            self.arrivals(session_id), key=lambda event: (event.occurred_at, event.event_id)
        )

    def latest(self, session_id: str, most: int) -> list[Event]:
        """Read the events of a session that came last, in the order they came."""
        rows = self._events.raw(
            'WHERE "sessionId" = ? ORDER BY seq DESC LIMIT ?', [session_id, most]
        )
        found = [_decode(body) for _, body, _ in rows][::-1]
        return found or self.arrivals(session_id)[-most:]

    def find(self, keys: Iterable[str]) -> dict[str, str]:
        """Return for each key that has an event the session it is in."""
        return {key: place[0] for key, place in self.places(keys).items()}

    def places(self, keys: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return for each key that has an event its session and its id."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, tuple[str, str]] = {}
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            marks = ", ".join("?" * len(part))
            query = f"SELECT key, session, event FROM keys WHERE key IN ({marks})"  # noqa: S608
            found |= {
                key: (session, event) for key, session, event in self.database.rows(query, part)
            }
        return found

    def holder(self, key: str) -> str | None:
        """Return the session that has the event of a key."""
        return self.find([key]).get(key)

    def append(
        self,
        changed: Mapping[str, Session],
        new: Sequence[Event],
        known: Iterable[Session] = (),
    ) -> None:
        """Store events, and the sessions they open, close or join; those that are known are not read again."""
        batches: dict[str, list[Event]] = {}
        for event in new:
            batches.setdefault(event.session_id, []).append(event)
        self._store(*new)
        touched = list(dict.fromkeys([*changed, *batches]))
        stored = {session.session_id: session for session in known}
        stored |= self.records.some(key for key in touched if key not in stored)
        records: dict[str, Session] = {}
        for session_id in touched:
            record = changed.get(session_id) or stored.get(session_id)
            if record is None:
                raise LookupError(f"no session {session_id} for its events")
            join = self._joined if session_id in stored else sessions.summarise
            records[session_id] = join(record, batches.get(session_id, []))
        self.records.apply_all(records)

    def _joined(self, record: Session, new: Sequence[Event]) -> Session:
        """Return a session with what further events say; one at rest wakes up."""
        if not new:
            return record
        if record.status == "compacted":
            self._unpack(record.session_id)
            record = msgspec.structs.replace(record, status="closed")
        if record.enrichment_status == "completed":
            record = msgspec.structs.replace(record, enrichment_status="pending")
        extended = sessions.extended(record, new)
        return extended or sessions.summarise(record, self.arrivals(record.session_id))

    def replace(self, event: Event, gone: Sequence[Event]) -> None:
        """Store an event in its own place and take out those that it stands for from now on."""
        touched = list(dict.fromkeys([event.session_id, *(old.session_id for old in gone)]))
        for session_id in touched:
            self._wake(session_id)
        for old in gone:
            self._remove(old.event_id)
        body = encode(event)
        if self.database.execute(
            "UPDATE events SET body = ?, sum = ? WHERE id = ?",
            (body.decode(), checksum("events", event.event_id, body), event.event_id),
        ):
            self._forget_words(event.event_id)
            self._index(event)
        else:
            self._store(event)
        self.restate(touched)

    def restate(self, session_ids: Iterable[str]) -> None:
        """Write anew what sessions say of their events; one that has none left goes."""
        for session_id in session_ids:
            record = self.get(session_id)
            if record is not None:
                stated = sessions.summarise(record, self.arrivals(session_id))
                self.records.apply(session_id, stated if stated.message_count else None)

    def put(self, record: Session, incoming: Sequence[Event]) -> None:
        """Store a session that came from elsewhere, without the events that are already here."""
        here = {event.event_id for event in self.arrivals(record.session_id)}
        keys = set(self.find(event.idempotency_key for event in incoming if event.idempotency_key))
        missing: list[Event] = []
        for event in incoming:
            if event.event_id not in here and event.idempotency_key not in keys:
                missing.append(event)
                here.add(event.event_id)
                keys.update(filter(None, [event.idempotency_key]))
        if not missing:
            return
        if record.session_id in self.records:
            self.append({}, missing)
            return
        if record.status == "active" and self.active():
            record = sessions.close(record, record.last_event_at)
        self.append({record.session_id: record}, missing)

    # Compaction

    def compact(self, session: Session) -> tuple[int, int]:
        """Keep a closed session's events compressed; return how many bytes they took and take."""
        session_id = session.session_id
        bodies = list(self._bodies(session_id))
        self.database.execute("DELETE FROM blocks WHERE session = ?", (session_id,))
        after = 0
        for number, (count, block) in enumerate(blocks.pack(bodies)):
            row = (session_id, number, count, zlib.crc32(block), block)
            self.database.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", row)
            after += len(block)
        self.database.execute('DELETE FROM events WHERE "sessionId" = ?', (session_id,))
        self.records.apply(session_id, msgspec.structs.replace(session, status="compacted"))
        return sum(map(len, bodies)), after

    # Forgetting

    def rewrite(self, change: Change) -> tuple[int, list[str]]:
        """Change every event; return how many were changed or removed, and in which sessions."""
        count, touched = 0, []
        ids = [row[0] for row in self.database.rows("SELECT id FROM sessions ORDER BY id")]
        for session_id in ids:
            is_changed = False
            for body in list(self._bodies(session_id)):
                document = msgspec.json.decode(body)
                changed = change("events", document)
                if changed != document:
                    if not is_changed:
                        self._wake(session_id)
                        is_changed = True
                    count += 1
                    self._remove(document["eventId"])
                    if changed is not None:
                        self._store(msgspec.convert(changed, Event))
            if is_changed:
                touched.append(session_id)
        return count, touched

    def say(self, needle: "re.Pattern[bytes]") -> bool:
        """Whether certain words stand in the events of any session."""
        ids = [row[0] for row in self.database.rows("SELECT id FROM sessions ORDER BY id")]
        return any(needle.search(body) for session_id in ids for body in self._bodies(session_id))

    def state(self, session_id: str) -> int:
        """Return a number that is another one after a session or its events have changed."""
        return self.records.fingerprints([session_id]).get(session_id, 0)

    # Recovery

    def put_event(self, body: bytes) -> None:
        """Store an event as it was written before."""
        self._put_back(_decode(body))

    def put_blocks(self, saved: Iterable[salvage.Block]) -> None:
        """Store compressed events that were written before, each event once.

        Rows from before a compaction, and blocks of an earlier one, may have been found too, and not all of them.
        """
        here = {row[0] for row in self.database.rows("SELECT id FROM events")}
        packed: set[tuple[str, int]] = set()
        for block in saved:
            events = [_decode(body) for body in blocks.unpack(block.data) or ()]
            missing = [event for event in events if event.event_id not in here]
            here.update(event.event_id for event in events)
            place = (block.session, block.number)
            if len(missing) < len(events) or place in packed:
                for event in missing:
                    self._put_back(event)
                continue
            packed.add(place)
            row = (*place, block.events, zlib.crc32(block.data), block.data)
            self.database.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", row)
            for event in events:
                self._forget_words(event.event_id)
                self._index(event)

    def _put_back(self, event: Event) -> None:
        # A damaged file may hold an event twice.
        self._forget_words(event.event_id)
        self._store(event)

    def ids_of_events(self) -> list[str]:
        """Return the sessions that have events, whether or not they have a record."""
        query = 'SELECT DISTINCT "sessionId" FROM events UNION SELECT session FROM blocks'
        return [row[0] for row in self.database.rows(query)]

    # Inside

    def _bodies(self, session_id: str) -> Iterator[bytes]:
        """Yield the texts of a session's events in the order they came; a damaged block is left out."""
        query = "SELECT number, sum, data FROM blocks WHERE session = ? ORDER BY number"
        for number, total, data in self.database.rows(query, (session_id,)):
            unpacked = blocks.unpack(data) if zlib.crc32(data) == total else None
            if unpacked is None:
                _log.error(
                    "%s: block %d of session %s is damaged", self.database.path, number, session_id
                )
                self._damaged.add(("blocks", f"{number} of session {session_id}"))
            yield from unpacked or ()
        rows = self._events.raw('WHERE "sessionId" = ? ORDER BY seq', [session_id])
        yield from (body for _, body, _ in rows)

    def _store(self, *events: Event) -> None:
        rows = ((one.event_id, encode(one), (one.session_id,)) for one in events)
        self._events.store_all(rows)
        self._index(*events)

    def _index(self, *events: Event) -> None:
        self.database.execute_all(
            "INSERT OR REPLACE INTO keys VALUES (?, ?, ?)",
            ((key, one.session_id, one.event_id) for one in events for key in sessions.keys(one)),
        )
        texts.put(self.database, map(texts.of_event, events))

    def _remove(self, event_id: str) -> None:
        self._events.discard(event_id)
        self._forget_words(event_id)

    def _forget_words(self, event_id: str) -> None:
        self.database.execute("DELETE FROM keys WHERE event = ?", (event_id,))
        texts.remove(self.database, event_id)

    def _wake(self, session_id: str) -> None:
        record = self.get(session_id)
        if record is not None and record.status == "compacted":
            self._unpack(session_id)
            self.records.apply(session_id, msgspec.structs.replace(record, status="closed"))

    def _unpack(self, session_id: str) -> None:
        bodies = list(itertools.chain(self._bodies(session_id)))
        self.database.execute("DELETE FROM blocks WHERE session = ?", (session_id,))
        for body in bodies:
            event_id = _decode(body).event_id
            self._events.store(event_id, body, (session_id,))
