"""Picturing: what weeks of work looked like."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import get_args

import msgspec

from protocol.memories import MemoryType
from protocol.sessions import Session
from protocol.timelines import CommitMark, MemoryMark, SessionMark, Timeline, TimelineParams
from protocol.values import Timestamp
from sidecar.domain import privacy
from sidecar.domain.context import clipping
from sidecar.storage.vault import Vault

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
    """Tell which sessions and memories a time has."""
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
    """List the sessions that went on in a time, the earliest first."""
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
    pace, session = vault.paces.of(session), privacy.clean_session(session)
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
    return msgspec.structs.replace(mark, title=_short(privacy.clean(mark.title)))


def _cleaned_commit(mark: CommitMark) -> CommitMark:
    return msgspec.structs.replace(mark, subject=_short(privacy.clean(mark.subject)))


def _short(text: str) -> str:
    return clipping.clip(text, _SUMMARY)[0]
