"""The stages of enrichment: enrich, embed, dedup, drift check."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import msgspec

from protocol.events import Event
from protocol.jobs import Job, ProviderName
from protocol.memories import Memory, Verdict
from sidecar.memory import code_notes
from sidecar.memory import drift as memory_drift
from sidecar.memory.codebases import Code
from sidecar.memory.compare import Comparison
from sidecar.memory.extract import briefings
from sidecar.memory.rules import jobs, measured, memories
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
    wants_diff: Callable[[Event], bool] = lambda _: True
    """Tells whether the reader needs what a commit changed; our rules need it of few."""


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
    """Read what is unprocessed in the session, and what the code says since it was last read."""
    drafted = draft(task)

    def land(job: Job) -> Landed:
        batch = propose(task.vault, job, drafted)
        changed = counted(job, drafted)
        drops = [task.vault.tries.drop(one) for one in batch.event_ids if one in task.vault.tries]
        stored = task.vault.batches.put(job.job_id, batch)
        return Landed(job=changed, ops=(stored, *drops, *drafted.looked), note=told(drafted))

    return land


def told(drafted: "Drafted") -> str:
    """Return how much was read."""
    drafts = jobs.counted(len(drafted.drafts), "draft")
    return f"{drafts} from {jobs.counted(len(drafted.events), 'event')}"


@dataclass(frozen=True)
class Drafted:
    """What was read of a session before anything of it is written."""

    events: tuple[Event, ...]
    drafts: tuple[Draft, ...]
    parked: tuple[str, ...]
    tokens: int
    looked: tuple[Op, ...] = ()
    """Says up to which HEAD the code was read."""


def draft(task: Task, *, with_code: bool = True) -> Drafted:
    """Read a session's unprocessed events without a lock, and what the code says since it was last read."""
    vault, session_id = task.vault, task.job.session_id
    events = unprocessed(vault, session_id)
    doomed = [one.event_id for one in events if _tried(vault, one.event_id) >= TRIES]
    readings = _readings(task, [one for one in events if one.event_id not in doomed])
    read = task.tools.reader.read(session_id, readings, task.tell, _watchful(task))
    drafts = [memories.cleaned(draft) for draft in read.drafts if _is_wanted(draft, task, events)]
    if task.tools.code is not None:
        drafts = [*memory_drift.anchor(drafts, task.tools.code)]
    noted, looked = _noted(task) if with_code else ([], ())
    return Drafted(
        events=tuple(events),
        drafts=(*drafts, *noted),
        parked=(*doomed, *read.parked),
        tokens=read.tokens,
        looked=looked,
    )


_NOTED = "notes"


def _noted(task: Task) -> tuple[list[Draft], tuple[Op, ...]]:
    """Read what the code itself says, once for each HEAD; only our own rules do that."""
    vault, code = task.vault, task.tools.code
    if code is None or task.tools.reader.name != "rules":
        return [], ()
    with code.held() as head:
        look = vault.looks.get(_NOTED)
        if head is None or (look and look.head == head):
            return [], ()
        known = vault.memories.values("idempotencyKey", "")
        found = code_notes.drafts(code, head, known)
    return [memories.cleaned(one) for one in found], (vault.looks.put(_NOTED, Look(head=head)),)


def propose(vault: Vault, job: Job, drafted: Drafted) -> Batch:
    """Return each draft the id and the moment that it will have as a memory."""
    moments = {one.event_id: one.occurred_at for one in drafted.events}
    latest = max(moments.values(), default=vault.clock())
    proposals = (
        Proposal(
            memory_id=vault.ids.next(),
            occurred_at=one.occurred_at or max(_moments(one, moments), default=latest),
            draft=one,
        )
        for one in drafted.drafts
    )
    return Batch(job_id=job.job_id, event_ids=tuple(moments), proposals=tuple(proposals))


def counted(job: Job, drafted: Drafted) -> Job:
    """Say in a job what it has read."""
    return msgspec.structs.replace(
        job,
        events=len(drafted.events),
        parked=drafted.parked,
        tokens=job.tokens + drafted.tokens,
    )


def unprocessed(vault: Vault, session_id: str) -> list[Event]:
    """Return the events of a session that no job has read, in the order they happened."""
    known = vault.processed.get(session_id)
    done = set(known.event_ids) if known else set()
    return [one for one in vault.sessions.events(session_id) if one.event_id not in done]


def _readings(task: Task, events: Sequence[Event]) -> list[Reading]:
    wants = task.tools.wants_diff
    made = [one for one in events if one.commit and not one.commit.dropped and wants(one)]
    shas = [one.commit.sha for one in made if one.commit]
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
    learnt = learn(task, batch.proposals if batch else ())
    note = "no model: words are compared instead"
    if learnt is not None:
        note = jobs.counted(learnt, "text")
    return lambda job: Landed(job=job, note=note)


def learn(task: Task, proposals: Sequence[Proposal]) -> int | None:
    """Take the meaning of drafts that are to be memory; what is proposed can wait until somebody searches."""
    texts = {
        one.memory_id: memories.text(one.draft)
        for one in proposals
        if one.draft.status == "active" and one.draft.type != "episodic"
    }
    return task.tools.meanings.learn(task.vault, texts, task.tell)


def dedup(task: Task) -> Land:
    """Make memories of the job's drafts, all at once, and mark its events as processed."""
    batch = task.vault.batches.get(task.job.job_id)
    task.tell(0, len(batch.proposals) if batch else 0)

    def land(job: Job) -> Landed:
        vault = task.vault
        batch = vault.batches.get(job.job_id)
        if batch is None:
            return Landed(job=job, note="nothing to compare")
        comparison = Comparison(vault, task.tools.meanings)
        landed = settle(vault, job, batch, comparison)
        ops = (*comparison.ops(), *landed.ops, vault.batches.drop(job.job_id))
        return replace(landed, ops=ops)

    return land


def settle(
    vault: Vault,
    job: Job,
    batch: Batch,
    comparison: Comparison,
    events: Sequence[Event] | None = None,
) -> Landed:
    """Make memories of a job's drafts; the caller holds the lock and writes what the comparison says.

    Who knows all events of the session hands them over, since its name comes from them.
    """
    now, before = vault.clock(), msgspec.structs.replace(comparison.counts)
    added: list[Memory] = []
    for proposal in batch.proposals:
        memory = memories.from_proposal(proposal, vault.project_id, job.session_id, now)
        outcome, kept = comparison.add(msgspec.structs.replace(memory, job_id=job.job_id))
        added += [kept] if outcome != "skipped" else []
    counts = comparison.counts
    known = {one.memory_id for one in batch.proposals} - {one.memory_id for one in added}
    if known:
        # Tidying only: a cache that fails must not fail what is kept.
        vault.cache.trying(lambda: vault.vectors.remove(known), None)
    changed = msgspec.structs.replace(
        job,
        created=sum(one.status == "active" for one in added),
        proposed=sum(one.status == "proposed" for one in added),
        skipped=counts.skipped - before.skipped,
        superseded=counts.superseded - before.superseded,
    )
    ops = [
        _processed(vault, job.session_id, batch.event_ids),
        *vault.sessions.enriched(
            job.session_id, "processing", _summary(vault, job.session_id, added, events)
        ),
    ]
    outcomes = {
        "new": changed.created,
        "proposed": changed.proposed,
        "known": changed.skipped,
        "brought up to date": changed.superseded,
    }
    return Landed(job=changed, ops=tuple(ops), note=jobs.tally(outcomes, "nothing new"))


def _processed(vault: Vault, session_id: str, event_ids: tuple[str, ...]) -> Op:
    known = vault.processed.get(session_id)
    before = known.event_ids if known else ()
    done = tuple(dict.fromkeys((*before, *event_ids)))
    return vault.processed.put(session_id, Processed(session_id=session_id, event_ids=done))


def _summary(
    vault: Vault, session_id: str, added: Sequence[Memory], events: Sequence[Event] | None
) -> str | None:
    """Name a session after its weightiest commit; its briefing says more, where there is one."""
    told = [one for one in added if one.type == "episodic" and one.session_id == session_id]
    if told:
        return memories.text(told[-1])
    return briefings.name(vault.sessions.events(session_id) if events is None else events)


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
        if one.status in {"active", "stale", "proposed"}
        and one.type != "episodic"
        and (one.anchors or one.holds)
    ]
    with code.held() as head:
        if head == _last_head(vault):
            # Only what came since can look different.
            known = [one for one in known if one.checked_at is None]
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
    """Return how to write down what became of memories, where that is new."""
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
    if memory.review and memory.review.verdict == "rejected":
        pass
    elif verdict == "gone" and status in {"active", "proposed"}:
        status = "stale"
    elif memory.verdict == "gone" and status == "stale":
        is_sure = memory.rule is None or memory.rule in measured.CREATES or memory.review
        status = "active" if is_sure else "proposed"
    return msgspec.structs.replace(memory, verdict=verdict, status=status)
