"""Known agents and their names."""

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain

import msgspec

from protocol.contexts import AgentItem
from protocol.conversations import ActiveAgent, Agent, AgentList, ListAgentsParams
from protocol.messages import USER
from sidecar.hosts import client_names
from sidecar.memory.rules import digests
from sidecar.privacy import cleaning
from sidecar.sharing.rules import messages
from sidecar.storage.vault import Vault
from sidecar.tasks.rules import condition_lint, tasks
from sidecar.text.wording import clipped

_SUMMARY = 120
"""Letters of a summary that fit one line."""
_SESSIONS, _EVENTS = 50, 200
"""Sessions, and events of each, in which agents are looked for that have left nothing else."""
_NO_AGENTS = {None, USER, digests.AGENT}
"""Signatures of people and of our own work."""


def recent(
    vault: Vault, but: str, now: datetime, *, days: int = 7, limit: int = 5
) -> list[AgentItem]:
    """List the other agents that were here in the last days, the latest first."""
    since = now - timedelta(days=days)
    found = [
        agent
        for agent in vault.agents.by_id().values()
        if agent.agent_id != but and agent.last_seen_at >= since
    ]
    found.sort(key=lambda agent: (agent.last_seen_at, agent.agent_id), reverse=True)
    return [_item(cleaning.clean_record(agent)) for agent in found[:limit]]


def list_agents(vault: Vault, params: ListAgentsParams) -> AgentList:
    """List the agents that did anything in the last days, the latest first."""
    since = vault.clock() - timedelta(days=params.days_back)
    found = [one for one in _everyone(vault).values() if one.last_seen_at >= since]
    found.sort(key=lambda agent: (agent.last_seen_at, agent.agent_id), reverse=True)
    counted = _counted(vault, found[: params.limit])
    return AgentList(agents=tuple(counted), total=len(found))


def is_known(vault: Vault, agent_id: str) -> bool:
    """Return whether an agent has ever been here, or left anything."""
    return agent_id in vault.agents or any(name == agent_id for name, _ in _traces(vault))


def find_alike(vault: Vault, names: Iterable[str]) -> dict[str, str]:
    """Find for names that nobody here has the agents that may be meant: written in another way, or mistyped."""
    strange = {name for name in names if name not in vault.agents}
    known = sorted(_everyone(vault)) if strange else []
    alike = ((name, _alike(name, known)) for name in strange.difference(known))
    return {name: meant for name, meant in alike if meant is not None}


def call(vault: Vault, agent_id: str) -> str:
    """Return how people call an agent of a project."""
    known = vault.agents.get(agent_id)
    return cleaning.clean(known.label if known else label(agent_id))


def named(name: str) -> str:
    """Return a name as it is kept: without blanks around it, and the person's in whatever case it is written."""
    plain = cleaning.clean(name).strip()
    return USER if plain.casefold() == USER else plain


def author(agent_id: str | None) -> str | None:
    """Return which agent did something; None where a person did."""
    name = named(agent_id or USER)
    return None if name == USER else name


@functools.lru_cache(maxsize=256)
def label(agent_id: str, harness: str | None = None) -> str:
    """Return how people call an agent: by its program's proper name, or by the name it has given itself."""
    return client_names.find_label(agent_id) or agent_id.strip() or _program(harness or "")


def _alike(name: str, known: Iterable[str]) -> str | None:
    plain = _plain(name) or None
    same = (one for one in known if plain in (_plain(one), _plain(label(one))))
    slips = (one for one in known if condition_lint.is_slip(name.casefold(), one.casefold()))
    return next(chain(same, slips), None)


def _everyone(vault: Vault) -> dict[str, Agent]:
    """Return all agents as they were last seen; one that led no conversation is known by what it left."""
    found = dict(vault.agents.by_id())
    for agent_id, at in _traces(vault):
        known = found.get(agent_id)
        if known is None:
            known = Agent(
                agent_id=agent_id,
                project_id=vault.project_id,
                label=label(agent_id),
                first_seen_at=at,
                last_seen_at=at,
            )
        found[agent_id] = msgspec.structs.replace(
            known,
            first_seen_at=min(known.first_seen_at, at),
            last_seen_at=max(known.last_seen_at, at),
        )
    return found


def _traces(vault: Vault) -> Iterator[tuple[str, datetime]]:
    return (
        (name, at) for name, at in _signed(vault) if name not in _NO_AGENTS and name is not None
    )


def _signed(vault: Vault) -> Iterator[tuple[str | None, datetime]]:
    yield from _shared(vault)
    for memory in vault.memories.all():
        yield memory.agent_id, memory.created_at
        yield memory.updated_by, memory.updated_at
    for opinion in vault.feedback.all():
        yield opinion.agent_id, opinion.at
    for job in vault.jobs.all():
        yield job.agent_id, job.created_at
    for session in itertools.islice(vault.sessions.newest(), _SESSIONS):
        for event in vault.sessions.latest(session.session_id, _EVENTS):
            yield event.agent_id, event.occurred_at


def _shared(vault: Vault) -> Iterator[tuple[str | None, datetime]]:
    for sent in vault.messages.all():
        yield sent.sender_id, sent.created_at
        for name, one in sent.handlings.items():
            yield name, one.acknowledged_at or one.delivered_at
    for task in vault.tasks.all():
        yield task.created_by, task.created_at
        yield task.updated_by, task.updated_at
    for document in vault.documents.all():
        yield document.agent_id, document.updated_at
    for link in vault.links.all():
        yield link.agent_id, link.created_at


def _counted(vault: Vault, some: list[Agent]) -> Iterator[ActiveAgent]:
    now = vault.clock()
    living = [one for one in vault.messages.all() if not messages.is_expired(one, now)]
    sent = Counter(one.sender_id for one in living)
    own = Counter(one.assigned_agent_id for one in vault.tasks.all() if tasks.is_open(one))
    written = Counter(one.agent_id for one in vault.memories.all())
    for agent in some:
        clean = cleaning.clean_record(agent)
        yield ActiveAgent(
            **msgspec.structs.asdict(clean),
            memories=written[agent.agent_id],
            open_tasks=own[agent.agent_id],
            pending_messages=sum(messages.is_pending(one, agent.agent_id, now) for one in living),
            sent_messages=sent[agent.agent_id],
        )


def _program(harness: str) -> str:
    return client_names.find_label(harness) or harness.strip()


def _plain(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalnum())


def _item(agent: Agent) -> AgentItem:
    return AgentItem(
        agent_id=agent.agent_id,
        label=agent.label or label(agent.agent_id, agent.harness),
        last_seen_at=agent.last_seen_at,
        last_summary=_line(agent.last_summary),
    )


def _line(summary: str | None) -> str | None:
    return clipped(" ".join((summary or "").split()), _SUMMARY) or None
