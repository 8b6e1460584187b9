"""What the person wants in every project, as every context tells it, in a small room of its own."""

from collections.abc import Iterator

from protocol.contexts import ContextItem
from protocol.memories import Memory
from sidecar.context.rules import items, rendering
from sidecar.search.rules.standing import REFUSED
from sidecar.storage.vault import Vault

SECTION = "personal"
ROOM = 600
"""Letters of all of them together, as a host reads them."""


def choose(vault: Vault) -> tuple[ContextItem, ...]:
    """Return what fits: pinned before important, important before new; what is too long leaves room for the next."""
    return tuple(_fitting(sorted(filter(_is_told, vault.memories.all()), key=_rank, reverse=True)))


def _fitting(memories: list[Memory]) -> Iterator[ContextItem]:
    room = ROOM
    for memory in memories:
        item = items.from_memory(memory)
        size = rendering.memory(item, ROOM).size
        if size <= room:
            room -= size
            yield item


def _is_told(memory: Memory) -> bool:
    return memory.status == "active" and memory.feedback > REFUSED


def _rank(memory: Memory) -> tuple[bool, int, str]:
    return memory.pinned, memory.importance, memory.memory_id
