"""A server of tools as a process: bad lines never kill it, and it ends with its client."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage

from sidecar.app import open_application
from sidecar.transports.mcp import stdio
from tests.mcps import COMMAND, ERAS, Assistant, Host
from tests.support import ROOT, Repository

BRIEF = 30.0
"""Seconds in which a process must have answered, however slow the machine is."""


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50))
def test_lines_come_out_as_they_went_in(wanted: list[bytes], size: int) -> None:
    """Part of F1."""
    whole = [line.replace(b"\n", b"") for line in wanted]
    data = b"".join(line + b"\n" for line in whole)
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    assert list(stdio.cut(chunks)) == whole


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of F1."""
    monkeypatch.setattr(stdio, "LONGEST", 10)
    chunks = [b"short\n", b"x" * 8, b"y" * 8, b"z\nafter", b"wards\n", b"w" * 99]
    assert list(stdio.cut(iter(chunks))) == [b"short", None, b"afterwards", None]
    assert list(stdio.cut(iter([b"1234567890\n", b"12345678901\n", b"end"]))) == [
        b"1234567890",
        None,
        b"end",
    ]


@pytest.mark.parametrize(
    ("line", "code", "identifier"),
    [
        (None, types.PARSE_ERROR, None),
        (b"nonsense", types.PARSE_ERROR, None),
        (b"\xff\xfe{}", types.PARSE_ERROR, None),
        (b'{"jsonrpc":"2.0","id":1,"method"', types.PARSE_ERROR, None),
        (b"[" * 5000 + b"]" * 5000, types.PARSE_ERROR, None),
        (b"[]", types.INVALID_REQUEST, None),
        (b"7", types.INVALID_REQUEST, None),
        (b'{"id":1}', types.INVALID_REQUEST, 1),
        (b'{"id":"a","method":7}', types.INVALID_REQUEST, "a"),
        (b'{"jsonrpc":"1.0","id":2,"method":"ping"}', types.INVALID_REQUEST, 2),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', types.INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', types.INVALID_REQUEST, None),
        (
            b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":"\\ud800"}}',
            types.INVALID_REQUEST,
            3,
        ),
    ],
)
def test_a_line_that_is_no_message_is_answered(
    line: bytes | None, code: int, identifier: object
) -> None:
    """Part of F1."""
    answer = stdio.read(line)
    assert isinstance(answer, types.JSONRPCError)
    assert (answer.error.code, answer.id) == (code, identifier)


@pytest.mark.parametrize("line", [b"", b"  \r", b"{}", b'{"method":7}', b'{"jsonrpc":"2.0"}'])
def test_a_line_that_asks_nothing_is_not_answered(line: bytes) -> None:
    """Part of F1."""
    assert stdio.read(line) is None


def test_a_message_is_read() -> None:
    """Part of F1."""
    assert isinstance(stdio.read(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r'), SessionMessage)


class Process:
    """A server that is spoken to byte by byte."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND, *arguments],
            cwd=folder,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, output = self.process.stdin, self.process.stdout
        self._said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=lambda: [*map(self._said.put, output)], daemon=True).start()

    def write(self, *data: bytes) -> None:
        for one in data:
            self._input.write(one + b"\n")
        self._input.flush()

    def answer(self) -> Any:
        return json.loads(self._said.get(timeout=BRIEF))

    def ask(self, identifier: int | str, method: str, **params: Any) -> Any:
        told = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        self.write(json.dumps(told).encode())
        while (answer := self.answer()).get("id") != identifier:
            pass
        return answer

    def greet(self) -> None:
        info = {"name": "claude-code", "version": "1"}
        self.ask(
            "hello", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info
        )
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def close_input(self) -> None:
        self._input.close()

    def wait(self) -> int:
        return self.process.wait(BRIEF)


@pytest.fixture
def served(repository: Repository) -> Iterator[Process]:
    repository.commit("begin")
    served = Process(repository.path)
    yield served
    served.process.kill()
    served.process.wait()
    for stream in (served.process.stdin, served.process.stdout, served.process.stderr):
        if stream is not None and not stream.closed:
            stream.close()


@pytest.mark.slow
def test_bad_lines_never_kill_a_server(served: Process) -> None:
    """Part of F1."""
    bad = [
        b"",
        b"nonsense",
        b"\x00\xff\xfe",
        b'{"jsonrpc":"2.0","id":1',
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","method":"notifications/nonsense"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
        b'{"jsonrpc":"2.0","id":5,"result":{}}',
        b"x" * (stdio.LONGEST + 1),
    ]
    served.write(*bad)
    served.greet()
    served.write(*bad)
    wrong: list[dict[str, Any]] = [
        {},
        {"name": 7},
        {"name": "list_tasks", "arguments": 7},
        {"name": "list_tasks", "arguments": {"limit": "x"}},
        {"name": "list_tasks", "arguments": {"limit": 10**400}},
        {"name": "list_tasks", "arguments": {"text": "\ud800"}},
    ]
    for number, params in enumerate(wrong):
        answer = served.ask(100 + number, "tools/call", **params)
        assert "error" in answer or answer["result"]["isError"]
    assert "error" in served.ask(200, "nonsense/method")
    assert not served.ask(201, "tools/call", name="list_tasks", arguments={})["result"].get(
        "isError"
    )
    served.close_input()
    assert served.wait() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "numbers", [(signal.SIGINT, signal.SIGTERM), (signal.SIGTERM,), (signal.SIGHUP,)]
)
def test_a_server_that_is_asked_to_end_ends_in_order(
    served: Process, numbers: tuple[signal.Signals, ...], repository: Repository
) -> None:
    """Part of F1."""
    served.greet()
    served.ask(1, "tools/call", name="session_track", arguments={"prompt": "Never use Redis"})
    for number in numbers:
        served.process.send_signal(number)
    assert served.wait() == 0
    app = open_application(here=repository.path, source="test")
    (talk,) = app.vault(None).conversations.all()
    assert talk.prompt_count == 1
    assert talk.ended_at is not None
    app.close()


@pytest.mark.slow
def test_a_server_whose_client_leaves_ends_the_conversation(
    served: Process, repository: Repository
) -> None:
    """Part of F1."""
    served.greet()
    for number in range(3):
        said = {"prompt": f"We decided to use table {number} because it is there"}
        served.ask(number, "tools/call", name="session_track", arguments=said)
    served.close_input()
    assert served.wait() == 0
    app = open_application(here=repository.path, source="test")
    vault = app.vault(None)
    (talk,) = vault.conversations.all()
    assert talk.ended_at is not None
    assert [one.trigger for one in vault.checkpoints.all()] == ["session_end"]
    app.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ERAS)
def test_both_eras_are_served_by_one_process_each(repository: Repository, mode: str) -> None:
    """Part of F1."""
    repository.commit("begin")

    async def story(one: Assistant) -> str:
        assert one.client.protocol_version == ERAS[mode]
        assert one.client.server_info is not None
        assert one.client.server_info.version
        await one.use("write_memory", type="fact", title="Tabs", content="Tabs are 4 wide")
        return str((await one.use("search_memories", query="tabs"))["total"])

    assert Host(mode=mode).spawn(repository.path, story) == "1"


@pytest.mark.slow
def test_what_is_committed_while_an_assistant_works_is_recorded(repository: Repository) -> None:
    """Part of F1."""
    repository.commit("begin")

    async def story(one: Assistant) -> list[str]:
        await one.use("session_start")
        limit = time.monotonic() + BRIEF
        events: list[dict[str, Any]] = []
        while not events and time.monotonic() < limit:
            repository.commit("Use advisory locks")
            await anyio.sleep(0.2)
            for session in (await one.use("list_sessions"))["sessions"]:
                uri = f"threadline://sessions/{session.split()[0]}"
                (content,) = (await one.client.read_resource(uri)).contents
                assert isinstance(content, types.TextResourceContents)
                events += json.loads(content.text)["events"]
        return [event["source"] for event in events]

    assert "claude-code" in Host().spawn(repository.path, story)


@pytest.mark.slow
def test_several_assistants_work_at_once(repository: Repository) -> None:
    """Part of F1."""
    repository.commit("begin")
    hosts = [Host("claude-code"), Host("cursor-vscode", "legacy"), Host("opencode", "legacy")]

    async def story(one: Assistant) -> None:
        for number in range(10):
            said = f"{one.client.protocol_version} {id(one)} {number}"
            await one.use("write_memory", type="fact", title=said, content=said, dedup=False)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for host in hosts:
                group.start_soon(host.join, repository.path, story)

    anyio.run(run)
    app = open_application(here=repository.path, source="test")
    kept = app.vault(None).memories.all()
    assert len({memory.title for memory in kept}) == len(kept) == 30
    assert {memory.agent_id for memory in kept} == {"claude-code", "cursor", "opencode"}
    app.close()


@pytest.mark.slow
def test_nothing_heavy_is_loaded_before_the_handshake(repository: Repository) -> None:
    """Part of F1."""
    repository.commit("begin")
    script = (
        "import sys, sidecar.transports.mcp.main; "
        "print([name for name in ('numpy', 'git', 'tree_sitter', 'sidecar.handlers.memory', 'pygls', 'lsprotocol', 'rich') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, cwd=ROOT, text=True
    )
    assert done.stdout.strip() == "[]"
