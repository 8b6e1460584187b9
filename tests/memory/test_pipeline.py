"""Enrichment: a job goes through four stages, can be watched, stopped and retried, and makes nothing twice."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from protocol.enrichment import JobParams, ListJobsParams
from protocol.errors import (
    BusyError,
    CancelledError,
    ConflictError,
    ModelFailedError,
    NotFoundError,
)
from protocol.events import Commit, FileChange, NewEvent
from protocol.jobs import Job, ProviderName
from protocol.memories import Evidence, Memory
from sidecar.capture import record, timeline
from sidecar.memory import jobs, pipeline
from sidecar.memory.extract import compose
from sidecar.memory.readers import Rules
from sidecar.memory.rules import jobs as rules_jobs
from sidecar.memory.rules.drafts import Draft, Reading
from sidecar.memory.stages import Begin, Count, Read, Reader, Tools
from sidecar.search.meanings import Meanings
from sidecar.storage.database import deadline
from sidecar.storage.vault import Vault
from tests.support import HOUR, MINUTE, FixedClock, holding, reopen

DECISION = "Use Postgres advisory locks instead of Redis because we run no Redis in production"
REASON = "Advisory locks need no new service, because we run no Redis in production"
RULE = "Every job must take a Postgres advisory lock before it starts"


def commit(subject: str, body: str = "", *, number: int = 1, minutes: int = 0) -> NewEvent:
    return NewEvent(
        kind="commit",
        idempotency_key=f"commit:{number}",
        files=(FileChange(path=f"src/module{number}.py"),),
        commit=Commit(
            sha=f"{number:040x}",
            authored_at=FixedClock().now + minutes * MINUTE,
            subject=subject,
            body=body,
        ),
    )


def said(text: str, number: int = 1) -> NewEvent:
    return NewEvent(kind="capture", idempotency_key=f"turn:{number}", text=text)


def ingest(vault: Vault, *events: NewEvent) -> str:
    placed = record.ingest(vault, events, "test")
    session_id = placed[-1].session_id
    assert session_id is not None
    return session_id


def work(vault: Vault) -> str:
    """Record a session that is worth remembering."""
    return ingest(
        vault,
        commit("Lock jobs in the database", f"{REASON}.\n\nTODO: document the lock.", number=1),
        commit("Add a worker that takes jobs one by one", number=2),
        said(f"{RULE}."),
    )


def tools(reader: Reader | None = None) -> Tools:
    return Tools(
        reader=reader or Rules(), diffs=lambda _shas: {}, meanings=Meanings(lambda: "none here")
    )


def silent(done: int, total: int, stage: str = "") -> None:
    """Tell nobody."""


def unwanted(done: int, total: int, stage: str = "") -> None:
    """Want it no more."""
    raise CancelledError(f"nobody wants {stage} any more after {done} of {total}")


def start(vault: Vault, session_id: str | None = None, reader: Reader | None = None) -> Job:
    return pipeline.start(vault, session_id, tools(reader), silent)


def active(vault: Vault) -> list[Memory]:
    return [one for one in vault.memories.all() if one.status == "active"]


@dataclass
class Scripted:
    """A reader that does as it is told."""

    act: Callable[[Sequence[Reading], Count, Begin], None]
    name: ProviderName = "rules"
    read_ids: list[list[str]] = field(default_factory=list)

    def read(self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin) -> Read:
        self.read_ids.append([one.event.event_id for one in readings])
        self.act(readings, tell, begin)
        return Rules().read(session_id, readings, tell, begin)


def fail(*_: object) -> None:
    raise ModelFailedError("the model is away")


def test_a_session_becomes_memory_with_its_evidence(vault: Vault) -> None:
    """C1, C2. Part of C4 and C5."""
    session_id = work(vault)
    job = start(vault)
    assert (job.status, job.events, job.session_id) == ("completed", 3, session_id)
    assert [(stage.name, stage.status) for stage in job.stages] == [
        ("enrich", "completed"),
        ("embed", "completed"),
        ("dedup", "completed"),
        ("drift", "completed"),
    ]
    assert all(s.started_at and s.duration_ms is not None and not s.error for s in job.stages)
    kept = active(vault)
    assert job.created == len(kept) >= 2
    (rule,) = [one for one in kept if one.type == "constraint"]
    assert (rule.title, rule.rule, rule.confidence) == (RULE, "lasting-words", 5)
    (briefing,) = [one for one in kept if one.type == "episodic"]
    assert (briefing.title, REASON in briefing.content) == ("Lock jobs in the database", True)
    assert "TODO: document the lock" in briefing.content
    assert all(one.evidence and one.session_id == session_id for one in kept)
    assert {one.job_id for one in kept} == {job.job_id}
    events = {event.event_id: event for event in vault.sessions.events(session_id)}
    for evidence in (evidence for one in kept for evidence in one.evidence):
        event = events[str(evidence.event_id)]
        words = event.text or (event.commit.subject if event.commit else "")
        assert evidence.quote in words


def test_completing_all_jobs_closes_the_session(vault: Vault, clock: FixedClock) -> None:
    """A5."""
    session_id = work(vault)
    clock.pass_(HOUR)
    start(vault)
    session = timeline.get_session(vault, session_id)
    assert (session.status, session.ended_at) == ("closed", clock.now)
    assert session.enrichment_status == "completed"
    assert session.summary is not None
    assert "Lock jobs" in session.summary
    assert ingest(vault, commit("Go on", number=3)) != session_id


def test_only_what_is_unprocessed_is_read(vault: Vault, clock: FixedClock) -> None:
    """Part of C1."""
    session_id = work(vault)
    clock.pass_(HOUR)
    first = start(vault, session_id)
    again = start(vault, session_id)
    assert again.job_id == first.job_id
    late = commit("Never hold the lock over a network call", number=9)
    (placed,) = record.ingest(
        vault, [msgspec.structs.replace(late, occurred_at=clock.now - MINUTE)], "test"
    )
    assert placed.session_id == session_id
    assert timeline.get_session(vault, session_id).enrichment_status == "pending"
    reader = Scripted(lambda *_: None)
    second = start(vault, session_id, reader)
    assert reader.read_ids == [[placed.event_id]]
    assert (second.job_id != first.job_id, second.events) == (True, 1)


def test_progress_is_told_stage_by_stage(vault: Vault) -> None:
    """Part of C2."""
    work(vault)
    told: list[tuple[str, int, int]] = []
    pipeline.start(
        vault, None, tools(), lambda done, total, stage="": told.append((stage, done, total))
    )
    assert told[0][0] == "enrich"
    assert ("enrich", 0, 3) in told
    assert ("enrich", 3, 3) in told
    assert all(done <= total for _, done, total in told)


def test_a_job_that_failed_goes_on_from_the_failed_stage(vault: Vault) -> None:
    """C3. Part of C6."""
    session_id = work(vault)
    job = start(vault, session_id, Scripted(fail))
    assert (job.status, job.error) == ("failed", "the model is away")
    assert [s.status for s in job.stages] == ["failed", "pending", "pending", "pending"]
    assert timeline.get_session(vault, session_id).enrichment_status == "failed"
    assert active(vault) == []
    broken = Tools(reader=Rules(), diffs=lambda _: {}, meanings=Meanings(_boom))
    job = pipeline.retry(vault, job.job_id, broken, silent)
    assert [s.status for s in job.stages] == ["completed", "failed", "pending", "pending"]
    reader = Scripted(fail)
    job = pipeline.retry(vault, job.job_id, tools(reader), silent)
    assert (job.status, job.attempts, reader.read_ids) == ("completed", 3, [])
    assert len(active(vault)) == job.created >= 2
    with pytest.raises(ConflictError):
        pipeline.retry(vault, job.job_id, tools(), silent)


def _boom() -> str:
    raise RuntimeError("no room")


def test_starting_again_takes_up_the_failed_job(vault: Vault) -> None:
    """Part of C3."""
    session_id = work(vault)
    failed = start(vault, session_id, Scripted(fail))
    assert start(vault, session_id).job_id == failed.job_id
    assert jobs.list_jobs(vault, ListJobsParams()).total == 1


def test_a_job_is_cancelled_by_whoever_watches_it(vault: Vault) -> None:
    """Part of C2."""
    session_id = work(vault)

    job = pipeline.start(vault, session_id, tools(), unwanted)
    assert (job.status, active(vault)) == ("cancelled", [])
    assert timeline.get_session(vault, session_id).enrichment_status == "none"
    assert start(vault, session_id).status == "completed"


def test_a_job_is_cancelled_from_elsewhere(vault: Vault) -> None:
    """Part of C2."""
    work(vault)
    other = reopen(vault)

    def interrupt(*_: object) -> None:
        (job,) = jobs.list_jobs(other, ListJobsParams()).jobs
        assert job.status == "processing"
        jobs.cancel(other, JobParams(job_id=job.job_id))

    job = start(vault, None, Scripted(interrupt))
    assert (job.status, active(vault)) == ("cancelled", [])
    with pytest.raises(ConflictError):
        jobs.cancel(vault, JobParams(job_id=job.job_id))
    other.close()


def test_an_interrupt_cancels_the_job(vault: Vault) -> None:
    """Part of C2: as Ctrl-C on a terminal."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    session_id = work(vault)
    with pytest.raises(KeyboardInterrupt):
        start(vault, session_id, Scripted(interrupt))
    (job,) = jobs.list_jobs(vault, ListJobsParams()).jobs
    assert job.status == "cancelled"
    assert start(vault, session_id).status == "completed"


def test_a_failed_job_may_be_taken_up_by_another_reader(vault: Vault) -> None:
    """Part of C3 and C6."""
    session_id = work(vault)
    failed = start(vault, session_id, Scripted(fail, name="http"))
    assert (failed.status, failed.provider) == ("failed", "http")
    done = start(vault, session_id)
    assert (done.job_id, done.provider) == (failed.job_id, "rules")


def test_two_that_ask_at_once_run_it_once(vault: Vault) -> None:
    """Part of C3: here two threads with vaults of their own, as two processes have."""
    session_id = work(vault)
    readers = [Scripted(lambda *_: None), Scripted(lambda *_: None)]
    done: list[Job] = []

    def ask(reader: Scripted) -> None:
        own = reopen(vault)
        done.append(start(own, session_id, reader))
        own.close()

    threads = [threading.Thread(target=ask, args=(reader,)) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [job.status for job in done] == ["completed", "completed"]
    assert len({job.job_id for job in done}) == 1
    assert sum(len(reader.read_ids) for reader in readers) == 1
    assert len(active(vault)) == done[0].created


def test_nobody_waits_for_ever_for_a_turn(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of C3: whoever has it shows no sign of life."""
    session_id = work(vault)
    other = reopen(vault)
    monkeypatch.setattr(pipeline, "_STUCK", 0.1)
    with vault.running.held(), deadline(0.05), pytest.raises(BusyError):
        start(other, session_id)
    assert start(other, session_id).status == "completed"
    other.close()


def test_a_poisonous_event_is_parked_and_the_rest_goes_on(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of C3."""
    session_id = ingest(vault, commit("poison", number=7), commit("Drink", f"{REASON}.", number=1))
    tried: list[str] = []
    real = compose.read

    def read(one: Reading) -> object:
        assert one.event.commit is not None
        if one.event.commit.subject == "poison":
            tried.append(one.event.event_id)
            raise RecursionError
        return real(one)

    monkeypatch.setattr(compose, "read", read)
    job = start(vault, session_id)
    assert (job.status, len(tried), job.parked) == ("completed", 3, (tried[0],))
    assert any("Redis" in one.content for one in active(vault))
    assert start(vault, session_id).job_id == job.job_id


def test_events_that_no_try_survives_are_parked_after_three(vault: Vault) -> None:
    """Part of C3 and C6: a model that fails at one piece of a history does not stop the rest for ever."""
    session_id = ingest(vault, commit("poison", number=7), commit("Drink", f"{REASON}.", number=1))

    def choke(readings: Sequence[Reading], _tell: Count, begin: Begin) -> None:
        for one in readings:
            begin([one.event.event_id])
            if one.event.commit and one.event.commit.subject == "poison":
                raise ModelFailedError("it chokes on this")

    job = start(vault, session_id, Scripted(choke, name="http"))
    for _ in range(2):
        assert job.status == "failed"
        job = pipeline.retry(vault, job.job_id, tools(Scripted(choke, name="http")), silent)
    job = pipeline.retry(vault, job.job_id, tools(Scripted(choke, name="http")), silent)
    assert (job.status, len(job.parked)) == ("completed", 1)
    assert vault.tries.all() == []


def test_a_job_whose_process_is_gone_can_be_retried(vault: Vault) -> None:
    """Part of C3."""
    session_id = work(vault)
    job = start(vault, session_id, Scripted(fail))
    with vault.transaction():
        vault.write([vault.jobs.put(job.job_id, rules_jobs.begin(job, "rules"))])
    (found,) = jobs.list_jobs(vault, ListJobsParams()).jobs
    assert (found.status, found.error) == ("failed", rules_jobs.INTERRUPTED)
    assert pipeline.retry(vault, job.job_id, tools(), silent).status == "completed"


def test_the_same_work_told_twice_is_known(vault: Vault, clock: FixedClock) -> None:
    """Part of C8."""
    start(vault, work(vault))
    before = len(active(vault))
    clock.pass_(5 * HOUR)
    second = ingest(vault, said(f"{RULE}!", number=5))
    job = start(vault, second)
    assert (job.skipped, job.created) == (1, 0)
    (rule,) = [one for one in active(vault) if one.type == "constraint"]
    assert len(rule.evidence) == 2
    assert len(active(vault)) == before


def test_drafts_are_redacted_before_they_are_kept(vault: Vault) -> None:
    """Part of E11."""
    secret = "ghp_" + "a1B2" * 9

    class Careless:
        name: ProviderName = "rules"

        def read(
            self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin
        ) -> Read:
            del session_id, tell, begin
            event_id = readings[0].event.event_id
            evidence = (Evidence(quote=f"key {secret}", event_id=event_id),)
            draft = Draft(
                type="fact", title=f"Key {secret}", content=f"It is {secret}", evidence=evidence
            )
            return Read(drafts=(draft,))

    work(vault)
    start(vault, None, Careless())
    assert holding(vault.folder, secret.encode()) == []
    assert active(vault)[0].title == "Key [REDACTED]"


def test_an_unasked_summary_needs_something_to_sum_up(vault: Vault, clock: FixedClock) -> None:
    """C10: fewer than five activities give none, unless somebody asks."""
    pipeline.start(vault, work(vault), tools(), silent, automatic=True)
    assert [one.type for one in active(vault) if one.type == "episodic"] == []
    assert any(one.type == "constraint" for one in active(vault))
    clock.pass_(5 * HOUR)
    start(vault, ingest(vault, commit("Move the queue to its own process", REASON, number=8)))
    assert len([one for one in active(vault) if one.type == "episodic"]) == 1


def test_a_session_that_is_not_there_is_refused(vault: Vault) -> None:
    """Part of H4."""
    with pytest.raises(NotFoundError):
        start(vault)
    with pytest.raises(NotFoundError):
        start(vault, "0" * 26)
    with pytest.raises(NotFoundError):
        pipeline.retry(vault, "0" * 26, tools(), silent)
