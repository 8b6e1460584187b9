"""Pauses: whether nothing is to be kept of a folder now, as far as that can be known without opening its memory.

What is not known here is decided when an observation is placed, by its own time.
"""

import os
import time

from sidecar.transports.hooks import notation, rules

_MOST = 1024 * 1024


def are_on(home: str, root: str) -> bool:
    """Tell whether capture is paused for sure in the project of a folder."""
    paused = [one for one in _projects(home) if _is_paused(f"{home}/projects/{one}/pauses.json")]
    return bool(paused) and rules.find_top(root) in _folders(home, paused)


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
    """Name the folders of some projects, by the index of all."""
    found: dict[str, list[str]] = {}
    for line in _text(f"{home}/projects.jsonl").splitlines():
        if any(one in line for one in projects):
            for operation in _operations(line):
                found[str(operation[1])] = _named(operation[2])
    return [one.removesuffix("/.git") for key in projects for one in found.get(key, [])]


def _operations(line: str) -> list[list[object]]:
    record = _decoded(line)
    ops = record.get("ops") if isinstance(record, dict) else None
    found = ops if isinstance(ops, list) else []
    return [one for one in found if isinstance(one, list) and len(one) > 2]  # noqa: PLR2004


def _named(document: object) -> list[str]:
    folders = document.get("folders") if isinstance(document, dict) else None
    return [str(one) for one in folders] if isinstance(folders, list) else []


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
