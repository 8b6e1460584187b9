"""Findings: what one rule found in one event, before a session's findings are put together."""

from collections.abc import Callable

from msgspec import Struct

from protocol.memories import MemoryType
from sidecar.memory.extract.messages import Message
from sidecar.text import wording
from sidecar.text.statements import Statement


class Finding(Struct, frozen=True, kw_only=True):
    """Something worth keeping, with the words that show it."""

    type: MemoryType
    title: str
    content: str
    quote: str
    rationale: str | None = None
    importance: int = 3
    confidence: int = 3
    path: str | None = None
    """The file that the words stand in, where they stand in a file."""
    block: int = -1
    """The paragraph of its words, where they stand in one."""
    is_named: bool = False
    """Its author called it what it is."""
    is_weak: bool = False
    """It holds only where nothing near it says more."""
    tags: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()
    """Commits and subjects that it takes back."""


Rule = Callable[[Message, Statement], Finding | None]


def found(
    kind: MemoryType, statement: Statement, grades: tuple[int, int], *, rationale: str | None = None
) -> Finding:
    """Make a finding of a statement: its claim is the title, its reason the rationale."""
    claim, reason = wording.split(statement.text)
    return Finding(
        type=kind,
        title=wording.title(claim),
        content=wording.sentence(statement.text),
        quote=statement.quote,
        rationale=reason or rationale,
        importance=grades[0],
        confidence=grades[1],
    )
