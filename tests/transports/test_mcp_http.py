"""MCP over HTTP: a real process, the official client in both eras, and everybody who must not come in."""

import asyncio
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import anyio
import httpx
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sidecar.storage.agent_keys import ALL, AgentKeys
from sidecar.transports.exits import Exit
from sidecar.transports.mcp.http_server import MAX_BODY, Bounds, Entry
from tests.desks import Desk
from tests.mcps import COMMAND, ERAS, Assistant
from tests.support import NOON, ROOT, Repository, threadline
from tests.webs import BRIEF

pytestmark = pytest.mark.slow

JSON = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def initialize(number: int = 1) -> dict[str, Any]:
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


class HttpServer:
    """`threadline mcp --http` as a person starts it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND, "--http", "--port", "0", "--json", *arguments],
            cwd=folder,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], BRIEF)
        line = self.process.stdout.readline() if ready else b""
        assert line, self.process.stderr and self.process.stderr.read()
        self.address: str = json.loads(line)["address"]
        self.port = int(self.address.rpartition(":")[2].partition("/")[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def post(self, key: str, message: object = None, **headers: str) -> httpx.Response:
        """Send one message as a client of the older era does."""
        shown = {"authorization": f"Bearer {key}"} if key else {}
        content = json.dumps(message or initialize())
        return httpx.post(self.address, content=content, headers=JSON | shown | headers)

    def run(
        self, key: str, story: Callable[[Assistant], Awaitable[None]], mode: str = "auto"
    ) -> None:
        """Let the official client work with it."""

        async def talk() -> None:
            headers = {"authorization": f"Bearer {key}"}
            async with httpx2.AsyncClient(headers=headers, timeout=BRIEF) as http:
                place = streamable_http_client(self.address, http_client=http)
                info = types.Implementation(name="claude-code", version="1")
                async with Client(place, mode=mode, client_info=info) as client:
                    await story(Assistant(client))

        anyio.run(talk)


def make_key(folder: Path, name: str, *options: str) -> str:
    made = threadline("keys", "create", name, *options, cwd=folder)
    assert made.returncode == Exit.OK, made.stderr
    return made.stdout.decode().strip()


@pytest.fixture
def writer(repository: Repository) -> str:
    repository.commit("begin", at=NOON)
    return make_key(repository.path, "writer", "--vaults", ".", "--write")


@pytest.fixture
def served(repository: Repository, writer: str) -> Iterator[HttpServer]:
    assert writer
    with HttpServer(repository.path) as server:
        yield server


@pytest.mark.parametrize("mode", ERAS)
def test_an_assistant_elsewhere_works_with_a_key(
    served: HttpServer, repository: Repository, writer: str, mode: str
) -> None:
    """J6: both eras of the official client; what it writes carries the name of its key."""

    async def story(one: Assistant) -> None:
        assert len((await one.client.list_tools()).tools) > 20
        await one.use("session_start", query="locks")
        written = await one.use(
            "write_memory", type="decision", title="Locks", content="Use advisory locks\u202e here"
        )
        assert written["memory"]["agentId"] == "writer"
        assert "\u202e" not in json.dumps(written, ensure_ascii=False)
        hits = await one.use("search_memories", query="advisory locks")
        assert "Locks" in json.dumps(hits)
        assert (await one.client.read_resource("threadline://context")).contents

    served.run(writer, story, mode)
    listed = threadline("search", "locks", "--json", cwd=repository.path)
    assert json.loads(listed.stdout)["total"] == 1


def test_nobody_comes_in_without_a_valid_key(served: HttpServer, repository: Repository) -> None:
    """Part of J6: none, a wrong one, one shown twice, a revoked one."""
    assert served.post("").status_code == 401
    refused = served.post("tlk_wrong")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "keys create" in refused.text
    other = make_key(repository.path, "other", "--vaults", ".")
    assert served.post(other).status_code == 200
    session = served.post(other).headers["mcp-session-id"]
    assert threadline("keys", "revoke", "other", cwd=repository.path).returncode == Exit.OK
    assert served.post(other).status_code == 401
    assert served.post(other, **{"mcp-session-id": session}).status_code == 401
    assert threadline("keys", "off", cwd=repository.path).returncode == Exit.OK
    assert served.post("").status_code == 401


def test_a_session_belongs_to_its_key(
    served: HttpServer, repository: Repository, writer: str
) -> None:
    """Part of J6."""
    session = served.post(writer).headers["mcp-session-id"]
    other = make_key(repository.path, "other", "--vaults", ".")
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert served.post(writer, ask, **{"mcp-session-id": session}).status_code == 200
    assert served.post(other, ask, **{"mcp-session-id": session}).status_code == 404


def test_a_key_reaches_no_further_over_http_than_it_says(
    served: HttpServer, repository: Repository, tmp_path: Path
) -> None:
    """Part of J6, F14: only reads; only its vaults; no path of the machine is looked at."""
    other = Repository.create(tmp_path / "other")
    other.commit("begin", at=NOON)
    assert threadline("status", cwd=other.path).returncode == Exit.OK
    reader = make_key(repository.path, "reader", "--vaults", ".", "--read")

    async def story(one: Assistant) -> None:
        await one.use("search_memories", query="anything")
        await one.use("list_tasks", project="repository")
        said = await one.fail("write_memory", type="fact", title="x", content="y")
        assert "may only read" in said
        for place in (str(other.path), "other", "/etc", str(tmp_path)):
            refused = await one.fail("list_tasks", project=place)
            assert "none of the projects that the key opens" in refused

    served.run(reader, story)


def test_a_key_for_several_projects_names_the_one_it_means(
    served: HttpServer, repository: Repository, tmp_path: Path
) -> None:
    """Part of J6."""
    other = Repository.create(tmp_path / "other")
    other.commit("begin", at=NOON)
    key = make_key(repository.path, "both", "--vaults", ".", str(other.path), "--write")

    async def story(one: Assistant) -> None:
        assert "name one of the folders" in await one.fail("list_tasks")
        await one.use("create_task", title="Only there", project="other")
        assert (await one.use("list_tasks", project="repository"))["total"] == 0
        assert (await one.use("list_tasks", project="other"))["total"] == 1

    served.run(key, story)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example:80"}, 403),
        ({"host": "127.0.0.1:1"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 400),
    ],
)
def test_a_page_in_a_browser_is_refused(
    served: HttpServer, writer: str, headers: dict[str, str], status: int
) -> None:
    """Part of J6: also with a valid key."""
    assert served.post(writer, **headers).status_code == status
    assert served.post(writer).status_code == 200


def test_only_messages_are_taken_and_only_so_large(served: HttpServer, writer: str) -> None:
    """Part of J6."""
    shown = {"authorization": f"Bearer {writer}"}
    assert httpx.get(served.address, headers=JSON | shown).status_code == 405
    elsewhere = served.address.removesuffix("/mcp")
    assert httpx.post(elsewhere, json={}, headers=shown).status_code == 404
    large = httpx.post(served.address, content=b" " * (MAX_BODY + 1), headers=JSON | shown)
    assert large.status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(MAX_BODY // 65536 + 2):
            yield b" " * 65536

    with contextlib.suppress(httpx.WriteError):
        chunked = httpx.post(served.address, content=pieces(), headers=JSON | shown)
        assert chunked.status_code == 413
    assert served.post(writer).status_code == 200


def test_sessions_and_requests_of_a_key_are_bounded(
    served: HttpServer, repository: Repository, writer: str
) -> None:
    """Part of J6: too many sessions, a flood; others are still served."""
    sessions = [served.post(writer, initialize(number)) for number in range(9)]
    assert [answer.status_code for answer in sessions] == [200] * 8 + [503]
    ended = httpx.delete(
        served.address,
        headers={
            "authorization": f"Bearer {writer}",
            "mcp-session-id": sessions[0].headers["mcp-session-id"],
        },
    )
    assert ended.status_code == 200
    assert served.post(writer).status_code == 200
    shown = JSON | {"authorization": f"Bearer {writer}"}
    with httpx.Client() as client, ThreadPoolExecutor(8) as threads:
        flood = list(
            threads.map(
                lambda _: client.post(served.address, json=initialize(), headers=shown), range(600)
            )
        )
    refused = [answer for answer in flood if answer.status_code == 429]
    assert len(refused) > 100
    assert int(refused[0].headers["retry-after"]) >= 1
    guesses = [served.post(f"tlk_{number}").status_code for number in range(30)]
    assert set(guesses) == {401, 429}
    other = make_key(repository.path, "other", "--vaults", ".")
    assert served.post(other).status_code == 200


def test_a_session_nobody_uses_ends(desk: Desk) -> None:
    """Part of J6."""
    key = AgentKeys(desk.home.folder).create("agent", (ALL,), "read", NOON)

    async def story() -> int:
        entry = Entry(desk.app, None, Bounds(idle=0.05))
        headers = JSON | {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(entry), headers=headers) as ask:
            opened = await ask.post("http://here/mcp", json=initialize())
            session = {"mcp-session-id": opened.headers["mcp-session-id"]}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            status = 200
            async with asyncio.timeout(BRIEF):
                while status == 200:
                    await asyncio.sleep(0.1)
                    answer = await ask.post("http://here/mcp", json=listing, headers=session)
                    status = answer.status_code
        await entry.finish()
        return status

    assert asyncio.run(story()) == 404


def test_it_does_not_start_without_keys_and_warns_beyond_this_machine(
    repository: Repository,
) -> None:
    """Part of J6."""
    repository.commit("begin", at=NOON)
    refused = threadline("mcp", "--http", "--port", "0", cwd=repository.path)
    assert refused.returncode == Exit.CONFLICT
    assert b"keys create" in refused.stderr
    key = make_key(repository.path, "agent", "--vaults", ".")
    arguments = ("--host", "0.0.0.0", "--allow-host", "host.docker.internal")
    with HttpServer(repository.path, *arguments) as server:
        server.address = server.address.replace("0.0.0.0", "127.0.0.1")
        for name in (f"host.docker.internal:{server.port}", "host.docker.internal"):
            assert server.post(key, host=name).status_code == 200
        assert server.post(key, host=f"{socket.gethostname()}.example").status_code == 403
        server.process.terminate()
        _, said = server.process.communicate(timeout=BRIEF)
    assert b"unencrypted" in said
