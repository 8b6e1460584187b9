"""Ready files for the repository: plugins and examples, made from the table of agents."""

from collections.abc import Mapping

from sidecar.domain.connections import editing, merging
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
    return {
        "claude-code/.claude-plugin/plugin.json": editing.write(plugin),
        "claude-code/hooks/hooks.json": editing.write(
            {"description": "Tells Threadline what happens.", "hooks": _events("claude-code")}
        ),
        "cursor/.cursor-plugin/plugin.json": editing.write({**plugin, "hooks": "hooks/hooks.json"}),
        "cursor/hooks/hooks.json": _first("cursor"),
        "copilot/hooks/threadline.json": _first("copilot"),
    }


def _first(agent: str) -> str:
    """Write the file that holds an agent's hooks."""
    return merging.join(None, BY_NAME[agent].parts[0].content(READY))


def _events(agent: str) -> dict[str, object]:
    """Give the events of an agent, each with its list."""
    content = BY_NAME[agent].parts[0].content(READY)
    assert isinstance(content, Json)  # noqa: S101  # the table says so
    [hooks] = [piece for piece in content.pieces if isinstance(piece, Hooks)]
    return {event: [item] for event, item in hooks.events.items()}
