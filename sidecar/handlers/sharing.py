"""Handlers for tasks and messages."""

import os
from pathlib import Path

from protocol.errors import InvalidParamsError
from protocol.messages import (
    EVERYONE,
    AckParams,
    MessageList,
    ReadMessagesParams,
    SendParams,
    SentMessage,
    ShownMessage,
)
from protocol.tasks import CreateTasksParams, UpdateTaskParams, WrittenTasks
from sidecar.project import Projects
from sidecar.sharing import messages
from sidecar.tasks import checks, open_tasks, plan
from sidecar.tasks.open_tasks import Look


def create_tasks(projects: Projects, params: CreateTasksParams) -> WrittenTasks:
    """Write down tasks, held against the working tree."""
    look = _look(projects, params.project)
    return plan.create(projects.vault(params.project), params, look)


def update_task(projects: Projects, params: UpdateTaskParams) -> WrittenTasks:
    """Change a task, held against the working tree."""
    look = _look(projects, params.project)
    return plan.update(projects.vault(params.project), params, look)


def complete_tasks(projects: Projects, reference: str | None) -> None:
    """Complete the tasks that turn out to be done in a working tree."""
    open_tasks.complete_due(projects.vault(reference), _look(projects, reference))


def send(projects: Projects, params: SendParams) -> SentMessage:
    """Send a message on somebody's behalf."""
    sender = _name(projects, params.sender_id, "senderId")
    return messages.send(projects.vault(params.project), params, sender)


def read(projects: Projects, params: ReadMessagesParams) -> MessageList:
    """Read somebody's messages."""
    reader = _name(projects, params.agent_id, "agentId")
    return messages.read(projects.vault(params.project), params, reader)


def acknowledge(projects: Projects, params: AckParams) -> ShownMessage:
    """Note that somebody has dealt with a message."""
    return messages.acknowledge(projects.vault(params.project), params, projects.source)


def _look(projects: Projects, reference: str | None) -> Look:
    folder = projects.folder(reference)
    code = projects.code_at(folder)
    return checks.look(code.real_folder if code else Path(os.path.realpath(folder)), code)


def _name(projects: Projects, name: str | None, field: str) -> str:
    """Return who asks; nobody is everybody."""
    plain = (name or "").strip()
    if plain == EVERYONE:
        raise InvalidParamsError(f"`{field}` is one agent, or `user`", field=field)
    return plain or projects.source
