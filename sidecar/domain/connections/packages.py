"""Ready files for the repository: plugins and examples, made from the table of agents."""

from collections.abc import Mapping

from sidecar.domain.connections import jsonc, merging
from sidecar.domain.connections.agents import BY_NAME
from sidecar.domain.connections.contents import Hooks, Json
from sidecar.domain.connections.programs import READY

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
    return merging.join(None, BY_NAME[agent].parts[index].content(READY))


def _events(agent: str) -> dict[str, object]:
    content = BY_NAME[agent].parts[0].content(READY)
    assert isinstance(content, Json)  # noqa: S101  # the table says so
    [hooks] = [piece for piece in content.pieces if isinstance(piece, Hooks)]
    return {event: [item] for event, item in hooks.events.items()}
