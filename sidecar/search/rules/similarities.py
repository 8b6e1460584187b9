"""How near memories are to a question in meaning, as ranking asks for it; standard library only."""

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
"""What vectors are made by, and how long they are; those of another model are not comparable."""

Filter = Callable[[str], bool]
"""Tells whether a memory is wanted at all."""


class Similarities(Protocol):
    """The cosines of memories with a question; memories without an embedding have none."""

    def best(self, count: int, is_wanted: Filter | None) -> dict[str, float]:
        """Give the nearest of the wanted memories."""

    def of(self, memory_ids: Iterable[str]) -> dict[str, float]:
        """Give the cosines of these memories, where there are any."""


class Listed:
    """Cosines that stand in a mapping."""

    def __init__(self, cosines: Mapping[str, float]) -> None:
        """Stand on a mapping from memory ids to cosines."""
        self._cosines = cosines

    def best(self, count: int, is_wanted: Filter | None) -> dict[str, float]:
        """Give the nearest of the wanted memories."""
        wanted = (
            (-cosine, memory_id)
            for memory_id, cosine in self._cosines.items()
            if is_wanted is None or is_wanted(memory_id)
        )
        return {memory_id: -negative for negative, memory_id in heapq.nsmallest(count, wanted)}

    def of(self, memory_ids: Iterable[str]) -> dict[str, float]:
        """Give the cosines of these memories, where there are any."""
        known = self._cosines
        return {memory_id: known[memory_id] for memory_id in memory_ids if memory_id in known}
