"""A team: what agents and people tell each other, who they are, and who did what."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from protocol.methods import METHODS
from sidecar.storage.vault import Vault
from sidecar.transports.mcp.tools import TOOLS
from sidecar.upkeep import tidy
from tests.desks import Desk
from tests.mcps import Assistant, Host
from tests.support import HOUR, MINUTE
from tests.upkeep.test_exchange import READING, TELLING, UNSIGNED, contents, read, send, thread

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)
DECISION = "We decided to count herons at dawn because they sleep at noon."


def told(desk: Desk, sender: str = "claude-code") -> Any:
    """Read what somebody has sent, with who has it."""
    return desk.ask("messages/read", agentId=sender, sent=True, status="all", limit=100)["messages"]


def waits(desk: Desk, agent: str) -> list[str]:
    return read(desk, agent, preview=True, limit=100)


def moment(desk: Desk) -> str:
    return desk.clock.now.isoformat().replace("+00:00", "Z")


def ack(desk: Desk, message_id: str, agent: str) -> Any:
    desk.clock.pass_(MINUTE)
    return desk.ask("messages/ack", messageId=message_id, agentId=agent)


def test_a_message_is_kept_per_recipient_seen_by_its_sender_threaded_and_vanishes(
    desk: Desk,
) -> None:
    """F8."""
    to_all = send(desk, "We release", "*")
    for agent in ("cursor", "windsurf"):
        assert waits(desk, agent) == ["We release"]
    assert (told(desk)[0]["status"], told(desk)[0]["handlings"]) == ("pending", {})
    desk.clock.pass_(MINUTE)
    (got,) = desk.ask("messages/read", agentId="cursor")["messages"]
    read_at = {"deliveredAt": moment(desk), "acknowledgedAt": None}
    assert (got["status"], got["handlings"]) == ("delivered", {"cursor": read_at})
    assert (waits(desk, "cursor"), waits(desk, "windsurf")) == ([], ["We release"])
    assert told(desk)[0]["handlings"] == {"cursor": read_at}
    done = ack(desk, to_all, "cursor")
    dealt_with = read_at | {"acknowledgedAt": moment(desk)}
    assert (done["status"], done["handlings"]) == ("acknowledged", {"cursor": dealt_with})
    assert ack(desk, to_all, "cursor")["handlings"] == {"cursor": dealt_with}
    assert waits(desk, "windsurf") == ["We release"]
    desk.clock.pass_(MINUTE)
    desk.start("windsurf", sessionKey="w1")
    later = {"deliveredAt": moment(desk), "acknowledgedAt": None}
    assert told(desk)[0]["handlings"] == {"cursor": dealt_with, "windsurf": later}
    assert desk.refused("messages/ack", messageId=to_all, agentId="claude-code")
    check_one_recipient(desk)
    check_threads(desk)
    check_vanishing(desk)


def check_one_recipient(desk: Desk) -> None:
    """See that what is for one reaches no other, and can be dealt with before it is read."""
    key = send(desk, "Only you")
    assert (waits(desk, "windsurf"), waits(desk, "cursor")) == ([], ["Only you"])
    assert desk.refused("messages/ack", messageId=key, agentId="windsurf")["data"]["field"]
    handled = ack(desk, key, "cursor")["handlings"]["cursor"]
    assert handled == {"deliveredAt": moment(desk), "acknowledgedAt": moment(desk)}
    assert waits(desk, "cursor") == []


def check_threads(desk: Desk) -> None:
    """Find a thread from any of its messages, before and after one in its midst has expired and is swept."""
    first = send(desk, "May I?")
    second = send(desk, "What?", "claude-code", "cursor", parentMessageId=first, expiresInDays=1)
    third = send(desk, "Release", parentMessageId=second)
    fourth = send(desk, "On Friday?", "claude-code", "cursor", parentMessageId=third)
    aside = send(desk, "Me too", "cursor", "windsurf", parentMessageId=second)
    keys = (first, second, third, fourth, aside)
    for key in keys:
        assert thread(desk, key) == ["May I?", "What?", "Release", "On Friday?", "Me too"]
    left = ["May I?", "Release", "On Friday?", "Me too"]
    desk.clock.pass_(2 * DAY)
    for key in keys:
        found = desk.ask("messages/thread", messageId=key)
        assert (contents(found["messages"]), found["missing"]) == (left, [second])
    desk.clock.pass_(8 * DAY)
    tidy.tidy(desk.vault)
    assert second not in desk.vault.messages
    for key in keys:
        assert thread(desk, key) == left
    late = send(desk, "Still?", parentMessageId=second)
    for key in (*keys, late):
        assert thread(desk, key) == [*left, "Still?"]
    whole = desk.ask("messages/read", agentId="cursor", threadOf=late)
    assert contents(whole["messages"]) == [*left, "Still?"]
    assert waits(desk, "cursor") == []


def check_vanishing(desk: Desk) -> None:
    """See that nobody gets what has expired, on whichever way, and a latecomer what has not."""
    brief = send(desk, "Lunch", "*", expiresInDays=0.1)
    had = send(desk, "Tea", "*", expiresInDays=0.1)
    send(desk, "For good", "*")
    assert "Tea" in read(desk, "cursor")
    assert waits(desk, "late") == ["We release", "Lunch", "Tea", "For good"]
    desk.clock.pass_(3 * HOUR)
    assert waits(desk, "late") == ["We release", "For good"]
    assert {"Lunch", "Tea"}.isdisjoint(contents(told(desk)))
    assert {"Lunch", "Tea"}.isdisjoint(read(desk, "cursor", status="all", limit=100))
    assert desk.refused("messages/ack", messageId=brief, agentId="late")["data"]["field"]
    assert ack(desk, had, "cursor")["status"] == "acknowledged"
    started = desk.start("late", sessionKey="l1")
    assert contents(started["pendingMessages"]) == ["We release", "For good"]
    saved = desk.ask("context/checkpoint", agentRunId="p", agentId="later", sessionSummary="Done")
    assert contents(saved["pendingMessages"]) == ["We release", "For good"]


Names = set[str | None]


def events(vault: Vault) -> Names:
    sessions = [one.session_id for one in vault.sessions.timeline()]
    return {event.agent_id for key in sessions for event in vault.sessions.events(key)}


def handlers(vault: Vault, *, is_done: bool) -> Names:
    handled = (pair for one in vault.messages.all() for pair in one.handlings.items())
    return {name for name, one in handled if not is_done or one.acknowledged_at is not None}


def conversations(vault: Vault) -> Names:
    return {one.agent_id for one in vault.conversations.all()}


def checkpoints(vault: Vault) -> Names:
    return {one.agent_id for one in vault.checkpoints.all()}


WRITES: dict[str, tuple[dict[str, Any], Callable[[Vault], Names]]] = {
    "session_start": ({}, conversations),
    "session_track": ({"prompt": DECISION}, conversations),
    "context_checkpoint": (
        {"memories": [{"content": "Herons sleep at noon"}], "sessionSummary": "Counted them"},
        lambda vault: (
            checkpoints(vault)
            & {one.agent_id for one in vault.memories.all() if one.type == "fact"}
            & {one.agent_id for one in vault.memories.all() if one.type == "episodic"}
        ),
    ),
    "session_digest": ({"digest": "I count herons"}, checkpoints),
    "ingest_turn": (
        {"role": "assistant", "content": DECISION},
        lambda vault: {one.agent_id for one in vault.conversations.all()},
    ),
    "save_session": ({"summary": "We counted the herons of the marsh"}, events),
    "write_memory": (
        {"type": "fact", "title": "Herons are blue", "content": "All herons here are blue"},
        lambda vault: {one.agent_id for one in vault.memories.all()},
    ),
    "update_memory": (
        {"memoryId": "memory", "importance": 5},
        lambda vault: {one.updated_by for one in vault.memories.all()},
    ),
    "forget_memory": (
        {"memoryIds": ["gone"]},
        lambda vault: {one.updated_by for one in vault.memories.all()},
    ),
    "add_link": (
        {"source": {"kind": "file", "id": "a.py"}, "target": {"kind": "document", "id": "soul"}},
        lambda vault: {one.agent_id for one in vault.links.all()},
    ),
    "create_task": (
        {"title": "Count again"},
        lambda vault: {one.created_by for one in vault.tasks.all()},
    ),
    "update_task": (
        {"taskId": "task", "note": "Five so far"},
        lambda vault: (
            {one.updated_by for one in vault.tasks.all()}
            & {note.agent_id for one in vault.tasks.all() for note in one.notes}
        ),
    ),
    "write_document": (
        {"name": "birds", "content": "# Herons"},
        lambda vault: {one.agent_id for one in vault.documents.all()},
    ),
    "send_message": (
        {"targetId": "user", "content": "Five herons"},
        lambda vault: {one.sender_id for one in vault.messages.all()},
    ),
    "read_messages": ({}, lambda vault: handlers(vault, is_done=False)),
    "ack_message": ({"messageId": "message"}, lambda vault: handlers(vault, is_done=True)),
    "generate_memory": ({}, lambda vault: {one.agent_id for one in vault.jobs.all()}),
}
"""What each tool that writes is given, and whose names then stand in what it wrote."""
BY_HAND = {
    "threadline/context/feedback",
    "threadline/context/retract",
    "threadline/context/end",
    "threadline/context/render",
    "threadline/memories/unlink",
}
"""What is written without a tool of its own."""


def test_agents_are_listed_and_every_write_carries_its_own(desk: Desk) -> None:
    """F10."""
    check_list(desk)
    assert {one.name for one in TOOLS if one.effect != "reads"} == WRITES.keys()
    (task,) = desk.ask("tasks/create", tasks=[{"title": "Begin"}], agentId="planner")["tasks"]
    ids = {
        "memory": desk.remember("Somebody else said so", agentId="scribe"),
        "gone": desk.remember("It rains on Mondays", agentId="scribe"),
        "task": task["taskId"],
        "message": send(desk, "Hear, all of you", "*", "herald"),
    }
    for tool, (given, names) in WRITES.items():
        arguments = {key: _named(value, ids) for key, value in given.items()}
        assert tool not in names(desk.vault)
        use(desk, tool, **arguments)
        assert tool in names(desk.vault), tool
    check_by_hand(desk, ids["memory"])
    listed = desk.ask("agents/list", limit=100)["agents"]
    # All that this one has left was a link, which is gone.
    left = WRITES.keys() - {"add_link"}
    assert {one["agentId"] for one in listed} >= {*left, "critic", "ender", "reader", "herald"}
    writing = {one.name for one in METHODS if one.name.rpartition("/")[2] not in READING | TELLING}
    covered = {one.method for one in TOOLS if one.name in WRITES} | BY_HAND
    assert writing - UNSIGNED.keys() <= covered


def _named(value: Any, ids: dict[str, str]) -> Any:
    """Put the ids of things in the place of their names."""
    if isinstance(value, list):
        return [_named(one, ids) for one in value]
    return ids.get(str(value), value)


def use(desk: Desk, tool: str, **arguments: Any) -> Any:
    """Use a tool as an agent that is called like it."""

    async def story(one: Assistant) -> Any:
        return await one.use(tool, **arguments)

    return Host(name=tool).run(desk.app, story)


def check_by_hand(desk: Desk, memory_id: str) -> None:
    """See that what has no tool carries its agent, too; a person's own is nobody's."""
    desk.ask("context/feedback", memoryId=memory_id, verdict="useful", agentId="critic")
    desk.ask("context/feedback", memoryId=memory_id, verdict="useful", agentId="user")
    assert {one.agent_id for one in desk.vault.feedback.all()} == {"critic", None}
    desk.ask("context/retract", memoryId=memory_id, agentId="user")
    assert {one.agent_id for one in desk.vault.feedback.all()} == {"critic"}
    desk.ask("context/track", sessionKey="end", agentId="ender", prompt=DECISION)
    desk.ask("context/end", sessionKey="end", agentId="ender")
    assert "ender" in checkpoints(desk.vault)
    desk.ask("context/render", sessionKey="render", agentId="reader", host="cursor")
    assert "reader" in conversations(desk.vault)
    (link,) = desk.vault.links.all()
    desk.ask("memories/unlink", linkId=link.link_id, agentId="cutter")


def check_list(desk: Desk) -> None:
    """See who was here in the last seven days, ten of them, the latest first, and what they have left."""
    desk.start("long ago", sessionKey="o1")
    desk.clock.pass_(8 * DAY)
    for number in range(11):
        desk.clock.pass_(MINUTE)
        desk.start(f"agent-{number}", sessionKey=f"s{number}")
    desk.clock.pass_(MINUTE)
    run = {"agentRunId": "c1", "agentId": "claude-code", "harness": "claude-code"}
    desk.ask("context/checkpoint", **run, sessionSummary="Moved the login")
    desk.remember("The login has moved", agentId="claude-code")
    desk.ask("tasks/create", tasks=[{"title": "Go on", "assignedAgentId": "claude-code"}])
    send(desk, "Thanks", "claude-code", "agent-10")
    send(desk, "Welcome", "agent-10", "claude-code")
    desk.app.flush()

    told = use(desk, "list_active_agents")
    assert (len(told["agents"]), told["total"]) == (10, 12)
    seen = [one["lastSeenAt"] for one in told["agents"]]
    assert seen == sorted(seen, reverse=True)
    names = [one["agentId"] for one in told["agents"]]
    assert names == ["claude-code", "agent-10", *(f"agent-{number}" for number in range(9, 1, -1))]
    first = told["agents"][0]
    assert (first["label"], first["harness"]) == ("Claude Code", "claude-code")
    assert (first["lastSummary"], first["lastSeenAt"]) == ("Moved the login", moment(desk))
    counts = ("conversations", "memories", "openTasks", "pendingMessages", "sentMessages")
    assert [first[name] for name in counts] == [1, 2, 1, 1, 1]
    every = desk.ask("agents/list", daysBack=30, limit=100)["agents"]
    assert every[-1]["agentId"] == "long ago"
    assert desk.ask("agents/list", limit=3)["agents"] == every[:3]
