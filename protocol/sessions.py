"""Activity sessions: the 4-hour windows that events fall into."""

from typing import Literal

from protocol.events import EventKind
from protocol.values import Record, Timestamp, Ulid

SessionStatus = Literal["active", "closed", "compacted"]
EnrichmentStatus = Literal["none", "pending", "processing", "completed", "failed"]


class Session(Record, frozen=True, kw_only=True):
    """One window of work in a project."""

    session_id: Ulid
    project_id: str
    team_id: str = "personal"
    started_at: Timestamp
    """When its first event happened."""
    ended_at: Timestamp | None = None
    """When it was closed; null while it is active."""
    last_event_at: Timestamp
    """Duration for people is this minus `startedAt`."""
    head_commit_sha: str | None = None
    """The latest commit among its events."""
    status: SessionStatus = "active"
    source: str
    """Who created it."""
    sources: tuple[str, ...]
    """All that contributed, in the order they came."""
    message_count: int = 1
    """How many events it holds."""
    files_modified: tuple[str, ...] = ()
    """Distinct paths, the first 500."""
    files_overflow: int = 0
    """How many more distinct paths there were."""
    enrichment_status: EnrichmentStatus = "none"
    """How far the making of memory from its events is."""
    summary: str | None = None
    """What it was about, once its events were read for that."""


class ShownSession(Session, frozen=True, kw_only=True):
    """A session with what only its events can tell."""

    kinds: dict[EventKind, int]
    """How many events of each kind it holds."""
    unprocessed: int
    """How many events no job has read yet."""
