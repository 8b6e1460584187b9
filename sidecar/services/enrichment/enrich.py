"""Enrich: read the events that nobody has read yet, and propose what is worth keeping."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec

from protocol.events import Event
from protocol.jobs import Job
from sidecar.domain import jobs, memories, significance
from sidecar.domain.drafts import Batch, Draft, Proposal, Reading, Tries
from sidecar.services.drift import drifting
from sidecar.services.enrichment.stages import Land, Landed, Task
from sidecar.storage.vault import Vault

TRIES = 3
"""How often an event is read that makes its reader fail."""


def enrich(task: Task) -> Land:
    """Read what is unprocessed in the session."""
    vault, session_id = task.vault, task.job.session_id
    events = unprocessed(vault, session_id)
    doomed = [one.event_id for one in events if _tried(vault, one.event_id) >= TRIES]
    readings = _readings(task, [one for one in events if one.event_id not in doomed])
    read = task.tools.reader.read(session_id, readings, task.tell, _watchful(task))
    drafts = [memories.cleaned(draft) for draft in read.drafts if _is_wanted(draft, task, events)]
    if task.tools.code is not None:
        drafts = [*drifting.anchor(drafts, task.tools.code)]
    moments = {one.event_id: one.occurred_at for one in events}

    def land(job: Job) -> Landed:
        latest = max(moments.values(), default=vault.clock())
        batch = Batch(
            job_id=job.job_id,
            event_ids=tuple(moments),
            proposals=tuple(
                Proposal(
                    memory_id=vault.ids.next(),
                    occurred_at=max(_moments(draft, moments), default=latest),
                    draft=draft,
                )
                for draft in drafts
            ),
        )
        parked = (*doomed, *read.parked)
        changed = msgspec.structs.replace(
            job, events=len(events), parked=parked, tokens=job.tokens + read.tokens
        )
        drops = [vault.tries.drop(one) for one in moments if one in vault.tries]
        note = f"{jobs.counted(len(drafts), 'draft')} from {jobs.counted(len(events), 'event')}"
        return Landed(job=changed, ops=(vault.batches.put(job.job_id, batch), *drops), note=note)

    return land


def unprocessed(vault: Vault, session_id: str) -> list[Event]:
    """Give the events of a session that no job has read, in the order they happened."""
    known = vault.processed.get(session_id)
    done = set(known.event_ids) if known else set()
    return [one for one in vault.sessions.events(session_id) if one.event_id not in done]


def _readings(task: Task, events: Sequence[Event]) -> list[Reading]:
    shas = [one.commit.sha for one in events if one.commit and not one.commit.dropped]
    diffs = task.tools.diffs(shas) if shas else {}
    return [
        Reading(event=one, diffs=diffs.get(one.commit.sha, ()) if one.commit else ())
        for one in events
    ]


def _is_wanted(draft: Draft, task: Task, events: Sequence[Event]) -> bool:
    if draft.type != "episodic" or not task.job.automatic:
        return True
    own = task.vault.memories.find("sessionId", task.job.session_id)
    written = sum(one.agent_id is not None for one in own)
    return significance.is_significant(events, written)


def _moments(draft: Draft, moments: Mapping[str, datetime]) -> list[datetime]:
    ids = [one.event_id for one in draft.evidence if one.event_id]
    return [moments[one] for one in ids if one in moments]


def _tried(vault: Vault, event_id: str) -> int:
    tries = vault.tries.get(event_id)
    return tries.count if tries else 0


def _watchful(task: Task) -> Callable[[Sequence[str]], None]:
    """Note which events are being read, so that those that no try survives are known.

    Our own rules fail for good reasons only, so they are watched once a job did not survive its first try.
    """
    vault = task.vault
    before: list[str] = []

    def note(event_ids: Sequence[str]) -> None:
        if task.job.provider == "rules" and task.job.attempts == 1:
            return
        with vault.transaction():
            tries = [(one, Tries(count=_tried(vault, one) + 1)) for one in event_ids]
            ops = [vault.tries.drop(one) for one in before if one in vault.tries]
            vault.write([*ops, *(vault.tries.put(*one) for one in tries)])
        before[:] = event_ids

    return note
