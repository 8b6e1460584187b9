"""Read past conversations of Gemini CLI: one JSON file each, in a folder named after a hash of the project's path."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Line, Piece, Reader, Transcript

_SPEAKERS = {"user", "gemini", "model"}


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the conversations; whose hash is that of none of the folders has no known place."""
    place = home / ".gemini"
    named = past.inner(past.whole(place / "projects.json", lambda: None), "projects")
    known = {hashlib.sha256(folder.encode()).hexdigest(): folder for folder in folders}
    known |= {past.text(slug): folder for folder, slug in named.items()}
    for path in sorted(place.glob("tmp/*/chats/session-*.json*")):
        top = path.parent.parent
        said = next(past.texts(top / ".project_root", lambda: None), "").strip()
        yield _transcript(path, said or known.get(top.name, ""))


def _transcript(path: Path, folder: str) -> Transcript:
    return Transcript(
        host="gemini",
        session_key=_session(path) or path.stem,
        stamp=past.stamp(path),
        pieces=lambda damaged: _pieces(path, damaged),
        folder=folder,
    )


def _session(path: Path) -> str:
    found = past.head(path) if path.suffix == ".jsonl" else [past.whole(path, lambda: None)]
    return next(filter(None, (past.text(line.get("sessionId")) for line in found)), "")


def _messages(path: Path, damaged: Damaged) -> Iterable[Line]:
    if path.suffix == ".jsonl":
        return past.lines(path, damaged)
    return past.objects(past.whole(path, damaged).get("messages"))


def _pieces(path: Path, damaged: Damaged) -> Iterator[Piece]:
    seen: set[str] = set()
    for line in _messages(path, damaged):
        at, key = past.moment(line.get("timestamp")), past.text(line.get("id"))
        for call in past.objects(line.get("toolCalls")):
            files = past.edited(call.get("name"), call.get("args"))
            if files and call.get("status") == "success":
                yield Piece(at, files=files)
        said, kind = past.content(line.get("content")), line.get("type")
        # A message is written again with every tool that it uses.
        if said and kind in _SPEAKERS and key not in seen:
            seen.add(key)
            yield Piece(at, past.speaker(kind == "user"), said, key)


READER = Reader("gemini", "Gemini CLI", find)
