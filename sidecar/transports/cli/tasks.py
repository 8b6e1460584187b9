"""Commands about tasks: list them, write them down, change them."""

from argparse import Namespace

from protocol.errors import InvalidParamsError
from protocol.recall import MemoryPage
from protocol.tasks import ShownTask, TaskPage, WrittenTasks
from sidecar.app import Application
from sidecar.transports.cli import calls, finding, screens
from sidecar.transports.cli.screens import clean, console, local
from sidecar.transports.exits import Exit

_STATES = {
    "start": "in_progress",
    "done": "done",
    "block": "blocked",
    "todo": "todo",
    "backlog": "backlog",
}
_NONE = "none"
_OPEN = ("in_progress", "todo", "blocked", "backlog")


def tasks(app: Application, options: Namespace) -> Exit:
    """List tasks, or do something with one."""
    match options.action:
        case "list":
            return _list(app, options)
        case "show":
            return _show(app, options)
        case "add":
            return _written(_add(app, options), options)
        case _:
            return _written(_change(app, options), options)


def _list(app: Application, options: Namespace) -> Exit:
    params = {
        "project": options.project,
        "statuses": options.status or ([] if options.all else _OPEN),
        "assignedAgentId": options.agent,
        "createdBy": options.created_by,
        "priority": options.priority,
        "text": options.text or "",
        "suggest": True,
        "limit": options.limit,
        "offset": options.offset,
    }
    page = calls.call(app, "threadline/tasks/list", params, TaskPage)
    if options.json:
        print(calls.encode(page))
        return Exit.OK
    for task in page.tasks:
        _line(task)
    if not page.tasks:
        screens.say("nothing to do; `threadline tasks add TITLE` writes something down")
    elif page.total > len(page.tasks):
        console.print(f"[dim]{len(page.tasks)} of {page.total:,} tasks; --limit shows more[/]")
    _tell_found(app, options)
    return Exit.OK


def _tell_found(app: Application, options: Namespace) -> None:
    params = {"project": options.project, "types": ["task"], "limit": 1}
    found = calls.call(app, "threadline/memories/list", params, MemoryPage).total
    if found:
        hint = "`threadline search --type task` shows them, `threadline forget ID` ends one"
        screens.say(f"assistants are told of {found:,} more that commits left to do; {hint}")


def _show(app: Application, options: Namespace) -> Exit:
    wanted = _wanted(app, options)
    task = next(one for one in _every(app, options) if one.task_id == wanted)
    if options.json:
        print(calls.encode(task))
        return Exit.OK
    _line(task)
    if task.description:
        console.print(screens.indented(task.description), soft_wrap=True)
    facts = {
        "done when": task.done_when,
        "done": task.evidence,
        "waits for": ", ".join(one.title for one in task.needs if one.status != "done"),
        "written by": task.created_by or "you",
        "linked": ", ".join(f"{one.type} {one.kind} {one.title}" for one in task.links),
    }
    for name, value in facts.items():
        if value:
            console.print(f"  [dim]{name}:[/] {clean(value)}", soft_wrap=True)
    for note in task.notes:
        who = clean(note.agent_id or "you")
        console.print(f"  [dim]{local(note.at)} {who}:[/] {clean(note.text)}", soft_wrap=True)
    return Exit.OK


def _add(app: Application, options: Namespace) -> WrittenTasks:
    if not options.words:
        raise InvalidParamsError("say what is to be done: `threadline tasks add TITLE`")
    new = _texts(app, options) | {"title": " ".join(options.words)}
    if options.status:
        new["status"] = options.status[-1]
    if options.note is not None:
        new["note"] = options.note
    params = {"project": options.project, "tasks": [new]}
    return calls.call(app, "threadline/tasks/create", params, WrittenTasks)


def _change(app: Application, options: Namespace) -> WrittenTasks:
    params: dict[str, object] = {"project": options.project, "taskId": _wanted(app, options)}
    params |= _texts(app, options)
    rest = " ".join(options.words[1:])
    if options.title is not None:
        params["title"] = options.title
    if options.status:
        params["status"] = options.status[-1]
    if options.not_done:
        params["notDone"] = True
    if options.action in _STATES:
        params["status"] = _STATES[options.action]
    if note := options.note or (rest if options.action != "assign" else ""):
        params["note"] = note
    elif options.action == "note":
        raise InvalidParamsError("say what to note: `threadline tasks note ID TEXT`")
    if options.action == "assign":
        params["assignedAgentId"] = rest or "any"
    return calls.call(app, "threadline/tasks/update", params, WrittenTasks)


def _texts(app: Application, options: Namespace) -> dict[str, object]:
    given = {
        "description": options.description,
        "priority": options.priority,
        "assignedAgentId": options.assign,
        "doneWhen": options.done_when,
        "dependsOn": options.after and _needs(app, options),
    }
    return {name: value for name, value in given.items() if value is not None}


def _needs(app: Application, options: Namespace) -> list[str]:
    """Return the tasks to be done first; `none` stands for none, and is no id."""
    named = [one for one in options.after if one.lower() != _NONE]
    return [finding.identify(app, options, "tasks", one) for one in named]


def _wanted(app: Application, options: Namespace) -> str:
    if not options.words:
        raise InvalidParamsError(f"name a task: `threadline tasks {options.action} ID`")
    return finding.identify(app, options, "tasks", options.words[0])


def _every(app: Application, options: Namespace) -> list[ShownTask]:
    found: list[ShownTask] = []
    while True:
        params = {"project": options.project, "suggest": True, "limit": 200, "offset": len(found)}
        page = calls.call(app, "threadline/tasks/list", params, TaskPage)
        found += page.tasks
        if len(found) >= page.total or not page.tasks:
            return found


def _written(written: WrittenTasks, options: Namespace) -> Exit:
    if options.json:
        print(calls.encode(written))
        return Exit.OK
    for task in written.tasks:
        screens.say(f"{written.outcome}: {task.task_id} {task.title} ({_state(task)})")
    for warning in written.warnings:
        screens.say(f"mind: {warning.text}")
    return Exit.OK


def _line(task: ShownTask) -> None:
    whose = "" if task.assigned_agent_id == "any" else f", {task.assigned_agent_id}"
    facts = clean(f"{_state(task)}, priority {task.priority}{whose}")
    tail = task.task_id[-screens.TAIL :]
    console.print(f"[bold]{clean(task.title)}[/] [dim]({facts}, {tail})[/]", soft_wrap=True)
    if task.suggestion:
        ways = f"`tasks done {tail}`, or `tasks edit {tail} --not-done`"
        seems = f"  seems done: {clean(task.suggestion)} [dim]({ways})[/]"
        console.print(seems, soft_wrap=True)


def _state(task: ShownTask) -> str:
    state = task.status.replace("_", " ")
    return f"{state}, waiting" if task.waiting_for and task.status != "done" else state
