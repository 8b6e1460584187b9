"""Requests about proposals, and about what is worth knowing of a project."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.memories import Content, Memory, Names, Title
from protocol.projects import ProjectParams
from protocol.values import Name, Record, Timestamp, Ulid


class ListProposalsParams(ProjectParams, frozen=True, kw_only=True):
    """Which proposals to list."""

    kinds: Names = ()
    """Only these: the name of a rule, or `model`; all where empty."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    offset: Annotated[int, Meta(ge=0)] = 0
    """How many to leave out, of the first."""


class Proposals(Record, frozen=True, kw_only=True):
    """What waits for review, the surest first."""

    proposals: tuple[Memory, ...]
    total: int
    """How many there are of the kinds that were asked for."""
    kinds: dict[str, int]
    """How many there are of each kind."""


class DecideParams(ProjectParams, frozen=True, kw_only=True):
    """What becomes of proposals."""

    memory_ids: Annotated[tuple[Ulid, ...], Meta(max_length=1000)] = ()
    kind: Name | None = None
    """All of this kind, instead of those that are named."""
    verdict: Literal["accept", "reject"]
    title: Title | None = None
    """Accept it in these words."""
    content: Content | None = None


class Reviewed(Record, frozen=True, kw_only=True):
    """What was decided."""

    memories: tuple[Memory, ...]
    left: int
    """How many proposals still wait."""


class WorthKnowingParams(ProjectParams, frozen=True, kw_only=True):
    """How much to tell."""

    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class WorthItem(Record, frozen=True, kw_only=True):
    """One thing that somebody new to a project did not know."""

    kind: Literal["memory", "note", "guideline", "commit"]
    """`note`: a comment at HEAD. `commit`: quoted, with its date."""
    text: str
    source: str
    """Where it stands, for people: a file and line, a commit, who remembered it."""
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    memory_id: str | None = None
    author: str | None = None
    at: Timestamp | None = None


class WorthKnowing(Record, frozen=True, kw_only=True):
    """The best that is known of a project; fewer where there are fewer."""

    items: tuple[WorthItem, ...]
