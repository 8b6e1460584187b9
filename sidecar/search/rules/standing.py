"""How memories stand by themselves, where nothing is asked: pinned, new, about the files at hand."""

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

from protocol.memories import MemoryType

REFUSED = -1.0
"""The feedback of a memory that somebody called wrong: it is never given unasked."""
_PINNED = 1.0
"""As much as the open file: who pins a memory wants it told wherever it may concern."""
_OPEN, _CHANGED = 1.0, 0.6
"""What a memory gains that is about the open file, or about another one that was changed."""
_RECENT, _HALF_LIFE = 0.5, 180 * 86_400.0
"""What the newest gains, and the seconds after which half of that is left."""
_IMPORTANT, _USEFUL, _HERE = 0.1, 0.2, 0.05
"""What the best grade, the best feedback and the current branch add: they part equals."""
_MIDDLE, _SPAN = 3, 2


class Traits(Struct, frozen=True, kw_only=True):
    """What decides how a memory stands."""

    type: MemoryType
    importance: int
    occurred_at: datetime
    pinned: bool
    feedback: float
    branch: str | None
    files: frozenset[str]


class Group(Struct, frozen=True, kw_only=True):
    """Memories of some types of which the best are wanted."""

    types: frozenset[MemoryType]
    least_importance: int = 1
    limit: int

    def takes(self, traits: Traits) -> bool:
        """Whether a memory belongs to it; what was refused does not."""
        return (
            traits.type in self.types
            and traits.importance >= self.least_importance
            and traits.feedback > REFUSED
        )


class Place(Struct, frozen=True, kw_only=True):
    """When and where is asked."""

    now: datetime
    opened: Collection[str] = ()
    changed: Collection[str] = ()
    branch: str | None = None
    filed: Mapping[str, Collection[str]] = {}
    """Which memories somebody linked with which file."""


def score(memory_id: str, traits: Traits, place: Place) -> dict[str, float]:
    """Return what each trait adds to a memory's score."""
    age = max((place.now - traits.occurred_at).total_seconds(), 0.0)
    parts = {"recency": _RECENT * _HALF_LIFE / (_HALF_LIFE + age)}
    if files := _files(memory_id, traits, place):
        parts["files"] = files
    if traits.pinned:
        parts["pinned"] = _PINNED
    if traits.importance != _MIDDLE:
        parts["importance"] = _IMPORTANT * (traits.importance - _MIDDLE) / _SPAN
    if traits.branch and traits.branch == place.branch:
        parts["branch"] = _HERE
    if traits.feedback:
        parts["feedback"] = _USEFUL * traits.feedback
    return parts


def _files(memory_id: str, traits: Traits, place: Place) -> float:
    def concerns(paths: Collection[str]) -> bool:
        return any(path in traits.files or memory_id in place.filed.get(path, ()) for path in paths)

    return _OPEN if concerns(place.opened) else _CHANGED if concerns(place.changed) else 0.0
