"""Parts: pieces of an answer that hold for longer than the whole."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_KEPT = 256
"""Pieces that are kept."""

_Made = TypeVar("_Made")


class Parts:
    """Keeps pieces, each for as long as what it was made of stays the same."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: dict[Hashable, tuple[object, Any]] = {}

    def keep(self, key: Hashable, made_of: object, make: Callable[[], _Made]) -> _Made:
        """Give a piece as it was made, or make it; `made_of` was looked at before."""
        known = self._kept.get(key)
        if known is not None and known[0] == made_of:
            found: _Made = known[1]
            return found
        made = make()
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[key] = (made_of, made)
        return made
