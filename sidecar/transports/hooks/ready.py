"""Find the context that was prepared for a conversation, without opening the application."""

import os

from sidecar.storage import prepared, spool
from sidecar.storage.prepared import Ready
from sidecar.transports.hooks import notation, observing
from sidecar.transports.hooks.observing import Observation

_BEGINNINGS = {"startup", "clear"}
"""Occasions on which a new conversation gets the whole context."""
_MOST = 256 * 1024
"""Bytes of the spool that are read; a larger one surely holds something new."""
_NOTICE = (
    "(This was prepared before the latest commits: hold it against the code as it is now.)\n\n"
)


def find(home: str, seen: Observation, *, is_new: bool) -> Ready | None:
    """Return what was prepared for a conversation; None where nothing is, or the conversation is not new."""
    if not is_new or seen["told"] not in _BEGINNINGS:
        return None
    root = os.path.realpath(str(seen["root"]))
    project = find_project(home, root)
    if project is None:
        return None
    ready = prepared.read(home, project, (root, str(seen["host"])), str(seen["sessionKey"]))
    if ready is not None and ready.is_fresh and _is_news_waiting(home, root, seen):
        ready.is_fresh = False
    return ready


def say(ready: Ready, seen: Observation) -> str:
    """Return the text of a prepared context, with a notice if it is of an earlier commit."""
    top = prepared.find_top(str(seen["root"]))
    return ready.text if prepared.find_head(top) == ready.head else _NOTICE + ready.text


def note(home: str, seen: Observation, ready: Ready) -> None:
    """Store durably what a conversation was given, for whoever writes to the project next."""
    given: Observation = {
        **{name: seen[name] for name in ("host", "sessionKey", "root", "at")},
        "event": "given",
        "occasion": seen["told"],
        "receipt": ready.receipt,
        "key": observing.talk(seen) + f"given:{seen['at']}",
    }
    spool.drop(home, observing.digest(str(given["key"])), notation.encode(given))


def find_project(home: str, root: str) -> str | None:
    """Return the project that lists a folder's repository; None unless there is exactly one."""
    top = prepared.find_top(root)
    wanted = prepared.find_git(top)[1] or top
    try:
        names = os.listdir(f"{home}/projects")
    except OSError:
        return None
    listing = [
        name
        for name in names
        if isinstance(folders := _decoded(_read(f"{home}/projects/{name}/folders.json")), list)
        and wanted in folders
    ]
    return listing[0] if len(listing) == 1 else None


def find_branch(root: str) -> str:
    """Return the branch that is checked out in a folder's repository; an empty text where there is none."""
    ref, _, _ = (prepared.find_head(prepared.find_top(root)) or "").rpartition(" ")
    return ref.removeprefix("ref: refs/heads/") if ref.startswith("ref: refs/heads/") else ""


def name_items(ready: Ready) -> list[str]:
    """Return the ids of what a context tells."""
    receipt = _decoded(ready.receipt.encode())
    items = receipt.get("items") if isinstance(receipt, dict) else None
    named = [item for item in items or () if isinstance(item, dict)]
    return [str(item["id"]) for item in named if "id" in item]


def _is_news_waiting(home: str, root: str, seen: Observation) -> bool:
    """Return whether the spool holds something of another conversation in the same working tree."""
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
            entry = _decoded(line)
            if not isinstance(entry, dict) or entry.get("event") == "given":
                continue
            where = str(entry.get("root"))
            if where not in tops:
                tops[where] = prepared.find_top(where)
            if tops[where] == tops[root] and entry.get("sessionKey") != seen["sessionKey"]:
                return True
    return False


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST + 1)
    except OSError:
        return b""


def _decoded(data: bytes) -> object:
    return notation.decode_or_none(data.decode("utf-8", "replace"))
