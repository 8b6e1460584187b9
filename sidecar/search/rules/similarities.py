"""How near memories are to a question in meaning, as ranking asks for it; standard library only."""

from collections.abc import Callable, Iterable
from typing import Protocol

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
"""What vectors are made by, and how long they are; those of another model are not comparable."""

Filter = Callable[[str], bool]
"""Tells whether a memory is wanted at all."""


class Similarities(Protocol):
    """The cosines of memories with a question; memories without an embedding have none."""

    def best(self, count: int, is_wanted: Filter | None) -> dict[str, float]:
        """Return the nearest of the wanted memories."""

    def of(self, memory_ids: Iterable[str]) -> dict[str, float]:
        """Return the cosines of these memories, where there are any."""
