"""Commands about memory: make it from sessions, search it, forget it."""

import contextlib
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from protocol.enrichment import Compacted, JobList, JobParams, StartAllParams, StartParams
from protocol.errors import InvalidParamsError, NotFoundError
from protocol.forgetting import PurgeReport
from protocol.jobs import STAGES, Job, Stage
from protocol.methods import SessionPage
from protocol.recall import MemoryList, MemoryPage, SearchResult, WriteResult
from sidecar.app import Application, now
from sidecar.handlers import enrichment
from sidecar.projects.progress import Tell
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.transports.cli import calls, finding, screens
from sidecar.transports.exits import Exit

_MANY = 10
_SIGNS = {"pending": "·", "processing": "…", "completed": "✓", "failed": "✗"}
_STYLES = {"failed": "red", "cancelled": "yellow", "completed": "default", "processing": "bold"}


@contextlib.contextmanager
def view() -> Iterator[Tell]:
    """Show the four stages of a job while it runs, on a terminal."""
    columns = (
        TextColumn("{task.description:<7}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=screens.errors, transient=True, disable=hidden) as bars:
        tasks = {name: bars.add_task(name, total=None, start=False) for name in STAGES}

        def tell(done: int, total: int, stage: str = "") -> None:
            for name, task in tasks.items():
                if name == stage:
                    bars.start_task(task)
                    bars.update(task, completed=done, total=total)

        yield tell


def show(jobs: Sequence[Job]) -> None:
    """Say what jobs have made, and what went wrong; of many, those that made nothing are not named."""
    for job in jobs:
        if len(jobs) > _MANY and job.status == "completed" and not job.created:
            continue
        screens.console.print(f"[dim]{job.session_id[-screens.TAIL :]}[/]  {_outcome(job)}")
    if len(jobs) > 1:
        made = sum(job.created for job in jobs)
        screens.say(
            f"{screens.plural(made, 'memory', 'memories')} from "
            f"{screens.plural(len(jobs), 'session')}"
        )


def list_jobs(jobs: Sequence[Job]) -> None:
    """Show jobs with the time that each stage took."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("began", "session", "status", *STAGES, "memories", "id"):
        table.add_column(name, no_wrap=True)
    for job in jobs:
        table.add_row(
            screens.local(job.created_at),
            job.session_id[-screens.TAIL :],
            job.status,
            *(_stage(stage) for stage in job.stages),
            str(job.created),
            job.job_id[-screens.TAIL :],
            style=_STYLES.get(job.status),
        )
    screens.console.print(table, crop=False, soft_wrap=True)
    for job in jobs:
        if job.status == "failed":
            screens.say(f"{job.job_id[-screens.TAIL :]}: {job.error}")


def _outcome(job: Job) -> str:
    if job.status != "completed":
        stage = next((one.name for one in job.stages if one.status == "failed"), "")
        return f"[red]{job.status}[/] at {stage}: {screens.clean(job.error or '')}"
    known = f", {job.proposed} proposed" if job.proposed else ""
    known += f", {job.skipped} known" if job.skipped else ""
    newer = f", {job.superseded} brought up to date" if job.superseded else ""
    parked = f", {len(job.parked)} events left alone" if job.parked else ""
    made = screens.plural(job.created, "memory", "memories")
    return f"{made} from {screens.plural(job.events, 'event')}{known}{newer}{parked}"


def _stage(stage: Stage) -> str:
    took = "" if stage.duration_ms is None else f" {stage.duration_ms:,.0f} ms"
    return f"{_SIGNS[stage.status]}{took}"


T = TypeVar("T")


def enrich(app: Application, options: Namespace) -> Exit:
    """Make memory from one session, or from all that nobody has read."""
    if options.all and not options.session and not options.retry:
        return _enrich_all(app, options)
    if options.retry:
        params = JobParams(project=options.project, job_id=_job(app, options).job_id)
        with view() as tell:
            done = [enrichment.retry(app, params, tell)]
    else:
        began = now()
        with view() as tell:
            done = [_enrich(app, options, one, tell) for one in finding.wanted(app, options)]
        done = [job for job in done if job.ended_at is None or job.ended_at >= began]
    if options.json:
        print(calls.encode(JobList(jobs=tuple(done), total=len(done))))
    elif done:
        show(done)
    else:
        screens.say("nothing to read that was not read before")
    return Exit.OK if all(job.status == "completed" for job in done) else Exit.FAILED


def _enrich_all(app: Application, options: Namespace) -> Exit:
    """Make memory from all sessions that nobody has read; the last line says what came of it."""
    with screens.progress("reading sessions") as progress:
        params = StartAllParams(project=options.project, provider=options.provider)
        done = enrichment.enrich_all(
            app, params, lambda count, total, _stage="": progress(count, total)
        )
    if options.json:
        print(calls.encode(done))
    elif not done.sessions:
        screens.say("nothing to read that was not read before")
    else:
        failed = f", {screens.plural(done.failed, 'session')} failed: " if done.failed else ""
        screens.say(
            f"{screens.plural(done.memories, 'memory', 'memories')}, {done.proposed} proposed, from "
            f"{screens.plural(done.sessions, 'session')}{failed}{'; '.join(done.problems)}"
        )
        if done.proposed:
            screens.say("`threadline review` decides about what is proposed; no assistant sees it")
    return Exit.FAILED if done.failed else Exit.OK


def _enrich(app: Application, options: Namespace, session_id: str | None, tell: Tell) -> Job:
    params = StartParams(project=options.project, session_id=session_id, provider=options.provider)
    return enrichment.enrich(app, params, tell)


def jobs(app: Application, options: Namespace) -> Exit:
    """List jobs with their stages, or cancel one."""
    if options.action == "cancel":
        params = {"project": options.project, "jobId": _job(app, options).job_id}
        job = _call(app, "threadline/enrichment/cancel", params, Job)
        screens.say(f"cancelled job {job.job_id}")
        return Exit.OK
    found = _jobs(app, options, options.limit)
    if options.json:
        print(calls.encode(found))
    elif found.jobs:
        list_jobs(found.jobs)
    else:
        screens.say("no jobs yet; `threadline enrich` makes memory from a session")
    return Exit.OK


def search(app: Application, options: Namespace) -> Exit:
    """Show the memories that help most with a question."""
    params: dict[str, object] = {
        "project": options.project,
        "query": " ".join(options.query),
        "topK": options.limit,
        "types": options.type or [],
        "statuses": [options.status],
        "paths": [finding.path_of(app, options, name) for name in options.path or []],
        "filesAtHand": [finding.path_of(app, options, name) for name in options.open or []],
        "allBranches": options.all_branches,
        "allProjects": options.all_projects,
    }
    found = _call(app, "threadline/memories/search", params, SearchResult)
    if options.json:
        print(calls.encode(found))
    elif found.hits:
        screens.show_hits(found.hits, is_explained=options.explain)
    elif found.memories:
        screens.show_found(found, options.limit, is_explained=options.explain)
    elif found.total or params["query"]:
        hint = "" if options.all_branches else ", or --all-branches,"
        screens.say(f"nothing found; other words{hint} may help")
    elif options.type or options.path or options.status != "active":
        screens.say("nothing found of that type, path or status")
    else:
        screens.say(_beginning(app, options))
    return Exit.OK


def memories(app: Application, options: Namespace) -> Exit:
    """List memories, pinned ones first, then the latest; or show one in full."""
    if options.action == "show":
        return _show_memory(app, options)
    params: dict[str, object] = {
        "project": options.project,
        "types": options.type or [],
        "statuses": [options.status],
        "paths": [finding.path_of(app, options, name) for name in options.path or []],
        "limit": options.limit,
    }
    page = _call(app, "threadline/memories/list", params, MemoryPage)
    if options.json:
        print(calls.encode(page))
    elif page.memories:
        screens.show_memories(page.memories, page.total)
    elif options.type or options.path or options.status != "active":
        screens.say("no memory of that type, path or status")
    else:
        screens.say(_beginning(app, options))
    return Exit.OK


def _show_memory(app: Application, options: Namespace) -> Exit:
    if not options.memory:
        raise InvalidParamsError(
            "say which memory: `threadline memories` lists them with their ids"
        )
    memory_id = finding.memory_id(app, options, options.memory)
    params = {"project": options.project, "memoryIds": [memory_id]}
    read = _call(app, "threadline/memories/read", params, MemoryList)
    if options.json:
        print(calls.encode(read))
    else:
        screens.show_whole_memory(read.memories[0])
    return Exit.OK


def _beginning(app: Application, options: Namespace) -> str:
    if options.project == PERSONAL_ID:
        return "nothing is kept for all projects yet; `threadline remember --everywhere TEXT` does"
    scope = {"project": options.project, "limit": 1}
    if _call(app, "threadline/sessions/list", scope, SessionPage).total:
        return "no memory yet; `threadline enrich --all` makes it from past sessions"
    return "no memory yet, and no sessions to make it from; `threadline scan` imports what was committed here so far"


def remember(app: Application, options: Namespace) -> Exit:
    """Keep a memory that the user typed."""
    text = " ".join(options.text)
    params = {
        "project": options.project,
        "type": options.type or ("preference" if options.project == PERSONAL_ID else "fact"),
        "title": options.title or screens.clipped(text),
        "content": text,
        "files": [finding.path_of(app, options, name) for name in options.path or []],
        "tags": options.tag or [],
        "importance": options.importance,
    }
    written = _call(app, "threadline/memories/write", params, WriteResult)
    if options.json:
        print(calls.encode(written))
    else:
        screens.say(f"{written.outcome}: {written.memory.memory_id} {written.memory.title}")
    return Exit.OK


def forget(app: Application, options: Namespace) -> Exit:
    """Forget memories by their ids."""
    ids = [finding.memory_id(app, options, one) for one in options.memory]
    params = {"project": options.project, "memoryIds": ids}
    return _report(_call(app, "threadline/memories/forget", params, PurgeReport), options)


def purge(app: Application, options: Namespace) -> Exit:
    """Remove something everywhere, after asking."""
    if not options.yes and not _is_sure(options):
        raise InvalidParamsError("nothing was removed; --yes says that you are sure")
    params = {
        "project": options.project,
        "memoryId": options.memory and finding.memory_id(app, options, options.memory),
        "path": options.path and finding.path_of(app, options, options.path),
        "phrase": options.phrase,
        "everything": options.everything,
    }
    report = _call(app, "threadline/purge", params, PurgeReport)
    if options.phrase and not (report.memories or report.events):
        screens.say(
            "no memory and no event has these words as you wrote them; case counts, so name them as you see them"
        )
    return _report(report, options)


def compact(app: Application, options: Namespace) -> Exit:
    """Compress closed sessions."""
    done = [
        _call(
            app,
            "threadline/sessions/compact",
            {"project": options.project, "sessionId": session_id},
            Compacted,
        )
        for session_id in finding.compactable(app, options)
    ]
    if options.json:
        for one in done:
            print(calls.encode(one))
        return Exit.OK
    before, after = sum(one.bytes_before for one in done), sum(one.bytes_after for one in done)
    screens.say(
        f"{screens.plural(len(done), 'session')} compacted: {before:,} bytes are {after:,} now"
    )
    return Exit.OK


def _report(report: PurgeReport, options: Namespace) -> Exit:
    if options.json:
        print(calls.encode(report))
    else:
        screens.show_report(report)
    return Exit.OK if report.verified else Exit.FAILED


def _is_sure(options: Namespace) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    what = "the whole memory of this project" if options.everything else "it everywhere"
    screens.say(f"This removes {what}, for good. Type yes to go on:")
    return sys.stdin.readline().strip().lower() == "yes"


def _jobs(app: Application, options: Namespace, limit: int) -> JobList:
    params = {"project": options.project, "limit": limit}
    return _call(app, "threadline/enrichment/jobs", params, JobList)


def _job(app: Application, options: Namespace) -> Job:
    """Find the job whose id ends as the user typed; without an id, the latest that is not over well."""
    every = _jobs(app, options, 1000).jobs
    if not options.job:
        found = next((job for job in every if job.status in {"failed", "processing"}), None)
        if found is None:
            raise NotFoundError("no job failed or runs; `threadline jobs` lists them all")
        return found
    jobs = {job.job_id: job for job in every}
    return jobs[finding.pick(jobs, options.job, "job")]


def _call(app: Application, method: str, params: object, kind: type[T]) -> T:
    result = app.call(method, params)
    assert isinstance(result, kind)  # noqa: S101  # for the type checker; the table says so
    return result
