"""The life of an enrichment job: stages, retries, failures."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

import msgspec

from protocol.events import Event
from protocol.jobs import Job, JobStatus, ProviderName, Stage, StageName
from protocol.sessions import EnrichmentStatus

UNFINISHED: frozenset[JobStatus] = frozenset({"pending", "processing"})
INTERRUPTED = "interrupted: the process that ran it ended; a retry goes on from here"


def next_stage(job: Job) -> Stage | None:
    """Return the first stage that is not completed."""
    return next((stage for stage in job.stages if stage.status != "completed"), None)


def begin(job: Job, provider: ProviderName) -> Job:
    """Take a job up, for the first time or again; once its events are read, who read them stays."""
    is_read = stage(job, "enrich").status == "completed"
    return msgspec.structs.replace(
        job,
        status="processing",
        provider=job.provider if is_read else provider,
        attempts=job.attempts + 1,
        error=None,
        ended_at=None,
    )


def enter(job: Job, name: StageName, now: datetime) -> Job:
    """Begin a stage, forgetting how an earlier try of it ended."""
    return _with(job, Stage(name=name, status="processing", started_at=now))


def advance(job: Job, name: StageName, done: int, total: int) -> Job:
    """Return how far a stage is."""
    return _with(job, msgspec.structs.replace(stage(job, name), done=done, total=total))


def leave(job: Job, name: StageName, now: datetime, note: str) -> Job:
    """End a stage that has done its work."""
    current = stage(job, name)
    ended = msgspec.structs.replace(
        current,
        status="completed",
        duration_ms=_since(current, now),
        done=current.total,
        note=note or None,
    )
    return _with(job, ended)


def complete(job: Job, now: datetime) -> Job:
    """End a job whose stages are all done."""
    return msgspec.structs.replace(job, status="completed", ended_at=now)


def fail(job: Job, now: datetime, error: str) -> Job:
    """End a job at the stage that it is in; a retry begins there."""
    return _end(job, now, "failed", error)


def cancel(job: Job, now: datetime) -> Job:
    """End a job that nobody wants any more."""
    return _end(job, now, "cancelled", "cancelled")


def stage(job: Job, name: StageName) -> Stage:
    """Return one stage of a job."""
    return next(stage for stage in job.stages if stage.name == name)


def summarise(jobs: Iterable[Job]) -> EnrichmentStatus:
    """Return how far all jobs of a session are; the ones that were cancelled do not count."""
    statuses = {job.status for job in jobs}
    for status in ("processing", "pending", "failed", "completed"):
        if status in statuses:
            return status
    return "none"


def counted(number: int, noun: str) -> str:
    """Return how many there are of something."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tally(counts: Mapping[str, int], nothing: str) -> str:
    """Return how many there are of each; what there is none of is not worth a word."""
    return ", ".join(f"{number} {what}" for what, number in counts.items() if number) or nothing


def _end(job: Job, now: datetime, status: JobStatus, error: str) -> Job:
    current = next_stage(job)
    if current is not None:
        ended = msgspec.structs.replace(
            current, status="failed", duration_ms=_since(current, now), error=error
        )
        job = _with(job, ended)
    return msgspec.structs.replace(job, status=status, error=error, ended_at=now)


def _since(current: Stage, now: datetime) -> float | None:
    if current.started_at is None:
        return None
    return max((now - current.started_at).total_seconds() * 1000, 0.0)


def _with(job: Job, changed: Stage) -> Job:
    stages = tuple(changed if one.name == changed.name else one for one in job.stages)
    return msgspec.structs.replace(job, stages=stages)


FEWEST_ACTIVITIES = 5
ENOUGH_MEMORIES = 3
"""An agent that wrote so many itself has said what there was to say."""


def is_significant(events: Collection[Event], written: int) -> bool:
    """Return whether something happened, was changed, and was not written down already."""
    is_reading = not any(event.commit or event.files for event in events)
    return len(events) >= FEWEST_ACTIVITIES and not is_reading and written < ENOUGH_MEMORIES
