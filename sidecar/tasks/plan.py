"""Create, change and list tasks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from protocol import tasks as tasks_module
from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.messages import USER
from protocol.tasks import (
    ANYONE,
    CreateTasksParams,
    ListTasksParams,
    NeededTask,
    NewTask,
    ShownTask,
    Task,
    TaskNote,
    TaskPage,
    TaskWarning,
    UpdateTaskParams,
    WrittenTasks,
)
from sidecar.privacy import cleaning
from sidecar.sharing import agents
from sidecar.sharing import links as sharing_links
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.tasks.open_tasks import Look, holds, ordered, suggestions
from sidecar.tasks.rules import condition_lint, conditions, tasks
from sidecar.tasks.rules.conditions import Facts

_NOTHING = "`{}` says nothing that may be kept"


def create(vault: Vault, params: CreateTasksParams, look: Look) -> WrittenTasks:
    """Create a task or a plan, all or nothing; a key that its author has used before changes nothing."""
    made = _make(vault, params, look)
    with vault.transaction():
        known = _written_before(vault, made[0])
        if known:
            return WrittenTasks(outcome="duplicate", tasks=show(vault, known))
        _check_needs(vault, made, [f"tasks[{place}].dependsOn" for place in range(len(made))])
        vault.write([vault.tasks.put(one.task_id, one) for one in made])
    warnings = [warning for task in made for warning in _warnings(task, look)]
    warnings += _strangers(vault, made)
    return WrittenTasks(outcome="created", tasks=show(vault, made), warnings=tuple(warnings))


def update(vault: Vault, params: UpdateTaskParams, look: Look) -> WrittenTasks:
    """Change a task, unless somebody else has changed it since it was read."""
    said = _said(params, look)
    is_shown = _is_shown(vault, params, look)
    with vault.transaction():
        task = vault.tasks.get(params.task_id)
        if task is None:
            raise NotFoundError(f"no task {params.task_id} in this project", field="taskId")
        _check_expected(task, params)
        changed = _change(vault, task, params, said)
        if is_shown and changed.done_when == task.done_when:
            changed = msgspec.structs.replace(changed, held_before=True)
        if changed is task:
            return WrittenTasks(outcome="unchanged", tasks=show(vault, [task]))
        if params.depends_on is not None:
            _check_needs(vault, [changed], ["dependsOn"])
        vault.write([vault.tasks.put(task.task_id, changed)])
    # Older versions took regular expressions: whoever touches such a task learns that it waits for nothing.
    is_doubtful = params.done_when or conditions.expressions(changed.done_when or "")
    warnings = [*_warnings(changed, look)] if is_doubtful else []
    warnings += _strangers(vault, [changed] if params.assigned_agent_id else [])
    return WrittenTasks(outcome="updated", tasks=show(vault, [changed]), warnings=tuple(warnings))


def list_tasks(vault: Vault, params: ListTasksParams) -> TaskPage:
    """List the tasks that pass all filters, the most urgent first."""
    some = [one for one in vault.tasks.all() if _passes(one, params)]
    if params.text.strip():
        some = [one for one in some if _says(one, params.text)]
    page = ordered(vault, some)[params.offset : params.offset + params.limit]
    seeming = suggestions(vault, page) if params.suggest else {}
    return TaskPage(tasks=show(vault, page, seeming), total=len(some))


def show(
    vault: Vault, some: Iterable[Task], seeming: Mapping[str, str] | None = None
) -> tuple[ShownTask, ...]:
    """Return tasks for a client, with their open dependencies and links."""
    chosen = [cleaning.clean_record(one) for one in some]
    known = vault.tasks.by_id()
    links = sharing_links.neighbours(vault, [("task", one.task_id) for one in chosen])
    return tuple(
        ShownTask(
            **msgspec.structs.asdict(one),
            assigned_label=_label(vault, one),
            needs=tuple(_need(known[key]) for key in one.depends_on if key in known),
            waiting_for=tasks.waiting_for(one, known),
            suggestion=(seeming or {}).get(one.task_id),
            links=links["task", one.task_id],
        )
        for one in chosen
    )


def mend(vault: Vault) -> Iterator[Op]:
    """Return the changes that drop dependencies on deleted tasks."""
    known = vault.tasks.by_id()
    for task in known.values():
        kept = tuple(key for key in task.depends_on if key in known)
        if kept != task.depends_on:
            yield vault.tasks.put(task.task_id, msgspec.structs.replace(task, depends_on=kept))


def _label(vault: Vault, task: Task) -> str:
    name = task.assigned_agent_id
    return "" if name == ANYONE else agents.call(vault, name)


def _assignee(name: str) -> str:
    """Return the assignee of a task; anyone where nobody is named."""
    known = agents.named(name) or ANYONE
    return ANYONE if known.casefold() == ANYONE else known


def _need(task: Task) -> NeededTask:
    return NeededTask(task_id=task.task_id, title=cleaning.clean(task.title), status=task.status)


def _make(vault: Vault, params: CreateTasksParams, look: Look) -> list[Task]:
    ids = [vault.ids.next() for _ in params.tasks]
    now, author = vault.clock(), agents.author(params.agent_id)
    made = []
    for place, new in enumerate(params.tasks):
        done_when = _text(new.done_when or "", tasks_module.DONE_WHEN) or None
        note = new.note and _told(f"tasks[{place}].note", new.note, tasks_module.NOTE)
        task = Task(
            task_id=ids[place],
            project_id=vault.project_id,
            title=_told(f"tasks[{place}].title", new.title, tasks_module.TITLE),
            description=_text(new.description, tasks_module.DESCRIPTION),
            status=new.status,
            priority=new.priority,
            assigned_agent_id=_assignee(new.assigned_agent_id),
            created_by=author,
            updated_by=author,
            done_when=done_when,
            depends_on=_needs(new, ids, place),
            notes=(TaskNote(at=now, agent_id=author, text=note),) if note else (),
            idempotency_key=cleaning.clean_key(params.idempotency_key),
            held_before=_held(done_when, look),
            created_at=now,
            updated_at=now,
            completed_at=now if new.status == "done" else None,
        )
        made.append(task)
    return made


def _written_before(vault: Vault, made: Task) -> list[Task]:
    """Return the tasks an author has created under the same key; other authors may use it too."""
    key = made.idempotency_key
    found = vault.tasks.find("idempotencyKey", key) if key else []
    own = [one for one in found if one.created_by == made.created_by]
    return sorted(own, key=lambda one: one.task_id)


def _needs(new: NewTask, ids: Sequence[str], place: int) -> tuple[str, ...]:
    """Return the tasks that must be done first, including those of the same call."""
    for number, one in enumerate(new.depends_on):
        if isinstance(one, int) and one >= len(ids):
            field = f"tasks[{place}].dependsOn[{number}]"
            raise InvalidParamsError(
                f"`{field}` is {one}, and the call has {len(ids)} tasks, counted from 0",
                field=field,
            )
    return tuple(dict.fromkeys(ids[one] if isinstance(one, int) else one for one in new.depends_on))


def _check_needs(vault: Vault, written: Sequence[Task], fields: Sequence[str]) -> None:
    """Raise for a dependency that does not exist, or a cycle."""
    needs = {key: task.depends_on for key, task in vault.tasks.by_id().items()}
    needs |= {task.task_id: task.depends_on for task in written}
    for task, field in zip(written, fields, strict=True):
        missing = [key for key in task.depends_on if key not in needs]
        if missing:
            raise NotFoundError(f"`{field}`: no task {missing[0]} in this project", field=field)
    for task, field in zip(written, fields, strict=True):
        cycle = tasks.find_cycle(needs, [task.task_id])
        if cycle:
            around = " → ".join((*cycle, cycle[0]))
            raise InvalidParamsError(
                f"`{field}` makes tasks wait for themselves: {around}", field=field
            )


def _check_expected(task: Task, params: UpdateTaskParams) -> None:
    expected = params.expected_updated_at
    if expected is not None and expected != task.updated_at:
        current = msgspec.to_builtins(task.updated_at)
        raise ConflictError(
            f"task {task.task_id} was changed at {current}, after what was read; read it again",
            field="expectedUpdatedAt",
            current=current,
        )


def _is_shown(vault: Vault, params: UpdateTaskParams, look: Look) -> bool:
    task = vault.tasks.get(params.task_id)
    is_taken_up = task is not None and task.status == "done" != (params.status or "done")
    return task is not None and is_taken_up and holds(vault, task, look)


def _said(params: UpdateTaskParams, look: Look) -> dict[str, object]:
    """Return the new values of a task, without private or secret text."""
    said: dict[str, object] = {}
    if params.title is not None:
        said["title"] = _told("title", params.title, tasks_module.TITLE)
    if params.description is not None:
        said["description"] = _text(params.description, tasks_module.DESCRIPTION)
    if params.done_when is not None:
        said["done_when"] = _text(params.done_when, tasks_module.DONE_WHEN) or None
        said["held_before"] = _held(params.done_when, look)
    if params.priority is not None:
        said["priority"] = params.priority
    if params.assigned_agent_id is not None:
        said["assigned_agent_id"] = _assignee(params.assigned_agent_id)
    if params.depends_on is not None:
        said["depends_on"] = tuple(dict.fromkeys(params.depends_on))
    return said


def _change(vault: Vault, task: Task, params: UpdateTaskParams, said: Mapping[str, object]) -> Task:
    """Return the changed task; the same object where nothing differs."""
    now = tasks.later(task, vault.clock())
    changed = msgspec.structs.replace(task, **said)
    if changed.done_when == task.done_when:
        changed = msgspec.structs.replace(changed, held_before=task.held_before)
    changed = tasks.moved(changed, params.status or task.status, now)
    if params.evidence is not None:
        evidence = _text(params.evidence, tasks_module.NOTE) or None
        changed = msgspec.structs.replace(changed, evidence=evidence)
    if params.not_done:
        changed = msgspec.structs.replace(changed, doubted_at=vault.clock())
    if params.note is not None:
        changed = msgspec.structs.replace(changed, notes=_noted(task, params, vault))
    if changed == task:
        return task
    return msgspec.structs.replace(
        changed, updated_at=now, updated_by=agents.author(params.agent_id)
    )


def _noted(task: Task, params: UpdateTaskParams, vault: Vault) -> tuple[TaskNote, ...]:
    if len(task.notes) >= tasks_module.MOST_NOTES:
        raise ConflictError(
            f"task {task.task_id} has {len(task.notes)} notes, and {tasks_module.MOST_NOTES} is the most",
            field="note",
        )
    text = _told("note", params.note or "", tasks_module.NOTE)
    return (
        *task.notes,
        TaskNote(at=vault.clock(), agent_id=agents.author(params.agent_id), text=text),
    )


def _held(done_when: str | None, look: Look) -> bool:
    return condition_lint.holds(done_when or "", _facts(look)) is not None


def _warnings(task: Task, look: Look) -> Iterator[TaskWarning]:
    for doubt in condition_lint.tell(task.done_when or "", _facts(look), look.names_in):
        yield TaskWarning(task_id=task.task_id, text=cleaning.clean(doubt))


def _strangers(vault: Vault, some: Iterable[Task]) -> Iterator[TaskWarning]:
    named = [one for one in some if one.assigned_agent_id not in (ANYONE, USER)]
    meant = agents.find_alike(vault, {one.assigned_agent_id for one in named})
    for task in named:
        name = task.assigned_agent_id
        if name in meant:
            text = f"no agent “{name}” was here yet, but “{meant[name]}”: is that what is meant?"
            yield TaskWarning(task_id=task.task_id, text=cleaning.clean(text))


def _facts(look: Look) -> Facts:
    """Return the facts for a new condition, for which no commit was made yet."""
    return Facts(path_exists=look.path_exists, symbol_exists=look.symbol_exists)


def _passes(task: Task, params: ListTasksParams) -> bool:
    wanted = params.assigned_agent_id and _assignee(params.assigned_agent_id)
    whose = {wanted, ANYONE} if params.include_any else {wanted}
    return (
        (not params.statuses or task.status in params.statuses)
        and (wanted is None or task.assigned_agent_id in whose)
        and (params.created_by is None or task.created_by == agents.author(params.created_by))
        and (params.priority is None or task.priority == params.priority)
    )


def _says(task: Task, wanted: str) -> bool:
    return tasks.says(task, wanted) and tasks.says(cleaning.clean_record(task), wanted)


def _told(field: str, text: str, limit: int) -> str:
    """Remove private and secret text; raise if nothing is left."""
    told = _text(text, limit)
    if not told.strip():
        raise InvalidParamsError(_NOTHING.format(field), field=field)
    return told


def _text(text: str, limit: int) -> str:
    """Remove private and secret text; placeholders may lengthen it, so it is cut at its limit."""
    return cleaning.clean(text)[:limit]
