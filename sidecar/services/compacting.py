"""Compacting: a closed session's events become one small record that can still answer everything."""

import msgspec

from protocol.enrichment import Compacted
from protocol.errors import ConflictError
from protocol.methods import SessionParams
from sidecar.services import browsing, summarising
from sidecar.storage.vault import Vault


def compact(vault: Vault, params: SessionParams) -> Compacted:
    """Compress a closed session's events and say what it was about."""
    session_id = params.session_id
    told = summarising.summary(vault, browsing.get_session(vault, session_id))
    with vault.transaction():
        session = browsing.get_session(vault, session_id)
        if session.status != "closed":
            raise ConflictError(
                f"session {session_id} is {session.status}; only a closed one can be compacted",
                field="sessionId",
            )
        before, after = vault.sessions.compact(msgspec.structs.replace(session, summary=told))
        return Compacted(
            session=browsing.get_session(vault, session_id), bytes_before=before, bytes_after=after
        )
