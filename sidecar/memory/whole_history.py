"""Make memory of all sessions that nobody has read, many at a time."""

import logging
from collections.abc import Iterator, Sequence

import msgspec

from protocol.jobs import Job, StageName
from sidecar.memory import jobs as stored_jobs
from sidecar.memory import pipeline, stages
from sidecar.memory.compare import Comparison
from sidecar.memory.rules import jobs
from sidecar.memory.rules.drafts import Batch
from sidecar.memory.stages import Drafted, Task, Tools
from sidecar.projects.progress import Tell, untold
from sidecar.storage.vault import Vault

_TOGETHER = 100
"""Sessions that are read before anything is written: one transaction for all of them."""

_log = logging.getLogger(__name__)


def enrich(vault: Vault, session_ids: Sequence[str], tools: Tools, tell: Tell) -> list[Job]:
    """Make memory from sessions and return their jobs; one that fails costs nobody else anything.

    Our own rules read a hundred sessions and land in one transaction, and the code is looked at once, at the end. A
    kill loses the batch that is under way, which nobody was told of: its sessions are still unread. A model takes
    them one by one, since each question costs, and so does a job that was interrupted.
    """
    stored_jobs.mend(vault)
    begun = {
        job.session_id for job in vault.jobs.all() if job.status in {"failed", *jobs.UNFINISHED}
    }
    is_costly = tools.reader.name != "rules"
    single = [one for one in session_ids if is_costly or one in begun]
    done: list[Job] = []
    for session_id in single:
        tell(len(done), len(session_ids), "enrich")
        done.append(pipeline.start(vault, session_id, tools, untold))
    rest = [one for one in session_ids if one not in set(single)]
    if not rest:
        return done
    with pipeline.turn(vault, None, tell):
        for chunk in _chunks(rest):
            tell(len(done), len(session_ids), "enrich")
            done += _enrich(vault, chunk, tools, with_code=chunk[0] == rest[0])
        done[-1] = _look(vault, done[-1], tools)
    tell(len(done), len(session_ids), "drift")
    return done


def _chunks(session_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(session_ids), _TOGETHER):
        yield session_ids[start : start + _TOGETHER]


def _enrich(
    vault: Vault, session_ids: Sequence[str], tools: Tools, *, with_code: bool
) -> list[Job]:
    """Read some sessions, the code with the first of them, then write all that was read at once."""
    begun = [_begun(vault, session_id, tools) for session_id in session_ids]
    read = [
        (job, _read(vault, job, tools, with_code=with_code and job is begun[0])) for job in begun
    ]
    batches = {
        job.job_id: stages.propose(vault, job, drafted)
        for job, drafted in read
        if isinstance(drafted, Drafted)
    }
    proposals = [one for batch in batches.values() for one in batch.proposals]
    stages.learn(Task(vault=vault, job=begun[0], tools=tools, tell=untold), proposals)
    with vault.transaction():
        comparison = Comparison(vault, tools.meanings)
        done: list[Job] = []
        for job, drafted in read:
            if isinstance(drafted, Drafted):
                done.append(_settle(vault, job, drafted, batches[job.job_id], comparison))
            else:
                done.append(jobs.fail(job, vault.clock(), drafted))
                stored_jobs.put(vault, done[-1])
        vault.write(comparison.ops())
    return done


def _begun(vault: Vault, session_id: str, tools: Tools) -> Job:
    now = vault.clock()
    job = Job(
        job_id=vault.ids.next(),
        project_id=vault.project_id,
        session_id=session_id,
        created_at=now,
    )
    return jobs.enter(jobs.begin(job, tools.reader.name), "enrich", now)


def _read(vault: Vault, job: Job, tools: Tools, *, with_code: bool) -> Drafted | str:
    try:
        task = Task(vault=vault, job=job, tools=tools, tell=untold)
        return stages.draft(task, with_code=with_code)
    except Exception as error:  # noqa: BLE001  # the boundary of a session: the others are read all the same
        _log.exception("session %s could not be read", job.session_id)
        return f"{type(error).__name__}: {error}"


def _settle(vault: Vault, job: Job, drafted: Drafted, batch: Batch, comparison: Comparison) -> Job:
    """Land a session's drafts and end its job; the caller holds the lock."""
    now = vault.clock()
    is_first = vault.processed.get(job.session_id) is None
    events = drafted.events if is_first else None
    landed = stages.settle(vault, stages.counted(job, drafted), batch, comparison, events)
    notes: dict[StageName, str] = {"enrich": stages.told(drafted), "dedup": landed.note}
    job = landed.job
    for stage in job.stages:
        if stage.status == "pending":
            job = jobs.enter(job, stage.name, now)
        job = jobs.leave(job, stage.name, now, notes.get(stage.name, ""))
    job = jobs.complete(job, now)
    vault.write([*landed.ops, *drafted.looked])
    stored_jobs.put(vault, job)
    pipeline.close(vault, job)
    return job


def _look(vault: Vault, job: Job, tools: Tools) -> Job:
    """Hold all memories against the code; the last job says what came of it."""
    land = stages.drift(Task(vault=vault, job=job, tools=tools, tell=untold))
    with vault.transaction():
        landed = land(job)
        job = landed.job
        if job.status == "completed":
            stage = msgspec.structs.replace(jobs.stage(job, "drift"), note=landed.note or None)
            job = msgspec.structs.replace(job, stages=(*job.stages[:-1], stage))
        stored_jobs.put(vault, job, *landed.ops)
    return job
