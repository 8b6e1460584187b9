"""The files by which assistants, marketplaces and the MCP registry know Threadline, made from the table of assistants.

`tools/generate.py` writes them. The version comes from `protocol/versions.py`, and who publishes stands here alone.
"""

import json
from pathlib import Path

from sidecar.hosts import assistant, contents, jsonc, merge
from sidecar.hosts.assistant import Assistant, File, ServerEntry
from sidecar.hosts.program import READY

ROOT = Path(__file__).resolve().parent.parent
EDITORS = ROOT / "editors"
OWNER = "threadline"
"""Who publishes: the account at GitHub and at the marketplaces. Whoever releases under another name changes it here."""
NAME = "threadline"
REGISTRY_NAME = f"io.github.{OWNER}/{NAME}"
"""Our name in the MCP registry; README repeats it, since the registry looks for it in the published package."""
DESCRIPTION = "A memory for your repository, shared by you and your AI assistants."
KEYWORDS = ["memory", "context", "git", "decisions", "handoff"]
CATEGORY = "Developer Tools"

Data = dict[str, object]

_PROSE = {".md": "markdown", ".rst": "restructuredtext", ".txt": "plaintext", ".toml": "toml"}
"""Files of the plugin's language server. Claude Code asks one server for each ending, the first that claims it: these
are endings that language servers for code leave alone."""
_CODE = {
    ".py": "python",
    ".js": "javascript",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".rb": "ruby",
    ".php": "php",
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".cs": "csharp",
}
"""Files of a plugin of its own, for people who have no language server for them."""
_CODE_DESCRIPTION = "Why a line is as it is, on hover; only where no other language server is used."


def write(version: str) -> dict[str, str]:
    """Return the text of every manifest and ready file, by its path below the root of the repository."""
    files = {
        **_claude_code(version),
        **_codex(version),
        **_cursor(version),
        **_gemini(version),
        **_agent_plugin(version),
    }
    return {
        "server.json": jsonc.write(_registry(version)),
        **{f"editors/{path}": text for path, text in files.items()},
        **_marketplaces(version),
        "editors/windsurf/hooks.json": _part("windsurf", 0),
        "editors/windsurf/mcp_config.json": _part("windsurf", 1),
        "editors/copilot/hooks/threadline.json": _part("copilot", 0),
        "editors/copilot/mcp-config.json": _part("copilot", 1),
        "editors/opencode/threadline.js": _part("opencode", 0),
        "editors/openclaw/package.json": _part("openclaw", 0),
        "editors/openclaw/openclaw.plugin.json": _part("openclaw", 1),
        "editors/openclaw/index.js": _part("openclaw", 2),
    }


def _registry(version: str) -> Data:
    """Describe the package for the MCP registry, from which clients start it with `uvx threadline mcp`."""
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": REGISTRY_NAME,
        "title": "Threadline",
        "description": DESCRIPTION,
        "version": version,
        "repository": {"url": f"https://github.com/{OWNER}/{NAME}", "source": "github"},
        "packages": [package],
    }


def _marketplaces(version: str) -> dict[str, str]:
    """Return the lists from which Claude Code, Cursor and Codex install plugins out of this repository."""
    owner: Data = {"name": NAME, "owner": {"name": "Threadline"}}
    about = {"metadata": {"description": DESCRIPTION, "version": version}}
    codex = {
        "name": NAME,
        "source": {"source": "local", "path": "./editors/codex"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": CATEGORY,
    }
    return {
        ".claude-plugin/marketplace.json": jsonc.write(
            {
                **owner,
                **about,
                "plugins": [
                    _offer(NAME, "claude-code", DESCRIPTION, version),
                    _offer(f"{NAME}-lsp", "claude-code-lsp", _CODE_DESCRIPTION, version),
                ],
            }
        ),
        ".cursor-plugin/marketplace.json": jsonc.write(
            {**owner, **about, "plugins": [_offer(NAME, "cursor", DESCRIPTION, version)]}
        ),
        ".agents/plugins/marketplace.json": jsonc.write(
            {"name": NAME, "interface": {"displayName": "Threadline"}, "plugins": [codex]}
        ),
    }


def _offer(name: str, folder: str, description: str, version: str) -> Data:
    source = f"./editors/{folder}"
    words = {"version": version, "keywords": KEYWORDS}
    return {"name": name, "source": source, "description": description, **words}


def _claude_code(version: str) -> dict[str, str]:
    hooks = {"description": "Tells Threadline what happens.", **json.loads(_part("claude-code", 0))}
    code = {**_plugin(version), "name": f"{NAME}-lsp", "description": _CODE_DESCRIPTION}
    return {
        **_skills("claude-code"),
        "claude-code/.claude-plugin/plugin.json": jsonc.write(
            {**_plugin(version), "lspServers": _language_server(_PROSE)}
        ),
        "claude-code/hooks/hooks.json": jsonc.write(hooks),
        "claude-code/.mcp.json": _part("claude-code", 1),
        "claude-code-lsp/.claude-plugin/plugin.json": jsonc.write(
            {**code, "lspServers": _language_server(_CODE)}
        ),
    }


def _language_server(endings: dict[str, str]) -> Data:
    return {NAME: {"command": NAME, "args": ["serve"], "extensionToLanguage": endings}}


def _codex(version: str) -> dict[str, str]:
    parts = {"skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    interface = {
        "displayName": "Threadline",
        "shortDescription": DESCRIPTION,
        "longDescription": "Records commits and what you tell assistants, on your machine, and hands the right part back.",
        "developerName": "Threadline",
        "category": CATEGORY,
        "capabilities": ["Read", "Write"],
        "defaultPrompt": ["What was decided here lately?", "Why is this line as it is?"],
    }
    return {
        **_skills("codex"),
        "codex/.codex-plugin/plugin.json": jsonc.write(
            {**_plugin(version), **parts, "interface": interface}
        ),
        "codex/hooks/hooks.json": _part("codex", 0),
        "codex/.mcp.json": _server(),
    }


def _cursor(version: str) -> dict[str, str]:
    parts = {"hooks": "hooks/hooks.json", "mcpServers": "mcp.json", "skills": "skills"}
    return {
        **_skills("cursor"),
        "cursor/.cursor-plugin/plugin.json": jsonc.write({**_plugin(version), **parts}),
        "cursor/hooks/hooks.json": _part("cursor", 0),
        "cursor/mcp.json": _part("cursor", 1),
    }


def _gemini(version: str) -> dict[str, str]:
    extension = {"name": NAME, "version": version, "description": DESCRIPTION}
    servers = json.loads(_part("gemini-cli", 0))
    return {
        **_skills("gemini-cli"),
        "gemini-cli/gemini-extension.json": jsonc.write({**extension, **servers}),
    }


def _agent_plugin(version: str) -> dict[str, str]:
    """Return a plugin in the open format of Agent Plugins 1.0, which has skills and MCP servers and no hooks."""
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    plugin = {"$schema": f"{schemas}/plugin.schema.json", **_plugin(version), "keywords": KEYWORDS}
    servers = json.loads(_server(type="stdio"))
    return {
        **_skills("agent-plugin"),
        "agent-plugin/plugin.json": jsonc.write(plugin),
        "agent-plugin/mcp.json": jsonc.write({"$schema": f"{schemas}/mcp.schema.json", **servers}),
    }


def _plugin(version: str) -> Data:
    return {
        "name": NAME,
        "description": DESCRIPTION,
        "author": {"name": "Threadline"},
        "license": "MIT",
        "version": version,
    }


def _skills(plugin: str) -> dict[str, str]:
    """Return the skills as a plugin carries them: copies, since a plugin is installed without its surroundings."""
    return {
        f"{plugin}/{path.relative_to(EDITORS).as_posix()}": path.read_text("utf-8")
        for path in sorted(EDITORS.glob("skills/*/SKILL.md"))
    }


def _part(agent: str, index: int) -> str:
    host = assistant.find(agent)
    return _write(host, host.files[index])


def _server(**before: object) -> str:
    """Return a file that names our MCP server in the form that most hosts share."""
    return _write(Assistant(), File(server=ServerEntry(before=before)))


def _write(host: Assistant, file: File) -> str:
    return merge.join(None, contents.build(host, file, READY))
