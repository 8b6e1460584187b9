"""Two agents share a project through a server each: handoff, broadcast, and the assignment of tasks."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.editors import Day, open_editor, wait_until_watched
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]
Pair = tuple["Agent", "Agent"]


class Agent(Day):
    """A client that works as an agent, and hears of what changes."""

    def prepare(self) -> None:
        self.changed_things: set[str] = set()
        hear = self.client.feature("threadline/didChange")
        hear(lambda change: self.changed_things.add(change["what"]))


@pytest_asyncio.fixture
async def pair(repository: Repository) -> AsyncIterator[Pair]:
    repository.commit("before")
    async with open_editor(Agent, repository) as first, open_editor(Agent, repository) as second:
        first.name, second.name = "claude-code", "cursor"
        # Who has looked at a project is told what changes in it from then on.
        await wait_until_watched(first)
        await wait_until_watched(second)
        yield first, second


async def started(agent: Agent, key: str) -> Any:
    return await agent.ask("threadline/context/start", agentId=agent.name, sessionKey=key)


async def heard(agent: Agent, what: str) -> bool:
    """Wait, not for ever, until an agent was told that something changed."""
    for _ in range(200):
        if what in agent.changed_things:
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_handoff_is_found_at_the_start_and_answered(pair: Pair) -> None:
    """Part of F7, F8 and F9."""
    first, second = pair
    kept = await first.ask(
        "threadline/memories/write",
        type="decision",
        title="Uploads are signed with SHA-256",
        content="Uploads are signed with SHA-256.",
        agentId=first.name,
    )
    sent = await first.ask(
        "threadline/messages/send",
        targetId=second.name,
        senderId=first.name,
        content="The uploads are signed. The dashboard is yours.",
        subject="Handoff",
        priority=4,
    )
    key = sent["message"]["messageId"]
    assert await heard(second, "messages")
    context = await started(second, "second-1")
    assert [one["messageId"] for one in context["pendingMessages"]] == [key]
    (memory,) = (await second.ask("threadline/memories/search", query="uploads signed"))["memories"]
    assert memory["memory"]["memoryId"] == kept["memory"]["memoryId"]
    await second.ask("threadline/messages/ack", messageId=key, agentId=second.name)
    await second.ask(
        "threadline/messages/send",
        targetId=first.name,
        senderId=second.name,
        content="Got it.",
        parentMessageId=key,
    )
    own = await first.ask("threadline/messages/read", agentId=first.name, sent=True, status="all")
    assert [one["status"] for one in own["messages"]] == ["acknowledged"]
    (answer,) = (await first.ask("threadline/messages/read", agentId=first.name))["messages"]
    thread = await first.ask("threadline/messages/thread", messageId=answer["messageId"])
    assert [one["content"] for one in thread["messages"]][1] == "Got it."
    again = await started(second, "second-2")
    assert again["pendingMessages"] == []


async def test_a_broadcast_reaches_all_also_who_comes_later(pair: Pair) -> None:
    """Part of F7, F8 and F9."""
    first, second = pair
    await first.ask(
        "threadline/messages/send",
        targetId="*",
        senderId=first.name,
        content="We release on Friday.",
        category="alert",
        priority=5,
    )
    for agent, expected in ((second, 1), (first, 0)):
        context = await started(agent, f"{agent.name}-1")
        assert len(context["pendingMessages"]) == expected
    late = await first.ask("threadline/context/start", agentId="windsurf", sessionKey="late")
    assert [one["content"] for one in late["pendingMessages"]] == ["We release on Friday."]
    own = await first.ask("threadline/messages/read", agentId=first.name, sent=True, status="all")
    assert set(own["messages"][0]["handlings"]) == {second.name, "windsurf"}


async def test_readers_in_two_processes_get_each_message_once(pair: Pair) -> None:
    """Part of F8 and H1."""
    for number in range(20):
        await pair[0].ask(
            "threadline/messages/send", targetId="worker", senderId="boss", content=f"job {number}"
        )
    read = [
        agent.ask("threadline/messages/read", agentId="worker", limit=3)
        for _ in range(5)
        for agent in pair
    ]
    pages = await asyncio.gather(*read)
    got = [one["content"] for page in pages for one in page["messages"]]
    assert sorted(got) == sorted(f"job {number}" for number in range(20))


async def test_tasks_are_divided_and_nobody_takes_what_is_taken(pair: Pair) -> None:
    """Part of F10 and F11."""
    first, second = pair
    plan = [
        {"title": "Build it", "assignedAgentId": second.name},
        {"title": "Write about it", "assignedAgentId": first.name, "dependsOn": [0]},
        {"title": "Whoever comes first", "doneWhen": "path exists: done.txt"},
    ]
    written = await first.ask("threadline/tasks/create", tasks=plan, agentId=first.name)
    build, write, free = written["tasks"]
    assert await heard(second, "tasks")
    mine = await second.ask("threadline/tasks/list", assignedAgentId=second.name)
    assert [one["taskId"] for one in mine["tasks"]] == [build["taskId"]]
    take = {"taskId": free["taskId"], "expectedUpdatedAt": free["updatedAt"]}
    taken = await asyncio.gather(
        *(
            agent.ask(
                "threadline/tasks/update",
                **take,
                assignedAgentId=agent.name,
                agentId=agent.name,
                status="in_progress",
            )
            for agent in pair
        ),
        return_exceptions=True,
    )
    assert sorted(isinstance(one, Exception) for one in taken) == [False, True]
    await second.ask(
        "threadline/tasks/update", taskId=build["taskId"], status="done", agentId=second.name
    )
    todo = await first.ask("threadline/tasks/list", assignedAgentId=first.name, statuses=["todo"])
    assert [(one["taskId"], one["waitingFor"]) for one in todo["tasks"]] == [(write["taskId"], [])]
    first.repository.write("done.txt")
    context = await started(first, "first-1")
    assert [one["taskId"] for one in context["tasksAutoCompleted"]] == [free["taskId"]]
    listed = await second.ask("threadline/tasks/list", statuses=["done"])
    assert {one["taskId"] for one in listed["tasks"]} == {build["taskId"], free["taskId"]}
    agents = await first.ask("threadline/agents/list")
    assert {one["agentId"] for one in agents["agents"]} == {first.name, second.name}


async def test_a_commit_completes_a_task_while_nobody_asks(pair: Pair) -> None:
    """Part of B1 and F11."""
    first, second = pair
    new = {"title": "Sign uploads", "doneWhen": "commit touches: src/sign.py"}
    (task,) = (await first.ask("threadline/tasks/create", tasks=[new]))["tasks"]
    assert await heard(second, "tasks")
    second.changed_things.clear()
    sha = first.repository.commit("Sign uploads", name="src/sign.py")
    assert await heard(second, "tasks")
    (done,) = (await second.ask("threadline/tasks/list", statuses=["done"]))["tasks"]
    evidence = f"commit {sha[:7]} touches src/sign.py"
    assert (done["taskId"], done["evidence"], done["autoCompleted"]) == (
        task["taskId"],
        evidence,
        True,
    )
    context = await started(second, "second-1")
    assert [one["evidence"] for one in context["tasksAutoCompleted"]] == [evidence]
