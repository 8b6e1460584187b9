"""What the first descriptions of such a memory promise to clients, from outside."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.transports.hooks import main, observing, recognition
from sidecar.transports.hooks.calls import Call
from tests.desks import Desk
from tests.mcps import Assistant, Host
from tests.support import Repository, threadline

pytestmark = pytest.mark.slow


def test_a_vault_may_be_named_in_every_tool(desk: Desk) -> None:
    """Part of D1 and F1. Another vault is refused, by the name of the field."""
    vault = desk.vault.project_id

    async def story(agent: Assistant) -> str:
        started = await agent.use("session_start", vaultId=vault)
        assert started["projectId"] == vault
        memory = {"content": "Rows have uuids, because ids were guessed."}
        kept = await agent.use("context_checkpoint", vaultId=vault, memories=[memory])
        assert kept["created"] == 1
        await agent.use("send_message", vaultId=vault, targetId="cursor", content="Done.")
        assert (await agent.use("read_messages", vaultId=vault, agentId="cursor"))["messages"]
        return await agent.fail("session_start", vaultId="0" * 20)

    assert "vaultId" in Host().run(desk.app, story)


def test_the_context_comes_once_to_a_connection_whatever_it_calls_its_runs(desk: Desk) -> None:
    """Part of D9."""
    desk.remember("Webhooks are retried five times", "constraint")

    async def story(agent: Assistant) -> list[bool]:
        memory = {"content": "Rows have uuids, because ids were guessed."}
        given = []
        for run in ("one", "two", "three"):
            kept = await agent.use("context_checkpoint", agentRunId=run, memories=[memory])
            given.append(kept.get("start") is not None)
        tracked = await agent.use("session_track", sessionKey="four", prompt="Go on with it.")
        return [*given, tracked.get("start") is not None]

    assert Host().run(desk.app, story) == [True, False, False, False]


def test_every_tool_leaves_an_activity(desk: Desk) -> None:
    """Part of E3."""

    async def story(agent: Assistant) -> None:
        await agent.use("session_start", sessionKey="run")
        await agent.use("list_tasks")
        await agent.use("create_task", title="Sign the uploads")
        await agent.use("search_memories", query="uploads")
        await agent.use("list_sessions")
        await agent.use("send_message", targetId="cursor", content="Done.")

    Host().run(desk.app, story)
    desk.app.flush()
    done = {one.tool: one.category for one in desk.vault.activities.all()}
    assert done == {
        "session_start": "system",
        "list_tasks": "read",
        "create_task": "write",
        "search_memories": "search",
        "list_sessions": "read",
        "send_message": "write",
    }


def test_what_a_tool_records_says_that_it_came_over_mcp(desk: Desk) -> None:
    """Part of A2."""

    async def story(agent: Assistant) -> None:
        await agent.use("save_session", summary="Signed the uploads.")

    Host().run(desk.app, story)
    [event] = [
        event
        for session in desk.vault.sessions.timeline()
        for event in desk.vault.sessions.events(session.session_id)
        if event.kind == "capture"
    ]
    assert (event.source, event.agent_id) == ("mcp-server", "claude-code")


def test_a_document_that_is_not_there_is_named(desk: Desk) -> None:
    """Part of D6."""

    async def story(agent: Assistant) -> dict[str, Any]:
        return await agent.use("session_start", includeDocuments=["soul", "nosuch"])

    assert "nosuch" in json.dumps(Host().run(desk.app, story))


class Talk:
    """Hooks of a conversation, in this process."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home

    def fire(self, **message: Any) -> None:
        data = json.dumps({"cwd": str(self.folder)} | message).encode()
        environment = {"THREADLINE_HOME": str(self.home), "HOME": str(self.home)}
        _, finish = main.respond(Call(["claude-code"]), lambda: data, environment)
        finish()

    def checkpoints(self) -> list[str]:
        asked = json.dumps({"project": str(self.folder)})
        for _ in range(5):
            threadline("status", cwd=self.folder)
        done = threadline("call", "threadline/checkpoints/list", asked, cwd=self.folder)
        return [one["trigger"] for one in json.loads(done.stdout)["checkpoints"]]


def test_a_few_prompts_by_hooks_alone_leave_one_checkpoint_at_the_end(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of E1."""
    repository.commit("begin")
    talk = Talk(repository.path, tmp_path / "home")
    path = f"{repository.path}/.claude/projects/x/talk.jsonl"
    usual = {"session_id": "talk", "transcript_path": path}
    talk.fire(hook_event_name="SessionStart", source="startup", **usual)
    for number in range(4):
        name = f"p{number}"
        prompt = f"Please change part {number} of the parser."
        talk.fire(hook_event_name="UserPromptSubmit", prompt=prompt, prompt_id=name, **usual)
    talk.fire(hook_event_name="SessionEnd", reason="other", **usual)
    assert talk.checkpoints() == ["session_end"]


@pytest.mark.parametrize("style", ["snake", "camel"])
def test_fields_of_hooks_may_be_written_either_way(
    repository: Repository, tmp_path: Path, style: str
) -> None:
    """Part of F2."""
    del tmp_path
    fields = {
        "session_id": "talk",
        "transcript_path": f"{repository.path}/.claude/projects/x/talk.jsonl",
        "prompt_id": "p",
        "cwd": str(repository.path),
    }
    edit = {"file_path": f"{repository.path}/a.txt"}
    messages: list[dict[str, Any]] = [
        {"hook_event_name": "UserPromptSubmit", "user_prompt": "Please sign the uploads."},
        {"hook_event_name": "Stop", "last_assistant_message": "The uploads are signed."},
        {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit},
        {"hook_event_name": "PostCompact", "compact_summary": "Uploads."},
    ]
    heard = []
    for message in messages:
        told = fields | message
        if style == "camel":
            told = {_camel(name): value for name, value in told.items()}
        host, _ = recognition.recognise("claude-code", told, {})
        event = observing.name("", told)
        heard.append(observing.observe(host, event, told, {}))
    said = ("prompt", "response", "files", "summary")
    assert [next(one[name] for name in said if one.get(name)) for one in heard] == [
        "Please sign the uploads.",
        "The uploads are signed.",
        [f"{repository.path}/a.txt"],
        "Uploads.",
    ]
    assert {(one["sessionKey"], one["turn"]) for one in heard} == {("talk", "p")}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
