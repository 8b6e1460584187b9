"""Three days of work by two agents, with one handoff, in one memory."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from protocol.messages import Message
from protocol.tasks import Task
from sidecar.app import Application
from sidecar.storage.home import Home
from tests.support import HOUR, MINUTE, FixedClock, Repository

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)


class Team:
    """One repository, and whoever works in it."""

    def __init__(self, app: Application, repository: Repository, clock: FixedClock) -> None:
        self.app, self.repository, self.clock = app, repository, clock

    def ask(self, method: str, **params: Any) -> Any:
        return msgspec.json.decode(
            msgspec.json.encode(self.app.call(f"threadline/{method}", params))
        )

    def commit(self, subject: str, name: str) -> None:
        self.clock.pass_(10 * MINUTE)
        self.repository.commit(subject, at=self.clock.now, name=name)
        self.ask("scan")

    def start(self, agent: str, key: str, **more: Any) -> Any:
        return self.ask("context/start", agentId=agent, harness=agent, sessionKey=key, **more)


@pytest.fixture
def team(home: Home, repository: Repository, clock: FixedClock) -> Iterator[Team]:
    app = Application(home, here=repository.path, source="vscode")
    yield Team(app, repository, clock)
    app.close()


def titles(items: Any) -> list[str]:
    return [item["title"] for item in items]


def test_two_agents_hand_a_piece_of_work_on(team: Team) -> None:
    """Part of D2, D9, E1 and E3."""
    first_day(team)
    team.clock.pass_(DAY)
    second_day(team)
    team.clock.pass_(2 * HOUR)
    handoff(team)
    team.clock.pass_(22 * HOUR)
    third_day(team)


def first_day(team: Team) -> None:
    """Claude Code begins, decides, and leaves a task."""
    began = team.start("claude-code", "c1")
    assert began["isFirstConnection"]
    assert (began["changesSinceLastSession"], began["recovery"]) == (None, None)
    assert [document["name"] for document in began["documents"]] == ["soul"]
    assert began["introduction"]
    team.commit("feat: store invoices as PDF", "invoices.py")
    team.ask(
        "context/checkpoint",
        agentRunId="c1",
        agentId="claude-code",
        memories=[
            {
                "content": "Invoices are numbered per year, without gaps, because the tax office wants it",
                "memoryType": "constraint",
                "importance": 5,
            },
            {
                "content": "PDFs are rendered with WeasyPrint instead of a browser",
                "memoryType": "decision",
                "importance": 4,
            },
        ],
        sessionSummary="Invoices are stored as PDF. Left open: sending them by mail.",
    )
    ended = team.ask("context/end", sessionKey="c1", agentId="claude-code", harness="claude-code")
    assert ended["checkpoint"]["trigger"] == "session_end"


def second_day(team: Team) -> None:
    """Claude Code goes on, and hands the mailing over to Cursor."""
    began = team.start("claude-code", "c2", mode="full")
    assert not began["isFirstConnection"]
    context = began["sessionContext"]
    assert any("numbered per year" in title for title in titles(context["constraints"]))
    assert any("WeasyPrint" in title for title in titles(context["importantFacts"]))
    assert any("stored as PDF" in item["title"] for item in context["recentSessions"])
    # The day before is more than four hours ago: nothing is to be recovered.
    assert began["recovery"] is None
    team.commit("feat: queue outgoing mail", "mail.py")
    vault = team.app.vault(None)
    now = team.clock.now
    with vault.transaction():
        task = Task(
            task_id=vault.ids.next(),
            project_id=vault.project_id,
            title="Send invoices by mail",
            status="todo",
            priority=4,
            assigned_agent_id="cursor",
            created_by="claude-code",
            done_when="commit message matches: send invoices",
            created_at=now,
            updated_at=now,
        )
        note = Message(
            message_id=vault.ids.next(),
            project_id=vault.project_id,
            target_id="cursor",
            sender_id="claude-code",
            subject="Mailing is yours",
            content="The queue is in mail.py. Never send twice: the invoice number is the key.",
            category="request",
            priority=5,
            created_at=now,
        )
        vault.write(
            [vault.tasks.put(task.task_id, task), vault.messages.put(note.message_id, note)]
        )
    team.ask(
        "context/digest",
        sessionKey="c2",
        agentId="claude-code",
        harness="claude-code",
        digest="State: the queue works. Blocker: none. Next: Cursor sends invoices by mail.",
    )


def handoff(team: Team) -> None:
    """Cursor picks it up and finishes it."""
    began = team.start("cursor", "k1", mode="handoff")
    assert began["isFirstConnection"]
    (message,) = began["pendingMessages"]
    assert (message["senderId"], message["subject"]) == ("claude-code", "Mailing is yours")
    (task,) = [one for one in began["sessionContext"]["activeTasks"] if one.get("taskId")]
    assert (task["title"], task["status"], task["priority"]) == (
        "Send invoices by mail",
        "todo",
        4,
    )
    assert began["recovery"]["lineage"] == "path"
    assert "Cursor sends invoices by mail" in began["recovery"]["text"]
    assert [agent["label"] for agent in began["recentAgents"]] == ["Claude Code"]
    again = team.start("cursor", "k1", mode="handoff")
    assert again["pendingMessages"] == []
    team.commit("feat: send invoices by mail", "mail.py")


def third_day(team: Team) -> None:
    """Claude Code comes back and sees what happened."""
    back = team.start("claude-code", "c3")
    (done,) = back["tasksAutoCompleted"]
    assert done["title"] == "Send invoices by mail"
    changes = back["changesSinceLastSession"]
    assert (changes["commits"], changes["tasks"]) == (1, 1)
    assert any("send invoices by mail" in line for line in changes["highlights"])
    assert back["sessionContext"]["activeTasks"] == []
