"""Run a job through its stages."""

import contextlib
import logging
import time
from collections.abc import Iterator

from protocol.enrichment import JobParams
from protocol.errors import (
    BusyError,
    CancelledError,
    ConflictError,
    NotFoundError,
    StorageFailedError,
    ThreadlineError,
)
from protocol.jobs import Job, StageName
from sidecar.capture import timeline
from sidecar.capture.rules import sessions
from sidecar.memory import stages
from sidecar.memory.jobs import cancel, find, mend, put
from sidecar.memory.rules import jobs
from sidecar.memory.stages import Stage, Task, Tools
from sidecar.projects.progress import Tell
from sidecar.storage.vault import Vault

STAGES: tuple[tuple[StageName, Stage], ...] = (
    ("enrich", stages.enrich),
    ("embed", stages.embed),
    ("dedup", stages.dedup),
    ("drift", stages.drift),
)

_NOTED = 0.2
"""Seconds between two notes of how far a stage is; it hears then, too, whether it was cancelled."""

_STUCK = 600.0
"""Seconds without a sign of life after which whoever has the turn is not waited for any more."""

_log = logging.getLogger(__name__)


def start(  # noqa: PLR0913  # who asks is no part of what is read, or by whom
    vault: Vault,
    session_id: str | None,
    tools: Tools,
    tell: Tell,
    *,
    agent_id: str | None = None,
    automatic: bool = False,
) -> Job:
    """Make memory from all unprocessed events of a session; where a job does that already, follow it."""
    mend(vault)
    with vault.transaction():
        session = _choose(vault, session_id)
        job = _unfinished(vault, session) or _idle(vault, session)
        if job is None:
            job = Job(
                job_id=vault.ids.next(),
                project_id=vault.project_id,
                session_id=session,
                provider=tools.reader.name,
                agent_id=agent_id,
                automatic=automatic,
                created_at=vault.clock(),
            )
            put(vault, job)
    return job if job.status == "completed" else run(vault, job.job_id, tools, tell)


def retry(vault: Vault, job_id: str, tools: Tools, tell: Tell) -> Job:
    """Go on with a job from the stage that failed."""
    mend(vault)
    job = find(vault, job_id)
    if job.status not in {"failed", *jobs.UNFINISHED}:
        raise ConflictError(
            f"job {job_id} is {job.status}; only one that failed can be retried", field="jobId"
        )
    return run(vault, job_id, tools, tell)


def run(vault: Vault, job_id: str, tools: Tools, tell: Tell) -> Job:
    """Take a job through its stages, or wait until another process has done it."""
    with turn(vault, job_id, tell):
        job = find(vault, job_id)
        if job.status in {"completed", "cancelled"}:
            return job
        with vault.transaction():
            put(vault, jobs.begin(job, tools.reader.name))
        try:
            for name, stage in STAGES:
                _pass(vault, job_id, (name, stage), tools, tell)
        except CancelledError:
            return _cancelled(vault, job_id)
        except KeyboardInterrupt:
            _cancelled(vault, job_id)
            raise
        except ThreadlineError as error:
            return _failed(vault, job_id, str(error))
        except Exception as error:  # noqa: BLE001  # the boundary of a stage: the job says what happened
            _log.exception("job %s failed unexpectedly", job_id)
            return _failed(vault, job_id, f"{type(error).__name__}: {error}")
        return _complete(vault, job_id)


@contextlib.contextmanager
def turn(vault: Vault, job_id: str | None, tell: Tell) -> Iterator[None]:
    """Wait for the project's turn, as long as whoever has it gets on, telling how far the job is."""
    with contextlib.ExitStack() as stack:
        seen, moved, is_told = vault.jobs.by_id(), time.monotonic(), False
        while True:
            try:
                stack.enter_context(vault.running.held())
                break
            except BusyError:
                if not is_told:
                    _log.warning(
                        "waiting for process %s, which makes memory here", vault.running.holder()
                    )
                    is_told = True
                if job_id is not None:
                    _tell_of(find(vault, job_id), tell)
                if vault.jobs.by_id() is not seen:
                    seen, moved = vault.jobs.by_id(), time.monotonic()
                if time.monotonic() - moved > _STUCK:
                    raise
        yield


def _tell_of(job: Job, tell: Tell) -> None:
    stage = jobs.next_stage(job)
    if stage is not None:
        tell(stage.done, stage.total, stage.name)


def _pass(
    vault: Vault, job_id: str, named: tuple[StageName, Stage], tools: Tools, tell: Tell
) -> None:
    """Let one stage do its work, unless it has been done."""
    name, stage = named
    with vault.transaction():
        job = _wanted(vault, job_id)
        if jobs.stage(job, name).status == "completed":
            return
        job = jobs.enter(job, name, vault.clock())
        put(vault, job)

    noted = 0.0

    def told(done: int, total: int) -> None:
        nonlocal noted
        tell(done, total, name)
        if time.monotonic() - noted > _NOTED:
            noted = time.monotonic()
            _note(vault, job_id, name, done, total)

    land = stage(Task(vault=vault, job=job, tools=tools, tell=told))
    with vault.transaction():
        landed = land(_wanted(vault, job_id))
        put(vault, jobs.leave(landed.job, name, vault.clock(), landed.note), *landed.ops)


def _note(vault: Vault, job_id: str, name: StageName, done: int, total: int) -> None:
    """Write down how far a stage is, for whoever looks on; losing it costs nothing."""
    with contextlib.suppress(BusyError, StorageFailedError), vault.transaction():
        job = _wanted(vault, job_id)
        noted = jobs.advance(job, name, done, total)
        vault.write([vault.jobs.put(job_id, noted)])


def _wanted(vault: Vault, job_id: str) -> Job:
    job = find(vault, job_id)
    if job.status == "cancelled":
        raise CancelledError("the job was cancelled; what it has made stays")
    return job


def _complete(vault: Vault, job_id: str) -> Job:
    """End a job; when all jobs of an active session are done, so is the session."""
    with vault.transaction():
        job = jobs.complete(find(vault, job_id), vault.clock())
        put(vault, job)
        close(vault, job)
        return job


def close(vault: Vault, job: Job) -> None:
    """Close the session of a job once all its jobs are done; the caller holds the lock."""
    session = vault.sessions.get(job.session_id)
    is_over = session is not None and session.enrichment_status == "completed"
    if session is not None and is_over and session.status == "active":
        vault.sessions.close_sessions([sessions.close(session, vault.clock())])


def _failed(vault: Vault, job_id: str, error: str) -> Job:
    with vault.transaction():
        job = jobs.fail(find(vault, job_id), vault.clock(), error)
        put(vault, job)
        return job


def _cancelled(vault: Vault, job_id: str) -> Job:
    job = find(vault, job_id)
    return job if job.status == "cancelled" else cancel(vault, JobParams(job_id=job_id))


def _choose(vault: Vault, session_id: str | None) -> str:
    if session_id is not None:
        return timeline.get_session(vault, session_id).session_id
    session = timeline.find_active(vault) or next(vault.sessions.newest(), None)
    if session is None:
        raise NotFoundError("no sessions yet; `threadline scan` imports what was committed here")
    return session.session_id


def _unfinished(vault: Vault, session_id: str) -> Job | None:
    own = vault.jobs.find("sessionId", session_id)
    return next((job for job in own if job.status in {"failed", *jobs.UNFINISHED}), None)


def _idle(vault: Vault, session_id: str) -> Job | None:
    """Find the session's last job, if nothing has happened since."""
    own = [job for job in vault.jobs.find("sessionId", session_id) if job.status == "completed"]
    if not own or stages.unprocessed(vault, session_id):
        return None
    return max(own, key=lambda job: job.job_id)
