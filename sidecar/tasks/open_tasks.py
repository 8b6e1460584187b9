"""Open tasks for an agent, and tasks found done."""

import contextlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from protocol.contexts import CompletedTask
from protocol.errors import BusyError
from protocol.tasks import Task
from sidecar.privacy import cleaning
from sidecar.storage.vault import Vault
from sidecar.tasks.rules import conditions, likely_ends, tasks
from sidecar.tasks.rules.condition_lint import NamesIn
from sidecar.tasks.rules.conditions import Change, Condition, Facts

if TYPE_CHECKING:
    from sidecar.tasks.rules.likely_ends import Judge

_TOLD = 20
"""Tasks that completed while somebody was away, of which is told."""
_LATEST = 300
"""Commits that are held against tasks to see whether one speaks of them."""


class Look(Struct, frozen=True, kw_only=True):
    """How to check a working tree; answers None where that cannot be told."""

    path_exists: Callable[[str], bool | None]
    """Tells whether a file or folder is there, by its path in the repository."""
    symbol_exists: Callable[[str, str], bool | None]
    """Tells whether a file defines a name."""
    names_in: NamesIn = lambda _: ()
    """Names what is in a folder, by its path in the repository."""


def open_for(vault: Vault, agent_id: str) -> list[Task]:
    """Return the open tasks of an agent or of anyone, most urgent first, blocked ones last."""
    own = [task for task in _open(vault) if tasks.is_for(task, agent_id)]
    return [cleaning.clean_record(task) for task in ordered(vault, own)]


def ordered(vault: Vault, some: Iterable[Task]) -> list[Task]:
    """Return tasks sorted by urgency; of equals, blocked ones come later."""
    known = vault.tasks.by_id()

    def urgency(task: Task) -> tuple[object, ...]:
        return tasks.urgency(task, is_waiting=bool(tasks.waiting_for(task, known)))

    return sorted(some, key=urgency)


def count_others(vault: Vault, agent_id: str) -> int:
    """Return how many open tasks others have."""
    return sum(not tasks.is_for(task, agent_id) for task in _open(vault))


def complete_due(vault: Vault, look: Look) -> list[CompletedTask]:
    """Complete the tasks whose conditions all hold, each once, even if several processes check at the same time.

    Where the store cannot be had in time nothing is completed; the next look does it.
    """
    due = _due(vault, look)
    if not due:
        return []
    with contextlib.suppress(BusyError), vault.transaction():
        still = [(task, shown) for task, shown in due if vault.tasks.get(task.task_id) == task]
        now = vault.clock()
        done = [tasks.completed(task, shown, now) for task, shown in still]
        if done:
            vault.write([vault.tasks.put(task.task_id, task) for task in done])
        return [_told(task, shown) for task, shown in still]
    return []


def completed_since(vault: Vault, moment: datetime) -> list[CompletedTask]:
    """Return the latest tasks that were completed automatically since a moment, oldest first."""
    known = vault.tasks.by_id().values()
    done = [task for task in known if task.auto_completed and _ended(task) > moment]
    done.sort(key=lambda task: (_ended(task), task.task_id))
    return [_told(task, cleaning.clean(task.evidence or "")) for task in done[-_TOLD:]]


def would_complete(vault: Vault, look: Look) -> list[CompletedTask]:
    """Return the tasks that `complete_due` would complete now, without changing anything."""
    return [_told(task, shown) for task, shown in _due(vault, look)]


def holds(vault: Vault, task: Task, look: Look) -> bool:
    """Return whether all conditions of a task hold now."""
    found = _parse(task)
    commits = _commits(vault, [task]) if conditions.need_commits(found or ()) else []
    return bool(found) and _judge(found or (), look, _since(commits, task)) is not None


def watched(vault: Vault) -> tuple[str, ...]:
    """Return the paths named in conditions of open tasks, whose changes cause no event."""
    parsed = (conditions.parse(task.done_when) for task in _open(vault) if task.done_when)
    return tuple(dict.fromkeys(path for found in parsed for path in conditions.paths(found or ())))


def suggest_done(
    vault: Vault, agent_id: str, is_done_by: "Judge", limit: int = 5
) -> list[CompletedTask]:
    """Return those of an agent's tasks without conditions that one of the latest commits seems to have done."""
    likely = _likely(vault, open_for(vault, agent_id), is_done_by)
    return [_told(task, evidence) for task, evidence in islice(likely, limit)]


def suggestions(vault: Vault, some: Iterable[Task]) -> dict[str, str]:
    """Return, by task id, the commit that seems to have done each of these tasks."""
    from sidecar.tasks.rules import completion  # noqa: PLC0415  # its rules take long to load

    still = [task for task in some if tasks.is_open(task)]
    found = _likely(vault, still, completion.is_done_by)
    return {task.task_id: evidence for task, evidence in found}


def _likely(vault: Vault, some: Iterable[Task], is_done_by: "Judge") -> Iterator[tuple[Task, str]]:
    unchecked = [task for task in some if not _parse(task)]
    latest = _commits(vault, unchecked)[:_LATEST]
    for task in unchecked:
        evidence = likely_ends.likely_end(task, _undoubted(latest, task), is_done_by)
        if evidence is not None:
            yield task, cleaning.clean(evidence)


def _due(vault: Vault, look: Look) -> list[tuple[Task, str]]:
    """Return the tasks whose conditions hold, with the evidence; events are read only if needed."""
    parsed = ((task, _parse(task)) for task in _open(vault))
    checkable = [(task, found) for task, found in parsed if found]
    commits = _commits(vault, [task for task, found in checkable if conditions.need_commits(found)])
    judged = ((task, _judge(found, look, _since(commits, task))) for task, found in checkable)
    done = [(task, cleaning.clean(shown)) for task, shown in judged if shown is not None]
    return sorted(done, key=lambda one: (one[0].created_at, one[0].task_id))


def _parse(task: Task) -> tuple[Condition, ...] | None:
    """Parse the conditions of a task; one that held before the task existed proves nothing."""
    return None if task.held_before else conditions.parse(task.done_when or "")


def _judge(found: Iterable[Condition], look: Look, commits: list[Change]) -> str | None:
    facts = Facts(path_exists=look.path_exists, symbol_exists=look.symbol_exists, commits=commits)
    return conditions.judge(found, facts)


def _commits(vault: Vault, chosen: Collection[Task]) -> list[Change]:
    return vault.commits.since(min(task.created_at for task in chosen)) if chosen else []


def _since(commits: list[Change], task: Task) -> list[Change]:
    """Return the changes since a task was created, newest first."""

    def is_before(commit: Change) -> bool:
        return not conditions.is_since(commit, task.created_at)

    return commits[: bisect_left(commits, True, key=is_before)]  # noqa: FBT003  # what it looks for


def _undoubted(commits: list[Change], task: Task) -> list[Change]:
    since, doubted = _since(commits, task), task.doubted_at
    return since if doubted is None else [commit for commit in since if commit.at > doubted]


def _ended(task: Task) -> datetime:
    return task.completed_at or task.created_at


def _told(task: Task, evidence: str) -> CompletedTask:
    title = cleaning.clean(task.title)
    return CompletedTask(task_id=task.task_id, title=title, evidence=evidence)


def _open(vault: Vault) -> list[Task]:
    return [task for task in vault.tasks.by_id().values() if tasks.is_open(task)]
