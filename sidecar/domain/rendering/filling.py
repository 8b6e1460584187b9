"""Filling: what is most missed takes its room first, and what does not fit is named."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from sidecar.domain.context.priorities import ORDER
from sidecar.domain.rendering.items import Item
from sidecar.domain.rendering.parts import Part
from sidecar.domain.rendering.quoting import QUOTE

_RESERVED = "recovery"
_CUT = f"{QUOTE} …"
_KEPT = 2
"""Lines that say anything: where it comes from, and one of what was known."""


class Filled(Struct, frozen=True):
    """What fits, in the order it is read, and what does not."""

    parts: tuple[Part, ...]
    dropped: tuple[tuple[str, str], ...]
    """The section and the id of each item that is left out."""


def fill(parts: Sequence[Part], room: int) -> Filled:
    """Take from each section what fits, the most missed section first, its last items last."""
    kept: dict[str, tuple[Item, ...]] = {}
    headings: set[str] = set()
    for part in sorted(parts, key=_priority):
        heading = 0 if part.heading in headings else len(headed(part.heading))
        taken = _take(part, room - heading)
        if taken:
            headings.add(part.heading)
            room -= heading + sum(item.size for item in taken)
        kept[part.section] = taken
    shown = (Part(part.section, part.heading, kept[part.section]) for part in parts)
    dropped = (
        (part.section, item.id) for part in parts for item in part.items[len(kept[part.section]) :]
    )
    return Filled(tuple(part for part in shown if part.items), tuple(dropped))


def write(parts: Iterable[Part]) -> str:
    """Write parts below their headings; what shares a heading stands under it once."""
    text: list[str] = []
    heading = ""
    for part in parts:
        if part.heading != heading:
            heading = part.heading
            text.append(headed(heading))
        text += [f"{line}\n" for item in part.items for line in item.lines]
    return "".join(text)


def headed(heading: str) -> str:
    """Write a heading with the empty line above it."""
    return f"\n### {heading}\n"


def _priority(part: Part) -> int:
    return -ORDER.index(part.section)


def _take(part: Part, room: int) -> tuple[Item, ...]:
    taken: list[Item] = []
    for item in part.items:
        fitting = _shortened(item, room) if part.section == _RESERVED else item
        if fitting.size > room:
            break
        taken.append(fitting)
        room -= fitting.size
    return tuple(taken)


def _shortened(item: Item, room: int) -> Item:
    """Leave lines out at the end until the rest fits; one of them at least is kept."""
    if item.size <= room:
        return item
    ends = accumulate((len(line) + 1 for line in item.lines), initial=len(_CUT) + 1)
    fitting = sum(end <= room for end in ends) - 1
    return Item(item.id, (*item.lines[: max(fitting, _KEPT)], _CUT))
