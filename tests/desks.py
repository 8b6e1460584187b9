"""A desk: one repository with its memory, as an application serves it, at a clock that stands still."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from protocol.documents import Document
from protocol.memories import Memory
from protocol.messages import Message
from protocol.tasks import Task
from protocol.values import Record
from sidecar.app import Application
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.collection import Collection
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from tests.support import MINUTE, FixedClock, Repository

DECISION = "Use advisory locks instead of Redis because we run no Redis in production"
SUBJECTS = (
    "Invoices are numbered per year without gaps",
    "The nightly backup goes to the second datacentre",
    "Passwords are hashed with argon2",
    "Currency amounts are integers of cents",
    "The mobile client speaks protobuf",
    "Feature flags live in a table called switches",
    "Translations come from Weblate every Monday",
    "Avatars are scaled by a worker in Rust",
    "The search index is rebuilt after midnight",
    "Webhooks are retried seven times",
    "Sessions of users expire after a fortnight",
    "Charts are drawn on the server as SVG",
)
"""Things to know that have nothing in common."""


class Desk:
    """An application on one repository, and short words for what is done with it."""

    def __init__(self, home: Home, repository: Repository, clock: FixedClock) -> None:
        self.home, self.repository, self.clock = home, repository, clock
        self.app = Application(home, here=repository.path, source="vscode")

    @property
    def vault(self) -> Vault:
        return self.app.vault(None)

    def ask(self, method: str, **params: Any) -> Any:
        """Ask as a client does, and read the answer as one."""
        answer = self.app.answer(1, f"threadline/{method}", params)
        assert answer.error is msgspec.UNSET, answer.error
        return json.loads(bytes(answer.result))  # type: ignore[arg-type]  # it is there

    def refused(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Ask for something that is refused; give the failure."""
        told = json.loads(msgspec.json.encode(self.app.answer(1, f"threadline/{method}", params)))
        found: Mapping[str, Any] = told["error"]
        return found

    def start(self, agent: str = "claude-code", **params: Any) -> Any:
        return self.ask("context/start", agentId=agent, **params)

    def look(self, agent: str = "claude-code", **params: Any) -> Any:
        """See what a start would tell."""
        return self.start(agent, preview=True, **params)

    def remember(self, title: str, kind: str = "fact", **more: Any) -> str:
        """Write a memory without comparing it with others; give its id."""
        given = {"title": title, "content": title, "type": kind, "dedup": False} | more
        written = self.ask("memories/write", **given)
        return str(written["memory"]["memoryId"])

    def commit(self, subject: str, name: str = "a.txt", **more: Any) -> str:
        """Commit a file after ten minutes, and let it be recorded."""
        self.clock.pass_(10 * MINUTE)
        if more:
            self.repository.write(name, more["content"])
            self.repository.git("add", "--all")
            self.repository.git("commit", "--quiet", "-m", subject, at=self.clock.now)
            sha = self.repository.git("rev-parse", "HEAD")
        else:
            sha = self.repository.commit(subject, at=self.clock.now, name=name)
        self.ask("scan")
        return sha

    def enrich(self) -> None:
        """Make memory of the latest session, and agree with all that is proposed."""
        job = self.ask("enrichment/start")
        assert job["status"] == "completed"
        for kind in self.ask("review/list")["kinds"]:
            self.ask("review/decide", kind=kind, verdict="accept")

    def put(self, shelf: Collection[Any], key: str, record: Record) -> None:
        """Keep a record for which there is no request."""
        with self.vault.transaction():
            self.vault.write([shelf.put(key, record)])

    def change(self, memory_id: str, **fields: Any) -> None:
        """Keep a memory with other fields, such as no request can set."""
        memory = self.vault.memories.get(memory_id)
        assert memory is not None
        self.put(self.vault.memories, memory_id, msgspec.structs.replace(memory, **fields))

    def task(self, title: str, **more: Any) -> str:
        fields = self._dated() | {"task_id": self.vault.ids.next(), "title": title} | more
        made = Task(**fields)
        self.put(self.vault.tasks, made.task_id, made)
        return made.task_id

    def message(self, content: str, target: str = "claude-code", **more: Any) -> str:
        made = Message(
            message_id=self.vault.ids.next(),
            project_id=self.vault.project_id,
            target_id=target,
            sender_id="cursor",
            content=content,
            created_at=self.clock.now,
        )
        made = msgspec.structs.replace(made, **more)
        self.put(self.vault.messages, made.message_id, made)
        return made.message_id

    def document(self, name: str, content: str, **more: Any) -> None:
        fields = self._dated() | {"name": name, "content": content} | more
        self.put(self.vault.documents, name, Document(**fields))

    def episode(self, title: str, at: datetime, **more: Any) -> str:
        """Keep what a session was about."""
        key = self.remember(title, "episodic")
        self.change(key, occurred_at=at, **more)
        return key

    def second(self) -> "Desk":
        """Sit down at the same memory in another process."""
        home = Home(self.home.folder, Ids(self.clock), Rule())
        return Desk(home, self.repository, self.clock)

    def close(self) -> None:
        self.app.close()

    def _dated(self) -> dict[str, Any]:
        now = self.clock.now
        return {"project_id": self.vault.project_id, "created_at": now, "updated_at": now}


def titles(items: Any) -> list[str]:
    return [item["title"] for item in items]


def sizes(context: Any) -> tuple[int, ...]:
    """Count the items of the heart of an answer: episodic, facts, tasks, constraints."""
    heart = context["sessionContext"]
    names = ("recentSessions", "importantFacts", "activeTasks", "constraints")
    return tuple(len(heart[name]) for name in names)


def fill(desk: Desk, number: int = 12) -> None:
    """Know so many things of each kind, each told by somebody else."""
    for at, subject in enumerate(SUBJECTS[:number]):
        desk.remember(subject, "fact", agentId=f"agent-{at}")
        desk.remember(f"Never forget: {subject.lower()}", "constraint", agentId=f"clerk-{at}")
        desk.task(f"Write down that {subject.lower()}")
        desk.episode(f"Worked on this: {subject.lower()}", desk.clock.now, agent_id=f"poet-{at}")


def memory(desk: Desk, memory_id: str) -> Memory:
    found = desk.vault.memories.get(memory_id)
    assert found is not None
    return found


def elsewhere(path: Path, desk: Desk) -> Desk:
    """Sit down in another repository of the same home."""
    other = Repository.create(path)
    other.commit("begin elsewhere", at=desk.clock.now)
    return Desk(desk.home, other, desk.clock)
