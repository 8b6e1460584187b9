"""Where assistants keep their files, per user, project and system."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath

from msgspec import Struct

from protocol.connections import Level
from sidecar.hosts.agents import Agent, Part


class Surroundings(Struct, frozen=True):
    """What decides where files are."""

    home: str
    platform: str
    """As `sys.platform` names it."""
    environment: Mapping[str, str]
    project: str | None = None


def resolve(name: str, around: Surroundings) -> str:
    """Give the path that a name in the table of agents stands for."""
    first, _, rest = name.partition("/")
    folder = _FOLDERS[first](around)
    return str(folder / rest if rest else folder)


def candidates(part: Part, level: Level, around: Surroundings) -> list[str]:
    """Give the files a part may be in, best first; none if the agent has none at this level."""
    names = part.user if level == "user" else part.project
    return [resolve(name, around) for name in names]


def find_installed(
    agents: Iterable[Agent],
    around: Surroundings,
    has: Callable[[str], bool],
    runs: Callable[[str], bool],
) -> list[Agent]:
    """Choose the agents that are here: by their folders and files, or by their programs."""
    return [
        agent
        for agent in agents
        if any(has(resolve(sign, around)) for sign in agent.signs) or any(map(runs, agent.programs))
    ]


def _project(around: Surroundings) -> PurePath:
    assert around.project is not None  # noqa: S101  # asked for only at the project's level
    return PurePath(around.project)


def _home(around: Surroundings, *names: str) -> PurePath:
    return PurePath(around.home, *names)


def _chosen(around: Surroundings, variable: str) -> PurePath | None:
    value = around.environment.get(variable)
    return PurePath(value) if value and PurePath(value).is_absolute() else None


def _config(around: Surroundings) -> PurePath:
    return _chosen(around, "XDG_CONFIG_HOME") or _home(around, ".config")


def _roaming(around: Surroundings) -> PurePath:
    return _chosen(around, "APPDATA") or _home(around, "AppData", "Roaming")


def _code(around: Surroundings) -> PurePath:
    if around.platform == "win32":
        return _roaming(around) / "Code"
    if around.platform == "darwin":
        return _home(around, "Library", "Application Support", "Code")
    return _config(around) / "Code"


def _devin(around: Surroundings) -> PurePath:
    return (_roaming(around) if around.platform == "win32" else _config(around)) / "devin"


def _claude(around: Surroundings) -> PurePath:
    return _chosen(around, "CLAUDE_CONFIG_DIR") or _home(around, ".claude")


def _claude_state(around: Surroundings) -> PurePath:
    return (_chosen(around, "CLAUDE_CONFIG_DIR") or _home(around)) / ".claude.json"


def _codex(around: Surroundings) -> PurePath:
    return _chosen(around, "CODEX_HOME") or _home(around, ".codex")


def _copilot(around: Surroundings) -> PurePath:
    return _chosen(around, "COPILOT_HOME") or _home(around, ".copilot")


_FOLDERS: dict[str, Callable[[Surroundings], PurePath]] = {
    "~": _home,
    ".": _project,
    "{config}": _config,
    "{code}": _code,
    "{devin}": _devin,
    "{claude}": _claude,
    "{claude-state}": _claude_state,
    "{codex}": _codex,
    "{copilot}": _copilot,
}
