"""Drafts: what a reader of events proposes, before it becomes memory."""

from msgspec import Struct

from protocol.events import Event
from protocol.memories import Anchor, Condition, Evidence, MemoryStatus, MemoryType, RuleName
from protocol.values import Record, Timestamp


class FileDiff(Struct, frozen=True, kw_only=True):
    """What a commit did to one file; read from git when needed, never kept."""

    path: str
    previous_path: str | None = None
    added: tuple[str, ...] = ()
    """Lines that came, without their signs."""
    removed: tuple[str, ...] = ()
    """Lines that went."""
    context: tuple[str, ...] = ()
    """The headings of its hunks: the function or class that git saw above each."""


class Reading(Struct, frozen=True, kw_only=True):
    """One event with all that can be read of it at this moment."""

    event: Event
    diffs: tuple[FileDiff, ...] = ()


class Draft(Struct, frozen=True, kw_only=True):
    """A memory that is not one yet."""

    type: MemoryType
    title: str
    content: str
    rationale: str | None = None
    importance: int = 3
    confidence: int = 3
    entities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agent_id: str | None = None
    branch: str | None = None
    evidence: tuple[Evidence, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    status: MemoryStatus = "active"
    by_model: bool = False
    rule: RuleName | None = None
    holds: tuple[Condition, ...] = ()
    idempotency_key: str | None = None
    """What it is known by, where the same is found again and again."""
    occurred_at: Timestamp | None = None
    """When what it tells of happened, where that is not when its events did."""


class Proposal(Record, frozen=True, kw_only=True):
    """A draft with the id it will have as a memory."""

    memory_id: str
    occurred_at: Timestamp
    draft: Draft


class Batch(Record, frozen=True, kw_only=True):
    """What one job has read so far: kept until it is memory."""

    job_id: str
    event_ids: tuple[str, ...]
    proposals: tuple[Proposal, ...]


class Processed(Record, frozen=True, kw_only=True):
    """The events of a session that were read for good."""

    session_id: str
    event_ids: tuple[str, ...]


class Tries(Record, frozen=True, kw_only=True):
    """How often an event was begun to be read without an end."""

    count: int
