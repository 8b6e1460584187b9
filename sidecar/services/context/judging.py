"""Judging: what people and agents think of a memory that they were given."""

import functools
from collections.abc import Iterable

import msgspec

from protocol.contexts import Feedback, FeedbackParams, Opinion, RetractParams
from protocol.errors import ConflictError, NotFoundError
from protocol.memories import Memory
from sidecar.domain import privacy
from sidecar.services import agents
from sidecar.storage.vault import Vault

_LEAST: dict[Opinion, float] = {"wrong": -1.0, "stale": -0.75, "useful": -1.0}
"""How low an opinion can bring a memory: what is stale counts less, and is still given."""
_WEIGHT: dict[Opinion, float] = {"wrong": -2.0, "stale": -0.5, "useful": 0.25}
"""What an opinion adds: one that says wrong outweighs all that said otherwise."""


def judge(vault: Vault, params: FeedbackParams) -> Memory:
    """Take down an opinion; it counts from the next search and the next context on."""
    with vault.transaction():
        memory = _find(vault, params.memory_id)
        now = vault.clock()
        judged = msgspec.structs.replace(memory, feedback=_counted(memory.feedback, params.verdict))
        opinion = Feedback(
            memory_id=memory.memory_id,
            verdict=params.verdict,
            note=None if params.note is None else privacy.clean(params.note),
            agent_id=agents.author(params.agent_id),
            receipt_id=params.receipt_id,
            at=now,
        )
        vault.write(
            [
                vault.memories.put(memory.memory_id, judged),
                vault.feedback.put(vault.ids.next(), opinion),
            ]
        )
        vault.database.after_commit(vault.prepared.discard)
        return privacy.clean_memory(judged)


def retract(vault: Vault, params: RetractParams) -> Memory:
    """Take back what somebody said last; what all others have said counts as if that had never been said."""
    agent_id = agents.author(params.agent_id)
    with vault.transaction():
        memory = _find(vault, params.memory_id)
        opinions = _opinions(vault, memory.memory_id)
        own = [key for key, one in opinions.items() if one.agent_id == agent_id]
        if not own:
            teller = agent_id or "a person"
            raise ConflictError(
                f"{teller} has said nothing of memory {memory.memory_id} that could be taken back",
                field="memoryId",
            )
        feedback = _count(one for key, one in opinions.items() if key != own[-1])
        if memory.feedback > _count(opinions.values()):
            # Its words were changed since: what was thought of others holds it back no more.
            feedback = max(feedback, 0.0)
        judged = msgspec.structs.replace(memory, feedback=feedback)
        vault.write([vault.memories.put(memory.memory_id, judged), vault.feedback.drop(own[-1])])
        vault.database.after_commit(vault.prepared.discard)
        return privacy.clean_memory(judged)


def _find(vault: Vault, memory_id: str) -> Memory:
    memory = vault.memories.get(memory_id)
    if memory is None or memory.status == "forgotten":
        raise NotFoundError(f"no memory {memory_id} in this project", field="memoryId")
    return memory


def _opinions(vault: Vault, memory_id: str) -> dict[str, Feedback]:
    """Give what was said of a memory, the earliest first; ids begin with their time."""
    every = vault.feedback.by_id()
    return {key: every[key] for key in sorted(every) if every[key].memory_id == memory_id}


def _count(opinions: Iterable[Feedback]) -> float:
    return functools.reduce(_counted, (one.verdict for one in opinions), 0.0)


def _counted(feedback: float, verdict: Opinion) -> float:
    least = min(_LEAST[verdict], feedback)
    return min(max(feedback + _WEIGHT[verdict], least), 1.0)
