"""`threadline connect` and `disconnect` as a user runs them, in a home of its own."""

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from sidecar.hosts import assistant, contents
from sidecar.hosts.contents import Script
from sidecar.hosts.program import CODE, READY, Program
from sidecar.transports.exits import Exit
from sidecar.transports.hooks import observing
from sidecar.transports.hooks.notation import MOST
from tests.configurations import EXISTING
from tests.support import ROOT, Repository, threadline

pytestmark = pytest.mark.slow

PAYLOADS = Path(__file__).parent / "payloads"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    user = tmp_path / "user"
    (user / ".cursor").mkdir(parents=True)
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_text('{\n  // mine\n  "model": "x"\n}\n')
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return user


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_connect_and_disconnect_for_a_user(user: Path) -> None:
    """Part of F3."""
    before = files(user)
    shown = threadline("connect", "--all", "--dry-run", cwd=user)
    assert shown.returncode == Exit.OK
    assert b"would change" in shown.stderr
    assert b'+    "SessionStart": [' in shown.stdout
    assert files(user) == before
    done = threadline("connect", "--all", cwd=user)
    assert done.returncode == Exit.OK, done.stderr
    assert b"changed" in done.stderr
    assert b"the file as it was" in done.stderr
    settings = (user / ".claude" / "settings.json").read_text()
    assert settings.startswith('{\n  // mine\n  "model": "x",\n  "hooks": {\n')
    joined = files(user)
    assert set(joined) - set(before) - {
        name for name in joined if ".threadline-backup-" in name
    } == {".claude.json", ".cursor/hooks.json", ".cursor/mcp.json"}
    again = threadline("connect", "claude-code", "cursor", cwd=user)
    assert (again.returncode, again.stderr) == (Exit.OK, b"nothing to change\n")
    assert files(user) == joined
    gone = threadline("disconnect", "--all", cwd=user)
    assert gone.returncode == Exit.OK
    assert files(user) == before
    assert not list(user.glob(".cursor/*"))


def test_every_agent_found_gets_hooks_and_server_and_gives_them_back(user: Path) -> None:
    """F3."""
    for name, text in EXISTING.items():
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_bytes(text.encode())
    before = files(user)
    shown = threadline("connect", "--all", "--dry-run", cwd=user)
    assert shown.returncode == Exit.OK, shown.stderr
    assert shown.stderr.count(b"would ") == len(WRITTEN)
    assert files(user) == before

    plan = json.loads(threadline("connect", "--all", "--json", cwd=user).stdout)
    assert [one["agent"] for one in plan["connections"]] == assistant.names()
    changes = {str(Path(one["path"]).relative_to(user)): one for one in plan["files"]}
    assert set(changes) == set(WRITTEN)
    for name, change in changes.items():
        text = (user / name).read_bytes().decode()
        if name.endswith(".js"):
            assert text == scripts_of(user)[name]
        else:
            assert (
                reduced(added(parse(name, EXISTING.get(name, "")), parse(name, text)))
                == (WRITTEN[name])
            )
        # What was there stands there still, comments too, in the same order.
        rest = iter(WORDS.findall(text))
        assert all(word in rest for word in WORDS.findall(EXISTING.get(name, "")))
        if name in before:
            assert Path(change["backup"]).read_bytes() == before[name]
        else:
            assert change["action"] == "create"

    joined = files(user)
    again = threadline("connect", "--all", cwd=user)
    assert (again.returncode, again.stderr) == (Exit.OK, b"nothing to change\n")
    assert files(user) == joined
    away = threadline("disconnect", "--all", cwd=user)
    assert away.returncode == Exit.OK, away.stderr
    assert files(user) == before


OLDER = (
    ("claude-code", ".claude/settings.json", "hooks", ("PostToolUseFailure", "SubagentStop")),
    (
        "cursor",
        ".cursor/hooks.json",
        "hooks",
        ("afterShellExecution", "postToolUseFailure", "stop"),
    ),
    ("copilot", ".copilot/hooks/threadline.json", "hooks", ("postToolUseFailure", "subagentStop")),
    ("antigravity", ".gemini/config/hooks.json", "threadline", ("Stop",)),
)
"""Events that were listened to once, and are not any more."""


@pytest.mark.parametrize(("agent", "name", "place", "events"), OLDER)
def test_what_is_not_listened_to_any_more_leaves_the_file(
    agent: str, name: str, place: str, events: tuple[str, ...], user: Path
) -> None:
    """Part of F3."""
    assert threadline("connect", agent, cwd=user).returncode == Exit.OK
    path = user / name
    fresh = parse(name, path.read_text())
    first = next(event for event, items in fresh[place].items() if isinstance(items, list))
    written = json.dumps(fresh[place][first])
    older = {event: json.loads(written.replace(first, event)) for event in events}
    data = json.dumps({**fresh, place: {**fresh[place], **older}})
    path.write_text(data.replace("|NotebookEdit", "|NotebookEdit|Bash"))
    assert threadline("connect", agent, cwd=user).returncode == Exit.OK
    assert parse(name, path.read_text()) == fresh


WORDS = re.compile(r"//.*|/\*.*?\*/|# .*|\"[^\"]*\"|\w+")


def write_script(agent: str, index: int, program: Program = READY) -> str:
    """Return a file that is ours as a whole."""
    host = assistant.find(agent)
    content = contents.build(host, host.files[index], program)
    assert isinstance(content, Script)
    return content.text


PROGRAM = "threadline"
"""Stands for the full path of the program."""
SERVER = {"command": PROGRAM, "args": ["mcp"]}
CLAUDE = (
    *("Stop", "SessionStart", "UserPromptSubmit", "PostToolUse"),
    *("PreCompact", "PostCompact", "SessionEnd"),
)
CURSOR = (
    *("sessionStart", "sessionEnd", "beforeSubmitPrompt", "afterFileEdit"),
    *("subagentStop", "afterAgentResponse", "preCompact"),
)
DEVIN = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostCompaction", "Stop", "SessionEnd")
WINDSURF = ("pre_user_prompt", "post_write_code", "post_cascade_response")
COPILOT = (
    *("sessionStart", "sessionEnd", "userPromptSubmitted", "postToolUse"),
    *("agentStop", "preCompact"),
)
CODEX = ("Stop", "SessionStart", "UserPromptSubmit", "PostToolUse")
ANTIGRAVITY = ("PreInvocation", "PostToolUse")


def hooks(agent: str, *events: str) -> dict[str, Any]:
    return {event: [f"{PROGRAM} hook {agent} {event}"] for event in events}


WRITTEN: dict[str, Any] = {
    ".claude/settings.json": {"hooks": hooks("claude-code", *CLAUDE)},
    ".claude.json": {"mcpServers": {"threadline": SERVER | {"type": "stdio"}}},
    ".cursor/hooks.json": {"hooks": hooks("cursor", *CURSOR)},
    ".cursor/mcp.json": {"mcpServers": {"threadline": SERVER}},
    ".config/devin/config.json": {"hooks": hooks("devin", *DEVIN)},
    ".config/devin/mcp_config.json": {
        "mcpServers": {"threadline": SERVER | {"env": {"THREADLINE_HOST": "devin"}}}
    },
    ".codeium/windsurf/hooks.json": {"hooks": hooks("windsurf", *WINDSURF)},
    ".codeium/windsurf/mcp_config.json": {"mcpServers": {"threadline": SERVER}},
    ".copilot/hooks/threadline.json": {"version": 1, "hooks": hooks("copilot", *COPILOT)},
    ".copilot/mcp-config.json": {
        "mcpServers": {"threadline": SERVER | {"type": "local", "tools": ["*"]}}
    },
    ".config/Code/User/mcp.json": {"servers": {"threadline": SERVER | {"type": "stdio"}}},
    ".config/opencode/plugins/threadline.js": None,
    ".config/opencode/opencode.jsonc": {
        "$schema": "https://opencode.ai/config.json",
        "mcp": {"threadline": {"type": "local", "command": [PROGRAM, "mcp"], "enabled": True}},
    },
    ".openclaw/extensions/threadline/package.json": json.loads(write_script("openclaw", 0)),
    ".openclaw/extensions/threadline/openclaw.plugin.json": json.loads(write_script("openclaw", 1)),
    ".openclaw/extensions/threadline/index.js": None,
    ".openclaw/openclaw.json": {
        "plugins": {
            "entries": {"threadline": {"enabled": True, "hooks": {"allowConversationAccess": True}}}
        },
        "mcp": {
            "servers": {"threadline": SERVER | {"env": {"THREADLINE_HOST": "openclaw"}}},
        },
    },
    ".codex/hooks.json": {"hooks": hooks("codex", *CODEX)},
    ".codex/config.toml": {"mcp_servers": {"threadline": SERVER}},
    ".gemini/config/hooks.json": {
        "threadline": {"enabled": True} | hooks("antigravity", *ANTIGRAVITY)
    },
    ".gemini/config/mcp_config.json": {"mcpServers": {"threadline": SERVER}},
    ".gemini/settings.json": {"mcpServers": {"threadline": SERVER}},
}
"""Every file of a user that is written, and what of ours is in it."""


def scripts_of(user: Path) -> dict[str, str]:
    """Give the plugins for the program that hooks start here."""
    line = json.loads((user / ".copilot/hooks/threadline.json").read_bytes())
    (hook,) = line["hooks"]["sessionStart"]
    program = Program(tuple(shlex.split(hook["bash"])[:-3]))
    return {
        ".config/opencode/plugins/threadline.js": write_script("opencode", 0, program),
        ".openclaw/extensions/threadline/index.js": write_script("openclaw", 2, program),
    }


def parse(name: str, text: str) -> Any:
    """Read a file as its host does: comments, commas at the end and bare names are for people."""
    if name.endswith(".toml"):
        return tomllib.loads(text)
    if name.endswith(".js"):
        return None
    string = r'("(?:[^"\\]|\\.)*")'
    bare = re.sub(rf"{string}|//[^\n]*|/\*.*?\*/", r"\1", text.lstrip("\ufeff"), flags=re.DOTALL)
    strict = re.sub(rf"{string}|,(?=\s*[}}\]])", r"\1", bare)
    named = re.sub(rf"{string}|\b([a-z]\w*)(?=\s*:)", lambda at: at[1] or f'"{at[2]}"', strict)
    return json.loads(named or "{}")


def added(before: Any, after: Any) -> Any:
    """Give what a file has that it had not; all else has to be as it was, in its place."""
    if isinstance(before, dict):
        assert [name for name in after if name in before] == list(before)
        pairs = {
            name: added(before[name], value) if name in before else value
            for name, value in after.items()
        }
        return {name: value for name, value in pairs.items() if value not in ({}, [], None)}
    if isinstance(before, list):
        assert after[: len(before)] == before
        return after[len(before) :]
    assert before == after
    return None


def reduced(part: Any) -> Any:
    """Write hooks as the command that they run, and the words that start our program by a single one."""
    if isinstance(part, list):
        return [reduced(one) for one in part]
    if isinstance(part, dict) and (line := _runs(part)):
        return line
    if isinstance(part, dict):
        return {name: reduced(value) for name, value in part.items()}
    return PROGRAM if isinstance(part, str) and part.endswith("/threadline") else part


def _runs(part: dict[str, Any]) -> str | None:
    """Give the command that a hook runs; in other shells it is the same one."""
    inner = part["hooks"][0] if isinstance(part.get("hooks"), list) else part
    lines = {str(inner[name]) for name in ("command", "bash", "powershell") if name in inner}
    if not lines or not all(" hook " in line for line in lines):
        return None
    (line,) = lines
    interpreter, *words = shlex.split(line)
    assert os.access(interpreter, os.X_OK)
    assert words[:3] == ["-P", "-c", CODE]
    return " ".join([PROGRAM, *words[3:]])


@pytest.mark.parametrize(
    "older",
    [
        "/old/bin/threadline hook cursor {event}",
        f"{sys.executable} -P -m sidecar.transports.entry hook cursor {{event}}",
        "threadline hook cursor {event}",
    ],
)
def test_what_an_older_version_wrote_is_upgraded(user: Path, older: str) -> None:
    """Part of F3: a command that costs more is replaced, in its place, by the one that costs least."""
    threadline("connect", "cursor", cwd=user)
    path = user / ".cursor/hooks.json"
    fresh = json.loads(path.read_bytes())
    before = json.loads(path.read_bytes())
    for event in CURSOR:
        for hook in before["hooks"][event]:
            if " hook cursor " in hook.get("command", ""):
                hook["command"] = older.format(event=event)
    path.write_text(json.dumps(before))
    assert before != fresh
    threadline("connect", "cursor", cwd=user)
    assert json.loads(path.read_bytes()) == fresh


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "Stop"])
def test_a_capturing_hook_as_it_is_connected_loads_only_what_it_needs(
    user: Path, event: str
) -> None:
    """Part of F2: a module that is loaded at every prompt costs every user something."""
    threadline("connect", "claude-code", cwd=user)
    hooks = parse("settings.json", (user / ".claude/settings.json").read_text())["hooks"]
    words = shlex.split(hooks[event][-1]["hooks"][0]["command"])
    message = {
        "session_id": "s1",
        "cwd": str(user),
        "hook_event_name": event,
        "prompt": "Why does the refresh fail?",
        "last_assistant_message": "Done.",
        "tool_name": "Write",
        "tool_input": {"file_path": str(user / "a.py")},
    }
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "THREADLINE_UPKEEP": "off"}
    # The first prompt of a conversation is answered; only the next one is captured and nothing else.
    start = json.dumps({**message, "hook_event_name": "SessionStart"})
    subprocess.run(words, input=start.encode(), env=environment, check=True, capture_output=True)
    done = subprocess.run(
        [words[0], "-X", "importtime", *words[1:]],
        input=json.dumps(message).encode(),
        env=environment,
        check=True,
        capture_output=True,
        timeout=60,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "sidecar.transports.hooks.main" in loaded
    needless = {"re", "runpy", "json", "typing", "pathlib", "contextlib", "sqlite3", "msgspec"}
    ours = {
        "sidecar.storage.prepared",
        "sidecar.transports.upkeep",
        "sidecar.transports.hooks.ready",
    }
    if event == "UserPromptSubmit":
        # A prompt may be answered: that takes a look at whether there is a project.
        ours = {"sidecar.transports.upkeep"}
    assert not loaded & (needless | ours)
    log = (Path(os.environ["THREADLINE_HOME"]) / "logs" / "hooks.log").read_text()
    assert log.splitlines()[-1].partition(f"{event}: ")[2].startswith("kept, ")


def test_what_an_older_version_wrote_gets_the_server_too(user: Path) -> None:
    """Part of F3."""
    before = files(user)
    threadline("connect", "cursor", cwd=user)
    (user / ".cursor/mcp.json").unlink()
    rows = Path(os.environ["THREADLINE_HOME"]) / "connections.json"
    known = [row for row in json.loads(rows.read_bytes()) if "mcp" not in row["path"]]
    rows.write_text(json.dumps(known))
    done = threadline("connect", "cursor", cwd=user)
    assert done.stderr.startswith(b"made ")
    assert json.loads((user / ".cursor/mcp.json").read_bytes())["mcpServers"]["threadline"]
    threadline("disconnect", "cursor", cwd=user)
    assert files(user) == before


MESSAGES = {
    "claude-code": ("SessionStart", "SessionStart.startup"),
    "cursor": ("sessionStart", "sessionStart"),
    "devin": ("SessionStart", "SessionStart"),
    "windsurf": ("post_write_code", "post_write_code"),
    "copilot": ("sessionStart", "sessionStart"),
    "vscode": ("sessionStart", "sessionStart"),
    "codex": ("SessionStart", "SessionStart"),
    "antigravity": ("PreInvocation", "PreInvocation"),
}
"""For each agent with hooks in a file: an event that it is told of or answered, and a message of it."""
TOLD = {
    "claude-code": ("hookSpecificOutput", "additionalContext"),
    "cursor": ("additional_context",),
    "devin": ("hookSpecificOutput", "additionalContext"),
    "copilot": ("additionalContext",),
    "vscode": ("additionalContext",),
    "codex": ("hookSpecificOutput", "additionalContext"),
    "antigravity": ("injectSteps", 0, "ephemeralMessage"),
}
"""Where in the answer the context stands."""


def run_line(line: str, message: str, repository: Repository, *, is_told: bool) -> bytes:
    """Run a line as a host does; a start that a busy machine cuts off is told another time."""
    for _ in range(5):
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=repository.path,
            env=bare(),
            input=message.encode(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if done.stdout or not is_told:
            break
        shutil.rmtree(Path(os.environ["THREADLINE_HOME"]) / "inbox")
    return done.stdout


@pytest.mark.parametrize(
    ("agent", "level"), [*((agent, "user") for agent in MESSAGES), ("devin", "project")]
)
def test_a_hook_that_was_written_runs_as_its_host_runs_it(
    agent: str, level: str, user: Path, repository: Repository
) -> None:
    """Part of F3: from the project's folder, in a shell, with nothing on the PATH."""
    repository.commit("feat: begin", name="auth/session.py")
    threadline("remember", "We never log customer names.", cwd=repository.path)
    connect(agent, level, repository)
    event, name = MESSAGES[agent]
    line = find_line(written(agent, level, user, repository), event)
    assert Path(shlex.split(line)[0]).is_absolute()
    host = "copilot" if agent == "vscode" else agent
    known = json.loads((PAYLOADS / f"{host}.json").read_text())[name]
    message = json.dumps(known).replace("/home/dev/acme", str(repository.path))
    said = run_line(line, message, repository, is_told=agent in TOLD)
    if agent in TOLD:
        answer = json.loads(said)
        for key in TOLD[agent]:
            answer = answer[key]
        assert "We never log customer names." in answer
    else:
        inbox = Path(os.environ["THREADLINE_HOME"]) / "inbox" / "current.jsonl"
        assert json.loads(inbox.read_bytes())["files"] == [f"{repository.path}/auth/session.py"]


TOOLS = {"session_start", "context_checkpoint"}
SERVED = [agent for agent in assistant.names() if agent != "windsurf"]


@pytest.mark.parametrize(
    ("agent", "level"),
    [("windsurf", "user"), ("openclaw", "user")]
    + [(agent, "project") for agent in SERVED if agent != "openclaw"],
)
def test_a_server_that_was_written_starts_and_has_its_tools(
    agent: str, level: str, user: Path, repository: Repository
) -> None:
    """Part of F3: as its host starts it, in both eras of the protocol."""
    repository.commit("feat: begin")
    connect(agent, level, repository)
    [entry] = find_servers(written(agent, level, user, repository))
    command, *arguments = words_of(entry)
    assert Path(command).is_absolute()
    assert arguments[-1] == "mcp"
    server = StdioServerParameters(
        command=command, args=arguments, env=bare() | entry.get("env", {}), cwd=repository.path
    )
    assert asyncio.run(list_tools(server, "auto")) >= TOOLS
    if agent == "claude-code":
        assert asyncio.run(list_tools(server, "legacy")) >= TOOLS


async def list_tools(server: StdioServerParameters, mode: Any) -> set[str]:
    async with asyncio.timeout(30), Client(server, mode=mode) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


def connect(agent: str, level: str, repository: Repository) -> None:
    done = threadline("connect", agent, f"--{level}", cwd=repository.path)
    assert done.returncode == Exit.OK, done.stderr


def written(agent: str, level: str, user: Path, repository: Repository) -> list[Any]:
    """Read every file that was made for an agent."""
    folder = user if level == "user" else repository.path
    plan = json.loads(
        threadline(
            "disconnect", agent, f"--{level}", "--dry-run", "--json", cwd=repository.path
        ).stdout
    )
    paths = [
        Path(file["path"]) for file in plan["files"] if file["action"] in {"delete", "restore"}
    ]
    assert paths
    for path in paths:
        assert path.is_relative_to(folder)
    readers: dict[str, Any] = {".json": json.loads, ".toml": tomllib.loads}
    return [
        readers[path.suffix](path.read_text().replace("// mine\n", ""))
        for path in paths
        if path.suffix in readers
    ]


def find_line(found: Any, event: str) -> str:
    """Find the command line of an event, however deep it stands."""
    for name, value in nodes(found):
        if name == event:
            lines = [line for key, line in nodes(value) if key in {"command", "bash"}]
            return str(lines[0])
    raise AssertionError(f"no {event}")


def find_servers(found: Any) -> list[Any]:
    names = {"mcpServers", "servers", "mcp", "mcp_servers"}
    tables = [value for name, value in nodes(found) if name in names]
    entries = [one["threadline"] for one in tables if "threadline" in one]
    return [
        one
        for index, one in enumerate(entries)
        if words_of(one) not in map(words_of, entries[:index])
    ]


def words_of(entry: Any) -> list[str]:
    command = entry["command"]
    return [*(command if isinstance(command, list) else [command]), *entry.get("args", [])]


def nodes(found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict):
        yield from found.items()
    for below in (
        found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    ):
        yield from nodes(below)


def bare() -> dict[str, str]:
    """Give the environment of a host that knows of nothing but a shell."""
    names = ("HOME", "THREADLINE_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
    known = {name: os.environ[name] for name in names}
    return {**known, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}


def test_connect_a_project(user: Path, repository: Repository) -> None:
    """Part of F3."""
    (repository.path / "below").mkdir()
    before = files(user)
    done = threadline("connect", "--project", "cursor", "copilot", cwd=repository.path / "below")
    assert done.returncode == Exit.OK, done.stderr
    assert files(user) == before
    assert (repository.path / ".cursor/hooks.json").exists()
    assert (repository.path / ".github/hooks/threadline.json").exists()
    assert (repository.path / ".cursor/mcp.json").exists()
    shared = json.loads((repository.path / ".mcp.json").read_bytes())["mcpServers"]["threadline"]
    assert set(shared) == {"type", "command", "args"}
    away = threadline("disconnect", "--all", "--project", str(repository.path), cwd=user)
    assert away.returncode == Exit.OK
    assert repository.git("status", "--porcelain") == ""
    assert {path.name for path in repository.path.iterdir()} == {".git", "below"}


def test_results_speak_json(user: Path) -> None:
    """Part of F3."""
    plan = json.loads(threadline("connect", "cursor", "--json", cwd=user).stdout)
    assert plan["applied"] is True
    assert [file["action"] for file in plan["files"]] == ["create", "create"]
    plan = json.loads(threadline("disconnect", "cursor", "--json", "--dry-run", cwd=user).stdout)
    assert plan["applied"] is False
    assert [file["action"] for file in plan["files"]] == ["delete", "delete"]


def test_wrong_words_and_refused_files_have_their_codes(user: Path) -> None:
    """Part of F3."""
    unknown = threadline("connect", "clod", cwd=user)
    assert unknown.returncode == Exit.USAGE
    assert b"known are antigravity, claude-code" in unknown.stderr
    silent = threadline("connect", cwd=user)
    assert silent.returncode == Exit.USAGE
    assert b"found here: Claude Code, Cursor" in silent.stderr
    assert threadline("disconnect", cwd=user).returncode == Exit.USAGE
    (user / ".cursor/hooks.json").write_text('{"a": }')
    refused = threadline("connect", "cursor", cwd=user)
    assert refused.returncode == Exit.CONFLICT
    assert b"hooks.json is left as it is: line 1, column 7" in refused.stderr
    assert (user / ".cursor/hooks.json").read_text() == '{"a": }'
    assert (user / ".cursor/mcp.json").exists()
    nowhere = threadline("connect", "openclaw", "--project", str(user), cwd=user)
    assert nowhere.returncode == Exit.CONFLICT
    assert b"it has no files of a project; use --user" in nowhere.stderr
    shutil.rmtree(user / ".cursor")
    shutil.rmtree(user / ".claude")
    assert threadline("connect", "--all", cwd=user).returncode == Exit.NOT_FOUND


@pytest.mark.parametrize(("answer", "is_connected"), [(b"y\n", True), (b"\n", False)])
def test_without_names_a_person_is_asked(user: Path, answer: bytes, is_connected: bool) -> None:
    """Part of F3."""
    ours, theirs = os.openpty()
    os.write(ours, answer)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from sidecar.transports.entry import main; raise SystemExit(main())",
            "connect",
        ],
        cwd=user,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdin=theirs,
        capture_output=True,
        check=False,
        timeout=60,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == Exit.OK
    assert b"connect them? [y/N]" in done.stderr
    assert (user / ".cursor/hooks.json").exists() == is_connected


HOOK = """
import json, sys
body = json.load(sys.stdin)
with open(sys.argv[1], "a") as log:
    log.write(json.dumps([sys.argv[2:], body]) + "\\n")
if sys.argv[-1] == "session_end":
    print("no JSON")
elif sys.argv[-1] in {"chat.message", "experimental.session.compacting"}:
    print(json.dumps({"additionalContext": "known"}))
else:
    print(json.dumps({"prependContext": "known"}))
"""


def run_plugin(tmp_path: Path, text: str, script: str) -> "tuple[Any, list[Any]]":
    """Load a plugin as its host would, and give what a script printed and what the hook was told."""
    (tmp_path / "plugin.mjs").write_text(text)
    (tmp_path / "run.mjs").write_text('import * as plugin from "./plugin.mjs"\n' + script)
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    log = tmp_path / "log"
    told = log.read_text().splitlines() if log.exists() else []
    return json.loads(done.stdout), [json.loads(line) for line in told]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "hook.py").write_text(HOOK)
    return Program((sys.executable, str(tmp_path / "hook.py"), str(tmp_path / "log")))


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is missing")


@needs_node
def test_the_plugin_of_opencode_asks_the_hook_and_hands_on_its_answer(
    tmp_path: Path, program: Program
) -> None:
    """Part of F3."""
    script = f"""
    const hooks = await plugin.Threadline({{ directory: {json.dumps(str(tmp_path))}, worktree: "" }})
    await hooks.event({{ event: {{ type: "session.created", properties: {{ sessionID: "s" }} }} }})
    await hooks.event({{ event: {{ type: "session.status", properties: {{ sessionID: "s" }} }} }})
    await hooks["chat.message"]({{ sessionID: "s" }}, {{ message: {{ id: "m" }}, parts: [] }})
    const output = {{ system: [], context: [] }}
    await hooks["experimental.chat.system.transform"]({{ sessionID: "s" }}, output)
    await hooks["experimental.session.compacting"]({{ sessionID: "s" }}, output)
    await hooks.event({{ event: {{ type: "session.compacted", properties: {{ sessionID: "s" }} }} }})
    const after = {{ system: [] }}
    await hooks["experimental.chat.system.transform"]({{ sessionID: "s" }}, after)
    console.log(JSON.stringify([output, after]))
    """
    said, told = run_plugin(tmp_path, write_script("opencode", 0, program), script)
    assert said == [{"system": ["known"], "context": ["known"]}, {"system": ["known"]}]
    where = {"directory": str(tmp_path), "worktree": str(tmp_path)}
    assert told == [
        [["hook", "opencode", "session.created"], {**where, "sessionID": "s"}],
        [
            ["hook", "opencode", "chat.message"],
            {**where, "input": {"sessionID": "s"}, "output": {"message": {"id": "m"}, "parts": []}},
        ],
        [
            ["hook", "opencode", "experimental.session.compacting"],
            {**where, "input": {"sessionID": "s"}},
        ],
        [["hook", "opencode", "session.compacted"], {**where, "sessionID": "s"}],
    ]


@needs_node
def test_a_session_of_opencode_that_goes_on_elsewhere_is_told_before_its_next_request(
    tmp_path: Path, program: Program
) -> None:
    """Part of F3. OpenCode waits for no event, so whatever makes a request has to."""
    script = """
    const hooks = await plugin.Threadline({ directory: "/", worktree: "/" })
    hooks["chat.message"]({ sessionID: "s" }, { message: {}, parts: [] })
    const output = { system: [] }
    await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, output)
    hooks.event({ event: { type: "session.created", properties: { sessionID: "s" } } })
    await hooks.dispose()
    console.log(JSON.stringify(output))
    """
    said, told = run_plugin(tmp_path, write_script("opencode", 0, program), script)
    assert said == {"system": ["known"]}
    assert [(words[-1], body.get("source")) for words, body in told] == [
        ("session.created", "resume"),
        ("chat.message", None),
    ]


@needs_node
def test_the_plugin_of_openclaw_asks_the_hook_and_hands_on_its_answer(
    tmp_path: Path, program: Program
) -> None:
    """Part of F3."""
    script = """
    const hooks = {}
    plugin.default.register({ on: (name, act) => { hooks[name] = act } })
    const ctx = { sessionKey: "k" }
    const answers = [
      await hooks.before_prompt_build({ prompt: "why?", messages: ["long"] }, ctx),
      await hooks.session_end({}, ctx) ?? null,
    ]
    console.log(JSON.stringify(answers))
    """
    said, told = run_plugin(tmp_path, write_script("openclaw", 2, program), script)
    assert said == [{"prependContext": "known"}, None]
    assert told[0] == [
        ["hook", "openclaw", "before_prompt_build"],
        {"hook": "before_prompt_build", "event": {"prompt": "why?"}, "ctx": {"sessionKey": "k"}},
    ]


@needs_node
def test_the_plugin_of_openclaw_knows_which_conversation_is_meant(
    tmp_path: Path, program: Program
) -> None:
    """Part of F3. Some events name only the agent."""
    script = f"""
    const hooks = {{}}
    plugin.default.register({{ on: (name, act) => {{ hooks[name] = act }} }})
    const workspaceDir = {json.dumps(str(tmp_path))}
    await hooks.session_start({{ sessionId: "one" }}, {{ sessionKey: "k", workspaceDir }})
    await hooks.session_start({{ sessionId: "other" }}, {{ sessionKey: "l" }})
    await hooks.after_tool_call({{ toolName: "edit" }}, {{ sessionKey: "k" }})
    await hooks.before_compaction({{}}, {{ sessionKey: "k", sessionId: undefined }})
    await hooks.session_start({{ sessionId: "two" }}, {{ sessionKey: "k" }})
    await hooks.session_end({{}}, {{ sessionKey: "k" }})
    await hooks.agent_end({{ messages: [] }}, {{ sessionKey: "k" }})
    console.log("{{}}")
    """
    _, told = run_plugin(tmp_path, write_script("openclaw", 2, program), script)
    here = {"sessionKey": "k", "workspaceDir": str(tmp_path)}
    assert [body["ctx"] for _, body in told] == [
        {**here, "sessionId": "one"},
        {"sessionKey": "l", "sessionId": "other"},
        {**here, "sessionId": "one"},
        {**here, "sessionId": "one"},
        {**here, "sessionId": "two"},
        {**here, "sessionId": "two"},
        {"sessionKey": "k"},
    ]


LENGTHY = {
    "opencode": """
    const hooks = await plugin.Threadline({ directory: "", worktree: "" })
    const args = { filePath: "a.txt", content: "é".repeat(2e6), patch: ["x".repeat(2e6)] }
    await hooks["tool.execute.after"]({ tool: "write", sessionID: "s", args }, {})
    const parts = [{ type: "file", url: "x".repeat(2e6) }, { type: "text", text: "why?" }]
    await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts })
    const part = { type: "text", text: "We decided. ".repeat(2e5), messageID: "m2", sessionID: "s" }
    const info = { id: "m2", role: "assistant", sessionID: "s" }
    await hooks.event({ event: { type: "message.updated", properties: { info } } })
    await hooks.event({ event: { type: "message.part.updated", properties: { part } } })
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
    """,
    "openclaw": """
    const hooks = {}
    plugin.default.register({ on: (name, act) => { hooks[name] = act } })
    const ctx = { sessionKey: "k", sessionId: "s" }
    const params = { path: "a.txt", edits: Array(40).fill({ newText: "é".repeat(1e5) }) }
    await hooks.after_tool_call({ toolName: "edit", params, result: "x".repeat(2e6) }, ctx)
    const prior = Array(1000).fill({ role: "user", content: "x".repeat(1e4) })
    await hooks.before_prompt_build({ prompt: "why?", messages: prior }, ctx)
    const last = { role: "assistant", content: "We decided. ".repeat(2e5) }
    await hooks.agent_end({ messages: [...prior, last, { role: "tool", content: "x" }] }, ctx)
    """,
}


@needs_node
@pytest.mark.parametrize("agent", LENGTHY)
def test_a_plugin_says_no_more_than_the_hook_reads(
    agent: str, tmp_path: Path, program: Program
) -> None:
    """Part of F3. What is longer would be passed over, with the edit or the turn that it tells of."""
    index = {"opencode": 0, "openclaw": 2}[agent]
    _, told = run_plugin(
        tmp_path, write_script(agent, index, program), LENGTHY[agent] + "\nconsole.log('{}')"
    )
    assert all(len(json.dumps(body, ensure_ascii=False).encode()) <= MOST for _, body in told)
    around = {"HOME": "/"}
    seen = [
        observing.observe(assistant.find(agent), words[-1], body, around) for words, body in told
    ]
    heard = [one for one in seen if one.get("event") in {"tool", "prompt", "turn.end"}]
    assert [one["event"] for one in heard] == ["tool", "prompt", "turn.end"]
    assert heard[0]["files"] == ["a.txt"]
    assert heard[1]["prompt"] == "why?"
    assert str(heard[2]["response"]).startswith("We decided. We decided. ")


@needs_node
@pytest.mark.parametrize("agent", LENGTHY)
def test_a_plugin_whose_program_is_gone_disturbs_nobody(agent: str, tmp_path: Path) -> None:
    """Part of F3."""
    index = {"opencode": 0, "openclaw": 2}[agent]
    text = write_script(agent, index, Program(("/nowhere/threadline",)))
    assert run_plugin(tmp_path, text, LENGTHY[agent] + "\nconsole.log('{}')") == ({}, [])
