"""Where assistants keep their files, and which of them are installed."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath

from msgspec import Struct

from protocol.connections import Level
from sidecar.hosts.assistant import Assistant, File


class Surroundings(Struct, frozen=True):
    """What decides where files are."""

    home: str
    platform: str
    """As `sys.platform` names it."""
    environment: Mapping[str, str]
    project: str | None = None


def resolve(place: str, around: Surroundings) -> str:
    """Return the path that a place in an assistant's file stands for.

    It begins with `~`, `.` (the project), `{config}`, `{roaming}`, `{app-data}`, or `{VARIABLE:default}` for a folder
    that users can choose by an environment variable.
    """
    if place.startswith("{"):
        folder, _, rest = place[1:].partition("}")
    else:
        folder, _, rest = place.partition("/")
    variable, is_chosen, default = folder.partition(":")
    if is_chosen:
        base = _chosen(around, variable) or resolve(default, around)
    else:
        base = _folder(folder, around)
    return str(PurePath(base, rest.lstrip("/")))


def candidates(file: File, level: Level, around: Surroundings) -> list[str]:
    """Return the paths a file may be at, best first; none if the assistant has none at this level."""
    return [resolve(place, around) for place in (file.user if level == "user" else file.project)]


def find_installed(
    assistants: Iterable[Assistant],
    around: Surroundings,
    exists: Callable[[str], bool],
    runs: Callable[[str], bool],
) -> list[Assistant]:
    """Return the assistants that are installed, by their folders and files, or by their programs."""
    return [
        assistant
        for assistant in assistants
        if any(exists(resolve(sign, around)) for sign in assistant.signs)
        or any(map(runs, assistant.programs))
    ]


def _folder(name: str, around: Surroundings) -> str:
    home = PurePath(around.home)
    config = _chosen(around, "XDG_CONFIG_HOME") or str(home / ".config")
    roaming = _chosen(around, "APPDATA") or str(home / "AppData" / "Roaming")
    is_windows = around.platform == "win32"
    match name:
        case "~":
            return around.home
        case ".":
            assert around.project is not None  # noqa: S101  # asked for only at the project's level
            return around.project
        case "config":
            return config
        case "roaming":
            return roaming if is_windows else config
        case "app-data" if around.platform == "darwin":
            return str(home / "Library" / "Application Support")
        case "app-data":
            return roaming if is_windows else config
    raise KeyError(name)


def _chosen(around: Surroundings, variable: str) -> str | None:
    value = around.environment.get(variable, "")
    return value if PurePath(value).is_absolute() else None
