"""Choosing: which of the memories that come into question are given, and why the others are not.

Candidates come ranked, and their order stays. Left out is what was said to be wrong, what another memory has
replaced, what is gone from the code or not on this branch, what a digest sums up, what was said already, and
what goes beyond two items of one author's burst.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec
from msgspec import Struct

from protocol.contexts import UngivenItem
from protocol.memories import Memory, Verdict
from protocol.recall import Found
from sidecar.domain import digests
from sidecar.domain.context import bursts, repetitions

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
    crowd = bursts.group(memories, known.authors)
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
    """Give each candidate once with the reason against it, if any; a digest comes where its first session would."""
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
    """Tell what speaks against a memory by itself."""
    key = memory.memory_id
    if memory.feedback <= _WRONG:
        return "wrong"
    if memory.status == "superseded":
        return "superseded"
    if memory.status != "active" or known.verdicts.get(key, memory.verdict) == "gone":
        return "gone"
    return "other branch" if key in known.elsewhere else ""


def _summed_up(some: Sequence[Found]) -> dict[str, Found]:
    """Find the digest that stands for each summary."""
    made = [one for one in some if one.memory.agent_id == digests.AGENT]
    return {key: one for one in made for key in one.memory.covers if key != one.memory.memory_id}


def _excess(memory: Memory, said: Sequence[Memory], crowd: bursts.Bursts) -> str:
    """Tell whether what is given already leaves a memory no place."""
    if repetitions.is_said(memory, said):
        return "said already"
    return "one author" if bursts.is_excess(memory, said, crowd) else ""


def _judged(found: Found, known: Standing) -> Found:
    """Let a memory carry the latest verdict about its code."""
    verdict = known.verdicts.get(found.memory.memory_id, found.memory.verdict)
    if verdict == found.memory.verdict:
        return found
    memory = msgspec.structs.replace(found.memory, verdict=verdict)
    return msgspec.structs.replace(found, memory=memory)


def _left_out(found: Found, section: str, reason: str) -> UngivenItem:
    return UngivenItem(id=found.memory.memory_id, section=section, reason=reason, score=found.score)
