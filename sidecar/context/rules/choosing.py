"""Choose which memories to give, and why others are left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from protocol.contexts import ContextParams, Mode, UngivenItem
from protocol.memories import Memory, Verdict
from protocol.recall import Found
from sidecar.context.rules import repetitions
from sidecar.memory.rules import digests

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
    """Return whether enough was given already of the burst that a memory belongs to."""
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
    return memory.agent_id or authors.get(memory.memory_id) or memory.session_id or ""


def _time(memory: Memory) -> datetime:
    return memory.created_at if memory.job_id is None else memory.occurred_at


_WRONG = -1.0


class Standing(Struct, frozen=True, kw_only=True):
    """What is known of memories beyond what they say."""

    elsewhere: AbstractSet[str] = frozenset()
    """Ids of those that belong to other branches."""
    verdicts: Mapping[str, Verdict] = {}
    """What has become of their code, where somebody has just looked."""
    authors: Mapping[str, str] = {}
    """Who made the commits they come from."""


class Choice(Struct, frozen=True, kw_only=True):
    """What is given of a section, best first, and what is not."""

    chosen: tuple[Found, ...] = ()
    ungiven: tuple[UngivenItem, ...] = ()


def choose(
    section: str,
    candidates: Sequence[Found],
    limit: int,
    *,
    given: Sequence[Found] = (),
    standing: Standing | None = None,
) -> Choice:
    """Choose at most so many of a section's ranked candidates, beside what other sections give."""
    known = standing or Standing()
    memories = [one.memory for one in (*given, *candidates)]
    crowd = group(memories, known.authors)
    chosen: list[Found] = []
    ungiven: list[UngivenItem] = []
    said = [one.memory for one in given]
    for found, reason in _in_turn(candidates, given, known):
        why = reason or ("limit" if len(chosen) >= limit else _excess(found.memory, said, crowd))
        if why:
            ungiven.append(_left_out(found, section, why))
        else:
            chosen.append(_judged(found, known))
            said.append(found.memory)
    return Choice(chosen=tuple(chosen), ungiven=tuple(ungiven))


def _in_turn(
    candidates: Sequence[Found], given: Sequence[Found], known: Standing
) -> Iterator[tuple[Found, str]]:
    """Yield each candidate once with the reason against it, if any; a digest comes where its first session would."""
    reasons = {one.memory.memory_id: _objection(one.memory, known) for one in candidates}
    sound = [one for one in candidates if not reasons[one.memory.memory_id]]
    standing_in = _summed_up(sound)
    summed_up = standing_in.keys() | _summed_up(given).keys()
    ordered: dict[str, Found] = {}
    for found in candidates:
        key = found.memory.memory_id
        if key in standing_in and not reasons[key]:
            ordered.setdefault(standing_in[key].memory.memory_id, standing_in[key])
        ordered.setdefault(key, found)
    for key, found in ordered.items():
        yield found, reasons[key] or ("in a digest" if key in summed_up else "")


def _objection(memory: Memory, known: Standing) -> str:
    key = memory.memory_id
    if memory.feedback <= _WRONG:
        return "wrong"
    if memory.status == "superseded":
        return "superseded"
    if memory.status != "active" or known.verdicts.get(key, memory.verdict) == "gone":
        return "gone"
    return "other branch" if key in known.elsewhere else ""


def _summed_up(some: Sequence[Found]) -> dict[str, Found]:
    made = [one for one in some if one.memory.agent_id == digests.AGENT]
    return {key: one for one in made for key in one.memory.covers if key != one.memory.memory_id}


def _excess(memory: Memory, said: Sequence[Memory], crowd: Bursts) -> str:
    """Return whether what is given already leaves a memory no place."""
    if repetitions.is_said(memory, said):
        return "said already"
    return "one author" if is_excess(memory, said, crowd) else ""


def _judged(found: Found, known: Standing) -> Found:
    verdict = known.verdicts.get(found.memory.memory_id, found.memory.verdict)
    if verdict == found.memory.verdict:
        return found
    memory = msgspec.structs.replace(found.memory, verdict=verdict)
    return msgspec.structs.replace(found, memory=memory)


def _left_out(found: Found, section: str, reason: str) -> UngivenItem:
    return UngivenItem(id=found.memory.memory_id, section=section, reason=reason, score=found.score)


SECTIONS = ("recentSessions", "importantFacts", "activeTasks", "constraints")
Limits = dict[str, int]
"""The most items of each section, by its name."""

TABLE: dict[Mode, tuple[int, int, int, int]] = {
    "default": (3, 5, 5, 10),
    "full": (5, 10, 10, 10),
    "planning": (1, 8, 8, 10),
    "incident": (5, 8, 3, 10),
    "handoff": (5, 5, 8, 10),
    "deep": (5, 10, 5, 10),
    "minimal": (1, 3, 3, 3),
    "none": (0, 0, 0, 0),
}
"""In the order of the sections."""


def limits(params: ContextParams) -> Limits:
    """Return how many items of each section are wanted: what the mode says, or what was asked for instead."""
    asked = (params.max_episodic, params.max_facts, params.max_tasks, params.max_constraints)
    usual = TABLE[params.mode]
    return {
        section: most if wanted is None else wanted
        for section, most, wanted in zip(SECTIONS, usual, asked, strict=True)
    }
