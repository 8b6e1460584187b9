"""How many bytes a model reads: what tools are, sessions in a list, and the start of an empty memory."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import homes
from benchmarks.serving import installed
from benchmarks.timing import Row

_ENTRY = "from sidecar.transports.entry import main; raise SystemExit(main())"
_TOOLS, _SESSION, _EMPTY = 16 * 1024, 100, 300


def weigh(folder: Path) -> Iterator[Row]:
    """Weigh answers of a real process, as they go to a model."""
    empty, worked = folder / "empty", folder / "worked"
    for place in (empty, worked):
        place.mkdir()
    subprocess.run(["git", "init", "--quiet", str(empty / "repository")], check=True)
    repository = homes.build(worked)
    listed, sessions = _ask(worked / "home", repository)
    names = ("name", "description", "inputSchema")
    tools = [{name: tool[name] for name in names} for tool in listed["tools"]]
    yield _row("bytes of tools/list, as a model reads it", _size(tools), _TOOLS)
    yield _row("bytes of tools/list, as it is sent", _size(listed["tools"]), None)
    rows = json.loads(sessions["content"][0]["text"])["sessions"]
    yield _row(f"bytes of list_sessions, per row of {len(rows)}", _size(rows) / len(rows), _SESSION)
    yield _row("bytes of the start context of an empty vault", len(_start(empty)), _EMPTY)


def _ask(home: Path, repository: Path) -> tuple[Any, Any]:
    """Ask an MCP server for its tools and for sessions, in a conversation that was told its context."""
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("tools/list", {}),
        ("tools/call", {"name": "session_start", "arguments": {}}),
        ("tools/call", {"name": "list_sessions", "arguments": {}}),
    )
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "claude-code", "version": "1"},
    }
    with subprocess.Popen(
        [sys.executable, "-c", _ENTRY, "mcp"],
        cwd=repository,
        env=installed(home.parent) | {"THREADLINE_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        _exchange(process, "initialize", hello)
        _send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        answers = [_exchange(process, method, params) for method, params in calls]
        process.kill()
    return answers[0], answers[-1]


def _exchange(process: "subprocess.Popen[bytes]", method: str, params: object) -> Any:  # noqa: ANN401  # JSON
    _send(process, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    for line in process.stdout or ():
        answer = json.loads(line)
        if "result" in answer:
            return answer["result"]
    raise RuntimeError(f"{method} was not answered")


def _send(process: "subprocess.Popen[bytes]", message: object) -> None:
    if process.stdin:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()


def _start(folder: Path) -> bytes:
    """Let a conversation begin, and return what its model reads."""
    message = {
        "session_id": "s1",
        "transcript_path": "/home/dev/.claude/projects/-home-dev/s1.jsonl",
        "cwd": str(folder / "repository"),
        "hook_event_name": "SessionStart",
    }
    environment = installed(folder) | {
        "THREADLINE_HOME": str(folder / "home"),
        "THREADLINE_UPKEEP": "off",
        "THREADLINE_HOOK_SECONDS": "30",
    }
    done = subprocess.run(
        [sys.executable, "-c", _ENTRY, "hook", "claude-code", "SessionStart"],
        input=json.dumps(message).encode(),
        env=environment,
        capture_output=True,
        check=True,
    )
    told = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    return str(told).encode()


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _row(what: str, size: float, gate: int | None) -> Row:
    is_missed = gate is not None and size > gate
    return Row(
        what=what,
        ours=f"{size:,.0f} bytes",
        baseline="",
        ratio="",
        gate="" if gate is None else f"≤ {gate:,} bytes",
        verdict="for orientation" if gate is None else "MISSED" if is_missed else "holds",
        is_missed=is_missed,
    )
