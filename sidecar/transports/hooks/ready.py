"""Ready: the context that was prepared for a conversation before it began, found without opening the application."""

import os

from sidecar.storage import prepared, spool
from sidecar.storage.prepared import Ready
from sidecar.transports.hooks import notation, observing
from sidecar.transports.hooks.observing import Observation

_BEGINNINGS = {"startup", "clear"}
"""Occasions on which a conversation that was told nothing yet is told all."""
_MOST = 256 * 1024
"""Bytes that are looked at of what waits; in more there is surely something new."""
_NOTICE = (
    "(This was prepared before the latest commits: hold it against the code as it is now.)\n\n"
)


def find(home: str, seen: Observation, *, is_new: bool) -> Ready | None:
    """Return what was prepared for a conversation; None where nothing is, or it is not the one to be told it."""
    if not is_new or seen["told"] not in _BEGINNINGS:
        return None
    root = os.path.realpath(str(seen["root"]))
    project = find_project(home, root)
    if project is None:
        return None
    found = prepared.read(home, project, (root, str(seen["host"])), str(seen["sessionKey"]))
    if found is not None and found.is_fresh and _is_news_waiting(home, root, seen):
        found.is_fresh = False
    return found


def say(found: Ready, seen: Observation) -> str:
    """Return the words of a context that is told late; one of an earlier commit says so."""
    top = prepared.find_top(str(seen["root"]))
    return found.text if prepared.find_head(top) == found.head else _NOTICE + found.text


def note(home: str, seen: Observation, found: Ready) -> None:
    """Keep durably what a conversation was told, for whoever writes to the project next."""
    given: Observation = {
        **{name: seen[name] for name in ("host", "sessionKey", "root", "at")},
        "event": "given",
        "occasion": seen["told"],
        "receipt": found.receipt,
        "key": observing.talk(seen) + f"given:{seen['at']}",
    }
    spool.drop(home, observing.digest(str(given["key"])), notation.encode(given))


def find_project(home: str, root: str) -> str | None:
    """Name the project whose record lists a folder's repository; None where that is not one."""
    top = prepared.find_top(root)
    wanted = prepared.find_git(top)[1] or top
    try:
        names = os.listdir(f"{home}/projects")
    except OSError:
        return None
    listing = [name for name in names if wanted in _folders(f"{home}/projects/{name}/folders.json")]
    return listing[0] if len(listing) == 1 else None


def _folders(path: str) -> list[object]:
    found = _decoded(_read(path))
    return found if isinstance(found, list) else []


def name_items(found: Ready) -> list[str]:
    """Return the ids of what a context tells."""
    receipt = _decoded(found.receipt.encode())
    items = receipt.get("items") if isinstance(receipt, dict) else None
    named = [item for item in items or () if isinstance(item, dict)]
    return [str(item["id"]) for item in named if "id" in item]


def _is_news_waiting(home: str, root: str, seen: Observation) -> bool:
    """Tell whether another conversation of the same working tree has said something that nobody has placed yet."""
    place, left = spool.folder(home), _MOST
    tops = {root: prepared.find_top(root)}
    try:
        names = [name for name in os.listdir(place) if name.endswith(".jsonl")]
    except OSError:
        return False
    for name in names:
        data = _read(f"{place}/{name}")
        left -= len(data)
        if left < 0:
            return True
        for line in data.split(b"\n"):
            said = _decoded(line)
            if not isinstance(said, dict) or said.get("event") == "given":
                continue
            where = str(said.get("root"))
            if where not in tops:
                tops[where] = prepared.find_top(where)
            if tops[where] == tops[root] and said.get("sessionKey") != seen["sessionKey"]:
                return True
    return False


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST + 1)
    except OSError:
        return b""


def _decoded(data: bytes) -> object:
    try:
        return notation.decode(data.decode())
    except ValueError:
        return None
