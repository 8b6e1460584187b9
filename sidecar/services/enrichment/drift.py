"""Drift check: whether what memories speak of is still there."""

import msgspec

from protocol.jobs import Job
from protocol.memories import Memory, Verdict
from sidecar.domain import jobs
from sidecar.domain.drift.verdicts import Look
from sidecar.services.drift import drifting, fates
from sidecar.services.enrichment.stages import Land, Landed, Task
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

_LAST = "last"


def drift(task: Task) -> Land:
    """Hold all memories against the code as it is now."""
    vault, code = task.vault, task.tools.code
    if code is None:
        return lambda job: Landed(job=job, note="no repository to compare with")
    # What a session was about stays true, whatever became of the code.
    known = [
        one
        for one in vault.memories.all()
        if one.status in {"active", "stale"} and one.type != "episodic"
    ]
    with code.held() as head:
        if head == _last_head(vault):
            # Only what came since can look different.
            known = [one for one in known if one.job_id == task.job.job_id]
        task.tell(0, len(known))
        verdicts = drifting.check(known, code, fates.find(vault, known, code))
    task.tell(len(known), len(known))

    def land(job: Job) -> Landed:
        counts = {one: list(verdicts.values()).count(one) for one in ("fresh", "changed", "gone")}
        note = jobs.tally(counts, "nothing to look at")
        seen = vault.looks.put(_LAST, Look(head=head))
        return Landed(job=job, ops=(*judge(vault, verdicts), seen), note=note)

    return land


def _last_head(vault: Vault) -> str | None:
    look = vault.looks.get(_LAST)
    return look.head if look else None


def judge(vault: Vault, verdicts: dict[str, Verdict]) -> list[Op]:
    """Say how to write down what became of memories, where that is new."""
    now = vault.clock()
    ops: list[Op] = []
    for memory_id, verdict in verdicts.items():
        memory = vault.memories.get(memory_id)
        if memory is not None and memory.verdict != verdict:
            judged = msgspec.structs.replace(_judged(memory, verdict), checked_at=now)
            ops.append(vault.memories.put(memory_id, judged))
    return ops


def _judged(memory: Memory, verdict: Verdict) -> Memory:
    status = memory.status
    if verdict == "gone" and status == "active":
        status = "stale"
    elif memory.verdict == "gone" and status == "stale":
        status = "active"
    return msgspec.structs.replace(memory, verdict=verdict, status=status)
