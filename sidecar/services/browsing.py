"""Browsing: sessions and their events, as people and clients read them."""

from collections import Counter

import msgspec

from protocol.errors import ConflictError, NotFoundError
from protocol.events import Event
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
from sidecar.domain import events, privacy, sessions
from sidecar.storage.vault import Vault


def list_sessions(vault: Vault, params: ListSessionsParams) -> SessionPage:
    """List a page of sessions, newest first."""
    last = vault.sessions.get(params.before) if params.before is not None else None
    if params.before is not None and (last is None or params.status not in (None, last.status)):
        raise NotFoundError(f"no session {params.before} in this list", field="before")
    page = vault.sessions.page(params.status, params.before, params.limit + 1)
    has_more = len(page) > params.limit
    return SessionPage(
        sessions=tuple(map(privacy.clean_session, page[: params.limit])),
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
    session = privacy.clean_session(get_session(vault, params.session_id))
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
    return EventPage(events=tuple(map(privacy.clean_event, page)), total=len(found))


def show_commit(vault: Vault, params: CommitParams) -> Event:
    """Read what was recorded of a commit, also under a name that it has got since."""
    session_id = holder(vault, events.commit_key(params.sha))
    found = (
        one
        for one in (vault.sessions.events(session_id) if session_id else ())
        if one.commit and (params.sha == one.commit.sha or params.sha in one.commit.replaces)
    )
    event = next(found, None)
    if event is None:
        raise NotFoundError(f"no commit {params.sha} is recorded in this project", field="sha")
    return privacy.clean_event(event)


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
    return not query or events.mentions(privacy.clean_event(event), query)
