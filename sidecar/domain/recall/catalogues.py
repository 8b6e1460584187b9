"""The catalogue: the memories that can be found, by their words and by their files."""

import bisect
import itertools
from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from sidecar.domain.recall.lexicon import Entry, Lexicon
from sidecar.domain.recall.places import Places
from sidecar.domain.recall.similarities import Filter

Grade = tuple[int, int, bool, str | None, float]


class Item(Struct, frozen=True, kw_only=True):
    """What ranking needs to know of a memory."""

    memory_id: str
    entry: Entry
    occurred_at: datetime
    importance: int = 3
    confidence: int = 3
    pinned: bool = False
    branch: str | None = None
    feedback: float = 0.0
    """From minus one (never useful) to one (always useful)."""


class Catalogue:
    """The memories that can be found; whoever shares it between threads takes care of that."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.items: dict[str, Item] = {}
        self.lexicon = Lexicon()
        self.places = Places()
        self._grades: dict[Grade, list[tuple[float, str]]] = {}

    def put(self, item: Item) -> None:
        """Learn a memory, in place of what was known under its id."""
        self.drop(item.memory_id)
        self.items[item.memory_id] = item
        self.lexicon.put(item.memory_id, item.entry)
        self.places.put(item.memory_id, item.entry.files)
        bisect.insort(self._grades.setdefault(grade(item), []), _moment(item))

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        if (item := self.items.pop(memory_id, None)) is None:
            return
        self.lexicon.drop(memory_id)
        self.places.drop(memory_id)
        moments = self._grades[grade(item)]
        del moments[bisect.bisect_left(moments, _moment(item))]
        if not moments:
            del self._grades[grade(item)]

    def newest(self, count: int, is_wanted: Filter | None = None) -> Iterator[str]:
        """Give the newest of each grade: whatever its weights, the best by age and grade are among them."""
        for moments in self._grades.values():
            ids = (memory_id for _, memory_id in reversed(moments))
            yield from itertools.islice(filter(is_wanted, ids) if is_wanted else ids, count)


def grade(item: Item) -> Grade:
    """Give all that distinguishes memories of the same age."""
    return item.importance, item.confidence, item.pinned, item.branch, item.feedback


def _moment(item: Item) -> tuple[float, str]:
    return item.occurred_at.timestamp(), item.memory_id
