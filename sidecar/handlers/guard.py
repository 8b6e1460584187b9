"""Handlers that hold a change against what is known."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from protocol.checks import Checked, CheckParams, Concern
from protocol.errors import GitFailedError
from protocol.tasks import Task
from sidecar.code import changed_files
from sidecar.code.changed_files import ChangedFile
from sidecar.memory import guard
from sidecar.memory.codebases import Code
from sidecar.privacy import cleaning
from sidecar.project import Projects
from sidecar.tasks.rules import conditions
from sidecar.tasks.rules.conditions import Change, Facts

_ORDER = ("stale", "done", "touched")


def check(projects: Projects, params: CheckParams) -> Checked:
    """Return the constraints, decisions and open tasks that a change concerns."""
    vault, code = projects.vault(params.project), projects.code(params.project)
    if code is None:
        raise GitFailedError("there is no repository here, so there is no change to check")
    folder = projects.repository(params.project)
    files = (
        changed_files.between(folder, params.range)
        if params.range
        else changed_files.staged(folder)
    )
    concerns = [
        *guard.judge(vault.memories.all(), files, code),
        *_tasks(vault.tasks.all(), files, code, vault.clock()),
    ]
    concerns.sort(key=lambda one: (_ORDER.index(one.state), one.id))
    return Checked(files=len(files), concerns=tuple(concerns))


def _tasks(
    tasks: Sequence[Task], files: Sequence[ChangedFile], code: Code, now: datetime
) -> Iterator[Concern]:
    """Return which open tasks the change finishes, by the conditions that can be told from files alone."""
    facts = _facts(files, code, now)
    for task in tasks:
        wanted = conditions.parse(task.done_when or "") if task.status != "done" else None
        if wanted and (evidence := conditions.judge(wanted, facts)):
            yield Concern(
                kind="task",
                id=task.task_id,
                title=cleaning.clean(task.title),
                state="done",
                why=evidence,
            )


def _facts(files: Sequence[ChangedFile], code: Code, now: datetime) -> Facts:
    here = {file.path: file.after for file in files} | {
        file.was: None for file in files if file.was != file.path
    }

    def symbol_exists(path: str, name: str) -> bool | None:
        blob = here.get(path)
        if blob is None:
            return None
        return any(
            name in (one.name, one.short) for one in code.symbols([(path, blob)])[path, blob]
        )

    paths = tuple(here)
    return Facts(
        path_exists=lambda path: here[path] is not None if path in here else None,
        symbol_exists=symbol_exists,
        commits=[Change(sha="this change", at=now, message="", paths=paths)],
    )
