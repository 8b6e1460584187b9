"""Which tasks are open, for whom, and in what order."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from protocol.tasks import ANYONE, Task, TaskStatus

_ORDER: dict[TaskStatus, int] = {"in_progress": 0, "todo": 1, "blocked": 1, "backlog": 2, "done": 3}

_TICK = timedelta(microseconds=1)


def is_for(task: Task, agent_id: str) -> bool:
    """Tell whether a task is an agent's to do."""
    return task.assigned_agent_id in (ANYONE, agent_id)


def is_open(task: Task) -> bool:
    """Tell whether a task is still to be done."""
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
    """Name the tasks that must be done first and are not; one that is gone holds up nobody."""
    return tuple(key for key in task.depends_on if key in known and is_open(known[key]))


def find_cycle(needs: Mapping[str, Collection[str]], begin: Iterable[str]) -> tuple[str, ...]:
    """Find tasks that would wait for each other for ever, among those that the first ones need."""
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
    """Give the moment of a change: after the one before, also where the clock stands still or goes back."""
    return max(now, task.updated_at + _TICK)


def moved(task: Task, status: TaskStatus, now: datetime) -> Task:
    """Give a task in another state; what is not done any more has no end and nothing that shows it."""
    if status == task.status:
        return task
    if status == "done":
        return msgspec.structs.replace(task, status=status, completed_at=now)
    return msgspec.structs.replace(
        task, status=status, completed_at=None, evidence=None, auto_completed=False
    )


def says(task: Task, wanted: str) -> bool:
    """Tell whether a task has all these words, whatever their case."""
    notes = (note.text for note in task.notes)
    said = " ".join([task.title, task.description, task.done_when or "", *notes]).casefold()
    return all(word in said for word in wanted.casefold().split())


def completed(task: Task, evidence: str, now: datetime) -> Task:
    """Give a task that is done, with what shows it."""
    return msgspec.structs.replace(
        task,
        status="done",
        evidence=evidence,
        auto_completed=True,
        completed_at=now,
        updated_at=later(task, now),
        updated_by=None,
    )
