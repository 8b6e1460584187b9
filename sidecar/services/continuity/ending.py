"""Ending: a conversation is over; what was known of it is saved, once."""

from datetime import datetime

import msgspec

from protocol.checkpoints import Checkpoint, Digested, EndParams
from protocol.conversations import Conversation
from protocol.memories import Memory
from sidecar.domain.continuity import checkpoints, conversations
from sidecar.domain.continuity.conversations import Who
from sidecar.services.continuity import collecting, keeping, meeting, observing
from sidecar.services.continuity.tools import Tools
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def end(vault: Vault, params: EndParams, who: Who, tools: Tools) -> Digested:
    """End a conversation: its state is saved, and what it was about is remembered if somebody said it."""
    tools.buffer.flush()
    who = meeting.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    author = keeping.sign(vault, params.session_key, who)
    summary = keeping.make_summary(vault, params.session_summary, author)
    made: Checkpoint | None = None

    def save() -> list[Op]:
        nonlocal made
        if not tools.settings.continuity_enabled or not _is_known(vault, params, summary):
            return []
        ops, made = _end(vault, params, (who, summary), tools)
        return ops

    new = [summary] if summary else []
    keeping.write(vault, new, author, meanings=tools.meanings, along=save)
    return Digested(checkpoint=made and checkpoints.cleaned(made))


def _is_known(vault: Vault, params: EndParams, summary: Memory | None) -> bool:
    return summary is not None or meeting.find(vault, params.session_key) is not None


def _end(
    vault: Vault, params: EndParams, said: tuple[Who, Memory | None], tools: Tools
) -> tuple[list[Op], Checkpoint | None]:
    who, summary = said
    now = meeting.moment(vault, params.occurred_at)
    met = meeting.meet(vault, params.session_key, who, now)
    talk = met.conversation
    known = _ended(vault, talk)
    if talk.ended_at is not None and (summary is None or _tells(known, summary)):
        return [], known
    talk = msgspec.structs.replace(conversations.seen(talk, now), ended_at=now)
    agent = conversations.summed_up(met.agent, summary.title) if summary else met.agent
    greeted = vault.agents.put(agent.agent_id, agent)
    if summary is None and not _leaves_something(vault, talk):
        gone = collecting.drop(vault, talk.session_key)
        return [vault.conversations.put(talk.session_key, talk), greeted, *gone], None
    made = observing.make(talk, "session_end", _digest(vault, talk, summary, now), now=now)
    return [*observing.save(vault, made, talk, tools.settings), greeted], made


def _leaves_something(vault: Vault, talk: Conversation) -> bool:
    """Tell whether a conversation leaves more behind than that it was there."""
    is_saved = vault.checkpoints.find("sessionKey", talk.session_key)
    if is_saved or collecting.is_significant(vault, talk):
        return True
    done = observing.work(vault, talk)
    return bool(done.commits or done.files)


def _digest(vault: Vault, talk: Conversation, summary: Memory | None, now: datetime) -> str:
    observed = observing.describe(vault, talk, now)
    return f"{summary.content}\n\n{observed}" if summary else observed


def _ended(vault: Vault, talk: Conversation) -> Checkpoint | None:
    """Find the checkpoint with which a conversation ended last."""
    mine = vault.checkpoints.find("sessionKey", talk.session_key)
    ends = [one for one in checkpoints.by_age(mine) if one.trigger == "session_end"]
    return ends[0] if ends else None


def _tells(checkpoint: Checkpoint | None, summary: Memory) -> bool:
    return checkpoint is not None and checkpoint.digest.startswith(summary.content)
