"""Links: what belongs to what, between memories, tasks, files and documents."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.projects import ProjectParams
from protocol.values import Name, Params, Record, Timestamp, Ulid

LinkType = Literal[
    "relates",
    "blocks",
    "causes",
    "documents",
    "supersedes",
    "implements",
    "contradicts",
    "follows",
]
Linkable = Literal["memory", "task", "file", "document"]
LinkOutcome = Literal["created", "duplicate", "removed"]


class LinkEnd(Params, frozen=True, kw_only=True):
    """One of the two things that a link is between."""

    kind: Linkable
    """What sort of thing it is."""
    id: Annotated[str, Meta(min_length=1, max_length=4096)]
    """A memory's or task's id, a file's path in the repository, a document's name."""


class Link(Record, frozen=True, kw_only=True):
    """That one thing has to do with another: the source relates to, blocks, causes … the target."""

    link_id: Ulid
    project_id: str
    type: LinkType
    source: LinkEnd
    target: LinkEnd
    agent_id: str | None = None
    """The agent that made it; null where a person did."""
    created_at: Timestamp
    team_id: str | UnsetType = UNSET
    """The team that its project is in; absent without one."""


class Neighbour(Record, frozen=True, kw_only=True):
    """What an item is linked with, seen from it."""

    link_id: str
    type: LinkType
    """How they are linked."""
    is_source: bool
    """Whether the link comes from the neighbour; otherwise it goes to it."""
    kind: Linkable
    """What sort of thing the neighbour is."""
    id: str
    """A memory's or task's id, a file's path, a document's name."""
    title: str
    """What it is called."""


class LinkParams(ProjectParams, frozen=True, kw_only=True):
    """Two things to link."""

    source: LinkEnd
    """Where the link comes from."""
    target: LinkEnd
    """Where it goes to."""
    type: LinkType = "relates"
    """How they are linked, read from the source to the target."""
    agent_id: Name | None = None
    """The agent that does it; absent where a person does."""


class UnlinkParams(ProjectParams, frozen=True, kw_only=True):
    """Which link to remove."""

    link_id: Ulid
    """Its id, as an item's neighbours tell it."""
    agent_id: Name | None = None
    """The agent that does it; absent where a person does."""


class LinkResult(Record, frozen=True, kw_only=True):
    """What became of a link."""

    outcome: LinkOutcome
    """`duplicate`: it was there already."""
    link: Link


class GraphParams(ProjectParams, frozen=True, kw_only=True):
    """Which part of what is linked to show."""

    around: LinkEnd | None = None
    """Only what can be reached from here; everything that is linked where absent."""
    hops: Annotated[int, Meta(ge=1, le=10)] = 1
    """How many links far, with `around`."""
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1_000
    """The most items to show."""


class GraphNode(Record, frozen=True, kw_only=True):
    """A thing that is linked."""

    kind: Linkable
    """What sort of thing it is."""
    id: str
    """A memory's or task's id, a file's path, a document's name."""
    title: str
    """What it is called."""
    status: str | None = None
    """The state that a memory or a task is in."""


class GraphLink(Record, frozen=True, kw_only=True):
    """A link between two of the nodes."""

    type: LinkType
    source: LinkEnd
    target: LinkEnd
    link_id: str | None = None
    """Null where it follows from what the items say: a task waits for another, a memory replaced one."""


class Graph(Record, frozen=True, kw_only=True):
    """What is linked with what."""

    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    total: int
    """How many items are linked in all, also beyond the limit."""
