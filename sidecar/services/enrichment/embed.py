"""Embed: learn what the drafts mean, so that they can be compared and found by meaning."""

from sidecar.domain import jobs, memories
from sidecar.services.enrichment.stages import Land, Landed, Task


def embed(task: Task) -> Land:
    """Take the meaning of every draft into the cache; without a model for that, words must do."""
    batch = task.vault.batches.get(task.job.job_id)
    proposals = batch.proposals if batch else ()
    texts = {one.memory_id: memories.text(one.draft) for one in proposals}
    learnt = task.tools.meanings.learn(task.vault, texts, task.tell)
    note = "no model: words are compared instead"
    if learnt is not None:
        note = jobs.counted(learnt, "text")
    return lambda job: Landed(job=job, note=note)
