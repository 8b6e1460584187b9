"""Turning in: one turn of a conversation is kept, weighed, and read for memory if it is worth that."""

import msgspec

from protocol.checkpoints import TrackParams
from protocol.conversations import Conversation
from protocol.turns import ExtractionStatus, IngestedTurn, IngestTurnParams
from sidecar.domain import pauses
from sidecar.domain.continuity import conversations, turns
from sidecar.domain.continuity.conversations import Who
from sidecar.domain.continuity.turns import Signal
from sidecar.services.continuity import meeting, tracking
from sidecar.services.continuity.tools import Tools
from sidecar.storage.vault import Vault


def take(vault: Vault, params: IngestTurnParams, who: Who, tools: Tools) -> IngestedTurn:
    """Take in one turn, the same way as all that is heard of a conversation; on the disk when this returns."""
    if not tools.settings.continuity_enabled or _was_paused(vault, params):
        return refuse(params)
    seen = tracking.see(vault, _tracked(params), who, tools)
    with vault.transaction():
        talk = meeting.find(vault, session_key(params))
        key = _report_key(talk, params)
        if not seen.turns and not (talk and conversations.has_heard(talk, key)):
            return refuse(params)
        named = msgspec.structs.replace(seen.report, key=key)
        seen = msgspec.structs.replace(seen, report=named)
        told = tracking.tell(vault, session_key(params), seen, tools)
    signal = seen.turns[0].signal if seen.turns else Signal()
    return _answer(params, signal, _status(signal, is_new=told.is_new))


def refuse(params: IngestTurnParams) -> IngestedTurn:
    """Keep nothing of a turn."""
    return _answer(params, Signal(), "dropped")


def session_key(params: IngestTurnParams) -> str:
    """Tell which conversation is meant, by either of its names."""
    return params.session_key or params.agent_run_id or ""


def _tracked(params: IngestTurnParams) -> TrackParams:
    is_users = params.role == "user"
    return TrackParams(
        project=params.project,
        session_key=session_key(params),
        agent_id=params.agent_id,
        harness=params.harness,
        prompt=params.content if is_users else None,
        response=None if is_users else params.content,
        idempotency_key=params.idempotency_key,
        occurred_at=params.occurred_at,
    )


def _key(params: IngestTurnParams) -> str:
    return tracking.key_of(_tracked(params), params.role)


def _report_key(talk: Conversation | None, params: IngestTurnParams) -> str:
    """Give what the report of a turn is known by; one without a key or a moment only while it is the last."""
    key = f"{params.role}:{_key(params)}"
    if params.idempotency_key is not None or params.occurred_at is not None or talk is None:
        return key
    return conversations.unheard(talk, key)


def _was_paused(vault: Vault, params: IngestTurnParams) -> bool:
    known = vault.pauses.read() if params.occurred_at else []
    return params.occurred_at is not None and pauses.were_on(known, params.occurred_at)


def _status(signal: Signal, *, is_new: bool) -> ExtractionStatus:
    if not is_new:
        return "duplicate"
    return "queued" if signal.is_flagged else "skipped"


def _answer(params: IngestTurnParams, signal: Signal, status: ExtractionStatus) -> IngestedTurn:
    key = conversations.known_as(session_key(params))
    return IngestedTurn(
        turn_id=turns.name(key, params.role, _key(params)),
        signal_score=signal.score,
        signal_keywords=signal.keywords,
        extraction_status=status,
    )
