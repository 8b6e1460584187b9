"""Agents: who was here lately, by the names that people use."""

from datetime import datetime, timedelta

import pytest

from protocol.contexts import AgentItem
from protocol.conversations import Agent, ListAgentsParams
from protocol.events import NewEvent
from protocol.messages import SendParams
from protocol.methods import CloseSessionParams, SessionParams
from protocol.tasks import CreateTasksParams, NewTask
from sidecar.capture import record, timeline
from sidecar.sharing import agents, messages
from sidecar.storage.vault import Vault
from sidecar.tasks import plan as tasks_plan
from sidecar.upkeep import maintenance
from tests.memory.test_remember import write
from tests.support import HOUR, NOON
from tests.tasks.test_open_tasks import NOTHING

DAY = timedelta(days=1)


def seen(vault: Vault, agent_id: str, at: datetime, summary: str | None = None) -> None:
    agent = Agent(
        agent_id=agent_id,
        project_id=vault.project_id,
        label=agents.label(agent_id),
        first_seen_at=at,
        last_seen_at=at,
        last_summary=summary,
    )
    with vault.transaction():
        vault.write([vault.agents.put(agent_id, agent)])


def test_the_latest_agents_are_named_but_not_who_asks(vault: Vault) -> None:
    """Part of D2 and F10."""
    seen(vault, "claude-code", NOON - HOUR, "Moved the\nlogin. " + "word " * 40)
    seen(vault, "cursor", NOON - 7 * DAY)
    seen(vault, "old", NOON - 7 * DAY - HOUR)
    seen(vault, "me", NOON)
    first, second = agents.recent(vault, "me", NOON)
    assert second == AgentItem(agent_id="cursor", label="Cursor", last_seen_at=NOON - 7 * DAY)
    assert (first.agent_id, first.label) == ("claude-code", "Claude Code")
    assert first.last_summary is not None
    assert first.last_summary.startswith("Moved the login. word")
    assert len(first.last_summary) <= 120
    assert [one.agent_id for one in agents.recent(vault, "me", NOON, limit=1)] == ["claude-code"]
    assert len(agents.recent(vault, "me", NOON, days=8)) == 3


def test_no_more_than_five_are_named(vault: Vault) -> None:
    """Part of D2."""
    for number in range(7):
        seen(vault, f"agent {number}", NOON - number * HOUR)
    found = agents.recent(vault, "me", NOON)
    assert [one.agent_id for one in found] == [f"agent {number}" for number in range(5)]


@pytest.mark.parametrize(
    ("agent_id", "harness", "label"),
    [
        ("claude-code", None, "Claude Code"),
        ("Claude_Code", "cli", "Claude Code"),
        ("cursor", None, "Cursor"),
        ("windsurf", None, "Windsurf"),
        ("devin", None, "Devin"),
        ("copilot", None, "Copilot"),
        ("opencode", None, "OpenCode"),
        ("codex", None, "Codex"),
        ("antigravity", None, "Antigravity"),
        ("openclaw", None, "OpenClaw"),
        ("vscode", None, "VS Code"),
        ("nvim", None, "Neovim"),
        ("reviewer", "cursor", "reviewer"),
        ("my Bot 2", None, "my Bot 2"),
        (" ", "vscode", "VS Code"),
        (" ", "my host", "my host"),
    ],
)
def test_an_agent_is_called_as_people_call_it(
    agent_id: str, harness: str | None, label: str
) -> None:
    """Part of D2."""
    assert agents.label(agent_id, harness) == label


def listed(vault: Vault, days: int = 7, limit: int = 10) -> list[str]:
    params = ListAgentsParams(days_back=days, limit=limit)
    return [one.agent_id for one in agents.list_agents(vault, params).agents]


def test_agents_are_listed_with_what_they_have_left(vault: Vault) -> None:
    """Part of F10."""
    seen(vault, "claude-code", NOON - HOUR, "Moved the login")
    messages.send(vault, SendParams(target_id="claude-code", content="Thanks"), "cursor")
    messages.send(vault, SendParams(target_id="*", content="Hear"), "cursor")
    messages.send(vault, SendParams(target_id="claude-code", content="Hi"), "user")
    plan = (NewTask(title="Go on", assigned_agent_id="claude-code"),)
    tasks_plan.create(vault, CreateTasksParams(tasks=plan, agent_id="planner"), NOTHING)
    write(vault, "Herons are blue", agent_id="claude-code")
    found = agents.list_agents(vault, ListAgentsParams())
    assert (found.total, {one.agent_id for one in found.agents}) == (
        3,
        {"claude-code", "cursor", "planner"},
    )
    known = {one.agent_id: one for one in found.agents}
    claude, cursor = known["claude-code"], known["cursor"]
    assert (claude.label, claude.last_summary, claude.last_seen_at) == (
        "Claude Code",
        "Moved the login",
        NOON,
    )
    assert (claude.memories, claude.open_tasks, claude.pending_messages) == (1, 1, 3)
    assert (cursor.label, cursor.conversations, cursor.sent_messages) == ("Cursor", 0, 2)
    assert vault.agents.ids() == ["claude-code"]


def test_an_agent_that_only_reported_events_is_listed(vault: Vault) -> None:
    """Part of F10."""
    event = NewEvent(kind="capture", text="Counted herons", agent_id="counter")
    record.ingest(vault, [event], "test")
    assert listed(vault) == ["counter"]
    assert agents.is_known(vault, "counter")
    (session,) = vault.sessions.timeline()
    timeline.close_session(vault, CloseSessionParams())
    maintenance.compact(vault, SessionParams(session_id=session.session_id))
    assert listed(vault) == ["counter"]


def test_only_the_latest_agents_of_the_last_days_are_listed(vault: Vault) -> None:
    """Part of F10."""
    for number in range(12):
        seen(vault, f"agent {number}", NOON - number * DAY)
    assert listed(vault) == [f"agent {number}" for number in range(8)]
    assert listed(vault, days=30) == [f"agent {number}" for number in range(10)]
    assert listed(vault, days=30, limit=2) == ["agent 0", "agent 1"]
