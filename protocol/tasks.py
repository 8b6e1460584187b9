"""Tasks: what is to be done, by whom, and how one can tell that it is."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.links import Neighbour
from protocol.memories import Grade
from protocol.projects import ProjectParams
from protocol.values import Key, Name, Params, Record, Timestamp, Ulid

TaskStatus = Literal["backlog", "todo", "in_progress", "done", "blocked"]
TaskOutcome = Literal["created", "duplicate", "updated", "unchanged"]
ANYONE = "any"
"""Stands for whoever comes first."""
TITLE, DESCRIPTION, DONE_WHEN, NOTE = 500, 5_000, 1_000, 5_000
"""Letters that fit a task's texts."""
MOST_NOTES = 200
MOST_AT_ONCE = 200

TaskTitle = Annotated[str, Meta(min_length=1, max_length=TITLE)]
Description = Annotated[str, Meta(max_length=DESCRIPTION)]
DoneWhen = Annotated[str, Meta(max_length=DONE_WHEN)]
NoteText = Annotated[str, Meta(min_length=1, max_length=NOTE)]
Needs = Annotated[tuple[Ulid, ...], Meta(max_length=100)]


class TaskNote(Record, frozen=True, kw_only=True):
    """Something that was added to a task later."""

    at: Timestamp
    """When it was added."""
    agent_id: str | None = None
    """The agent that added it; null where a person did."""
    text: str


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
    auto_completed: bool = False
    """It completed by itself, since all that `doneWhen` says held."""
    depends_on: tuple[str, ...] = ()
    """Tasks that must be done first."""
    notes: tuple[TaskNote, ...] = ()
    """What was added to it later, the oldest first."""
    updated_by: str | None = None
    """The agent that changed it last; null where a person did, or where it completed by itself."""
    idempotency_key: str | None = None
    held_before: bool = False
    """`doneWhen` held when it was written, or when the task was taken up again: so it never completes by itself."""
    doubted_at: Timestamp | None = None
    """When somebody said last that it is not done: no commit from before makes it seem so any more."""
    team_id: str | UnsetType = UNSET
    """The team that its project is in; absent without one."""


class NeededTask(Record, frozen=True, kw_only=True):
    """A task that another one depends on."""

    task_id: str
    title: str
    status: TaskStatus


class ShownTask(Task, frozen=True, kw_only=True):
    """A task with what surrounds it."""

    assigned_label: str = ""
    """How people call the agent that is to do it; empty where anyone may."""
    needs: tuple[NeededTask, ...] = ()
    """The tasks it depends on, with what they are about and how they stand."""
    waiting_for: tuple[str, ...] = ()
    """Those of the tasks it depends on that are not done: while there are any, it waits."""
    suggestion: str | None = None
    """What makes it seem done, though nobody can check it; told where it is listed with `suggest`."""
    links: tuple[Neighbour, ...] = ()
    """What it is linked with."""


class NewTask(Params, frozen=True, kw_only=True):
    """A task to write down."""

    title: TaskTitle
    """What is to be done, in at most 500 characters."""
    description: Description = ""
    """More about it."""
    status: TaskStatus = "todo"
    """The state it begins in."""
    priority: Grade = 3
    """From 1 to 5, 5 being the most urgent."""
    assigned_agent_id: Name = ANYONE
    """The agent that is to do it, or `any`."""
    done_when: DoneWhen | None = None
    """How one can tell that it is done, in words or as conditions."""
    depends_on: Annotated[
        tuple[Annotated[int, Meta(ge=0, lt=MOST_AT_ONCE)] | Ulid, ...], Meta(max_length=100)
    ] = ()
    """Tasks that must be done first: others of this call by their place in it, from 0, or any by their ids."""
    note: NoteText | None = None
    """Its first note."""


class CreateTasksParams(ProjectParams, frozen=True, kw_only=True):
    """A task or a whole plan; all of it is written down, or nothing."""

    tasks: Annotated[tuple[NewTask, ...], Meta(min_length=1, max_length=MOST_AT_ONCE)]
    """What is to be done."""
    agent_id: Name | None = None
    """The agent that writes it down; absent where a person does."""
    idempotency_key: Key | None = None
    """Writing the same key again changes nothing; each author has keys of its own."""


class UpdateTaskParams(ProjectParams, frozen=True, kw_only=True):
    """What to change of a task; what is absent stays."""

    task_id: Ulid
    """Which task."""
    title: TaskTitle | None = None
    """What is to be done, in at most 500 characters."""
    description: Description | None = None
    """More about it, in at most 5,000 characters."""
    status: TaskStatus | None = None
    """The state it is in from now on."""
    priority: Grade | None = None
    """From 1 to 5, 5 being the most urgent."""
    assigned_agent_id: Name | None = None
    """The agent that is to do it, or `any`."""
    done_when: DoneWhen | None = None
    """How one can tell that it is done; an empty text takes it away."""
    depends_on: Needs | None = None
    """All tasks that must be done first, by their ids."""
    evidence: Annotated[str, Meta(max_length=NOTE)] | None = None
    """What shows that it is done."""
    not_done: bool = False
    """It is not done, though a commit makes it seem so: none that is there by now suggests it again."""
    note: NoteText | None = None
    """Something to add to it, in at most 5,000 characters."""
    agent_id: Name | None = None
    """The agent that changes it; absent where a person does."""
    expected_updated_at: Timestamp | None = None
    """The `updatedAt` that was read: where it is another by now, nothing is changed."""


class TaskWarning(Record, frozen=True, kw_only=True):
    """Something about a task that was written as asked and may not be what was meant."""

    task_id: str
    text: str
    """What is doubtful, and why."""


class WrittenTasks(Record, frozen=True, kw_only=True):
    """What became of tasks that were written down or changed."""

    outcome: TaskOutcome
    """`duplicate`: the key was known. `unchanged`: it was so already."""
    tasks: tuple[ShownTask, ...]
    """The tasks as they are now, in the order they were given."""
    warnings: tuple[TaskWarning, ...] = ()
    """What may not be meant: a condition that holds already, a path that looks mistyped."""


class ListTasksParams(ProjectParams, frozen=True, kw_only=True):
    """Which tasks to list."""

    statuses: tuple[TaskStatus, ...] = ()
    """Only tasks in these states; in all where empty."""
    assigned_agent_id: Name | None = None
    """Only tasks of this agent; `any` means those for whoever comes first."""
    include_any: bool = False
    """With an agent: also those for whoever comes first."""
    created_by: Name | None = None
    """Only tasks that this agent wrote down; `user` means those of people."""
    priority: Grade | None = None
    """Only tasks of this priority."""
    text: Annotated[str, Meta(max_length=1_000)] = ""
    """Only tasks that have all these words, in whatever case."""
    suggest: bool = False
    """Also tell which of them one of the latest commits seems to have done."""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    """The most tasks to give at once."""
    offset: Annotated[int, Meta(ge=0)] = 0
    """How many to pass over: those of the pages before."""


class TaskPage(Record, frozen=True, kw_only=True):
    """Tasks, the most urgent first; those that are done come last, the latest first."""

    tasks: tuple[ShownTask, ...]
    total: int
    """How many match in all."""
