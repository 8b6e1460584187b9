"""Agents that work at the same time, each with a server of its own: handing over, telling all, sharing out tasks."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mcps import Assistant, Host
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

BUILDER = Host(name="builder", mode="auto")
PAINTER = Host(name="painter", mode="legacy")
PLANNER = Host(name="planner", mode="auto")

Meeting = Callable[..., Awaitable[None]]


async def together(folder: Path, hosts: tuple[Host, ...], story: Meeting, *met: Assistant) -> None:
    """Let several assistants work at the same time, each with a process of its own."""
    if not hosts:
        await story(*met)
        return
    first, *others = hosts
    await first.join(folder, lambda one: together(folder, tuple(others), story, *met, one))


@pytest.fixture
def folder(repository: Repository) -> Path:
    repository.commit("before")
    return repository.path


def contents(messages: Any) -> list[str]:
    return [one["content"] for one in messages]


def titles(tasks: Any) -> list[str]:
    return [one["title"] for one in tasks]


async def sent(one: Assistant) -> Any:
    """Read what an agent has sent, with what has become of it."""
    return (await one.use("read_messages", sent=True, status="all", limit=100))["messages"]


async def test_work_is_handed_over(folder: Path) -> None:
    """Part of F7, F8, F9 and F10."""

    async def story(builder: Assistant, painter: Assistant) -> None:
        await builder.use("session_start")
        kept = await builder.use(
            "write_memory",
            type="decision",
            title="Rooms are rendered on the server",
            content="Rooms are rendered on the server because old phones are slow.",
        )
        assert kept["memory"]["agentId"] == "builder"
        letters = {"The walls are up.": 2, "Begin with the stairs.": 5, "Doors come on Monday.": 3}
        for text, priority in letters.items():
            letter = {"targetId": "painter", "content": text, "priority": priority}
            told = await builder.use("send_message", **letter, subject="Handover")
            assert not told["isTargetKnown"]
        start = await painter.use("session_start")
        assert contents(start["pendingMessages"]) == sorted(letters, key=lambda one: -letters[one])
        assert {one["senderId"] for one in start["pendingMessages"]} == {"builder"}
        (fact,) = start["sessionContext"]["importantFacts"]
        assert fact["memoryId"] == kept["memory"]["memoryId"]
        await check_once(painter)
        await answer(painter, builder, start["pendingMessages"][0]["messageId"])

    await together(folder, (BUILDER, PAINTER), story)


async def check_once(painter: Assistant) -> None:
    """See that nothing comes a second time, on whichever way."""
    again = await painter.use("session_start", sessionKey="another")
    assert again["pendingMessages"] == []
    assert (await painter.use("read_messages"))["messages"] == []
    assert (await painter.use("context_checkpoint"))["pendingMessages"] == []


async def answer(painter: Assistant, builder: Assistant, message_id: str) -> None:
    """Deal with a message; its sender sees it, and hears the answer with its next checkpoint."""
    before = {one["content"]: one["handlings"] for one in await sent(builder)}
    assert [list(one) for one in before.values()] == [["painter"]] * 3
    assert all(one["painter"]["acknowledgedAt"] is None for one in before.values())
    await painter.use("ack_message", messageId=message_id)
    reply = {"targetId": "builder", "content": "The stairs are blue."}
    await painter.use("send_message", **reply, parentMessageId=message_id)
    after = {one["messageId"]: one for one in await sent(builder)}
    assert after[message_id]["handlings"]["painter"]["acknowledgedAt"] is not None
    assert Counter(one["status"] for one in after.values()) == {"acknowledged": 1, "delivered": 2}
    saved = await builder.use("context_checkpoint", sessionSummary="The house is built.")
    assert contents(saved["pendingMessages"]) == ["The stairs are blue."]
    assert saved["pendingMessages"][0]["parentMessageId"] == message_id
    assert (await builder.use("context_checkpoint"))["pendingMessages"] == []


async def test_what_is_urgent_comes_first_and_the_rest_later(folder: Path) -> None:
    """Part of F7 and F9."""

    async def story(builder: Assistant, painter: Assistant) -> None:
        for number in range(7):
            letter = {"content": f"letter {number}", "priority": 1 + number % 5}
            await builder.use("send_message", targetId="painter", **letter)
        start = await painter.use("session_start")
        assert contents(start["pendingMessages"]) == [f"letter {n}" for n in (4, 3, 2, 1, 6)]
        saved = await painter.use("context_checkpoint")
        assert contents(saved["pendingMessages"]) == ["letter 0", "letter 5"]

    await together(folder, (BUILDER, PAINTER), story)


async def test_an_alert_reaches_all_also_who_comes_later(folder: Path) -> None:
    """Part of F7, F8 and F9."""

    async def story(planner: Assistant, builder: Assistant, painter: Assistant) -> None:
        alert = {"content": "The harbour is closed on Sunday.", "category": "alert", "priority": 5}
        await planner.use("send_message", targetId="*", **alert)
        own, *others = await asyncio.gather(
            *(one.use("session_start") for one in (planner, builder, painter))
        )
        assert own["pendingMessages"] == []
        assert [contents(one["pendingMessages"]) for one in others] == [[alert["content"]]] * 2
        await Host(name="latecomer").join(folder, come_late)
        (told,) = await sent(planner)
        assert set(told["handlings"]) == {"builder", "painter", "latecomer"}
        await asyncio.gather(
            *(one.use("ack_message", messageId=told["messageId"]) for one in (builder, painter))
        )
        (told,) = await sent(planner)
        done = {name for name, one in told["handlings"].items() if one["acknowledgedAt"]}
        assert done == {"builder", "painter"}

    async def come_late(one: Assistant) -> None:
        """Begin without asking for anything: the start context comes with the first tool."""
        first = await one.use("list_tasks")
        assert contents(first["start"]["pendingMessages"]) == ["The harbour is closed on Sunday."]
        assert (await one.use("read_messages"))["messages"] == []

    await together(folder, (PLANNER, BUILDER, PAINTER), story)


async def test_two_processes_of_one_agent_share_its_messages(folder: Path) -> None:
    """Part of F8 and H1."""

    async def story(planner: Assistant, *workers: Assistant) -> None:
        texts = [f"order {number}" for number in range(24)]
        for text in texts:
            await planner.use("send_message", targetId="worker", content=text)
        pages = await asyncio.gather(
            *(one.use("session_start") for one in workers),
            *(one.use("context_checkpoint") for one in workers),
            *(one.use("read_messages", limit=2) for _ in range(5) for one in workers),
        )
        last = await workers[0].use("read_messages", limit=100)
        assert sorted(heard([*pages, last])) == sorted(texts)
        assert all(list(one["handlings"]) == ["worker"] for one in await sent(planner))

    worker = Host(name="worker")
    await together(folder, (PLANNER, worker, worker), story)


def heard(answers: Any) -> list[str]:
    """List the messages that came with answers, on whichever way."""
    names = ("pendingMessages", "messages")
    parts = [*answers, *(one["start"] for one in answers if one.get("start"))]
    return [text for one in parts for name in names for text in contents(one.get(name) or ())]


async def test_two_agents_that_read_at_once_both_get_what_is_for_all(folder: Path) -> None:
    """Part of F8 and H1."""

    async def story(planner: Assistant, *readers: Assistant) -> None:
        await asyncio.gather(*(one.use("session_start") for one in readers))
        for number in range(8):
            await planner.use("send_message", targetId="*", content=f"news {number}")
        pages = await asyncio.gather(
            *(one.use("read_messages", limit=3) for _ in range(4) for one in readers)
        )
        news = sorted(f"news {number}" for number in range(8))
        assert sorted(heard(pages[::2])) == news
        assert sorted(heard(pages[1::2])) == news
        for one in await sent(planner):
            assert set(one["handlings"]) == {"builder", "painter"}

    await together(folder, (PLANNER, BUILDER, PAINTER), story)


async def test_a_plan_is_shared_out_and_done_step_by_step(folder: Path) -> None:
    """Part of F10 and F11."""

    async def story(planner: Assistant, builder: Assistant, painter: Assistant) -> None:
        plan: list[dict[str, Any]] = [
            {"title": "Raise the roof", "assignedAgentId": "builder", "priority": 4},
            {"title": "Paint the roof", "assignedAgentId": "painter", "dependsOn": [0]},
            {"title": "Photograph it", "assignedAgentId": "painter", "dependsOn": [0, 1]},
        ]
        roof, paint, photo = (await planner.use("create_task", tasks=plan))["tasks"]
        assert {one["createdBy"] for one in (roof, paint, photo)} == {"planner"}
        assert photo["waitingFor"] == [roof["taskId"], paint["taskId"]]
        for one, name, own in ((builder, "builder", 1), (painter, "painter", 2)):
            start = await one.use("session_start")
            assert len(start["sessionContext"]["activeTasks"]) == own
            assert start["otherOpenTaskCount"] == len(plan) - own
            listed = await one.use("list_tasks", assignedAgentId=name)
            assert len(listed["tasks"]) == own
        await finish(builder, roof)
        assert await ready(painter) == ["Paint the roof"]
        await finish(painter, paint)
        assert await ready(painter) == ["Photograph it"]
        await finish(painter, photo)
        done = await planner.use("list_tasks", statuses=["done"], createdBy="planner")
        by = {one["title"]: one["updatedBy"] for one in done["tasks"]}
        assert by == {plan[0]["title"]: "builder"} | dict.fromkeys(titles(plan[1:]), "painter")
        agents = (await planner.use("list_active_agents"))["agents"]
        assert {one["agentId"] for one in agents} == {"planner", "builder", "painter"}
        assert all(one["openTasks"] == 0 for one in agents)

    await together(folder, (PLANNER, BUILDER, PAINTER), story)


async def finish(one: Assistant, task: Any) -> None:
    """Begin a task, note something, and end it."""
    key = {"taskId": task["taskId"]}
    begun = await one.use("update_task", **key, status="in_progress", note="It goes well.")
    assert begun["tasks"][0]["notes"][-1]["text"] == "It goes well."
    ended = await one.use("update_task", **key, status="done", evidence="Have a look.")
    assert ended["tasks"][0]["completedAt"] is not None


async def ready(one: Assistant) -> list[str]:
    """List what an agent can begin now."""
    listed = await one.use("list_tasks", assignedAgentId="painter", statuses=["todo"])
    return [task["title"] for task in listed["tasks"] if "waitingFor" not in task]


async def test_of_two_that_want_a_task_one_gets_it(folder: Path) -> None:
    """Part of F11 and H1."""

    async def story(planner: Assistant, *rivals: Assistant) -> None:
        await asyncio.gather(*(one.use("session_start") for one in rivals))
        plan = [{"title": f"job {number}"} for number in range(6)]
        jobs = (await planner.use("create_task", tasks=plan))["tasks"]
        for job in jobs:
            tries = await asyncio.gather(
                *(take(one, name, job) for one, name in zip(rivals, NAMES, strict=True))
            )
            (winner,) = filter(None, tries)
            listed = await planner.use("list_tasks", text=job["title"])
            (task,) = listed["tasks"]
            assert (task["assignedAgentId"], task["updatedBy"]) == (winner, winner)

    await together(folder, (PLANNER, BUILDER, PAINTER), story)


NAMES = ("builder", "painter")


async def take(one: Assistant, name: str, job: Any) -> str | None:
    """Take a task as it was read; None where somebody else was faster."""
    wanted = {
        "taskId": job["taskId"],
        "expectedUpdatedAt": job["updatedAt"],
        "assignedAgentId": name,
        "status": "in_progress",
    }
    result = await one.client.call_tool("update_task", wanted)
    assert not result.is_error or "was changed" in str(result.content)
    return None if result.is_error else name
