"""Which tasks are open, for whom, and in what order."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from protocol.tasks import ANYONE, Task, TaskStatus

_ORDER: dict[TaskStatus, int] = {"in_progress": 0, "todo": 1, "blocked": 1, "backlog": 2, "done": 3}

_TICK = timedelta(microseconds=1)


def is_for(task: Task, agent_id: str) -> bool:
    """Return whether a task is an agent's to do."""
    return task.assigned_agent_id in (ANYONE, agent_id)


def is_open(task: Task) -> bool:
    """Return whether a task is still to be done."""
    return task.status != "done"


def urgency(task: Task, *, is_waiting: bool = False) -> tuple[int, int, bool, float, str]:
    """Sort tasks: begun before planned, then the most urgent, what can be done, and the oldest.

    Those that are done come last, the latest first: nothing about them is urgent.
    """
    if task.status == "done":
        ended = task.completed_at or task.updated_at
        return _ORDER["done"], 0, False, -ended.timestamp(), task.task_id
    is_blocked = is_waiting or task.status == "blocked"
    began = task.created_at.timestamp()
    return _ORDER[task.status], -task.priority, is_blocked, began, task.task_id


def waiting_for(task: Task, known: Mapping[str, Task]) -> tuple[str, ...]:
    """Return the open tasks that must be done first; deleted ones do not count."""
    return tuple(key for key in task.depends_on if key in known and is_open(known[key]))


def find_cycle(needs: Mapping[str, Collection[str]], begin: Iterable[str]) -> tuple[str, ...]:
    """Return a cycle of dependencies that starts from these tasks, or nothing."""
    done: set[str] = set()
    for first in begin:
        path: dict[str, None] = {}
        ahead = [(first, False)]
        while ahead:
            key, is_left = ahead.pop()
            if is_left:
                del path[key]
                done.add(key)
            elif key in path:
                names = list(path)
                return tuple(names[names.index(key) :])
            elif key not in done:
                path[key] = None
                ahead.append((key, True))
                ahead += [(one, False) for one in needs.get(key, ())]
    return ()


def later(task: Task, now: datetime) -> datetime:
    """Return the time of a change, which is always after the previous one, whatever the clock does."""
    return max(now, task.updated_at + _TICK)


def moved(task: Task, status: TaskStatus, now: datetime) -> Task:
    """Return a task in another state; a reopened one loses its end and its evidence."""
    if status == task.status:
        return task
    if status == "done":
        return msgspec.structs.replace(task, status=status, completed_at=now)
    return msgspec.structs.replace(
        task, status=status, completed_at=None, evidence=None, auto_completed=False
    )


def says(task: Task, wanted: str) -> bool:
    """Return whether a task has all these words, whatever their case."""
    notes = (note.text for note in task.notes)
    said = " ".join([task.title, task.description, task.done_when or "", *notes]).casefold()
    return all(word in said for word in wanted.casefold().split())


def completed(task: Task, evidence: str, now: datetime) -> Task:
    """Return a completed task with its evidence."""
    return msgspec.structs.replace(
        task,
        status="done",
        evidence=evidence,
        auto_completed=True,
        completed_at=now,
        updated_at=later(task, now),
        updated_by=None,
    )
