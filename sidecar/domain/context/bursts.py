"""Bursts: much of the same by one author at one time, of which two items are enough.

Items belong together when one author made them with no more than ten minutes between one and the next. Among them
nearly the same words make a burst from the third item on, and similar words only in a crowd. So whoever writes a
memory 300 times does not crowd out the others, while the ten decisions of one afternoon, each with words of its own,
all stay. What a burst holds back never fills up what is left: it would only say again what its first two items say.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from protocol.memories import Memory
from sidecar.domain import digests
from sidecar.domain.context import repetitions

ENOUGH = 2
"""Items of one burst that are given."""
PAUSE = timedelta(minutes=10)
NEAR = 0.75
"""Likeness of words from which a third item is one too many."""
ALIKE = 0.5
"""Likeness of words from which that holds in a crowd."""
CROWD = 8
"""Items that are alike and make a crowd."""


class Bursts(Struct, frozen=True, kw_only=True):
    """Which memories were made together."""

    places: Mapping[str, int]
    """The group of each, by its id."""
    members: Mapping[int, Sequence[Memory]]


def group(memories: Iterable[Memory], authors: Mapping[str, str]) -> Bursts:
    """Put together what one author made without a pause; a day's digest stands for itself."""
    made: dict[str, dict[str, Memory]] = {}
    for memory in memories:
        if memory.agent_id != digests.AGENT:
            made.setdefault(_author(memory, authors), {})[memory.memory_id] = memory
    members: dict[int, list[Memory]] = {}
    for own in made.values():
        _divide(own.values(), members)
    places = {one.memory_id: key for key, all_of_it in members.items() for one in all_of_it}
    return Bursts(places=places, members=members)


def is_excess(memory: Memory, given: Iterable[Memory], bursts: Bursts) -> bool:
    """Tell whether enough was given already of the burst that a memory belongs to."""
    place = bursts.places.get(memory.memory_id)
    if place is None or len(bursts.members[place]) <= ENOUGH:
        return False
    likenesses = [
        repetitions.likeness(memory, other)
        for other in given
        if bursts.places.get(other.memory_id) == place
    ]
    if sum(likeness >= NEAR for likeness in likenesses) >= ENOUGH:
        return True
    is_alike = sum(likeness >= ALIKE for likeness in likenesses) >= ENOUGH
    return is_alike and _is_crowded(memory, bursts.members[place])


def _is_crowded(memory: Memory, others: Sequence[Memory]) -> bool:
    """Tell whether a memory, itself included, is one of a crowd."""
    alike = 0
    for other in others:
        alike += repetitions.likeness(memory, other) >= ALIKE
        if alike >= CROWD:
            return True
    return False


def _divide(made: Iterable[Memory], members: dict[int, list[Memory]]) -> None:
    last: datetime | None = None
    for time, _, memory in sorted((_time(one), at, one) for at, one in enumerate(made)):
        if last is None or time - last > PAUSE:
            members[len(members)] = []
        members[len(members) - 1].append(memory)
        last = time


def _author(memory: Memory, authors: Mapping[str, str]) -> str:
    """Name who made a memory: an agent, the author of its commit, or whoever worked in its session."""
    return memory.agent_id or authors.get(memory.memory_id) or memory.session_id or ""


def _time(memory: Memory) -> datetime:
    """Tell when a memory was made: what was read from events, at the time of the events."""
    return memory.created_at if memory.job_id is None else memory.occurred_at
