"""Record events: each joins its session in one transaction."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from protocol.errors import BusyError
from protocol.events import Commit, Event, NewEvent
from protocol.methods import Outcome, PlacedEvent
from protocol.sessions import Session
from protocol.values import Params, Timestamp
from sidecar.capture.rules import sessions
from sidecar.privacy import cleaning
from sidecar.storage.spool import Batches
from sidecar.storage.vault import Vault


class Waiting(Params, frozen=True, kw_only=True):
    """A line of the project's spool: events with all that is needed to place them later."""

    source: str
    recorded_at: Timestamp
    events: tuple[NewEvent, ...]


def ingest(vault: Vault, events: Sequence[NewEvent], source: str) -> list[PlacedEvent]:
    """Store what is public of a batch; tell for each event where it went."""
    public = [cleaning.public_event(event) for event in events]
    kept = [event for event in public if event is not None]
    placed = iter(_ingest(vault, kept, source) if kept else ())
    return [PlacedEvent(outcome="dropped") if event is None else next(placed) for event in public]


def drain(vault: Vault) -> int:
    """Place everything that waits in the project's spool; tell how many events that was."""
    if not vault.count_deferred():
        return 0
    with vault.transaction(), vault.deferred() as batches:
        return sum(_drain_batch(vault, batches, name) for name in batches.names())


def _ingest(vault: Vault, events: Sequence[NewEvent], source: str) -> list[PlacedEvent]:
    """Store a batch after all that waits; where the store is stuck, let it wait too, just as safely."""
    now = vault.clock()
    try:
        with vault.transaction():
            drain(vault)
            return _place(vault, events, source, now=now)
    except BusyError:
        waiting = Waiting(
            source=source,
            recorded_at=now,
            events=tuple(_pinned(event, vault.ids.next(), now) for event in events),
        )
        vault.defer(msgspec.json.encode(waiting))
        return [PlacedEvent(outcome="spooled", deferred=True) for _ in events]


def _drain_batch(vault: Vault, batches: Batches, name: str) -> int:
    placed = 0
    unreadable = False
    for number, line in batches.lines(name):
        try:
            waiting = msgspec.json.decode(line, type=Waiting)
        except (msgspec.DecodeError, RecursionError):
            unreadable = True
            continue
        now = _utc(sessions.clamp(waiting.recorded_at, vault.clock(), vault.rule))
        # A crash before `done` brings the batch back: keys of its own keep that from doubling it.
        pins = [f"inbox:{name}:{number}:{index}" for index in range(len(waiting.events))]
        events = [
            _pinned(event, pin, now)
            for found, pin in zip(waiting.events, pins, strict=True)
            if (event := cleaning.public_event(found))
        ]
        _place(vault, events, waiting.source, now=now)
        placed += len(events)
    # A transaction that fails later brings the batch back; its keys keep that from doubling it.
    vault.database.after_commit(lambda: batches.done(name, aside=unreadable))
    return placed


def _place(
    vault: Vault, events: Sequence[NewEvent], source: str, *, now: datetime
) -> list[PlacedEvent]:
    """Store what is new of a batch; the caller holds the store's lock."""
    names = [event.idempotency_key or index for index, event in enumerate(events)]
    known = _find(vault, [name for name in names if isinstance(name, str)])
    new: dict[str | int, NewEvent] = {}
    for name, event in zip(names, events, strict=True):
        if name not in known:
            new.setdefault(name, event)
    stored = dict(zip(new, _store(vault, list(new.values()), source, now=now), strict=True))
    answers: list[PlacedEvent] = []
    for name in names:
        if name in known:
            answers.append(known[name])
        else:
            answers.append(_told("stored", stored[name].event_id, stored[name].session_id))
            known[name] = _told("duplicate", stored[name].event_id, stored[name].session_id)
    return answers


def _find(vault: Vault, keys: Sequence[str]) -> dict[str | int, PlacedEvent]:
    return {
        key: _told("duplicate", event_id, session_id)
        for key, (session_id, event_id) in vault.sessions.places(keys).items()
    }


def _told(outcome: Outcome, event_id: str, session_id: str) -> PlacedEvent:
    return PlacedEvent(outcome=outcome, event_id=event_id, session_id=session_id)


def _store(vault: Vault, events: Sequence[NewEvent], source: str, *, now: datetime) -> list[Event]:
    if not events:
        return []
    rule = vault.rule
    moments = [_utc(sessions.clamp(event.occurred_at or now, now, rule)) for event in events]
    sources = [event.source or source for event in events]

    def begin(moment: datetime, index: int) -> Session:
        return Session(
            session_id=vault.ids.next(),
            project_id=vault.project_id,
            started_at=moment,
            last_event_at=moment,
            source=sources[index],
            sources=(sources[index],),
        )

    timeline = vault.sessions.around(min(moments), max(moments), rule)
    past = sessions.credible(timeline, now, rule)
    vault.sessions.close_sessions(sessions.expire(timeline[len(past) :], now, rule))
    plan = sessions.plan(moments, past, rule, begin)
    stored = [
        Event(
            event_id=vault.ids.next(),
            session_id=session_id,
            kind=event.kind,
            occurred_at=moment,
            recorded_at=now,
            idempotency_key=event.idempotency_key,
            source=seen_by,
            agent_id=event.agent_id,
            files=event.files,
            commit=event.commit and _in_utc(event.commit),
            text=event.text,
        )
        for event, session_id, moment, seen_by in zip(
            events, plan.session_ids, moments, sources, strict=True
        )
    ]
    vault.sessions.append(plan.sessions, stored, past)
    return stored


def _pinned(event: NewEvent, key: str, now: datetime) -> NewEvent:
    """Fix what would otherwise be decided at the time of storing."""
    return msgspec.structs.replace(
        event,
        occurred_at=event.occurred_at or now,
        idempotency_key=event.idempotency_key or key,
    )


def _in_utc(commit: Commit) -> Commit:
    """Write a commit's times as all others; git's own are already so."""
    authored = _utc(commit.authored_at)
    committed = commit.committed_at and _utc(commit.committed_at)
    if authored is commit.authored_at and committed is commit.committed_at:
        return commit
    return msgspec.structs.replace(commit, authored_at=authored, committed_at=committed)


def _utc(moment: datetime) -> datetime:
    moment = sessions.bounded(moment)
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)


def expire(vault: Vault) -> int:
    """Close the sessions whose window is over; return how many."""
    now = vault.clock()
    if not sessions.expire(vault.sessions.active(), now, vault.rule):
        return 0
    with vault.transaction():
        closed = sessions.expire(vault.sessions.active(), now, vault.rule)
        vault.sessions.close_sessions(closed)
    return len(closed)
