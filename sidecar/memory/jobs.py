"""Stored enrichment jobs."""

import contextlib

from protocol.enrichment import JobList, JobParams, ListJobsParams
from protocol.errors import BusyError, ConflictError, NotFoundError
from protocol.jobs import Job
from sidecar.memory.rules import jobs
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def find(vault: Vault, job_id: str) -> Job:
    """Read one job."""
    job = vault.jobs.get(job_id)
    if job is None:
        raise NotFoundError(f"no job {job_id} in this project", field="jobId")
    return job


def list_jobs(vault: Vault, params: ListJobsParams) -> JobList:
    """List jobs, newest first."""
    mend(vault)
    found = [
        job
        for job in sorted(vault.jobs.all(), key=lambda job: job.job_id, reverse=True)
        if params.session_id in (None, job.session_id) and params.status in (None, job.status)
    ]
    return JobList(jobs=tuple(found[: params.limit]), total=len(found))


def cancel(vault: Vault, params: JobParams) -> Job:
    """Stop a job, whoever runs it; what it has made stays."""
    with vault.transaction():
        job = find(vault, params.job_id)
        if job.status in {"completed", "cancelled"}:
            raise ConflictError(f"job {job.job_id} is already {job.status}", field="jobId")
        job = jobs.cancel(job, vault.clock())
        put(vault, job, vault.batches.drop(job.job_id))
        return job


def mend(vault: Vault) -> None:
    """Mark jobs as failed that nobody runs any more."""
    lost = [job for job in vault.jobs.all() if job.status == "processing"]
    if not lost or not vault.running.is_free():
        return
    with contextlib.suppress(BusyError), vault.transaction():
        for job in lost:
            if find(vault, job.job_id).status == "processing":
                put(vault, jobs.fail(job, vault.clock(), jobs.INTERRUPTED))


def put(vault: Vault, job: Job, *more: Op) -> None:
    """Write a job and what its session says of it; the caller holds the lock."""
    own = [one for one in vault.jobs.find("sessionId", job.session_id) if one.job_id != job.job_id]
    status = jobs.summarise([*own, job])
    ops = [vault.jobs.put(job.job_id, job), *more]
    vault.write(ops + vault.sessions.enriched(job.session_id, status))
