"""What each agent's files must hold, and how our entries are told from others'."""

import json
import shlex
import tomllib
from typing import Any

import pytest

from sidecar.hosts import assistant, locations, merge, rules_files
from sidecar.hosts import program as hosts_program
from sidecar.hosts.assistant import SIGN
from sidecar.hosts.contents import Content, Json, Script, Toml, build
from sidecar.hosts.locations import Surroundings
from sidecar.hosts.merge import RefusedError
from sidecar.hosts.program import Program
from sidecar.text import clipping

HERE = Program(("/home/ada/my tools/bin/threadline",))
OLD = Program(("/usr/bin/python3.11", "-P", "-m", "sidecar.transports.entry"))
WINDOWS = Program(("C:\\Program Files\\Threadline\\threadline.exe",), is_windows=True)
QUICK = Program(("/home/ada/bin/threadline",), interpreter="/home/ada/my tools/bin/python")
QUICK_WINDOWS = Program(
    ("C:\\tools\\Scripts\\threadline.exe",),
    is_windows=True,
    interpreter="C:\\tools\\Scripts\\python.exe",
)
SPACED_WINDOWS = Program(
    WINDOWS.words, is_windows=True, interpreter="C:\\Program Files\\Threadline\\python.exe"
)
CODE = "from sidecar.transports.entry import main; main()"
LINUX = Surroundings("/home/ada", "linux", {}, "/work/acme")


def content(agent: str, index: int, program: Program = HERE) -> Content:
    """Return what one of an agent's files should hold."""
    host = assistant.find(agent)
    return build(host, host.files[index], program)


def contents(agent: str, level: Any = "user", program: Program = HERE) -> dict[str, Any]:
    """Give an agent's new files by path."""
    return {
        locations.candidates(file, level, LINUX)[-1]: merge.join(
            None, content(agent, index, program)
        )
        for index, file in enumerate(assistant.find(agent).files)
        if locations.candidates(file, level, LINUX)
    }


FILES = {
    ("claude-code", "user"): ["/home/ada/.claude/settings.json", "/home/ada/.claude.json"],
    ("claude-code", "project"): ["/work/acme/.claude/settings.json", "/work/acme/.mcp.json"],
    ("cursor", "user"): ["/home/ada/.cursor/hooks.json", "/home/ada/.cursor/mcp.json"],
    ("cursor", "project"): ["/work/acme/.cursor/hooks.json", "/work/acme/.cursor/mcp.json"],
    ("devin", "user"): [
        "/home/ada/.config/devin/config.json",
        "/home/ada/.config/devin/mcp_config.json",
    ],
    ("devin", "project"): [
        "/work/acme/.devin/hooks.v1.json",
        "/work/acme/.devin/mcp_config.json",
    ],
    ("windsurf", "user"): [
        "/home/ada/.codeium/windsurf/hooks.json",
        "/home/ada/.codeium/windsurf/mcp_config.json",
    ],
    ("windsurf", "project"): [
        "/work/acme/.windsurf/hooks.json",
        "/work/acme/.windsurf/rules/threadline.md",
    ],
    ("copilot", "user"): [
        "/home/ada/.copilot/hooks/threadline.json",
        "/home/ada/.copilot/mcp-config.json",
    ],
    ("copilot", "project"): ["/work/acme/.github/hooks/threadline.json", "/work/acme/.mcp.json"],
    ("vscode", "user"): [
        "/home/ada/.copilot/hooks/threadline.json",
        "/home/ada/.config/Code/User/mcp.json",
    ],
    ("vscode", "project"): [
        "/work/acme/.github/hooks/threadline.json",
        "/work/acme/.vscode/mcp.json",
        "/work/acme/.mcp.json",
    ],
    ("opencode", "user"): [
        "/home/ada/.config/opencode/plugins/threadline.js",
        "/home/ada/.config/opencode/opencode.json",
    ],
    ("opencode", "project"): [
        "/work/acme/.opencode/plugins/threadline.js",
        "/work/acme/opencode.json",
    ],
    ("openclaw", "user"): [
        "/home/ada/.openclaw/extensions/threadline/package.json",
        "/home/ada/.openclaw/extensions/threadline/openclaw.plugin.json",
        "/home/ada/.openclaw/extensions/threadline/index.js",
        "/home/ada/.openclaw/openclaw.json",
    ],
    ("openclaw", "project"): [],
    ("codex", "user"): ["/home/ada/.codex/hooks.json", "/home/ada/.codex/config.toml"],
    ("codex", "project"): ["/work/acme/.codex/hooks.json", "/work/acme/.codex/config.toml"],
    ("antigravity", "user"): [
        "/home/ada/.gemini/config/hooks.json",
        "/home/ada/.gemini/config/mcp_config.json",
    ],
    ("antigravity", "project"): [
        "/work/acme/.agents/hooks.json",
        "/work/acme/.agents/mcp_config.json",
    ],
    ("gemini-cli", "user"): ["/home/ada/.gemini/settings.json"],
    ("gemini-cli", "project"): ["/work/acme/.gemini/settings.json"],
}


@pytest.mark.parametrize(("agent", "level"), FILES)
def test_every_agent_has_its_files_at_each_level(agent: str, level: str) -> None:
    """Part of F3."""
    assert list(contents(agent, level)) == FILES[agent, level]


def test_the_table_of_files_names_every_agent() -> None:
    assert {agent for agent, _ in FILES} == set(assistant.names())


SERVERS = {
    "claude-code": ("mcpServers", {"type": "stdio", "command": HERE.words[0], "args": ["mcp"]}),
    "cursor": ("mcpServers", {"command": HERE.words[0], "args": ["mcp"]}),
    "devin": (
        "mcpServers",
        {"command": HERE.words[0], "args": ["mcp"], "env": {"THREADLINE_HOST": "devin"}},
    ),
    "windsurf": ("mcpServers", {"command": HERE.words[0], "args": ["mcp"]}),
    "copilot": (
        "mcpServers",
        {"type": "local", "command": HERE.words[0], "args": ["mcp"], "tools": ["*"]},
    ),
    "vscode": ("servers", {"type": "stdio", "command": HERE.words[0], "args": ["mcp"]}),
    "opencode": ("mcp", {"type": "local", "command": [HERE.words[0], "mcp"], "enabled": True}),
    "antigravity": ("mcpServers", {"command": HERE.words[0], "args": ["mcp"]}),
    "gemini-cli": ("mcpServers", {"command": HERE.words[0], "args": ["mcp"]}),
}


@pytest.mark.parametrize("agent", SERVERS)
def test_the_server_stands_under_the_key_of_its_host(agent: str) -> None:
    """Part of F3."""
    key, value = SERVERS[agent]
    text = list(contents(agent).values())[-1]
    assert json.loads(text)[key] == {"threadline": value}


def test_codex_has_its_server_in_toml_and_openclaw_below_mcp() -> None:
    """Part of F3."""
    codex = contents("codex")["/home/ada/.codex/config.toml"]
    assert tomllib.loads(codex) == {
        "mcp_servers": {"threadline": {"command": HERE.words[0], "args": ["mcp"]}}
    }
    openclaw = json.loads(contents("openclaw")["/home/ada/.openclaw/openclaw.json"])
    assert openclaw == {
        "plugins": {
            "entries": {"threadline": {"enabled": True, "hooks": {"allowConversationAccess": True}}}
        },
        "mcp": {
            "servers": {
                "threadline": {
                    "command": HERE.words[0],
                    "args": ["mcp"],
                    "env": {"THREADLINE_HOST": "openclaw"},
                }
            }
        },
    }


def test_a_host_is_named_only_in_files_that_no_other_reads() -> None:
    """Part of F3."""
    every: tuple[Any, ...] = ("user", "project")
    found = {
        path
        for agent in assistant.names()
        for level in every
        for path, text in contents(agent, level).items()
        if "THREADLINE_HOST" in text
    }
    assert found == {
        "/home/ada/.config/devin/mcp_config.json",
        "/work/acme/.devin/mcp_config.json",
        "/home/ada/.openclaw/openclaw.json",
    }


TIMEOUTS = {
    "claude-code": ("timeout", 10),
    "cursor": ("timeout", 10),
    "devin": ("timeout", 10),
    "copilot": ("timeoutSec", 10),
    "vscode": ("timeoutSec", 10),
    "codex": ("timeout", 10),
    "antigravity": ("timeout", 10),
}


def handlers(agent: str, program: Program = HERE) -> list[tuple[str, dict[str, Any]]]:
    """Give an agent's hooks as its first file has them: the event, and what is run."""
    data = json.loads(next(iter(contents(agent, program=program).values())))
    events = data["threadline"] if agent == "antigravity" else data["hooks"]
    return [
        (event, handler)
        for event, items in events.items()
        if isinstance(items, list)
        for item in items
        for handler in item.get("hooks", [item])
    ]


@pytest.mark.parametrize("agent", TIMEOUTS)
def test_every_hook_ends_after_ten_seconds_in_the_unit_of_its_host(agent: str) -> None:
    """Part of F3."""
    key, value = TIMEOUTS[agent]
    for _, handler in handlers(agent):
        assert handler[key] == value
        assert not {"timeout", "timeoutSec", "timeoutMs", "timeout_ms"} & set(handler) - {key}


def test_plugins_count_in_milliseconds() -> None:
    """Part of F3."""
    for agent, name in (("opencode", "threadline.js"), ("openclaw", "index.js")):
        [text] = [text for path, text in contents(agent).items() if path.endswith(name)]
        assert "const PATIENCE_MS = 10000\n" in text


def test_cascade_cannot_be_told_how_long_to_wait() -> None:
    """Part of F3."""
    for _, handler in handlers("windsurf"):
        assert set(handler) == {"command", "powershell", "show_output"}
        assert handler["show_output"] is False


@pytest.mark.parametrize("agent", [*TIMEOUTS, "windsurf"])
def test_every_hook_runs_this_program_with_its_own_event(agent: str) -> None:
    """Part of F3."""
    who = "copilot" if agent == "vscode" else agent
    assert handlers(agent)
    for event, handler in handlers(agent):
        command = handler.get("command") or handler["bash"]
        assert shlex.split(command) == [HERE.words[0], "hook", who, event]


def test_only_what_claude_code_need_not_wait_for_is_async() -> None:
    waited = {event: handler.get("async", False) for event, handler in handlers("claude-code")}
    assert [event for event, is_async in waited.items() if is_async] == ["PostToolUse"]
    gates = {
        "PreToolUse",
        "preToolUse",
        "beforeShellExecution",
        "beforeReadFile",
        "pre_user_prompt",
    }
    hooked = [host for host in assistant.find_all() if host.name != "windsurf"]
    entries = [file.hooks for host in hooked for file in host.files if file.hooks]
    assert not gates & {hook.event for entry in entries for hook in entry.events}


def test_devin_has_events_at_the_top_of_its_project_file() -> None:
    """Part of F3."""
    project = json.loads(contents("devin", "project")["/work/acme/.devin/hooks.v1.json"])
    assert project == json.loads(contents("devin")["/home/ada/.config/devin/config.json"])["hooks"]


LINES = {
    "claude-code": "'C:/Program Files/Threadline/threadline.exe' hook claude-code SessionStart",
    "cursor": "& 'C:\\Program Files\\Threadline\\threadline.exe' hook cursor sessionStart",
    "devin": '"C:\\Program Files\\Threadline\\threadline.exe" hook devin SessionStart',
    "codex": '"C:\\Program Files\\Threadline\\threadline.exe" hook codex SessionStart',
}


@pytest.mark.parametrize("agent", LINES)
def test_windows_hosts_get_the_quotes_of_their_shell(agent: str) -> None:
    """Part of F3."""
    assert handlers(agent, WINDOWS)[0][1]["command"] == LINES[agent]


QUICK_LINES = {
    "claude-code": f"C:/tools/Scripts/python.exe -P -c '{CODE}' hook claude-code SessionStart",
    "cursor": f"C:\\tools\\Scripts\\python.exe -P -c '{CODE}' hook cursor sessionStart",
    "devin": f'C:\\tools\\Scripts\\python.exe -P -c "{CODE}" hook devin SessionStart',
}


@pytest.mark.parametrize("agent", QUICK_LINES)
def test_a_hook_is_run_by_the_interpreter_in_every_shell(agent: str) -> None:
    """Part of F3."""
    assert handlers(agent, QUICK_WINDOWS)[0][1]["command"] == QUICK_LINES[agent]
    event, handler = handlers(agent, QUICK)[0]
    words = [QUICK.interpreter, "-P", "-c", CODE, "hook", agent, event]
    assert shlex.split(handler["command"]) == words


def test_cmd_gets_no_line_whose_outer_quotes_it_would_take_off() -> None:
    """Part of F3: `cmd /c` does so where a line begins with a quote and has more than two."""
    assert handlers("devin", SPACED_WINDOWS)[0][1]["command"] == LINES["devin"]


def test_servers_are_started_by_the_script_though_hooks_are_not() -> None:
    """Part of F3."""
    assert hosts_program.serve(QUICK) == ["/home/ada/bin/threadline", "mcp"]


def test_copilot_has_a_line_for_each_shell() -> None:
    """Part of F3."""
    _, handler = handlers("copilot", WINDOWS)[0]
    assert (
        handler["bash"] == "'C:/Program Files/Threadline/threadline.exe' hook copilot sessionStart"
    )
    assert handler["powershell"] == (
        "& 'C:\\Program Files\\Threadline\\threadline.exe' hook copilot sessionStart"
    )


@pytest.mark.parametrize(
    "program",
    [
        *(HERE, OLD, WINDOWS, QUICK, QUICK_WINDOWS, SPACED_WINDOWS, hosts_program.READY),
        *(Program(("/it's/threadline",)), Program(("x",), interpreter="/it's/python")),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "cmd", "powershell"])
def test_every_line_we_write_is_recognised(program: Program, shell: Any) -> None:
    """Part of F3."""
    line = hosts_program.write_line(program, shell, "cursor", "sessionStart")
    assert hosts_program.is_hook(line, None, "cursor")
    assert not hosts_program.is_hook(line, None, "devin")
    line = hosts_program.write_powershell(program, "cursor", "sessionStart")
    assert hosts_program.is_hook(line, None, "cursor")


@pytest.mark.parametrize(
    "command",
    [
        "threadline-lint hook cursor stop",
        "/opt/my-threadline hook cursor stop",
        "echo threadline hook cursor stop",
        "threadline hook cursor stop && rm x",
        "cd x; threadline hook cursor stop",
        "threadline hook cursor stop extra",
        "threadline hook cursor",
        "threadline status",
        "$HOME/bin/threadline hook cursor stop",
        "python -m other.module hook cursor stop",
        "python -P -c 'from other import main; main()' hook cursor stop",
        f"python -P -c '{CODE}; print(1)' hook cursor stop",
        f"python -P -c {CODE} hook cursor stop",
        "notify 'threadline hook cursor stop'",
        "",
    ],
)
def test_commands_of_others_are_not_taken_for_ours(command: str) -> None:
    """Part of F3."""
    assert not hosts_program.is_hook(command, None, "cursor")


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["threadline", "mcp"], []),
        (["/old/place/threadline", "mcp", "--project", "/x"], ["--project", "/x"]),
        (["C:\\x\\Threadline.EXE", "mcp"], []),
        ([*OLD.words, "mcp"], []),
        (["npx", "threadline", "mcp"], None),
        (["my-threadline", "mcp"], None),
        (["threadline", "serve"], None),
        (["threadline", 3, "mcp"], None),
    ],
)
def test_servers_of_others_are_not_taken_for_ours(
    words: list[object], options: "list[str] | None"
) -> None:
    """Part of F3."""
    assert hosts_program.find_options(words) == options


ALL = [(agent.name, index) for agent in assistant.find_all() for index, _ in enumerate(agent.files)]


@pytest.mark.parametrize(("agent", "index"), ALL)
def test_joining_twice_or_over_an_older_version_gives_the_same_bytes(
    agent: str, index: int
) -> None:
    """Part of F3."""
    here, old = content(agent, index), content(agent, index, OLD)
    fresh = merge.join(None, here)
    assert merge.join(fresh, here) == fresh
    assert merge.join(merge.join(None, old), here) == fresh
    assert merge.is_bare(merge.part(fresh, old), here)


EXISTING = """{
  // mine
  "version": 1,
  "hooks": {
    "sessionStart": [
      { "command": "./greet.sh" }, // stays
      {"command": "/old/threadline hook cursor sessionStart", "timeout": 5}
    ],
    "beforeShellExecution": [
      {"command": "/old/threadline hook cursor beforeShellExecution"}
    ],
    "stop": [ { "command": "threadline-lint hook cursor stop" } ],
  },
}
"""


def test_an_older_entry_is_replaced_and_others_stay() -> None:
    """Part of F3."""
    wanted = content("cursor", 0)
    assert isinstance(wanted, Json)
    joined = merge.join(EXISTING, wanted)
    assert merge.join(joined, wanted) == joined
    assert '{ "command": "./greet.sh" }, // stays' in joined
    assert "// mine" in joined
    assert "/old/threadline" not in joined
    assert "beforeShellExecution" not in joined
    assert '{ "command": "threadline-lint hook cursor stop" }' in joined
    parted = merge.part(joined, wanted)
    assert merge.part(parted, wanted) == parted
    assert "my tools" not in parted
    assert '"stop": [ { "command": "threadline-lint hook cursor stop" } ]' in parted


def test_a_command_of_ours_among_others_leaves_the_others() -> None:
    """Part of F3."""
    wanted = content("claude-code", 0)
    theirs = {"type": "command", "command": "lint"}
    ours = {"type": "command", "command": "threadline", "args": ["hook", "claude-code", "Stop"]}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "*", "hooks": [theirs, ours]}]}})
    joined = json.loads(merge.join(text, wanted))["hooks"]["Stop"]
    assert joined[0] == {"matcher": "*", "hooks": [theirs]}
    assert len(joined) == 2
    parted = json.loads(merge.part(merge.join(text, wanted), wanted))
    assert parted == {"hooks": {"Stop": [{"matcher": "*", "hooks": [theirs]}]}}


def test_a_variable_that_a_user_added_stays_beside_ours() -> None:
    """Part of F3."""
    wanted = content("devin", 2)
    mine = {"command": "/old/threadline", "args": ["mcp"], "env": {"THREADLINE_HOME": "/x"}}
    text = json.dumps({"mcpServers": {"threadline": mine}})
    joined = merge.join(text, wanted)
    assert json.loads(joined)["mcpServers"]["threadline"] == {
        "command": HERE.words[0],
        "args": ["mcp"],
        "env": {"THREADLINE_HOME": "/x", "THREADLINE_HOST": "devin"},
    }
    assert merge.join(joined, wanted) == joined
    assert json.loads(merge.part(joined, wanted)) == {}


def test_a_rules_file_of_ours_stays_as_it_was_last_written() -> None:
    """Part of F3."""
    wanted = content("windsurf", 2)
    fresh = merge.join(None, wanted)
    assert fresh.startswith("---\ntrigger: always_on\n---\n")
    for text in ("We never log names.", "a --> sum 0123456789abcdef -->\n", "\n\n"):
        told = rules_files.write(text)
        assert rules_files.is_intact(told)
        assert merge.join(told, wanted) == told
        assert rules_files.is_intact(told.replace("\n", "\r\n"))
    edited = rules_files.write("We never log names.").replace("never", "often")
    assert not rules_files.is_intact(edited)
    assert merge.join(edited, wanted) == fresh
    assert merge.part(edited, wanted) == ""


@pytest.mark.parametrize("text", ["", "mine", "<!-- sum 0000000000000000 -->", f"{SIGN}"])
def test_a_rules_file_that_is_not_ours_is_known_as_such(text: str) -> None:
    """Part of F3."""
    assert not rules_files.is_intact(text)


def test_a_rules_file_is_never_longer_than_its_host_reads() -> None:
    """Part of F3."""
    assert len(rules_files.write("x" * rules_files.rules_room("windsurf"))) <= 6_000
    assert assistant.cap("windsurf") == 6_000


def test_what_a_user_added_to_our_server_stays() -> None:
    """Part of F3."""
    wanted = content("opencode", 1)
    mine = {
        "type": "local",
        "command": ["/old/threadline", "mcp", "--project", "x"],
        "enabled": False,
    }
    text = json.dumps({"mcp": {"threadline": {**mine, "environment": {"A": "b"}}}})
    assert json.loads(merge.join(text, wanted))["mcp"]["threadline"] == {
        "type": "local",
        "command": [HERE.words[0], "mcp", "--project", "x"],
        "enabled": False,
        "environment": {"A": "b"},
    }


@pytest.mark.parametrize(
    ("agent", "index", "text"),
    [
        ("cursor", 1, '{"mcpServers": {"threadline": {"command": "npx", "args": ["other"]}}}'),
        ("cursor", 1, '{"mcpServers": {"threadline": {"url": "https://example.org"}}}'),
        ("cursor", 1, '{"mcpServers": []}'),
        ("cursor", 1, "[]"),
        ("cursor", 1, '"text"'),
        ("cursor", 0, '{"hooks": "none"}'),
        ("cursor", 0, '{"hooks": {"preCompact": "none"}}'),
        ("antigravity", 0, '{"threadline": {"Stop": [{"command": "mine"}]}}'),
        ("opencode", 0, "export const mine = 1\n"),
        ("windsurf", 2, "---\ntrigger: manual\n---\nmine\n"),
        ("windsurf", 1, '{"mcpServers": {"threadline": {"serverUrl": "https://x"}}}'),
        ("codex", 1, '[mcp_servers.threadline]\ncommand = "mine"\n'),
    ],
)
def test_what_is_not_ours_is_refused_and_never_removed(agent: str, index: int, text: str) -> None:
    """Part of F3."""
    wanted = content(agent, index)
    with pytest.raises(RefusedError):
        merge.join(text, wanted)
    if text not in {"[]", '"text"'}:
        assert merge.part(text, wanted) == text


def test_files_that_are_ours_as_a_whole_say_so() -> None:
    every = [content(agent, index) for agent, index in ALL]
    assert all(isinstance(one, Json | Toml | Script) for one in every)
    assert all(SIGN in one.text for one in every if isinstance(one, Script))


def test_places_follow_the_system_and_its_variables() -> None:
    """Part of F3."""
    chosen = {
        "XDG_CONFIG_HOME": "/home/ada/c",
        "CLAUDE_CONFIG_DIR": "/home/ada/cl",
        "CODEX_HOME": "/home/ada/cx",
        "COPILOT_HOME": "relative",
    }
    there = Surroundings("/home/ada", "linux", chosen)
    assert (
        locations.resolve("{app-data}/Code/User/mcp.json", there)
        == "/home/ada/c/Code/User/mcp.json"
    )
    assert (
        locations.resolve("{CLAUDE_CONFIG_DIR:~}/.claude.json", there)
        == "/home/ada/cl/.claude.json"
    )
    assert locations.resolve("{CODEX_HOME:~/.codex}", there) == "/home/ada/cx"
    assert locations.resolve("{COPILOT_HOME:~/.copilot}", there) == "/home/ada/.copilot"
    mac = Surroundings("/Users/ada", "darwin", {})
    assert (
        locations.resolve("{app-data}/Code", mac) == "/Users/ada/Library/Application Support/Code"
    )
    assert locations.resolve("{roaming}/devin", mac) == "/Users/ada/.config/devin"
    windows = Surroundings("/c/ada", "win32", {"APPDATA": "/c/ada/Roam"})
    assert (
        locations.resolve("{roaming}/devin/config.json", windows) == "/c/ada/Roam/devin/config.json"
    )


def test_agents_are_found_by_their_folders_or_programs() -> None:
    """Part of F3."""
    there = {"/home/ada/.cursor", "/home/ada/.gemini/settings.json"}
    found = locations.find_installed(
        assistant.find_all(), LINUX, there.__contains__, {"codex"}.__contains__
    )
    assert [agent.name for agent in found] == ["codex", "cursor", "gemini-cli"]


def test_a_diff_shows_what_changes_and_where() -> None:
    lines = [str(number) for number in range(1, 21)]
    old = "\n".join(lines) + "\n"
    new = old.replace("\n10\n", "\nten\n")
    assert clipping.compare("x", old, new) == (
        "--- x\n+++ x\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )
    assert clipping.compare("x", None, "a\n") == "--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+a\n"
    assert clipping.compare("x", "a\n", None) == "--- x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert clipping.compare("x", "a", "a") == ""
