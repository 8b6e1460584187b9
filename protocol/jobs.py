"""Enrichment jobs: how far the making of memory is."""

from typing import Literal

from protocol.values import Record, Timestamp, Ulid

StageName = Literal["enrich", "embed", "dedup", "drift"]
StageStatus = Literal["pending", "processing", "completed", "failed"]
JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]

ProviderName = Literal[
    "rules", "http", "editor", "claude", "codex", "copilot", "gemini", "opencode"
]

STAGES: tuple[StageName, ...] = ("enrich", "embed", "dedup", "drift")


class Stage(Record, frozen=True, kw_only=True):
    """One of the four steps of a job."""

    name: StageName
    status: StageStatus = "pending"
    started_at: Timestamp | None = None
    duration_ms: float | None = None
    done: int = 0
    total: int = 0
    """How many things it has to look at: events or drafts of memory."""
    note: str | None = None
    """What came of it, in a few words."""
    error: str | None = None


class Job(Record, frozen=True, kw_only=True):
    """The making of memory from one session's events."""

    job_id: Ulid
    project_id: str
    session_id: Ulid
    status: JobStatus = "pending"
    stages: tuple[Stage, ...] = tuple(Stage(name=name) for name in STAGES)
    provider: ProviderName = "rules"
    """Who reads the events: our own rules, a model over HTTP, or the editor's own."""
    agent_id: str | None = None
    """The agent that asked for it; null where a person did, or nobody."""
    automatic: bool = False
    """Nobody asked for it: the setting `autoEnrich` did."""
    attempts: int = 0
    """How often it was begun."""
    events: int = 0
    """How many unprocessed events it took."""
    parked: tuple[str, ...] = ()
    """Events that failed three times and are left alone."""
    created: int = 0
    """Memories it made."""
    proposed: int = 0
    """What it found and was not sure of: it waits for review."""
    skipped: int = 0
    """Drafts that were known already."""
    superseded: int = 0
    """Older memories that its own brought up to date."""
    tokens: int = 0
    """What a model used of its budget, in and out."""
    error: str | None = None
    created_at: Timestamp
    ended_at: Timestamp | None = None
