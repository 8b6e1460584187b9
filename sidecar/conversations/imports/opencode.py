"""Read past conversations of OpenCode: its database, which it may be writing just now."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Piece, Reader, Transcript
from sidecar.storage import foreign_database

_SESSIONS = (
    "SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL ORDER BY time_created"
)
_PARTS = (
    "SELECT message.id, message.time_created, message.data, part.data"
    " FROM message JOIN part ON part.message_id = message.id"
    " WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id"
)


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the conversations; those of subagents have a parent and are left out."""
    del folders
    chosen = os.environ.get("XDG_DATA_HOME", "")
    base = Path(chosen) if Path(chosen).is_absolute() else home / ".local" / "share"
    for path in sorted((base / "opencode").glob("opencode*.db")):
        with foreign_database.reading(path) as rows:
            for session, folder, changed in rows(_SESSIONS, ()):
                yield _transcript(path, past.text(session), past.text(folder), changed)


def _transcript(path: Path, session: str, folder: str, changed: object) -> Transcript:
    return Transcript(
        host="opencode",
        session_key=session,
        stamp=str(changed),
        pieces=lambda damaged: _pieces(path, session, damaged),
        folder=folder,
    )


def _pieces(path: Path, session: str, damaged: Damaged) -> Iterator[Piece]:
    with foreign_database.reading(path) as rows:
        for key, created, message, part in rows(_PARTS, (session,)):
            said, piece = past.parse(message), past.parse(part)
            if said is None or piece is None:
                damaged()
                continue
            at, state = past.moment(created), past.inner(piece, "state")
            words = past.text(piece.get("text")) if piece.get("type") == "text" else ""
            if files := past.edited(piece.get("tool"), state.get("input")):
                yield Piece(at, files=files if state.get("status") == "completed" else ())
            elif not words or piece.get("synthetic"):
                continue
            elif said.get("summary") is True:
                yield Piece(at, text=words)
            else:
                yield Piece(at, past.speaker(said.get("role") == "user"), words, str(key))


READER = Reader("opencode", "OpenCode", find)
