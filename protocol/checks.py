"""What a change touches of what is known."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.projects import ProjectParams
from protocol.rows import Method
from protocol.values import Record


class CheckParams(ProjectParams, frozen=True, kw_only=True):
    """Which change to check."""

    range: Annotated[str, Meta(min_length=1, max_length=500)] | None = None
    """Two commits as `A..B`; what is staged where absent."""


class Concern(Record, frozen=True, kw_only=True):
    """A memory or a task that a change concerns."""

    kind: Literal["constraint", "decision", "task"]
    id: str
    title: str
    state: Literal["touched", "stale", "done"]
    """`touched`: look at it. `stale`: what it speaks of is gone. `done`: the change finishes the task."""
    why: str
    """The file, the symbol or the condition that says so."""


class Checked(Record, frozen=True, kw_only=True):
    """What a change concerns, the gravest first; nothing where nobody can tell."""

    files: int
    """How many files change."""
    concerns: tuple[Concern, ...] = ()


CHECKING: tuple[Method, ...] = (
    Method(
        name="threadline/check",
        params=CheckParams,
        result=Checked,
        doc="Name the constraints, decisions and open tasks that a staged change or a range of commits concerns.",
    ),
)
