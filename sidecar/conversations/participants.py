"""Identify an agent and its conversation."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import PurePath

import msgspec
from msgspec import Struct

from protocol.conversations import Agent, Conversation
from protocol.settings import Settings
from sidecar.capture.rules import sessions
from sidecar.conversations.later import Buffer
from sidecar.conversations.rules import conversations
from sidecar.conversations.rules.conversations import Who
from sidecar.conversations.rules.turns import Signal
from sidecar.search.meanings import Meanings
from sidecar.sharing import agents
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


class Met(Struct, frozen=True, kw_only=True):
    """A conversation and the agent that leads it, as they are to be written."""

    conversation: Conversation
    agent: Agent


def find(vault: Vault, session_key: str) -> Conversation | None:
    """Find a conversation by what its host calls it."""
    return vault.conversations.get(conversations.known_as(session_key))


def meet(vault: Vault, session_key: str, who: Who, now: datetime) -> Met:
    """Return a conversation, begun if it is not known yet; the store's lock is held until it is written."""
    key = conversations.known_as(session_key)
    known = vault.conversations.get(key)
    talk = known or conversations.begin(key, vault.project_id, who, now)
    talk = conversations.follow(conversations.timely(talk, vault.clock()), who)
    agent = conversations.greet(vault.agents.get(who.agent_id), who, vault.project_id, now)
    is_new = known is None or agent.conversations == 0
    return Met(
        conversation=conversations.lead(talk, who),
        agent=msgspec.structs.replace(agent, conversations=agent.conversations + is_new),
    )


def moment(vault: Vault, occurred_at: datetime | None) -> datetime:
    """Return when something was that is reported now, as far as that can be believed."""
    now = vault.clock()
    return sessions.clamp(sessions.bounded(occurred_at or now), now, vault.rule)


def leader(
    vault: Vault, session_key: str | None, who: Who, told: tuple[str | None, str | None]
) -> Who:
    """Return who leads a conversation: as told (agent and harness), as known of it, or as is usual here."""
    agent_id, harness = told
    is_told = agent_id and harness
    talk = find(vault, session_key) if session_key and not is_told else None
    if talk is not None:
        agent_id, harness = agent_id or talk.agent_id, harness or talk.harness
    led = conversations.led(who, agent_id, harness)
    # Whoever reports may be another than the one who is meant.
    label = None if who.label is None else agents.label(led.agent_id, led.harness)
    return msgspec.structs.replace(led, label=label)


def ops(vault: Vault, met: Met) -> list[Op]:
    """Return how to write both."""
    talk, agent = met.conversation, met.agent
    return [
        vault.conversations.put(talk.session_key, talk),
        vault.agents.put(agent.agent_id, agent),
    ]


OWN = "mcp-"
"""Begins the name of a conversation that no hook follows."""
_LIVE = timedelta(minutes=30)
"""How long ago something was heard of a conversation that goes on."""


def live(vault: Vault, harness: str, folder: PurePath) -> tuple[str, ...]:
    """Return the conversations that a program's hooks follow in a folder just now."""
    now = vault.clock()
    return tuple(
        one.session_key
        for one in vault.conversations.find("projectNormalized", str(folder))
        if one.harness == harness
        and one.ended_at is None
        and now - one.last_seen_at < _LIVE
        and not one.session_key.startswith(OWN)
    )


Hear = Callable[[str, datetime], Signal]
"""Finds what must not be lost in what a user said, and how much that is worth."""


class Tools(Struct, frozen=True, kw_only=True):
    """Chosen by whoever puts the product together; the settings are those of the moment."""

    settings: Settings
    hear: Hear
    meanings: Meanings
    buffer: Buffer
