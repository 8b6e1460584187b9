"""Summarising: what a session was about, in words; made from its events where nobody has said it yet."""

from protocol.sessions import Session
from sidecar.domain import memories
from sidecar.domain.drafts import Reading
from sidecar.storage.vault import Vault


def summary(vault: Vault, session: Session) -> str | None:
    """Tell what a session was about, if it was about anything."""
    if session.summary:
        return session.summary
    from sidecar.domain.enrichment.composing import compose  # noqa: PLC0415  # heavy, and seldom needed

    events = vault.sessions.events(session.session_id)
    drafts = compose(session.session_id, [Reading(event=event) for event in events])
    told = [memories.cleaned(draft) for draft in drafts if draft.type == "episodic"]
    return memories.text(told[0]) if told else None
