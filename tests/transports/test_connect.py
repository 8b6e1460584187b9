"""`threadline connect` and `disconnect` as a user runs them, in a home of its own."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sidecar.domain.connections import scripts
from sidecar.domain.connections.programs import Program
from sidecar.transports.cli.exits import Exit
from tests.support import ROOT, Repository, threadline

pytestmark = pytest.mark.slow


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
    } == {".cursor/hooks.json"}
    again = threadline("connect", "claude-code", "cursor", cwd=user)
    assert (again.returncode, again.stderr) == (Exit.OK, b"nothing to change\n")
    assert files(user) == joined
    gone = threadline("disconnect", "--all", cwd=user)
    assert gone.returncode == Exit.OK
    assert files(user) == before
    assert not list(user.glob(".cursor/*"))


def test_what_is_written_starts_this_very_program(user: Path) -> None:
    """Part of F3."""
    threadline("connect", "cursor", cwd=user)
    hook = json.loads((user / ".cursor/hooks.json").read_bytes())["hooks"]["stop"][0]["command"]
    words = shlex.split(hook)
    assert words[-3:] == ["hook", "cursor", "stop"]
    assert Path(words[0]).is_absolute()
    done = subprocess.run(
        [*words[:-3], "--version"],
        cwd="/",
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_connect_a_project(user: Path, repository: Repository) -> None:
    """Part of F3."""
    (repository.path / "below").mkdir()
    before = files(user)
    done = threadline("connect", "--project", "cursor", "copilot", cwd=repository.path / "below")
    assert done.returncode == Exit.OK, done.stderr
    assert files(user) == before
    assert (repository.path / ".cursor/hooks.json").exists()
    assert (repository.path / ".github/hooks/threadline.json").exists()
    assert not (repository.path / ".mcp.json").exists()
    away = threadline("disconnect", "--all", "--project", str(repository.path), cwd=user)
    assert away.returncode == Exit.OK
    assert repository.git("status", "--porcelain") == ""
    assert {path.name for path in repository.path.iterdir()} == {".git", "below"}


def test_results_speak_json(user: Path) -> None:
    """Part of F3."""
    plan = json.loads(threadline("connect", "cursor", "--json", cwd=user).stdout)
    assert plan["applied"] is True
    assert [file["action"] for file in plan["files"]] == ["create"]
    plan = json.loads(threadline("disconnect", "cursor", "--json", "--dry-run", cwd=user).stdout)
    assert plan["applied"] is False
    assert [file["action"] for file in plan["files"]] == ["delete", "unchanged"]


def test_wrong_words_and_refused_files_have_their_codes(user: Path) -> None:
    """Part of F3."""
    unknown = threadline("connect", "clod", cwd=user)
    assert unknown.returncode == Exit.USAGE
    assert b"known are claude-code" in unknown.stderr
    silent = threadline("connect", cwd=user)
    assert silent.returncode == Exit.USAGE
    assert b"found here: Claude Code, Cursor" in silent.stderr
    assert threadline("disconnect", cwd=user).returncode == Exit.USAGE
    (user / ".cursor/hooks.json").write_text('{"a": }')
    refused = threadline("connect", "cursor", cwd=user)
    assert refused.returncode == Exit.CONFLICT
    assert b"hooks.json is left as it is: line 1, column 7" in refused.stderr
    assert (user / ".cursor/hooks.json").read_text() == '{"a": }'
    alone = threadline("connect", "windsurf", cwd=user)
    assert alone.returncode == Exit.CONFLICT
    assert b"an MCP server alone" in alone.stderr
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
    console.log(JSON.stringify(output))
    """
    said, told = run_plugin(tmp_path, scripts.write_opencode(program), script)
    assert said == {"system": ["known"], "context": ["known"]}
    where = {"directory": str(tmp_path), "worktree": ""}
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
    said, told = run_plugin(tmp_path, scripts.write_openclaw(program), script)
    assert said == [{"prependContext": "known"}, None]
    assert told[0] == [
        ["hook", "openclaw", "before_prompt_build"],
        {"hook": "before_prompt_build", "event": {"prompt": "why?"}, "ctx": {"sessionKey": "k"}},
    ]


@needs_node
def test_a_plugin_whose_program_is_gone_disturbs_nobody(tmp_path: Path) -> None:
    """Part of F3."""
    text = scripts.write_opencode(Program(("/nowhere/threadline",)))
    script = """
    const hooks = await plugin.Threadline({ directory: "/", worktree: "/" })
    await hooks["chat.message"]({ sessionID: "s" }, { message: {}, parts: [] })
    console.log("{}")
    """
    assert run_plugin(tmp_path, text, script) == ({}, [])
