"""Create a memory and keep its fields within limits."""

from datetime import datetime

import msgspec

from protocol.memories import Evidence, Memory, Review
from sidecar.memory.rules.drafts import Draft, Proposal
from sidecar.privacy.cleaning import clean

TITLE_LIMIT = 200
CONTENT_LIMIT = 100_000
FORGOTTEN = "(forgotten)"
_READ = 2_000
"""Letters of a memory that its meaning is taken from; a model for sentences sees no more."""


def from_proposal(proposal: Proposal, project_id: str, session_id: str, now: datetime) -> Memory:
    """Make a memory of what was read of a session."""
    draft = msgspec.structs.asdict(proposal.draft) | {"occurred_at": proposal.occurred_at}
    # What stands in the code belongs to no session.
    session = None if proposal.draft.idempotency_key else session_id
    return Memory(
        memory_id=proposal.memory_id,
        project_id=project_id,
        session_id=session,
        created_at=now,
        updated_at=now,
        **draft,
    )


def text(memory: Memory | Draft) -> str:
    """Return what a memory means, as one text."""
    if memory.content.startswith(memory.title):
        return memory.content[:_READ]
    return f"{memory.title}\n{memory.content}"[:_READ]


def cleaned(draft: Draft) -> Draft:
    """Take out of a draft what is private or secret, and what goes beyond a memory's limits."""
    evidence = tuple(msgspec.structs.replace(one, quote=clean(one.quote)) for one in draft.evidence)
    return msgspec.structs.replace(
        draft,
        title=clean(draft.title)[:TITLE_LIMIT],
        content=clean(draft.content)[:CONTENT_LIMIT],
        rationale=None if draft.rationale is None else clean(draft.rationale)[:CONTENT_LIMIT],
        evidence=evidence,
    )


def fitted(memory: Memory) -> Memory:
    """Cut what grew beyond its limits when secrets were taken out of it."""
    return msgspec.structs.replace(
        memory,
        title=memory.title[:TITLE_LIMIT],
        content=memory.content[:CONTENT_LIMIT],
        rationale=memory.rationale and memory.rationale[:CONTENT_LIMIT],
    )


def supersede(old: Memory, new: Memory, now: datetime) -> tuple[Memory, Memory]:
    """Put a memory in an older one's place; each names the other."""
    return (
        msgspec.structs.replace(
            old, status="superseded", superseded_by=new.memory_id, updated_at=now
        ),
        msgspec.structs.replace(
            new, supersedes=old.memory_id, importance=max(old.importance, new.importance)
        ),
    )


def support(known: Memory, evidence: tuple[Evidence, ...], now: datetime) -> Memory:
    """Add to a memory where else it was said; what is said twice is more certain."""
    missing = tuple(one for one in evidence if one not in known.evidence)
    if not missing:
        return known
    return msgspec.structs.replace(
        known,
        evidence=(known.evidence + missing)[-50:],
        confidence=min(known.confidence + 1, 5),
        updated_at=now,
    )


def confirmed(proposal: Memory, now: datetime) -> Memory:
    """Accept a proposal that somebody else has said, too."""
    review = Review(verdict="confirmed", at=now)
    return msgspec.structs.replace(proposal, status="active", review=review, updated_at=now)


def forgotten(memory: Memory, now: datetime, by: str | None = None) -> Memory:
    """Leave of a memory that it was there and which agent has forgotten it, and nothing of what it said."""
    return Memory(
        memory_id=memory.memory_id,
        project_id=memory.project_id,
        type=memory.type,
        title=FORGOTTEN,
        content=FORGOTTEN,
        status="forgotten",
        # A hash of words in the code: so that what was forgotten is not found there again.
        idempotency_key=memory.idempotency_key if memory.rule and memory.holds else None,
        occurred_at=memory.occurred_at,
        created_at=memory.created_at,
        updated_at=now,
        updated_by=by,
    )
