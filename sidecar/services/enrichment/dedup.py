"""Dedup: what is known already is not written again, and what is newer takes the older's place."""

import msgspec

from protocol.jobs import Job
from sidecar.domain import jobs, memories
from sidecar.domain.drafts import Processed
from sidecar.services.comparing import Comparison
from sidecar.services.enrichment.stages import Land, Landed, Task
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def dedup(task: Task) -> Land:
    """Make memories of the job's drafts, all at once, and mark its events as processed."""
    batch = task.vault.batches.get(task.job.job_id)
    task.tell(0, len(batch.proposals) if batch else 0)

    def land(job: Job) -> Landed:
        vault, now = task.vault, task.vault.clock()
        batch = vault.batches.get(job.job_id)
        if batch is None:
            return Landed(job=job, note="nothing to compare")
        comparison = Comparison(vault, task.tools.meanings)
        for proposal in batch.proposals:
            memory = memories.from_proposal(proposal, vault.project_id, job.session_id, now)
            comparison.add(msgspec.structs.replace(memory, job_id=job.job_id))
        counts = comparison.counts
        known = {one.memory_id for one in batch.proposals} - {
            one.memory_id for one in comparison.added
        }
        # Tidying only: a cache that fails must not fail what is kept.
        vault.cache.trying(lambda: vault.vectors.remove(known), None)
        changed = msgspec.structs.replace(
            job, created=counts.created, skipped=counts.skipped, superseded=counts.superseded
        )
        summary = _summary(comparison)
        ops = [
            *comparison.ops(),
            _processed(vault, job.session_id, batch.event_ids),
            vault.batches.drop(job.job_id),
            *vault.sessions.enriched(job.session_id, "processing", summary),
        ]
        told = {
            "new": counts.created,
            "known": counts.skipped,
            "brought up to date": counts.superseded,
        }
        note = jobs.tally(told, "nothing new")
        return Landed(job=changed, ops=tuple(ops), note=note)

    return land


def _processed(vault: Vault, session_id: str, event_ids: tuple[str, ...]) -> Op:
    known = vault.processed.get(session_id)
    before = known.event_ids if known else ()
    done = tuple(dict.fromkeys((*before, *event_ids)))
    return vault.processed.put(session_id, Processed(session_id=session_id, event_ids=done))


def _summary(comparison: Comparison) -> str | None:
    told = [one for one in comparison.added if one.type == "episodic"]
    return memories.text(told[-1]) if told else None
