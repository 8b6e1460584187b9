"""How far a job is, as people see it: its four stages, live and afterwards."""

import contextlib
import sys
from collections.abc import Iterator, Sequence

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from protocol.jobs import STAGES, Job, Stage
from sidecar.services.progress import Tell
from sidecar.transports.cli import screens

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


def unseen(done: int, total: int, stage: str = "") -> None:
    """Show nothing: something else shows how far it is."""


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
    known = f", {job.skipped} known" if job.skipped else ""
    newer = f", {job.superseded} brought up to date" if job.superseded else ""
    parked = f", {len(job.parked)} events left alone" if job.parked else ""
    made = screens.plural(job.created, "memory", "memories")
    return f"{made} from {screens.plural(job.events, 'event')}{known}{newer}{parked}"


def _stage(stage: Stage) -> str:
    took = "" if stage.duration_ms is None else f" {stage.duration_ms:,.0f} ms"
    return f"{_SIGNS[stage.status]}{took}"
