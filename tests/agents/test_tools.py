"""Our MCP server with real clients, of both eras of the protocol."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agents import clients
from tests.agents.clients import HERE, THREADLINE, Bench, Client
from tests.agents.models import Asked

pytestmark = [pytest.mark.slow, pytest.mark.agents]

MEMORY = "zeppelin"
KEPT = "Invoices are rounded down to whole guilders."
CLIENTS: dict[str, tuple[Client, list[str], str]] = {
    "claude-code": (clients.claude, ["--allowedTools", "mcp__threadline", "-p"], "2026-07-28"),
    "copilot": (clients.copilot, ["-p"], "2026-07-28"),
    "opencode": (clients.opencode, ["run"], "2025-11-25"),
}
"""Each with the words before a prompt, and the version of the protocol that it speaks."""
NAMES = ("mcp__threadline__{}", "threadline-{}", "threadline_{}")
"""How clients call a tool of ours."""


def use(tool: str, **arguments: object) -> dict[str, dict[str, object]]:
    return {name.format(tool): arguments for name in NAMES}


def said(record: Path, mark: str) -> list[dict[str, Any]]:
    """Read what a client (`>`) or our server (`<`) said."""
    lines = record.read_text().splitlines()
    return [json.loads(line[2:]) for line in lines if line.startswith(mark)]


def version(message: dict[str, Any]) -> str:
    """Tell which version of the protocol a client's first message speaks."""
    params = message["params"]
    meta = params.get("_meta", {})
    return str(params.get("protocolVersion") or meta["io.modelcontextprotocol/protocolVersion"])


def ask(bench: Bench, agent: str, prompt: str) -> tuple[list[Asked], int]:
    """Have a client use a tool; one that does not wait for a server on a busy machine is asked again."""
    client, words, _ = CLIENTS[agent]
    for run in range(1, 5):
        done = client(bench, *words, prompt)
        assert done.returncode == 0, done.stderr
        asked = bench.model.take()
        if asked[-1].has_result:
            return asked, run
    raise AssertionError(f"{agent} has no tools of ours: {asked[-1].tools}")


def results(record: Path) -> list[dict[str, Any]]:
    """Read what our server answered to the calls of tools."""
    answers = [one.get("result", {}) for one in said(record, "<")]
    return [one for one in answers if "isError" in one]


@pytest.mark.parametrize("agent", CLIENTS)
def test_tools_work_in_the_clients_own_era(agent: str, bench: Bench) -> None:
    """Part of F1."""
    record = bench.serve(agent)
    bench.model.cues = {
        "PLEASE-SEARCH": use("search_memories", query="when do deploys happen"),
        "PLEASE-KEEP": use("write_memory", type="constraint", title="Rounding", content=KEPT),
    }
    (*_, searched), _ = ask(bench, agent, "PLEASE-SEARCH it.")
    assert MEMORY in searched.latest
    ask(bench, agent, "PLEASE-KEEP it.")
    assert version(said(record, ">")[0]) == CLIENTS[agent][2]
    found, kept = results(record)
    assert [found["isError"], kept["isError"]] == [False, False]
    assert MEMORY in json.dumps(found["structuredContent"]["hits"])
    known = bench.call("memories/search", query="how are invoices rounded")["memories"]
    assert KEPT in json.dumps(known)


@pytest.mark.parametrize("agent", CLIENTS)
def test_hooks_and_tools_of_one_client_are_one_conversation(agent: str, bench: Bench) -> None:
    """Part of F1. What its hooks told it, no tool tells it again."""
    bench.connect(agent)
    record = bench.serve(agent)
    bench.model.cues = {"PLEASE-LIST": use("list_tasks")}
    asked, runs = ask(bench, agent, "PLEASE-LIST what is to be done.")
    assert [one.text.count(MEMORY) for one in asked] == [1, 1]
    [result] = results(record)
    assert "start" not in result["structuredContent"]
    [known] = bench.call("agents/list")["agents"]
    assert (known["agentId"], known["conversations"]) == (agent, runs)


def inspect(bench: Bench, *words: str) -> Any:
    done = clients.inspector(bench, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_finds_everything_in_order(bench: Bench) -> None:
    """Part of F1."""
    record = bench.folder / "inspector.jsonl"
    serve = [sys.executable, str(HERE / "relay.py"), str(record), str(THREADLINE), "mcp"]
    tools = inspect(bench, *serve, "--method", "tools/list", "--strict")["tools"]
    assert {"session_start", "search_memories", "generate_memory"} <= {one["name"] for one in tools}
    words = ("--tool-name", "search_memories", "--tool-arg", "query=when do deploys happen")
    found = inspect(bench, *serve, "--method", "tools/call", *words)
    assert MEMORY in json.dumps(found["structuredContent"])
    resources = inspect(bench, *serve, "--method", "resources/list")["resources"]
    text = inspect(bench, *serve, "--method", "resources/read", "--uri", resources[0]["uri"])
    assert MEMORY in json.dumps(text)
    prompts = inspect(bench, *serve, "--method", "prompts/list")["prompts"]
    told = inspect(bench, *serve, "--method", "prompts/get", "--prompt-name", prompts[0]["name"])
    assert MEMORY in json.dumps(told)
    assert version(said(record, ">")[0]) == "2025-11-25"


def test_the_inspector_sees_the_error_of_a_tool(bench: Bench) -> None:
    """Part of F1."""
    words = ("--method", "tools/call", "--tool-name", "read_memories", "--tool-arg", "ids=nonsense")
    assert clients.inspector(bench, str(THREADLINE), "mcp", *words).returncode == 5


@contextmanager
def serving(bench: Bench) -> Iterator[str]:
    """Serve over HTTP while something is done."""
    process = bench.start(sys.executable, HERE / "server.py", bench.repository.path)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_server_conforms_to_the_protocol(revision: str, bench: Bench) -> None:
    """Part of F1. What it may fail is listed beside; a scenario that passes, or a new one, fails the run."""
    baseline = HERE / f"conformance-{revision}.yml"
    with serving(bench) as url:
        words = ("server", "--url", url, "--requirements", revision)
        done = clients.conformance(bench, *words, "--expected-failures", str(baseline))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
