"""Recovering: what an earlier conversation knew, for the one that continues it."""

from datetime import timedelta

import msgspec

from protocol.contexts import ContextParams, Recovery
from protocol.settings import Settings
from sidecar.domain.continuity import conversations, recovering
from sidecar.domain.continuity.checkpoints import Work
from sidecar.domain.continuity.conversations import Who
from sidecar.domain.continuity.recovering import Choice, Start
from sidecar.services.continuity import collecting, observing
from sidecar.storage.vault import Vault


def recover(
    vault: Vault,
    params: ContextParams,
    who: Who,
    *,
    settings: Settings,
    summary: str | None = None,
) -> Recovery | None:
    """Return where the conversation stood that this start continues, or None.

    With the host's own `summary` of a compaction, what that says word by word is left out.
    """
    if not settings.continuity_enabled:
        return None
    known = recovering.trails(vault.conversations.all(), vault.checkpoints.all())
    choices = recovering.choose(known, _start(vault, params, who, settings))
    told = (_told(vault, choice, settings, summary) for choice in choices)
    return next(filter(None, told), None)


def _told(vault: Vault, choice: Choice, settings: Settings, summary: str | None) -> Recovery | None:
    """Tell of one conversation; nothing, where nothing was said in it that matters."""
    said = sorted(collecting.said(vault, choice.trail.session_key), key=lambda entry: entry.at)
    prompts = tuple(entry.text for entry in reversed(said) if entry.said_by == "user")
    trail = msgspec.structs.replace(choice.trail, prompts=prompts)
    talk = trail.conversation
    sections = recovering.outline(trail, observing.work(vault, talk) if talk else Work())
    if summary is not None:
        sections = recovering.leave_out(sections, summary)
    text = recovering.compose(trail, sections, settings.recovery_budget_chars, choice.lineage)
    if not text:
        return None
    return Recovery(
        session_key=trail.session_key,
        checkpoint_id=trail.checkpoints[0].id if trail.checkpoints else None,
        lineage=choice.lineage,
        created_at=recovering.moment(trail),
        text=text,
        dropped_only=summary is not None,
    )


def _start(vault: Vault, params: ContextParams, who: Who, settings: Settings) -> Start:
    own, previous = params.session_key, params.previous_session_key
    now, window = vault.clock(), timedelta(milliseconds=settings.recovery_window_ms)
    return Start(
        project_normalized=str(who.real_folder),
        session_key=conversations.known_as(own) if own else None,
        previous_session_key=conversations.known_as(previous) if previous else None,
        since=now - window,
        until=now + window,
    )
