"""Messages reach whom they are meant for: at a start, with a checkpoint, on the command line, and in the editor."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.test_coordination import BUILDER, PAINTER, contents, sent, together
from tests.e2e.test_together import Agent, heard
from tests.editors import open_editor, wait_until_watched
from tests.mcps import Assistant
from tests.support import ROOT, Repository, threadline

pytestmark = pytest.mark.slow

LONG = "The stairs are steep. " * 100
LETTERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "five later": 5, LONG: 4, "low": 1}
ORDER = ["five", "five later", "four", LONG, "three", "two", "one", "low"]


@pytest_asyncio.fixture
async def editor(repository: Repository) -> AsyncIterator[Agent]:
    """A client of the sidecar, as an editor is one."""
    repository.commit("before")
    async with open_editor(Agent, repository) as editor:
        await wait_until_watched(editor)
        yield editor


@pytest.mark.asyncio
async def test_messages_come_with_a_start_and_a_checkpoint_and_the_persons_to_the_editor(
    editor: Agent,
) -> None:
    """F9. What the editor shows of it is seen in real ones: tests/editor/together.mjs."""
    folder = editor.repository.path

    async def story(builder: Assistant, painter: Assistant) -> None:
        for text, priority in LETTERS.items():
            letter = {"targetId": "painter", "content": text, "priority": priority}
            await builder.use("send_message", **letter)
        start = await painter.use("session_start")
        first = start["pendingMessages"]
        assert [one.rstrip("… ") for one in contents(first[:3])] == ORDER[:3]
        assert ([one["priority"] for one in first], len(first)) == ([5, 5, 4, 4, 3], 5)
        assert start["otherPendingMessageCount"] == 3
        await read_in_full(painter, first[3])
        saved = await painter.use("context_checkpoint", sessionSummary="Painted.")
        assert contents(saved["pendingMessages"]) == ORDER[5:]
        assert saved["otherPendingMessageCount"] == 0
        again = await painter.use("session_start", sessionKey="another")
        assert (again["pendingMessages"], "otherPendingMessageCount" in again) == ([], False)
        await reach_the_person(builder, editor)

    await together(folder, (BUILDER, PAINTER), story)


async def read_in_full(painter: Assistant, given: Any) -> None:
    """Read the rest of a message that was too long for a start."""
    assert given["isClipped"]
    assert len(given["content"]) < len(LONG)
    (whole,) = (await painter.use("read_messages", threadOf=given["messageId"]))["messages"]
    assert (whole["content"], whole["status"]) == (LONG, "delivered")


async def reach_the_person(builder: Assistant, editor: Agent) -> None:
    """Let the editor hear of a message to the person, take it, and hear that it was dealt with elsewhere."""
    editor.changed_things.clear()
    await builder.use("send_message", targetId="user", content="May I?", category="request")
    assert await heard(editor, "messages")
    taken = await editor.ask("threadline/messages/read", agentId="user")
    assert contents(taken["messages"]) == ["May I?"]
    assert (await editor.ask("threadline/messages/read", agentId="user"))["messages"] == []
    (mine,) = [one for one in await sent(builder) if one["targetId"] == "user"]
    assert mine["handlings"]["user"]["acknowledgedAt"] is None
    shown = json.loads(run("inbox", "--json", cwd=editor.repository.path))
    assert contents(shown["messages"]) == ["May I?"]
    editor.changed_things.clear()
    run("inbox", "reply", mine["messageId"][-8:], "Yes", cwd=editor.repository.path)
    assert await heard(editor, "messages")
    saved = await builder.use("context_checkpoint")
    assert contents(saved["pendingMessages"]) == ["Yes"]
    (mine,) = [one for one in await sent(builder) if one["targetId"] == "user"]
    assert mine["handlings"]["user"]["acknowledgedAt"] is not None


def run(*arguments: str, cwd: Path) -> bytes:
    done = threadline(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


ROUNDS, AT_ONCE = 20, 6
"""How often a process reads, and how many messages it may have at once."""


@pytest.mark.timeout(600)
def test_processes_that_read_at_once_deliver_each_message_once(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of F8 and H1: two processes for each of two agents, on every way, while others send."""
    repository.commit("before")
    run("status", cwd=repository.path)
    asked = {f"boss {number}": sending(number) for number in range(2)}
    asked |= {
        f"{agent} {number}": reading(agent, number)
        for agent in ("worker", "helper")
        for number in range(2)
    }
    told = talk(repository, asked, tmp_path)
    assert all("result" in answer for some in told.values() for answer in some)
    rest = {agent: [request("messages/read", agentId=agent, limit=100)] * 2 for agent in AGENTS}
    told |= talk(repository, rest, tmp_path)
    got = {agent: heard_by(agent, told) for agent in AGENTS}
    news = {f"news {place} of {number}" for number in range(2) for place in range(ROUNDS)}
    orders = {f"order {place} of {number}" for number in range(2) for place in range(ROUNDS)}
    assert Counter(got["worker"]) == Counter(news | orders)
    assert Counter(got["helper"]) == Counter(news)


AGENTS = ("worker", "helper")
Asked = dict[str, list[dict[str, Any]]]


def heard_by(agent: str, told: dict[str, list[Any]]) -> list[str]:
    """List the messages that came to an agent, in whichever process and on whichever way."""
    results = [one["result"] for name, some in told.items() if agent in name for one in some]
    parts = [*results, *(one["start"] for one in results if one.get("start"))]
    names = ("messages", "pendingMessages")
    return [text for one in parts for name in names for text in contents(one.get(name) or ())]


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"id": 1, "method": f"threadline/{method}", "params": params}


def sending(number: int) -> list[dict[str, Any]]:
    """Ask to send orders to one agent and news to all, in turns."""
    me = {"senderId": f"boss {number}"}
    return [
        request("messages/send", targetId=target, content=f"{what} {place} of {number}", **me)
        for place in range(ROUNDS)
        for target, what in (("worker", "order"), ("*", "news"))
    ]


def reading(agent: str, number: int) -> list[dict[str, Any]]:
    """Ask for an agent's messages on every way, in turns."""
    asked: list[dict[str, Any]] = []
    for place in range(ROUNDS):
        asked += [
            request("messages/read", agentId=agent, limit=AT_ONCE),
            request("context/start", agentId=agent, sessionKey=f"{agent} {number} {place}"),
            request("context/checkpoint", agentId=agent, agentRunId=f"{agent} {number}"),
        ]
    return asked


def talk(repository: Repository, asked: Asked, folder: Path) -> dict[str, list[Any]]:
    """Let a process for each answer all its requests, all at once; files keep nobody waiting for a reader."""
    processes = []
    for name, requests in asked.items():
        given, answered = folder / f"{name}.in", folder / f"{name}.out"
        given.write_text("".join(json.dumps(one) + "\n" for one in requests))
        with given.open("rb") as stdin, answered.open("wb") as stdout:
            processes.append(start(repository, stdin=stdin, stdout=stdout))
    assert [process.wait(timeout=300) for process in processes] == [0] * len(asked)
    return {name: read(folder / f"{name}.out") for name in asked}


def start(repository: Repository, **pipes: Any) -> "subprocess.Popen[bytes]":
    command = "from sidecar.transports.entry import main; raise SystemExit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", command, "call", "-"],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        **pipes,
    )


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
