"""List sessions and their events; activity by day."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import get_args

import msgspec

from protocol.errors import ConflictError, NotFoundError
from protocol.events import Event
from protocol.memories import MemoryType
from protocol.methods import (
    CloseSessionParams,
    CommitParams,
    EventPage,
    ListSessionsParams,
    SessionEventsParams,
    SessionPage,
    SessionParams,
)
from protocol.sessions import Session, ShownSession
from protocol.timelines import CommitMark, MemoryMark, SessionMark, Timeline, TimelineParams
from protocol.values import Timestamp
from sidecar.capture.rules import sessions
from sidecar.privacy import cleaning
from sidecar.storage.vault import Vault
from sidecar.text import clipping


def list_sessions(vault: Vault, params: ListSessionsParams) -> SessionPage:
    """List a page of sessions, newest first."""
    last = vault.sessions.get(params.before) if params.before is not None else None
    if params.before is not None and (last is None or params.status not in (None, last.status)):
        raise NotFoundError(f"no session {params.before} in this list", field="before")
    page = vault.sessions.page(params.status, params.before, params.limit + 1)
    has_more = len(page) > params.limit
    return SessionPage(
        sessions=tuple(map(cleaning.clean_session, page[: params.limit])),
        total=sum(vault.sessions.count_by(params.status).values()),
        next=page[params.limit - 1].session_id if has_more else None,
    )


def get_session(vault: Vault, session_id: str) -> Session:
    """Read one session."""
    session = vault.sessions.get(session_id)
    if session is None:
        raise NotFoundError(f"no session {session_id} in this project", field="sessionId")
    return session


def show_session(vault: Vault, params: SessionParams) -> ShownSession:
    """Read the session that is asked for, with what its events tell of it."""
    session = cleaning.clean_session(get_session(vault, params.session_id))
    happened = vault.sessions.events(params.session_id)
    known = vault.processed.get(params.session_id)
    done = set(known.event_ids) if known else set()
    return ShownSession(
        **msgspec.structs.asdict(session),
        kinds=Counter(one.kind for one in happened),
        unprocessed=sum(one.event_id not in done for one in happened),
    )


def list_events(vault: Vault, params: SessionEventsParams) -> EventPage:
    """Read a page of a session's events in the order they happened."""
    get_session(vault, params.session_id)
    found = [
        one
        for one in vault.sessions.events(params.session_id)
        if params.kind in (None, one.kind) and _mentions(one, params.query)
    ]
    if params.newest_first:
        found.reverse()
    page = found[params.offset : params.offset + params.limit]
    return EventPage(events=tuple(map(cleaning.clean_event, page)), total=len(found))


def show_commit(vault: Vault, params: CommitParams) -> Event:
    """Read what was recorded of a commit, also under a name that it has got since."""
    session_id = holder(vault, sessions.commit_key(params.sha))
    found = (
        one
        for one in (vault.sessions.events(session_id) if session_id else ())
        if one.commit and (params.sha == one.commit.sha or params.sha in one.commit.replaces)
    )
    event = next(found, None)
    if event is None:
        raise NotFoundError(f"no commit {params.sha} is recorded in this project", field="sha")
    return cleaning.clean_event(event)


def holder(vault: Vault, key: str) -> str | None:
    """Find the session that has the event of a key."""
    return vault.sessions.holder(key)


def close_session(vault: Vault, params: CloseSessionParams) -> Session:
    """Close a session by hand; the next event opens a new one."""
    with vault.transaction():
        session_id = params.session_id or _active(vault)
        session = get_session(vault, session_id)
        if session.status != "active":
            raise ConflictError(
                f"session {session_id} is already {session.status}", field="sessionId"
            )
        vault.sessions.close_sessions([sessions.close(session, vault.clock())])
        return get_session(vault, session_id)


def find_active(vault: Vault) -> Session | None:
    """Find the session that takes events now."""
    return next(reversed(vault.sessions.active()), None)


def active_id(vault: Vault) -> str | None:
    """Name the session that takes events now."""
    session = find_active(vault)
    return None if session is None else session.session_id


def _active(vault: Vault) -> str:
    session = find_active(vault)
    if session is None:
        raise ConflictError("no session is active in this project")
    return session.session_id


def _mentions(event: Event, query: str) -> bool:
    """Look only at what would be shown: nobody learns a secret by guessing its letters."""
    return not query or sessions.mentions(cleaning.clean_event(event), query)


_SESSIONS = 1_000
_MEMORIES = 2_000
_FILES = 3
_SUMMARY = 200
"""Characters of a summary, of a subject and of a title."""
_LONGEST = timedelta(days=2)
"""No session is longer than a day; its record may lag behind its events."""
_HIDDEN = ("proposed", "superseded", "forgotten")
_TYPES = frozenset(get_args(MemoryType))


def picture(vault: Vault, params: TimelineParams) -> Timeline:
    """Return which sessions and memories a time has."""
    sessions = _sessions(vault, params)
    memories = sorted(_memories(vault, params), key=lambda mark: (mark.at, mark.memory_id))
    beyond = {
        "sessions": len(sessions) - _SESSIONS,
        "memories": len(memories) - _MEMORIES,
    }
    return Timeline(
        sessions=tuple(_mark(vault, session) for session in sessions[-_SESSIONS:]),
        memories=tuple(map(_cleaned, memories[-_MEMORIES:])),
        left_out={name: number for name, number in beyond.items() if number > 0},
        earlier=next((one.started_at for one in vault.sessions.newest(params.since)), None),
    )


def _sessions(vault: Vault, params: TimelineParams) -> list[Session]:
    found: list[Session] = []
    for record in vault.sessions.newest():
        if record.started_at < params.since - _LONGEST:
            break
        if params.until is not None and record.started_at >= params.until:
            continue
        if record.last_event_at >= params.since:
            found.append(record)
    return found[::-1]


def _mark(vault: Vault, session: Session) -> SessionMark:
    pace, session = vault.paces.of(session), cleaning.clean_session(session)
    return SessionMark(
        session_id=session.session_id,
        status=session.status,
        started_at=session.started_at,
        last_event_at=session.last_event_at,
        sources=session.sources,
        summary=session.summary and _short(session.summary.split("\n", 1)[0]),
        files_modified=session.files_modified[:_FILES],
        files_overflow=session.files_overflow + len(session.files_modified[_FILES:]),
        events=session.message_count,
        saves=pace.saves,
        commit_count=pace.commit_count,
        commits=tuple(map(_cleaned_commit, pace.commits)),
        activity=pace.activity,
    )


def _memories(vault: Vault, params: TimelineParams) -> Iterator[MemoryMark]:
    """Find the memories of a time; no memory is read whole for that."""
    ids = vault.memories.ids()
    seen = vault.memories.glimpses(ids, "occurredAt", "status", "type", "title", "sessionId")
    for memory_id, (moment, status, kind, title, session_id) in seen.items():
        at = _read(moment)
        if at is None or at < params.since or (params.until is not None and at >= params.until):
            continue
        if status not in _HIDDEN and kind in _TYPES:
            yield MemoryMark(
                memory_id=memory_id, type=kind, title=title, at=at, session_id=session_id
            )


def _read(moment: object) -> datetime | None:
    """Read a time as it is kept; one record that is not as it should be must not hide the others."""
    try:
        return msgspec.convert(moment, Timestamp).astimezone(UTC)
    except msgspec.ValidationError:
        return None


def _cleaned(mark: MemoryMark) -> MemoryMark:
    return msgspec.structs.replace(mark, title=_short(cleaning.clean(mark.title)))


def _cleaned_commit(mark: CommitMark) -> CommitMark:
    return msgspec.structs.replace(mark, subject=_short(cleaning.clean(mark.subject)))


def _short(text: str) -> str:
    return clipping.clip(text, _SUMMARY)[0]
