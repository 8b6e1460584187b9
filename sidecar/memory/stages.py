"""The stages of enrichment: enrich, embed, dedup, drift check."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec

from protocol.events import Event
from protocol.jobs import Job, ProviderName
from protocol.memories import Memory, Verdict
from sidecar.memory import drift as memory_drift
from sidecar.memory.codebases import Code
from sidecar.memory.compare import Comparison
from sidecar.memory.rules import jobs, memories
from sidecar.memory.rules.drafts import Batch, Draft, FileDiff, Processed, Proposal, Reading, Tries
from sidecar.memory.rules.drift import Look
from sidecar.search.meanings import Meanings
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

Count = Callable[[int, int], None]
"""Hears how far one stage is."""


Begin = Callable[[Sequence[str]], None]
"""Hears which events are read next."""


@dataclass(frozen=True)
class Read:
    """What a reader made of some events."""

    drafts: tuple[Draft, ...]
    parked: tuple[str, ...] = ()
    """Events that it could not read, whatever was tried."""
    tokens: int = 0


class Reader(Protocol):
    """Reads events and proposes memory: our own rules, or a model."""

    name: ProviderName

    def read(self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin) -> Read:
        """Propose what is worth keeping of some events of one session."""


@dataclass(frozen=True)
class Tools:
    """What enrichment needs of the world."""

    reader: Reader
    diffs: Callable[[Sequence[str]], Mapping[str, tuple[FileDiff, ...]]]
    """Reads from git what commits changed; a commit that is gone has no entry."""
    meanings: Meanings
    code: Code | None = None
    """The repository as it is now; none where there is none."""


@dataclass(frozen=True)
class Task:
    """One stage's share of a job."""

    vault: Vault
    job: Job
    tools: Tools
    tell: Count


@dataclass(frozen=True)
class Landed:
    """What a stage writes when it is done."""

    job: Job
    ops: tuple[Op, ...] = ()
    note: str = ""


Land = Callable[[Job], Landed]
"""Decides under the lock what is written."""
Stage = Callable[[Task], Land]


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
        drafts = [*memory_drift.anchor(drafts, task.tools.code)]
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
    return jobs.is_significant(events, written)


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
        verdicts = memory_drift.check(known, code, memory_drift.find(vault, known, code))
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
