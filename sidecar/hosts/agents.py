"""Every supported assistant: its files, hooks, MCP entry and detection."""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from sidecar.hosts import jsonc, merge, plugins, rules_files
from sidecar.hosts.contents import Content, Group, Hooks, Json, Member, Plugin, Script, Server, Toml
from sidecar.hosts.program import READY, Program, Shell, serve, write_line, write_powershell


class Hook(Struct, frozen=True):
    """An event we listen to."""

    event: str
    matcher: str | None = None
    is_async: bool = False
    """Whether the host goes on without waiting."""


CLAUDE = (
    Hook("SessionStart"),
    Hook("UserPromptSubmit"),
    Hook("PostToolUse", "Write|Edit|MultiEdit|NotebookEdit", is_async=True),
    Hook("PreCompact"),
    Hook("PostCompact"),
    Hook("Stop"),
    Hook("SessionEnd"),
)
CURSOR = (
    Hook("sessionStart"),
    Hook("sessionEnd"),
    Hook("beforeSubmitPrompt"),
    Hook("afterFileEdit"),
    Hook("subagentStop"),
    Hook("afterAgentResponse"),
    Hook("preCompact"),
)
COPILOT = tuple(
    Hook(event)
    for event in (
        "sessionStart",
        "sessionEnd",
        "userPromptSubmitted",
        "postToolUse",
        "agentStop",
        "preCompact",
    )
)
DEVIN = (
    Hook("SessionStart", ""),
    Hook("UserPromptSubmit", ""),
    Hook("PostToolUse", "^(edit|write|apply_patch|notebook_edit)$"),
    Hook("PostCompaction", ""),
    Hook("Stop", ""),
    Hook("SessionEnd", ""),
)
CODEX = (
    Hook("SessionStart"),
    Hook("UserPromptSubmit"),
    Hook("PostToolUse", "apply_patch|Edit|Write"),
    Hook("Stop"),
)
CASCADE = (Hook("pre_user_prompt"), Hook("post_write_code"), Hook("post_cascade_response"))
ANTIGRAVITY = (Hook("PreInvocation"), Hook("PostToolUse", ""))


TIMEOUT = 10
"""Seconds a host waits for a hook; every host below counts in seconds, but for Cascade, which cannot be told."""

Style = Literal["grouped", "flat", "shells", "cascade"]
Make = Callable[[Program], Content]


class Part(Struct, frozen=True):
    """One file: where it is for a user and in a project (the first that exists, else the last), and what is in it."""

    content: Make
    user: tuple[str, ...] = ()
    project: tuple[str, ...] = ()


class Agent(Struct, frozen=True):
    """An agent, by the name that users type."""

    name: str
    label: str
    parts: tuple[Part, ...]
    signs: tuple[str, ...]
    """Folders and files that are there where it is installed."""
    programs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What users should know after connecting it."""


def _claude_hooks(program: Program) -> Content:
    return Json((_hooks(program, "claude-code", CLAUDE, ("hooks",), "bash"),))


def _devin_hooks(program: Program) -> Content:
    return Json((_hooks(program, "devin", DEVIN, ("hooks",), "cmd"),))


def _devin_project_hooks(program: Program) -> Content:
    return Json((_hooks(program, "devin", DEVIN, (), "cmd"),))


def _codex_hooks(program: Program) -> Content:
    return Json((_hooks(program, "codex", CODEX, ("hooks",), "cmd"),))


def _cursor_hooks(program: Program) -> Content:
    hooks = _hooks(program, "cursor", CURSOR, ("hooks",), "powershell", style="flat")
    return Json((Member(("version",), 1), hooks))


def _copilot_hooks(program: Program) -> Content:
    hooks = _hooks(program, "copilot", COPILOT, ("hooks",), "bash", style="shells")
    return Json((Member(("version",), 1), hooks))


def _cascade_hooks(program: Program) -> Content:
    return Json((_hooks(program, "windsurf", CASCADE, ("hooks",), "bash", style="cascade"),))


def _antigravity_hooks(program: Program) -> Content:
    events: dict[str, object] = {"enabled": True}
    for hook in ANTIGRAVITY:
        handler: dict[str, object] = {
            "command": write_line(program, "cmd", "antigravity", hook.event),
            "timeout": TIMEOUT,
        }
        item = handler if hook.matcher is None else {"matcher": hook.matcher, "hooks": [handler]}
        events[hook.event] = [item]
    return Json((Group(("threadline",), "antigravity", events),))


def _typed_server(program: Program) -> Content:
    return Json((_server(program, ("mcpServers",), {"type": "stdio"}),))


def _plain_server(program: Program) -> Content:
    return Json((_server(program, ("mcpServers",), {}),))


def _devin_server(program: Program) -> Content:
    return Json((_named_server(program, "devin", ("mcpServers",)),))


def _copilot_server(program: Program) -> Content:
    server = _server(program, ("mcpServers",), {"type": "local"})
    return Json((Server(server.path, {**server.value, "tools": ["*"]}),))


def _vscode_server(program: Program) -> Content:
    return Json((_server(program, ("servers",), {"type": "stdio"}),))


def _opencode_server(program: Program) -> Content:
    value: dict[str, object] = {"type": "local", "command": serve(program), "enabled": True}
    schema = Member(("$schema",), "https://opencode.ai/config.json")
    return Json((schema, Server(("mcp", "threadline"), value)))


def _codex_server(program: Program) -> Content:
    return Toml(_server(program, ("mcp_servers",), {}))


def _openclaw_settings(program: Program) -> Content:
    plugin: dict[str, object] = {"enabled": True, "hooks": {"allowConversationAccess": True}}
    return Json(
        (
            Plugin(("plugins", "entries", "threadline"), plugin),
            _named_server(program, "openclaw", ("mcp", "servers")),
        ),
        is_loose=True,
    )


def _opencode_plugin(program: Program) -> Content:
    return Script(plugins.write_opencode(program))


def _openclaw_plugin(program: Program) -> Content:
    return Script(plugins.write_openclaw(program))


def _cascade_rules(_: Program) -> Content:
    return Script(rules_files.write(), is_living=True)


def _openclaw_manifest(_: Program) -> Content:
    return Script(plugins.OPENCLAW_MANIFEST)


def _openclaw_package(_: Program) -> Content:
    return Script(plugins.OPENCLAW_PACKAGE)


def _server(program: Program, path: tuple[str, ...], head: dict[str, object]) -> Server:
    command, *arguments = serve(program)
    return Server((*path, "threadline"), {**head, "command": command, "args": arguments})


def _named_server(program: Program, host: str, path: tuple[str, ...]) -> Server:
    """Name the host to our server, which does not know it by what it calls itself.

    That must not be done in a file that others read too: Claude Code's, Cursor's and Cascade's are imported by many.
    """
    server = _server(program, path, {})
    return Server(server.path, {**server.value, "env": {"THREADLINE_HOST": host}})


def _hooks(  # noqa: PLR0913  # the columns of the table below
    program: Program,
    agent: str,
    hooks: tuple[Hook, ...],
    path: tuple[str, ...],
    shell: Shell,
    *,
    style: Style = "grouped",
) -> Hooks:
    events = {hook.event: _item(program, agent, hook, shell, style) for hook in hooks}
    return Hooks(path, agent, events)


def _item(
    program: Program, agent: str, hook: Hook, shell: Shell, style: Style
) -> dict[str, object]:
    if style == "shells":
        return {
            "type": "command",
            "bash": write_line(program, "bash", agent, hook.event),
            "powershell": write_powershell(program, agent, hook.event),
            "timeoutSec": TIMEOUT,
        }
    line = write_line(program, shell, agent, hook.event)
    if style == "cascade":
        powershell = write_powershell(program, agent, hook.event)
        return {"command": line, "powershell": powershell, "show_output": False}
    if style == "flat":
        return {"command": line, "timeout": TIMEOUT}
    handler: dict[str, object] = {"type": "command", "command": line, "timeout": TIMEOUT}
    if hook.is_async:
        handler["async"] = True
    matcher = {} if hook.matcher is None else {"matcher": hook.matcher}
    return {**matcher, "hooks": [handler]}


_COPILOT_HOOK_FILE = Part(
    _copilot_hooks,
    user=("{copilot}/hooks/threadline.json",),
    project=("./.github/hooks/threadline.json",),
)
_SHARED_SERVER_FILE = Part(_typed_server, project=("./.mcp.json",))
"""Claude Code, Copilot and VS Code's agent host read the same file in a project."""

_CASCADE_NOTE = (
    "Cascade takes no text from hooks. In a project (--project) what it should know is kept in "
    f"{rules_files.PLACES['windsurf']}, renewed as conversations begin; let git ignore that file if nobody else should read it."
)

AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        (
            Part(
                _claude_hooks,
                user=("{claude}/settings.json",),
                project=("./.claude/settings.json",),
            ),
            Part(_typed_server, user=("{claude-state}",), project=("./.mcp.json",)),
        ),
        signs=("{claude}",),
        programs=("claude",),
        notes=("Cursor, Devin and Copilot read Claude Code's hooks too; each is told once.",),
    ),
    Agent(
        "cursor",
        "Cursor",
        (
            Part(_cursor_hooks, user=("~/.cursor/hooks.json",), project=("./.cursor/hooks.json",)),
            Part(_plain_server, user=("~/.cursor/mcp.json",), project=("./.cursor/mcp.json",)),
        ),
        signs=("~/.cursor",),
        programs=("cursor", "cursor-agent"),
    ),
    Agent(
        "devin",
        "Devin",
        (
            Part(_devin_hooks, user=("{devin}/config.json",)),
            Part(_devin_project_hooks, project=("./.devin/hooks.v1.json",)),
            Part(
                _devin_server,
                user=("{devin}/mcp_config.json",),
                project=("./.devin/mcp_config.json",),
            ),
        ),
        signs=("{devin}",),
        programs=("devin",),
    ),
    Agent(
        "windsurf",
        "Windsurf (Cascade)",
        (
            Part(
                _cascade_hooks,
                user=("~/.codeium/windsurf/hooks.json",),
                project=("./.windsurf/hooks.json",),
            ),
            Part(_plain_server, user=("~/.codeium/windsurf/mcp_config.json",)),
            Part(_cascade_rules, project=(f"./{rules_files.PLACES['windsurf']}",)),
        ),
        signs=("~/.codeium/windsurf",),
        programs=("windsurf",),
        notes=(_CASCADE_NOTE,),
    ),
    Agent(
        "copilot",
        "Copilot CLI",
        (
            _COPILOT_HOOK_FILE,
            Part(
                _copilot_server,
                user=("{copilot}/mcp-config.json",),
            ),
            _SHARED_SERVER_FILE,
        ),
        signs=("{copilot}",),
        programs=("copilot",),
    ),
    Agent(
        "vscode",
        "VS Code",
        (
            _COPILOT_HOOK_FILE,
            Part(_vscode_server, user=("{code}/User/mcp.json",), project=("./.vscode/mcp.json",)),
            _SHARED_SERVER_FILE,
        ),
        signs=("{code}",),
        programs=("code",),
        notes=("VS Code asks whether you trust the server before it starts it.",),
    ),
    Agent(
        "opencode",
        "OpenCode",
        (
            Part(
                _opencode_plugin,
                user=("{config}/opencode/plugins/threadline.js",),
                project=("./.opencode/plugins/threadline.js",),
            ),
            Part(
                _opencode_server,
                user=("{config}/opencode/opencode.jsonc", "{config}/opencode/opencode.json"),
                project=("./opencode.jsonc", "./opencode.json"),
            ),
        ),
        signs=("{config}/opencode",),
        programs=("opencode",),
    ),
    Agent(
        "openclaw",
        "OpenClaw",
        (
            Part(_openclaw_package, user=("~/.openclaw/extensions/threadline/package.json",)),
            Part(
                _openclaw_manifest,
                user=("~/.openclaw/extensions/threadline/openclaw.plugin.json",),
            ),
            Part(_openclaw_plugin, user=("~/.openclaw/extensions/threadline/index.js",)),
            Part(_openclaw_settings, user=("~/.openclaw/openclaw.json",)),
        ),
        signs=("~/.openclaw",),
        programs=("openclaw",),
        notes=("Restart the gateway; if your settings have plugins.allow, add threadline to it.",),
    ),
    Agent(
        "codex",
        "Codex",
        (
            Part(_codex_hooks, user=("{codex}/hooks.json",), project=("./.codex/hooks.json",)),
            Part(_codex_server, user=("{codex}/config.toml",), project=("./.codex/config.toml",)),
        ),
        signs=("{codex}",),
        programs=("codex",),
        notes=("Codex runs a hook only after you have trusted it: /hooks shows them.",),
    ),
    Agent(
        "antigravity",
        "Antigravity",
        (
            Part(
                _antigravity_hooks,
                user=("~/.gemini/config/hooks.json",),
                project=("./.agents/hooks.json",),
            ),
            Part(
                _plain_server,
                user=("~/.gemini/config/mcp_config.json",),
                project=("./.agents/mcp_config.json",),
            ),
        ),
        signs=("~/.gemini/config", "~/.gemini/antigravity"),
        programs=("antigravity", "agy"),
    ),
    Agent(
        "gemini-cli",
        "Gemini CLI",
        (
            Part(
                _plain_server,
                user=("~/.gemini/settings.json",),
                project=("./.gemini/settings.json",),
            ),
        ),
        signs=("~/.gemini/settings.json",),
        programs=("gemini",),
        notes=("Gemini CLI gets the tools only: it is told nothing by itself.",),
    ),
)
BY_NAME = {agent.name: agent for agent in AGENTS}


_PLUGIN = {
    "name": "threadline",
    "description": "A memory for your repository, shared by you and your AI assistants.",
    "author": {"name": "Threadline"},
    "license": "MIT",
}


def write_packages(version: str) -> Mapping[str, str]:
    """Write every ready file, by its path below the folder of editors."""
    plugin = {**_PLUGIN, "version": version}
    parts = {"hooks": "hooks/hooks.json", "mcpServers": "mcp.json"}
    return {
        "claude-code/.claude-plugin/plugin.json": jsonc.write(plugin),
        "claude-code/hooks/hooks.json": jsonc.write(
            {"description": "Tells Threadline what happens.", "hooks": _events("claude-code")}
        ),
        "claude-code/.mcp.json": _part("claude-code", 1),
        "cursor/.cursor-plugin/plugin.json": jsonc.write({**plugin, **parts}),
        "cursor/hooks/hooks.json": _part("cursor", 0),
        "cursor/mcp.json": _part("cursor", 1),
        "windsurf/hooks.json": _part("windsurf", 0),
        "windsurf/mcp_config.json": _part("windsurf", 1),
        "copilot/hooks/threadline.json": _part("copilot", 0),
        "copilot/mcp-config.json": _part("copilot", 1),
        "opencode/threadline.js": _part("opencode", 0),
        "openclaw/package.json": _part("openclaw", 0),
        "openclaw/openclaw.plugin.json": _part("openclaw", 1),
        "openclaw/index.js": _part("openclaw", 2),
    }


def _part(agent: str, index: int) -> str:
    return merge.join(None, BY_NAME[agent].parts[index].content(READY))


def _events(agent: str) -> dict[str, object]:
    content = BY_NAME[agent].parts[0].content(READY)
    assert isinstance(content, Json)  # noqa: S101  # the table says so
    [hooks] = [piece for piece in content.pieces if isinstance(piece, Hooks)]
    return {event: [item] for event, item in hooks.events.items()}
