"""Checkpointing: what an agent wants to survive is kept at once, and only once."""

import uuid
from collections import Counter
from collections.abc import Sequence

import msgspec

from protocol.checkpoints import Checkpointed, CheckpointedMemory, CheckpointParams
from protocol.conversations import Conversation
from protocol.memories import Memory
from protocol.settings import Settings
from sidecar.domain.continuity import checkpoints, conversations
from sidecar.domain.continuity.conversations import Who
from sidecar.services.continuity import keeping, meeting, observing
from sidecar.services.continuity.keeping import Author
from sidecar.services.continuity.tools import Tools
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

_SPACE = uuid.UUID("6d1f0c5e-5a0b-5d57-9c86-2f4b8f5f3a11")
"""In which checkpoints are named by what is in them."""


def checkpoint(vault: Vault, params: CheckpointParams, who: Who, tools: Tools) -> Checkpointed:
    """Keep an agent's memories and what it says of its conversation, all in one line of the journal.

    Memories are kept also where checkpoints are turned off, or no conversation is named.
    """
    who = meeting.leader(vault, params.agent_run_id, who, (params.agent_id, params.harness))
    author = keeping.sign(vault, params.agent_run_id, who)
    wanted = [keeping.make(vault, one, place, author) for place, one in enumerate(params.memories)]
    summary = keeping.make_summary(vault, params.session_summary, author)
    said = _Said(who=who, author=author, memories=tuple(filter(None, wanted)), summary=summary)
    saved = _Saved(checkpoint_id=None, ops=[])

    def save() -> list[Op]:
        nonlocal saved
        if author.run is not None and tools.settings.continuity_enabled:
            saved = _save(vault, params, said, tools.settings)
        return saved.ops

    results = keeping.write(
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
    """Say how to write the checkpoint itself; a retry's is there already."""
    now, summary = said.author.now, said.summary
    met = meeting.meet(vault, said.author.run or "", said.who, now)
    talk = conversations.seen(met.conversation, now)
    identifier = _identifier(params, talk)
    if identifier in vault.checkpoints:
        return _Saved(checkpoint_id=identifier, ops=[])
    observed = "" if said.memories or summary else observing.describe(vault, talk, now)
    digest = summary.content if summary else _listed(said.memories) or observed
    made = checkpoints.make(talk, "explicit", digest, identifier=identifier, now=now)
    agent = conversations.summed_up(met.agent, summary.title) if summary else met.agent
    ops = [*observing.save(vault, made, talk, settings), vault.agents.put(agent.agent_id, agent)]
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
