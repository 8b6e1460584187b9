"""Tasks: what is to be done, by whom, and how one can tell that it is."""

from typing import Literal

from protocol.values import Record, Timestamp, Ulid

TaskStatus = Literal["backlog", "todo", "in_progress", "done", "blocked"]
ANYONE = "any"
"""Stands for whoever comes first."""


class Task(Record, frozen=True, kw_only=True):
    """Something to do."""

    task_id: Ulid
    project_id: str
    title: str
    description: str = ""
    status: TaskStatus = "todo"
    priority: int = 3
    """From 1 to 5, 5 being the most urgent."""
    assigned_agent_id: str = ANYONE
    """The agent that is to do it, or `any`."""
    created_by: str | None = None
    """The agent that wrote it down; null where a person did."""
    done_when: str | None = None
    """How one can tell that it is done: in words, or so that it can be checked (`path exists: …`)."""
    evidence: str | None = None
    """What showed that it is done."""
    created_at: Timestamp
    updated_at: Timestamp
    completed_at: Timestamp | None = None
