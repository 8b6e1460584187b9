"""Requests about memories: search, read, write, update."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.links import Neighbour
from protocol.memories import (
    Content,
    Evidence,
    Grade,
    Memory,
    MemoryStatus,
    MemoryType,
    Names,
    Paths,
    Title,
)
from protocol.projects import ProjectParams
from protocol.values import Key, Name, Record, Text, Timestamp, Ulid

HitKind = Literal["memory", "commit", "capture", "turn"]
WriteOutcome = Literal["created", "skipped", "superseded", "duplicate"]


class MemoryFilters(ProjectParams, frozen=True, kw_only=True):
    """Which memories come into question."""

    types: tuple[MemoryType, ...] = ()
    """Only these types; all where empty."""
    statuses: tuple[MemoryStatus, ...] = ("active",)
    """Only memories in these states; what is forgotten is never found."""
    paths: Paths = ()
    """Only memories about one of these files, or files in one of these folders."""
    tags: Names = ()
    """Only memories with one of these tags."""
    agent_id: Name | None = None
    """Only memories of this agent."""
    session_id: Ulid | None = None
    """Only memories made from this session."""
    pinned: bool | None = None
    """Only those that are pinned, or only those that are not."""
    since: Timestamp | None = None
    """Only what happened at this moment or later."""
    until: Timestamp | None = None
    """Only what happened before this moment."""


class SearchParams(MemoryFilters, frozen=True, kw_only=True):
    """What to look for, and where the asker is."""

    query: Annotated[str, Meta(max_length=10_000)] = ""
    """Any words; without them the most useful memories at this moment are given."""
    top_k: Annotated[int, Meta(ge=1, le=50)] = 10
    files_at_hand: Paths = ()
    """Files that are open or changed where the question is asked: what concerns them counts more."""
    branch: Name | None = None
    """The branch the question is asked on; the current one where absent."""
    all_branches: bool = False
    """Also what belongs to branches that are not part of the current one."""
    all_projects: bool = False
    """Search all projects of the person; for an agent only with a key for all vaults."""
    session_key: Key | None = None
    """The conversation that does it: so one can tell later what its context was worth."""


class ListMemoriesParams(MemoryFilters, frozen=True, kw_only=True):
    """Which memories to list, of whatever branch."""

    statuses: tuple[MemoryStatus, ...] = ("active",)
    """Only memories in these states; in all where empty. Of what is forgotten only that it was there is known."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    """The most memories to give."""


class MemoryPage(Record, frozen=True, kw_only=True):
    """Memories, those that are pinned first, then the latest."""

    memories: tuple[Memory, ...]
    total: int
    """How many passed the filters."""


class Found(Record, frozen=True, kw_only=True):
    """A memory and why it was found."""

    memory: Memory
    score: float
    why: dict[str, float]
    """What each signal adds to the score."""


class Hit(Record, frozen=True, kw_only=True):
    """A memory or a record that answers, in few words; the whole of it is one call away."""

    kind: HitKind
    """`memory`: a statement. All others are records, quoted as they were written: a commit, a capture,
    a turn of a conversation."""
    id: str
    """Of the memory, the event or the turn."""
    title: str
    """A memory's title, a commit's subject; may be empty."""
    text: str
    """The sentences that fit the question best."""
    at: Timestamp
    author: str | None = None
    type: MemoryType | None = None
    """Of a memory."""
    freshness: str | None = None
    """Of a memory: whether the code it speaks of is as it was."""
    by_model: bool = False
    """Whether a model worded the memory."""
    commit: str | None = None
    """The commit's sha."""
    session_id: str | None = None
    session_key: str | None = None
    """The conversation of a turn."""
    files: tuple[str, ...] = ()
    """The first files it concerns."""
    project: str | UnsetType = UNSET
    """The name of its project, where all were searched."""
    score: float
    why: dict[str, float]
    """What each signal adds to the score."""


class SearchResult(Record, frozen=True, kw_only=True):
    """The best matches, best first."""

    memories: tuple[Found, ...]
    """The memories among the hits, in full."""
    total: int
    """How many memories passed the filters."""
    semantic: bool
    """Whether meaning was compared too, and not words alone."""
    hits: tuple[Hit, ...] = ()
    """Memories and records together, best first; without a question there are only memories."""


class ReadParams(ProjectParams, frozen=True, kw_only=True):
    """Which memories to read in full."""

    memory_ids: Annotated[tuple[Ulid, ...], Meta(min_length=1, max_length=50)]
    session_key: Key | None = None
    """The conversation that does it: so one can tell later what its context was worth."""


class ShownMemory(Memory, frozen=True, kw_only=True):
    """A memory with what surrounds it."""

    links: tuple[Neighbour, ...] = ()
    """What it is linked with."""


class MemoryList(Record, frozen=True, kw_only=True):
    """Memories in the order they were asked for."""

    memories: tuple[ShownMemory, ...]
    missing: tuple[str, ...] = ()
    """Ids that name nothing."""


class WriteParams(ProjectParams, frozen=True, kw_only=True):
    """A memory that a person or an agent wants kept."""

    type: MemoryType
    title: Title
    content: Content
    rationale: Text | None = None
    importance: Grade = 3
    confidence: Grade = 3
    entities: Names = ()
    files: Paths = ()
    tags: Names = ()
    scope: Literal["project", "user"] = "project"
    """`user`: told in every project of the person; from an agent only a preference."""
    agent_id: Name | None = None
    session_id: Ulid | None = None
    evidence: Annotated[tuple[Evidence, ...], Meta(max_length=50)] = ()
    pinned: bool = False
    idempotency_key: Key | None = None
    """Writing the same key again changes nothing."""
    occurred_at: Timestamp | None = None
    """When what it tells of happened; the moment of writing where absent."""
    created_at: Timestamp | None = None
    dedup: bool = True
    """Compare with what is known: a repetition is skipped, an update supersedes."""
    session_key: Key | None = None
    """The conversation that does it: so one can tell later what its context was worth."""


class WriteResult(Record, frozen=True, kw_only=True):
    """What became of a memory that was to be written."""

    outcome: WriteOutcome
    """`skipped`: it says what `memory` says already. `superseded`: it is kept and replaces an older one.
    `duplicate`: its key was known."""
    memory: Memory
    """The memory that now says it."""


class UpdateParams(ProjectParams, frozen=True, kw_only=True):
    """What to change of a memory; what is absent stays."""

    memory_id: Ulid
    type: MemoryType | None = None
    title: Title | None = None
    content: Content | None = None
    rationale: Text | None = None
    importance: Grade | None = None
    confidence: Grade | None = None
    entities: Names | None = None
    files: Paths | None = None
    tags: Names | None = None
    pinned: bool | None = None
    status: Literal["active", "stale"] | None = None
    agent_id: Name | None = None
    """The agent that changes it; absent where a person does."""
    expected_updated_at: Timestamp | None = None
    """The `updatedAt` that was read: where it is another by now, nothing is changed."""
