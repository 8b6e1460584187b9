"""Register a conversation and what it was given."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from protocol.contexts import ContextParams, Recovery
from protocol.conversations import Beginning, Conversation
from sidecar.context.scenes import Scene
from sidecar.conversations import participants
from sidecar.conversations.rules import conversations
from sidecar.conversations.rules.conversations import Who
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

_GIVEN = 500
_SEEN_AGAIN = 600
"""Seconds after which an agent without a conversation counts as seen again."""


def begin(
    vault: Vault,
    params: ContextParams,
    who: Who,
    recovery: Recovery | None,
    at: datetime | None = None,
) -> None:
    """Write down that an agent is here, or was at a moment, durably; where nothing is new, nothing is written."""
    key = params.session_key
    known = None if key is None else participants.find(vault, key)
    if key is None:
        _greet(vault, who)
    elif known is None or _began(known, params, recovery) is not None:
        with vault.transaction():
            met = participants.meet(vault, key, who, at or vault.clock())
            began = _began(met.conversation, params, recovery) or met.conversation
            vault.write(participants.ops(vault, msgspec.structs.replace(met, conversation=began)))


def branch(scene: Scene, origin: Conversation) -> None:
    """Write down that a conversation goes on from another: what that one was given, it has."""
    vault, key = scene.vault, scene.params.session_key
    if key is None or conversations.known_as(key) == origin.session_key:
        return
    with vault.transaction():
        met = participants.meet(vault, key, scene.who, vault.clock())
        if met.conversation.began is None:
            forked = msgspec.structs.replace(
                met.conversation,
                began=origin.began,
                recovered_from=origin.recovered_from,
                previous_session_key=origin.session_key,
                given=origin.given,
            )
            vault.write(participants.ops(vault, msgspec.structs.replace(met, conversation=forked)))


def claim(vault: Vault, session_key: str, who: Who) -> bool:
    """Let a conversation that was never given its context have it from now on; True for one caller alone."""
    talk = participants.find(vault, session_key)
    if talk is not None and talk.began is not None:
        return False
    with vault.transaction():
        met = participants.meet(vault, session_key, who, vault.clock())
        if met.conversation.began is not None:
            return False
        began = msgspec.structs.replace(met.conversation, began="cold")
        vault.write(participants.ops(vault, msgspec.structs.replace(met, conversation=began)))
        return True


def release(vault: Vault, session_key: str) -> None:
    """Let it have its context another time, since it did not get it."""
    with vault.transaction():
        talk = participants.find(vault, session_key)
        if talk is not None:
            waiting = msgspec.structs.replace(talk, began=None)
            vault.write([vault.conversations.put(talk.session_key, waiting)])


def given(vault: Vault, session_key: str, memory_ids: Sequence[str]) -> list[Op]:
    """Return how to write down what a conversation was given, and how much of it was new to its agent."""
    talk = participants.find(vault, session_key)
    fresh = [] if talk is None else [one for one in memory_ids if one not in talk.given]
    if talk is None or not fresh:
        return []
    others = vault.conversations.find("agentId", talk.agent_id)
    known = {one for other in others for one in other.given}
    news = talk.news + sum(one not in known for one in fresh)
    told = msgspec.structs.replace(talk, given=(*talk.given, *fresh)[-_GIVEN:], news=news)
    return [vault.conversations.put(talk.session_key, told)]


def _began(
    talk: Conversation, params: ContextParams, recovery: Recovery | None
) -> Conversation | None:
    """Return a conversation as it begins now; None where all of that is known."""
    previous = params.previous_session_key
    how: Beginning = "recovered" if recovery else "cold"
    if talk.began is not None and not (recovery and talk.began == "cold"):
        return None
    return msgspec.structs.replace(
        talk,
        began=how,
        recovered_from=recovery.checkpoint_id if recovery else talk.recovered_from,
        previous_session_key=conversations.known_as(previous)
        if previous
        else talk.previous_session_key,
    )


def _greet(vault: Vault, who: Who) -> None:
    """Know an agent again that names no conversation."""
    now = vault.clock()
    agent = vault.agents.get(who.agent_id)
    if agent is not None and (now - agent.last_seen_at).total_seconds() < _SEEN_AGAIN:
        return
    with vault.transaction():
        agent = vault.agents.get(who.agent_id)
        greeted = conversations.greet(agent, who, vault.project_id, now)
        vault.write([vault.agents.put(greeted.agent_id, greeted)])
