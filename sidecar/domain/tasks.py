"""Tasks: which are open, for whom, and which comes first."""

import functools
import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from protocol.tasks import ANYONE, Task, TaskStatus
from sidecar.domain.conditions import Change, told
from sidecar.domain.recall import words

_ORDER: dict[TaskStatus, int] = {"in_progress": 0, "todo": 1, "blocked": 1, "backlog": 2, "done": 3}

_SHARE, _TERMS = 0.75, 3
"""How much of a task's title a commit says that may have done it, and how many terms at least."""
_UNDONE = re.compile(r"(?:revert|wip|todo|draft|fixup!|plan)\b", re.IGNORECASE)
_READ = 2_000


def is_for(task: Task, agent_id: str) -> bool:
    """Tell whether a task is an agent's to do."""
    return task.assigned_agent_id in (ANYONE, agent_id)


def urgency(task: Task) -> tuple[int, int, bool, datetime, str]:
    """Sort tasks: begun before planned, then the most urgent, what can be done, and the oldest."""
    is_blocked = task.status == "blocked"
    return _ORDER[task.status], -task.priority, is_blocked, task.created_at, task.task_id


def completed(task: Task, evidence: str, now: datetime) -> Task:
    """Give a task that is done, with what shows it."""
    return msgspec.structs.replace(
        task, status="done", evidence=evidence, completed_at=now, updated_at=now
    )


def likely_end(task: Task, commits: Iterable[Change]) -> str | None:
    """Find a commit that says what a task asks for: it may be done, which only its people can tell."""
    wanted = _terms(task.title[:_READ])
    if len(wanted) < _TERMS:
        return None
    for commit in commits:
        said = _said(commit.message[:_READ], wanted)
        is_enough = said >= max(_TERMS, _SHARE * len(wanted))
        if is_enough and not _UNDONE.match(commit.message):
            return told(commit)
    return None


@functools.lru_cache(maxsize=256)
def _terms(text: str) -> frozenset[str]:
    return frozenset(term for term, weight in words.count(text).items() if weight > words.WEAK)


@functools.lru_cache(maxsize=8192)
def _said(message: str, wanted: frozenset[str]) -> int:
    found = words.count_of(message, wanted)
    return sum(weight > words.WEAK for weight in found.values())
