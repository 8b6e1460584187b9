"""Requests about enrichment: make memory from a session's events, watch it, stop it, do it again."""

from typing import Annotated

from msgspec import Meta

from protocol.jobs import Job, JobStatus, ProviderName
from protocol.projects import ProjectParams
from protocol.sessions import Session
from protocol.values import Name, Params, Record, Text, Ulid


class StartParams(ProjectParams, frozen=True, kw_only=True):
    """Which session to make memory from."""

    session_id: Ulid | None = None
    """The active session where absent, or else the latest."""
    provider: ProviderName | None = None
    """Who reads the events: our own rules, a model over HTTP, or the editor's; the setting where absent."""
    agent_id: Name | None = None
    """The agent that asks for it; absent where a person does."""


class StartAllParams(ProjectParams, frozen=True, kw_only=True):
    """Make memory from all sessions that nobody has read."""

    provider: ProviderName | None = None
    """Who reads the events; the setting where absent."""


class EnrichedAll(Record, frozen=True, kw_only=True):
    """What came of reading all sessions."""

    sessions: int
    memories: int
    """What was sure enough to be memory, briefings among them."""
    proposed: int
    """What waits for review."""
    failed: int
    """Sessions that could not be read."""
    problems: tuple[str, ...] = ()
    """Why not, each reason once."""
    jobs: tuple[Job, ...] = ()
    """The jobs themselves, where they were few."""


class JobParams(ProjectParams, frozen=True, kw_only=True):
    """One job."""

    job_id: Ulid


class ListJobsParams(ProjectParams, frozen=True, kw_only=True):
    """Which jobs to list."""

    session_id: Ulid | None = None
    status: JobStatus | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class JobList(Record, frozen=True, kw_only=True):
    """Jobs, newest first."""

    jobs: tuple[Job, ...]
    total: int


class Compacted(Record, frozen=True, kw_only=True):
    """What compaction made of a session."""

    session: Session
    bytes_before: int
    bytes_after: int


class ModelParams(Params, frozen=True, kw_only=True):
    """What the editor's own model is asked."""

    system: Text
    """What it is to do."""
    prompt: str
    """What it is to do it with."""
    max_tokens: int
    """How long its answer may be."""


class ModelAnswer(Record, frozen=True, kw_only=True):
    """What the editor's own model said."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
