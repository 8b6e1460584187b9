"""Judging: what people and agents think of a memory that they were given."""

import msgspec

from protocol.contexts import Feedback, FeedbackParams, Opinion
from protocol.errors import NotFoundError
from protocol.memories import Memory
from sidecar.domain import privacy
from sidecar.services import agents
from sidecar.store.vaults import Vault

_LEAST: dict[Opinion, float] = {"wrong": -1.0, "stale": -0.75, "useful": -1.0}
"""How low an opinion can bring a memory: what is stale counts less, and is still given."""
_WEIGHT: dict[Opinion, float] = {"wrong": -2.0, "stale": -0.5, "useful": 0.25}
"""What an opinion adds: one that says wrong outweighs all that said otherwise."""


def judge(vault: Vault, params: FeedbackParams) -> Memory:
    """Take down an opinion; it counts from the next search and the next context on."""
    with vault.lock.held():
        memory = vault.memories.get(params.memory_id)
        if memory is None or memory.status == "forgotten":
            raise NotFoundError(f"no memory {params.memory_id} in this project", field="memoryId")
        now = vault.clock()
        judged = msgspec.structs.replace(memory, feedback=_counted(memory, params.verdict))
        opinion = Feedback(
            memory_id=memory.memory_id,
            verdict=params.verdict,
            note=None if params.note is None else privacy.clean(params.note),
            agent_id=agents.author(params.agent_id),
            receipt_id=params.receipt_id,
            at=now,
        )
        vault.journal.append(
            [
                vault.memories.put(memory.memory_id, judged),
                vault.feedback.put(vault.ids.next(), opinion),
            ]
        )
        return privacy.clean_memory(judged)


def _counted(memory: Memory, verdict: Opinion) -> float:
    least = min(_LEAST[verdict], memory.feedback)
    return min(max(memory.feedback + _WEIGHT[verdict], least), 1.0)
