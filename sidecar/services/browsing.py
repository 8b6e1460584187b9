"""Browsing: sessions and their events, as people and clients read them."""

from protocol.errors import ConflictError, NotFoundError
from protocol.methods import (
    CloseSessionParams,
    EventPage,
    ListSessionsParams,
    SessionEventsParams,
    SessionPage,
    SessionParams,
)
from protocol.sessions import Session
from sidecar.domain import privacy, sessions
from sidecar.store.vaults import Vault


def list_sessions(vault: Vault, params: ListSessionsParams) -> SessionPage:
    """List a page of sessions, newest first."""
    line = [
        session
        for session in reversed(vault.sessions.timeline())
        if params.status in (None, session.status)
    ]
    start = 0
    if params.before is not None:
        ids = [session.session_id for session in line]
        if params.before not in ids:
            raise NotFoundError(f"no session {params.before} in this list", field="before")
        start = ids.index(params.before) + 1
    page = [
        vault.sessions.get(session.session_id) for session in line[start : start + params.limit]
    ]
    has_more = start + params.limit < len(line)
    return SessionPage(
        sessions=tuple(privacy.clean_session(session) for session in page if session is not None),
        total=len(line),
        next=line[start + params.limit - 1].session_id if has_more else None,
    )


def get_session(vault: Vault, session_id: str) -> Session:
    """Read one session."""
    session = vault.sessions.get(session_id)
    if session is None:
        raise NotFoundError(f"no session {session_id} in this project", field="sessionId")
    return session


def show_session(vault: Vault, params: SessionParams) -> Session:
    """Read the session that is asked for."""
    return privacy.clean_session(get_session(vault, params.session_id))


def list_events(vault: Vault, params: SessionEventsParams) -> EventPage:
    """Read a page of a session's events in the order they happened."""
    get_session(vault, params.session_id)
    events = vault.sessions.events(params.session_id)
    page = events[params.offset : params.offset + params.limit]
    return EventPage(events=tuple(map(privacy.clean_event, page)), total=len(events))


def close_session(vault: Vault, params: CloseSessionParams) -> Session:
    """Close a session by hand; the next event opens a new one."""
    with vault.lock.held():
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
    session_id = active_id(vault)
    return None if session_id is None else vault.sessions.get(session_id)


def active_id(vault: Vault) -> str | None:
    """Name the session that takes events now."""
    line = reversed(vault.sessions.timeline())
    return next((one.session_id for one in line if one.status == "active"), None)


def _active(vault: Vault) -> str:
    session = find_active(vault)
    if session is None:
        raise ConflictError("no session is active in this project")
    return session.session_id
