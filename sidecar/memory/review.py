"""Proposals: what rules or a model found and were not sure of, until a person decides."""

from collections import Counter

import msgspec

from protocol.errors import InvalidParamsError, NotFoundError
from protocol.memories import Memory, Review
from protocol.review import DecideParams, ListProposalsParams, Proposals, Reviewed
from sidecar.memory.rules import memories
from sidecar.privacy import cleaning
from sidecar.search.rules.standing import REFUSED
from sidecar.storage.conditions import field
from sidecar.storage.vault import Vault


def kind(memory: Memory) -> str:
    """Return what kind of proposal a memory is: the rule that found it, or `model`."""
    return memory.rule or ("model" if memory.by_model else "other")


def list_proposals(vault: Vault, params: ListProposalsParams) -> Proposals:
    """Return what waits for review, the surest first."""
    waiting = vault.memories.search(field("status") == "proposed")
    counts = Counter(map(kind, waiting))
    wanted = [one for one in waiting if not params.kinds or kind(one) in params.kinds]
    wanted.sort(key=lambda one: (-one.confidence, -one.importance, one.occurred_at, one.memory_id))
    shown = wanted[params.offset : params.offset + params.limit]
    return Proposals(
        proposals=tuple(map(cleaning.clean_memory, shown)),
        total=len(wanted),
        kinds=dict(sorted(counts.items())),
    )


def decide(vault: Vault, params: DecideParams) -> Reviewed:
    """Accept, edit or reject proposals, and keep the verdict as a label."""
    with vault.transaction():
        chosen = _chosen(vault, params)
        decided = [_decided(vault, one, params) for one in chosen]
        vault.write(vault.memories.put(one.memory_id, one) for one in decided)
        vault.database.after_commit(vault.prepared.discard)
    left = vault.memories.tally("status").get(("proposed",), 0)
    return Reviewed(memories=tuple(map(cleaning.clean_memory, decided)), left=left)


def _chosen(vault: Vault, params: DecideParams) -> list[Memory]:
    if bool(params.memory_ids) == (params.kind is not None):
        raise InvalidParamsError("name either `memoryIds` or a `kind`", field="memoryIds")
    if params.kind is not None:
        waiting = vault.memories.search(field("status") == "proposed")
        return [one for one in waiting if kind(one) == params.kind]
    found = vault.memories.some(params.memory_ids)
    for memory_id in params.memory_ids:
        if memory_id not in found or found[memory_id].status != "proposed":
            raise NotFoundError(f"no proposal {memory_id} waits for review", field="memoryIds")
    return [found[memory_id] for memory_id in params.memory_ids]


def _decided(vault: Vault, memory: Memory, params: DecideParams) -> Memory:
    now = vault.clock()
    if params.verdict == "reject":
        return msgspec.structs.replace(
            memory,
            status="stale",
            feedback=REFUSED,
            review=Review(verdict="rejected", at=now),
            updated_at=now,
        )
    words = {
        name: cleaning.public(text)
        for name, text in (("title", params.title), ("content", params.content))
        if text is not None
    }
    review = Review(
        verdict="edited" if words else "accepted",
        at=now,
        text=memory.content if words else None,
    )
    # What a person words anew depends on no line of the code.
    changes = {**words, "by_model": False, "holds": ()} if words else {}
    accepted = msgspec.structs.replace(
        memory, status="active", review=review, updated_at=now, **changes
    )
    return memories.fitted(cleaning.clean_memory(accepted))
