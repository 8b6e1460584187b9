"""Pauses: whether nothing is to be kept of a folder now, as far as that can be known without opening its memory.

What is not known here is decided when an observation is placed, by its own time.
"""

import os
import time

from sidecar.transports.hooks import notation

_MOST = 1024 * 1024


def are_on(home: str, root: str) -> bool:
    """Tell whether capture is paused for sure in the project of a folder."""
    paused = [one for one in _projects(home) if _is_paused(f"{home}/projects/{one}/pauses.json")]
    if not paused:
        return False
    from sidecar.storage.prepared import find_top  # noqa: PLC0415  # most folders are not paused

    return find_top(root) in _folders(home, paused)


def _projects(home: str) -> list[str]:
    try:
        return os.listdir(f"{home}/projects")
    except OSError:
        return []


def _is_paused(path: str) -> bool:
    """Tell whether a pause is on; one that ends with a process is left to who can ask for it."""
    known = _read(path)
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    found = [one for one in known if isinstance(one, dict)] if isinstance(known, list) else []
    return any(
        not one.get("process") and (one.get("until") is None or str(one["until"])[:19] > now)
        for one in found
    )


def _folders(home: str, projects: list[str]) -> list[str]:
    """Return the folders of some projects, as the home has noted them for us."""
    lists = [_read(f"{home}/projects/{project}/folders.json") for project in projects]
    names = [name for folders in lists if isinstance(folders, list) for name in folders]
    return [str(name).removesuffix("/.git") for name in names]


def _read(path: str) -> object:
    return _decoded(_text(path) or "null")


def _decoded(text: str) -> object:
    try:
        return notation.decode(text)
    except ValueError:
        return None


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST).decode("utf-8", "replace")
    except OSError:
        return ""
