"""Read past conversations of Cursor: its databases, which it may be writing just now."""

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Line, Piece, Reader, Transcript
from sidecar.storage import foreign_database

_COMPOSERS = (
    "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'"
)
_BUBBLE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_ITEM = "SELECT value FROM ItemTable WHERE key = ?"
_USERS = 1


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the conversations, and the folder of the window that each was held in."""
    del folders
    place = _place(home)
    path = place / "globalStorage" / "state.vscdb"
    if not path.is_file():
        return
    homes = dict(_folders(place))
    with foreign_database.reading(path) as rows:
        for key, value in rows(_COMPOSERS, ()):
            composer, name = past.parse(value or b"") or {}, str(key).partition(":")[2]
            yield Transcript(
                host="cursor",
                session_key=name,
                stamp=str(composer.get("lastUpdatedAt") or composer.get("createdAt")),
                pieces=lambda damaged, name=name: _pieces(path, name, damaged),  # type: ignore[misc]
                folder=homes.get(name) or _uri(past.inner(composer, "workspaceIdentifier", "uri")),
            )


def _place(home: Path) -> Path:
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Cursor" / "User"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "Cursor" / "User"
    return home / ".config" / "Cursor" / "User"


def _folders(place: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(place.glob("workspaceStorage/*/workspace.json")):
        folder = _path(past.text(past.whole(path, lambda: None).get("folder")))
        with foreign_database.reading(path.with_name("state.vscdb")) as rows:
            listed = [past.parse(row[0]) or {} for row in rows(_ITEM, ("composer.composerData",))]
        for one in listed:
            for composer in past.objects(one.get("allComposers")):
                yield past.text(composer.get("composerId")), folder


def _uri(address: Line) -> str:
    return past.text(address.get("fsPath") or address.get("path"))


def _path(address: str) -> str:
    parts = urlsplit(address)
    return unquote(parts.path) if parts.scheme == "file" else ""


def _pieces(path: Path, name: str, damaged: Damaged) -> Iterator[Piece]:
    with foreign_database.reading(path) as rows:

        def read(key: str) -> Line:
            found = past.parse(next((row[0] or b"" for row in rows(_BUBBLE, (key,))), b""))
            if found is None:
                damaged()
            return found or {}

        composer = read(f"composerData:{name}")
        at = past.moment(composer.get("createdAt"))
        headers = past.objects(composer.get("fullConversationHeadersOnly"))
        bubbles = ((read(f"bubbleId:{name}:{one.get('bubbleId')}"), one) for one in headers)
        older = ((one, one) for one in past.objects(composer.get("conversation")))
        for bubble, header in bubbles if headers else older:
            at = _moment(bubble) or at
            tool = past.inner(bubble, "toolFormerData")
            if files := past.edited(tool.get("name"), tool.get("rawArgs") or tool.get("params")):
                yield Piece(at, files=files)
            if said := past.text(bubble.get("text")):
                is_users = bubble.get("type", header.get("type")) == _USERS
                key = past.text(bubble.get("bubbleId") or header.get("bubbleId"))
                yield Piece(at, past.speaker(is_users), said, key)


def _moment(bubble: Line) -> datetime | None:
    timing = past.inner(bubble, "timingInfo")
    return past.moment(bubble.get("createdAt") or timing.get("clientStartTime"))


READER = Reader("cursor", "Cursor", find)
