"""Works: what a commit accomplished, as a headline with a weight."""

import re

from msgspec import Struct

from protocol.events import Event
from sidecar.memory.extract import noise, places
from sidecar.memory.extract.messages import Kind, Message
from sidecar.text.patterns import late

_WEIGHTS: dict[Kind, int] = {
    "feature": 4,
    "security": 4,
    "performance": 4,
    "fix": 3,
    "removal": 3,
    "refactoring": 3,
    "other": 2,
    "docs": 1,
    "tests": 1,
    "upkeep": 1,
}
SUBSTANCE = 2
"""The weight from which a single commit is worth a summary; of lighter ones it takes two."""
_LEFTOVER = late(
    r"\b(?:unused|obsolete|leftovers?|dead code|unnecessary|redundant|unneeded|stale)\b",
    re.IGNORECASE,
)
"""What is taken out because nobody needs it is no main work."""
_TELLING = 3
"""Words of a headline that tells something."""


class Work(Struct, frozen=True, kw_only=True):
    """One commit's part in a session."""

    event: Event
    headline: str
    quote: str
    kind: Kind
    weight: int
    scope: str | None = None
    detail: str = ""
    """The first sentence below the subject."""


def read(message: Message) -> Work | None:
    """Weigh a commit; nothing for merges, bots and what is no commit."""
    if message.is_capture or message.is_silent or message.subject is None:
        return None
    return Work(
        event=message.event,
        headline=message.headline,
        quote=message.subject.quote,
        kind=message.kind,
        weight=_weight(message),
        scope=message.scope,
        detail=_detail(message),
    )


def _weight(message: Message) -> int:
    if noise.is_upkeep(message.headline):
        return 0
    weight = _WEIGHTS[message.kind] + message.is_breaking
    if _LEFTOVER.search(message.headline):
        weight = min(weight, SUBSTANCE)
    if message.event.files and all(places.is_side(one.path) for one in message.event.files[:50]):
        weight = min(weight, 1)
    is_telling = (
        len(message.headline.split()) >= _TELLING
        or len(message.headline.encode()) > len(message.headline) + 8
    )
    return weight if is_telling or message.statements else min(weight, 1)


def _detail(message: Message) -> str:
    first = next(iter(message.statements), None)
    return "" if first is None or first.is_item or first.heading else first.text
