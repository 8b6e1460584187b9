"""Handlers for tasks, messages, documents, links and agents."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

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
from protocol.projects import ProjectParams
from protocol.tasks import CreateTasksParams, UpdateTaskParams, WrittenTasks
from protocol.values import Record
from sidecar.sharing import agents, documents, links, messages
from sidecar.storage.vault import Vault
from sidecar.tasks import open_tasks, plan
from sidecar.tasks.open_tasks import Look


class Teamwork(Struct, frozen=True):
    """Serves the methods about what is shared."""

    vault: Callable[[str | None], Vault]
    """Opens the memory of the project that a request names."""
    look: Callable[[str | None], Look]
    """Looks at the working tree there."""
    source: Callable[[], str]
    """Tells who asks, where a request does not say it."""

    def serve(self, name: str, params: ProjectParams) -> Record:
        """Answer a request about what is shared."""
        if name in _SERVICES:
            return _SERVICES[name](self.vault(params.project), params)
        return _METHODS[name](self, params)

    def create(self, params: CreateTasksParams) -> WrittenTasks:
        """Write down tasks, held against the working tree."""
        return plan.create(self.vault(params.project), params, self.look(params.project))

    def update(self, params: UpdateTaskParams) -> WrittenTasks:
        """Change a task, held against the working tree."""
        return plan.update(self.vault(params.project), params, self.look(params.project))

    def complete(self, reference: str | None) -> None:
        """Complete the tasks that turn out to be done in a working tree."""
        open_tasks.complete_due(self.vault(reference), self.look(reference))

    def send(self, params: SendParams) -> SentMessage:
        """Send a message on somebody's behalf."""
        sender = self._name(params.sender_id, "senderId")
        return messages.send(self.vault(params.project), params, sender)

    def read(self, params: ReadMessagesParams) -> MessageList:
        """Read somebody's messages."""
        reader = self._name(params.agent_id, "agentId")
        return messages.read(self.vault(params.project), params, reader)

    def acknowledge(self, params: AckParams) -> ShownMessage:
        """Note that somebody has dealt with a message."""
        return messages.acknowledge(self.vault(params.project), params, self.source())

    def _name(self, name: str | None, field: str) -> str:
        """Say who asks; nobody is everybody."""
        plain = (name or "").strip()
        if plain == EVERYONE:
            raise InvalidParamsError(f"`{field}` is one agent, or `user`", field=field)
        return plain or self.source()


_SERVICES: dict[str, Callable[[Vault, Any], Record]] = {
    "threadline/tasks/list": plan.list_tasks,
    "threadline/messages/thread": messages.thread,
    "threadline/documents/list": documents.list_documents,
    "threadline/documents/read": documents.read,
    "threadline/documents/write": documents.write,
    "threadline/memories/link": links.link,
    "threadline/memories/unlink": links.unlink,
    "threadline/memories/graph": links.graph,
    "threadline/agents/list": agents.list_agents,
}
_METHODS: dict[str, Callable[[Teamwork, Any], Record]] = {
    "threadline/tasks/create": Teamwork.create,
    "threadline/tasks/update": Teamwork.update,
    "threadline/messages/send": Teamwork.send,
    "threadline/messages/read": Teamwork.read,
    "threadline/messages/ack": Teamwork.acknowledge,
}
SERVED = frozenset({*_SERVICES, *_METHODS})
