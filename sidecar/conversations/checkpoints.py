"""Save, list and recover checkpoints."""

import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from protocol.checkpoints import (
    Checkpoint,
    Checkpointed,
    CheckpointedMemory,
    CheckpointList,
    CheckpointParams,
    Digested,
    DigestParams,
    ListCheckpointsParams,
)
from protocol.contexts import ContextParams, Recovery
from protocol.conversations import Conversation
from protocol.memories import Memory
from protocol.settings import Settings
from protocol.values import TEXT_LIMIT
from sidecar.conversations import collect, participants, spooled, statements
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules import checkpoints, conversations, recovery
from sidecar.conversations.rules.checkpoints import Work
from sidecar.conversations.rules.conversations import Who
from sidecar.conversations.rules.recovery import Choice, Section, Start
from sidecar.conversations.spooled import Observation
from sidecar.conversations.statements import Author
from sidecar.privacy import cleaning
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.text import own_words

_SPACE = uuid.UUID("6d1f0c5e-5a0b-5d57-9c86-2f4b8f5f3a11")
"""In which checkpoints are named by what is in them."""


def checkpoint(vault: Vault, params: CheckpointParams, who: Who, tools: Tools) -> Checkpointed:
    """Keep an agent's memories and what it says of its conversation, all in one line of the journal.

    Memories are kept also where checkpoints are turned off, or no conversation is named.
    """
    who = participants.leader(vault, params.agent_run_id, who, (params.agent_id, params.harness))
    author = statements.sign(vault, params.agent_run_id, who)
    wanted = [
        statements.make(vault, one, place, author) for place, one in enumerate(params.memories)
    ]
    summary = statements.make_summary(vault, params.session_summary, author)
    said = _Said(who=who, author=author, memories=tuple(filter(None, wanted)), summary=summary)
    saved = _Saved(checkpoint_id=None, ops=[])

    def save() -> list[Op]:
        nonlocal saved
        if author.run is not None and tools.settings.continuity_enabled:
            saved = _save(vault, params, said, tools.settings)
        return saved.ops

    results = statements.write(
        vault,
        [*wanted, *([summary] if summary else [])],
        author,
        meanings=tools.meanings if params.dedup else None,
        along=save,
    )
    return _counted(results[: len(wanted)], results[len(wanted) :], saved.checkpoint_id)


def refuse(params: CheckpointParams, reason: str) -> Checkpointed:
    """Keep nothing, and say why."""
    results = [CheckpointedMemory(outcome="failed", reason=reason) for _ in params.memories]
    return _counted(results, (), None)


class _Saved(msgspec.Struct, frozen=True, kw_only=True):
    checkpoint_id: str | None
    ops: list[Op]


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    who: Who
    author: Author
    memories: Sequence[Memory]
    summary: Memory | None


def _save(vault: Vault, params: CheckpointParams, said: _Said, settings: Settings) -> _Saved:
    """Return how to write the checkpoint itself; a retry's is there already."""
    now, summary = said.author.now, said.summary
    met = participants.meet(vault, said.author.run or "", said.who, now)
    talk = conversations.seen(met.conversation, now)
    identifier = _identifier(params, talk)
    if identifier in vault.checkpoints:
        return _Saved(checkpoint_id=identifier, ops=[])
    observed = "" if said.memories or summary else collect.describe(vault, talk, now)
    digest = summary.content if summary else _listed(said.memories) or observed
    made = checkpoints.make(talk, "explicit", digest, identifier=identifier, now=now)
    agent = conversations.summed_up(met.agent, summary.title) if summary else met.agent
    ops = [*collect.save(vault, made, talk, settings), vault.agents.put(agent.agent_id, agent)]
    return _Saved(checkpoint_id=identifier, ops=ops)


def _identifier(params: CheckpointParams, talk: Conversation) -> str:
    """Name a checkpoint by what is in it, so that a retry is known as one."""
    said = [checkpoints.content_hash(one) for one in params.memories]
    is_empty = not said and not params.session_summary
    about = (talk.session_key, said, params.session_summary, talk.prompt_count if is_empty else 0)
    return str(uuid.uuid5(_SPACE, msgspec.json.encode(about).decode()))


def _listed(kept: Sequence[Memory]) -> str:
    """List what was to be remembered; titles in full, so that they can be forgotten here, too."""
    lines = [f"- {one.title}" for one in kept]
    return "\n".join([checkpoints.KEPT, *lines]) if lines else ""


def _counted(
    results: Sequence[CheckpointedMemory],
    summary: Sequence[CheckpointedMemory],
    checkpoint_id: str | None,
) -> Checkpointed:
    outcomes = Counter(one.outcome for one in results)
    return Checkpointed(
        created=outcomes["created"],
        skipped=outcomes["skipped"],
        superseded=outcomes["superseded"],
        failed=outcomes["failed"],
        memories=tuple(results),
        summary_id=summary[0].memory_id if summary else None,
        checkpoint_id=checkpoint_id,
    )


def list_checkpoints(vault: Vault, params: ListCheckpointsParams) -> CheckpointList:
    """List checkpoints of a project or of one conversation, newest first."""
    if params.session_key is None:
        found = vault.checkpoints.all()
    else:
        key = conversations.known_as(params.session_key)
        found = vault.checkpoints.find("sessionKey", key)
    shown = checkpoints.by_age(found)[: params.limit]
    return CheckpointList(checkpoints=tuple(map(checkpoints.cleaned, shown)), total=len(found))


def digest(vault: Vault, params: DigestParams, who: Who, tools: Tools) -> Digested:
    """Keep a narrative, or all that is known before a compaction; on the disk when this returns."""
    settings = tools.settings
    if not settings.continuity_enabled:
        return Digested(checkpoint=None)
    # What was searched a moment ago belongs to where it stands.
    tools.buffer.flush()
    who = participants.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    words = cleaning.clean(own_words.without(params.digest))[:TEXT_LIMIT]
    with vault.transaction():
        now = participants.moment(vault, params.occurred_at)
        met = participants.meet(vault, params.session_key, who, now)
        talk = conversations.seen(met.conversation, now)
        told = _told(vault, talk, (params, words), now)
        known = _repeated(vault, talk, params, told)
        if known is not None:
            return Digested(checkpoint=checkpoints.cleaned(known))
        made = collect.make(talk, params.trigger, told, now=now)
        is_own = params.trigger != "pre_compaction" and words.strip()
        agent = (
            conversations.summed_up(met.agent, checkpoints.headline(words)) if is_own else met.agent
        )
        ops = collect.save(vault, made, talk, settings)
        vault.write([*ops, vault.agents.put(agent.agent_id, agent)])
        return Digested(checkpoint=checkpoints.cleaned(made))


def _told(vault: Vault, talk: Conversation, said: tuple[DigestParams, str], now: datetime) -> str:
    """Return what is kept: the agent's words as they are, what was observed where there are none."""
    params, words = said
    if params.trigger != "pre_compaction" and words.strip():
        return words
    return checkpoints.before_compaction(collect.describe(vault, talk, now), words)


def _repeated(
    vault: Vault, talk: Conversation, params: DigestParams, told: str
) -> Checkpoint | None:
    """Find the checkpoint that says the very same already: the last one, with no prompt since."""
    mine = checkpoints.by_age(vault.checkpoints.find("sessionKey", talk.session_key))
    last = mine[0] if mine else None
    same = last and (last.trigger, last.digest, last.prompt_count)
    return last if same == (params.trigger, told, talk.prompt_count) else None


class Recollection(Struct, frozen=True, kw_only=True):
    """What is known of the conversation that a start continues."""

    choice: Choice
    sections: tuple[Section, ...]
    is_rest: bool = False
    """Whether it is only what the host's own summary left out."""

    def tell(self, budget: int) -> Recovery | None:
        """Tell as much of it as there is room for; None where that is nothing."""
        trail, lineage = self.choice.trail, self.choice.lineage
        text = recovery.compose(trail, self.sections, budget, lineage)
        if not text:
            return None
        return Recovery(
            session_key=trail.session_key,
            checkpoint_id=trail.checkpoints[0].id if trail.checkpoints else None,
            lineage=lineage,
            created_at=recovery.moment(trail),
            text=text,
            dropped_only=self.is_rest,
        )


class Sources(Struct, frozen=True, kw_only=True):
    """What a recollection depends on beside the store."""

    settings: Settings
    summary: str | None = None
    """The host's own, after a compaction: what that says word by word is left out."""
    unplaced: Sequence[Observation] = ()
    """What hooks have heard and nobody has placed yet; it counts, too."""


def recollect(
    vault: Vault, params: ContextParams, who: Who, sources: Sources
) -> Recollection | None:
    """Return what is known of the conversation that this start continues, or None; nothing is written."""
    settings, summary = sources.settings, sources.summary
    if not settings.continuity_enabled:
        return None
    talks = spooled.overlay(vault, vault.conversations.all(), sources.unplaced, who)
    known = recovery.trails(talks, vault.checkpoints.all())
    for choice in recovery.choose(known, _start(vault, params, who, settings)):
        talk = choice.trail.conversation
        sections = recovery.outline(choice.trail, collect.work(vault, talk) if talk else Work())
        if params.occasion == "compact" and summary is None:
            summary = talk.summary if talk else None
        if summary is not None:
            sections = recovery.leave_out(sections, summary)
        if sections:
            return Recollection(
                choice=choice, sections=tuple(sections), is_rest=summary is not None
            )
    return None


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
