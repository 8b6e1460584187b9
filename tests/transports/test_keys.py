"""Agent keys: with them on, MCP and HTTP serve nobody without a valid one, and nobody more than it allows."""

import json
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from protocol.errors import Code, ConflictError, InvalidParamsError, NotFoundError
from sidecar.privacy import redaction
from sidecar.storage.agent_keys import ALL, AgentKeys
from sidecar.storage.home import Home
from sidecar.transports.exits import Exit
from sidecar.transports.mcp.tools import TOOLS
from tests.desks import Desk
from tests.mcps import Assistant, Host
from tests.support import NOON, Repository, holding, threadline
from tests.webs import Dashboard

READS = {
    *("session_start", "search_memories", "read_memories", "list_tasks", "read_document"),
    *("read_messages", "list_active_agents", "list_sessions"),
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "read_memories": {"memoryIds": ["01J9ZK3Q4W5X6Y7Z8A9B0C1D2E"]},
    "read_document": {"name": "soul"},
    "search_memories": {"query": "locks"},
}


def make_key(home: Home, *vaults: str, name: str = "claude-code", write: bool = False) -> str:
    return AgentKeys(home.folder).create(name, vaults, "write" if write else "read", NOON)


def use_with(key: str | None) -> Host:
    return Host(environment={"THREADLINE_KEY": key} if key else {})


def test_every_tool_is_classified_as_reading_or_writing() -> None:
    """Part of F14: what changes no memory reads, and everything else writes."""
    assert {tool.name for tool in TOOLS if tool.access == "read"} == READS
    assert {tool.name for tool in TOOLS if tool.access == "write"} == {
        tool.name for tool in TOOLS
    } - READS
    assert {tool.name for tool in TOOLS if tool.effect == "reads"} <= READS


def test_without_keys_nothing_is_asked_for(desk: Desk) -> None:
    """Part of F14."""

    async def story(one: Assistant) -> None:
        await one.use("search_memories", query="anything")

    use_with(None).run(desk.app, story)


@pytest.mark.parametrize("shown", [None, "", "tlk_wrong", "\udcff"])
def test_with_keys_on_every_tool_resource_and_prompt_needs_a_valid_one(
    desk: Desk, shown: str | None
) -> None:
    """Part of F14: also where the key was made while the server runs."""

    async def story(one: Assistant) -> None:
        await one.use("list_tasks")
        make_key(desk.home, ALL, write=True)
        for tool in TOOLS:
            assert "key" in await one.fail(tool.name, **ARGUMENTS.get(tool.name, {})), tool.name
        for ask in (
            one.client.list_resources(),
            one.client.read_resource("threadline://context"),
            one.client.get_prompt("start"),
        ):
            with pytest.raises(MCPError) as caught:
                await ask
            assert caught.value.error.code == Code.FORBIDDEN

    Host(environment={} if shown is None else {"THREADLINE_KEY": shown}).run(desk.app, story)


def test_a_key_that_may_read_cannot_write(desk: Desk) -> None:
    """Part of F14: each tool, by the one table."""
    key = make_key(desk.home, desk.vault.project_id)

    async def story(one: Assistant) -> None:
        for name in sorted(READS):
            await one.use(name, **ARGUMENTS.get(name, {}))
        for tool in (tool for tool in TOOLS if tool.name not in READS):
            needed = dict.fromkeys(tool.takes().get("required", ()), "x")
            assert "may only read" in await one.fail(tool.name, **needed), tool.name
        await one.client.list_resources()

    use_with(key).run(desk.app, story)
    assert not desk.vault.memories.all()
    assert not desk.vault.tasks.all()


def test_a_key_names_one_agent_and_opens_no_other_vault(
    desk: Desk, tmp_path: Path, repository: Repository
) -> None:
    """Part of F14."""
    other = Repository.create(tmp_path / "other")
    other.commit("begin", at=NOON)
    key = make_key(desk.home, desk.vault.project_id, name="reviewer", write=True)

    async def story(one: Assistant) -> None:
        written = await one.use(
            "write_memory",
            type="fact",
            title="Locks",
            content="We use locks",
            project=str(repository.path),
        )
        assert written["memory"]["agentId"] == "reviewer"
        said = await one.fail(
            "create_task", title="x", agentId="cursor", project=str(repository.path)
        )
        assert "this key is for reviewer" in said
        refused = await one.fail("list_tasks", project=str(other.path))
        assert "does not open vault" in refused

    Host(
        environment={"THREADLINE_KEY": key}, roots=(repository.path, other.path), name="cursor"
    ).run(desk.app, story)


@pytest.mark.slow
def test_a_revoked_key_stops_working_at_once_in_a_running_server(repository: Repository) -> None:
    """F14: as a person and an agent see it: real processes, the key from the environment."""
    repository.commit("begin", at=NOON)
    made = threadline(
        "keys", "create", "claude-code", "--vaults", ".", "--write", cwd=repository.path
    )
    assert made.returncode == Exit.OK
    key = made.stdout.decode().strip()
    assert b"shown this once" in made.stderr

    async def story(one: Assistant) -> None:
        await one.use("create_task", title="Write the release notes")
        revoked = threadline("keys", "revoke", "claude-code", cwd=repository.path)
        assert revoked.returncode == Exit.OK
        assert "revoked" in await one.fail("list_tasks")
        listed = threadline("tasks", "--json", cwd=repository.path)
        assert json.loads(listed.stdout)["total"] == 1

    use_with(key).spawn(repository.path, story)
    listed = threadline("keys", "--json", cwd=repository.path)
    (row,) = json.loads(listed.stdout)["keys"]
    assert row["revokedAt"]
    assert key not in listed.stdout.decode()
    again = threadline("keys", "revoke", "claude-code", cwd=repository.path)
    assert again.returncode == Exit.NOT_FOUND

    async def refused(one: Assistant) -> None:
        assert "revoked" in await one.fail("list_tasks")

    use_with(key).spawn(repository.path, refused)
    threadline("keys", "off", cwd=repository.path)

    async def free(one: Assistant) -> None:
        await one.use("list_tasks")

    use_with(None).spawn(repository.path, free)


@pytest.mark.slow
def test_the_web_api_asks_for_a_key_and_the_persons_own_tab_for_none(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of F14."""
    repository.commit("begin", at=NOON)
    other = Repository.create(tmp_path / "other")
    other.commit("begin", at=NOON)
    for folder in (repository.path, other.path):
        # A project has its id for good once something is kept in it.
        assert threadline("remember", "something", cwd=folder).returncode == Exit.OK
    with Dashboard(repository.path) as dashboard:
        address = f"{dashboard.address}/api/checkpoints"

        def ask(token: str, project: str = "") -> int:
            query = f"?project={project}" if project else ""
            headers = {"authorization": f"Bearer {token}"}
            return httpx.get(address + query, headers=headers).status_code

        assert ask(dashboard.bearer) == 200
        made = threadline("keys", "create", "ci", "--json", cwd=repository.path)
        key = json.loads(made.stdout)
        threadline("scan", cwd=other.path)  # a mere look begins no project
        foreign = json.loads(threadline("status", "--json", cwd=other.path).stdout)
        foreign_id = foreign["projectId"]
        assert ask(dashboard.bearer) == 401
        assert ask("tlk_unknown") == 401
        assert ask(key["key"]) == 200
        assert ask(key["key"], key["vaults"][0]) == 200
        assert ask(key["key"], foreign_id) == 403
        with dashboard.visit().open_tab() as tab:
            assert tab.request("threadline/checkpoints/list")["total"] == 0
        threadline("keys", "revoke", "ci", cwd=repository.path)
        assert ask(key["key"]) == 401


def test_only_the_hash_of_a_key_is_kept_for_this_user_alone(home: Home) -> None:
    """Part of F14."""
    key = make_key(home, ALL)
    path = home.folder / "keys.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert holding(home.folder, key.encode(), key.removeprefix("tlk_").encode()) == []
    assert redaction.redact(f"use {key} here") == "use [REDACTED] here"


def test_a_damaged_file_of_keys_opens_nothing(desk: Desk) -> None:
    """Part of F14: to lose the keys must not mean that none is asked for."""
    key = make_key(desk.home, ALL)
    (desk.home.folder / "keys.json").write_bytes(b"[{")

    async def story(one: Assistant) -> None:
        assert "keys off" in await one.fail("list_tasks")

    use_with(key).run(desk.app, story)


def test_an_agent_has_one_key_at_a_time_and_a_proper_name(home: Home) -> None:
    """Part of F14."""
    keys = AgentKeys(home.folder)
    first = make_key(home, ALL)
    with pytest.raises(ConflictError):
        make_key(home, ALL)
    keys.revoke("claude-code", NOON)
    assert keys.are_on()
    second = make_key(home, ALL)
    assert first != second
    assert keys.find(second).name == "claude-code"
    for name in ("user", "any", "all", "*", "", "a b", "x" * 65):
        with pytest.raises(InvalidParamsError):
            make_key(home, ALL, name=name)
    with pytest.raises(NotFoundError):
        keys.revoke("nobody", NOON)
