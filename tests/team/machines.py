"""Machines: vaults of one project that are in the same team, each with a clock of its own."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from protocol.documents import Document
from protocol.memories import Memory
from protocol.messages import Message
from protocol.tasks import Task
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.team import merge, sync
from sidecar.storage.team.entries import Engine, Facts
from sidecar.storage.team.postgres import PostgresEngine
from sidecar.storage.team.replica import Replica, Team, read_team, write_team
from sidecar.storage.team.sync import Codec
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from tests.support import FixedClock

PROJECT = "0123456789abcdef0123"
Connect = Callable[[], Engine]


class Machine:
    """One machine of a team."""

    def __init__(self, folder: Path, connect: Connect, **chosen: Any) -> None:
        self.clock = FixedClock()
        self.codec: Codec = chosen.pop("codec", sync.PLAIN)
        self.vault = Vault(folder, PROJECT, Ids(self.clock), Rule())
        with self.vault.transaction():
            pass
        if read_team(folder) is None:
            team = Team(
                team_id="t", address="", project=PROJECT, is_approved=True, machine=folder.name
            )
            write_team(folder, msgspec.structs.replace(team, **chosen))
        self.replica.make()
        self.engine = connect()

    @property
    def replica(self) -> Replica:
        team = read_team(self.vault.folder)
        assert team is not None
        return Replica(self.vault, team)

    def sync(self) -> tuple[int, int]:
        return sync.sync(self.vault, self.replica, self.engine, self.codec)

    def pass_(self, moments: timedelta = timedelta(minutes=1)) -> None:
        self.clock.pass_(moments)

    def remember(self, title: str, **more: Any) -> Memory:
        """Write a decision."""
        now = self.clock()
        memory = Memory(
            memory_id=self.vault.ids.next(),
            project_id=PROJECT,
            **{"type": "decision", "title": title, "content": title} | more,
            occurred_at=now,
            created_at=now,
            updated_at=now,
        )
        self.vault.write([self.vault.memories.put(memory.memory_id, memory)])
        return memory

    def plan(self, title: str, **more: Any) -> Task:
        now = self.clock()
        task = Task(
            task_id=self.vault.ids.next(),
            project_id=PROJECT,
            title=title,
            created_at=now,
            updated_at=now,
            **more,
        )
        self.vault.write([self.vault.tasks.put(task.task_id, task)])
        return task

    def send(self, content: str) -> Message:
        message = Message(
            message_id=self.vault.ids.next(),
            project_id=PROJECT,
            target_id="*",
            sender_id="codex",
            content=content,
            created_at=self.clock(),
        )
        self.vault.write([self.vault.messages.put(message.message_id, message)])
        return message

    def document(self, name: str, content: str) -> None:
        now = self.clock()
        written = Document(
            name=name, project_id=PROJECT, content=content, created_at=now, updated_at=now
        )
        self.vault.write([self.vault.documents.put(name, written)])

    def edit(self, task_id: str, **changes: Any) -> None:
        self.pass_()
        task = self.vault.tasks.get(task_id)
        assert task is not None
        self.vault.write([self.vault.tasks.put(task_id, msgspec.structs.replace(task, **changes))])

    def export(self) -> bytes:
        return merge.export(self.replica.records())

    def shown(self) -> dict[str, Any]:
        """Give what the vault itself has of all that is shared."""
        names = ("memories", "tasks", "messages", "documents")
        return {name: dict(getattr(self.vault, name).by_id()) for name in names}

    def close(self) -> None:
        self.engine.close()
        self.vault.close()


def found(address: str) -> str:
    """Set a team up on a server; give the address of its members."""
    engine = PostgresEngine(address, PROJECT)
    try:
        return engine.found(Facts(team_id=secrets.token_hex(4)))
    finally:
        engine.close()


def converge(*machines: Machine) -> None:
    """Let everybody hear everything, twice round: what came last must reach the first, too."""
    for machine in (*machines, *machines):
        machine.sync()
