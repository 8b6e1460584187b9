"""Read past conversations of Codex: rollouts by day, as JSON Lines."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Piece, Reader, Transcript


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the rollouts, archived ones too."""
    del folders
    chosen = os.environ.get("CODEX_HOME", "")
    place = Path(chosen) if Path(chosen).is_absolute() else home / ".codex"
    for pattern in ("sessions/**/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"):
        for path in sorted(place.glob(pattern)):
            yield _transcript(path)


def _transcript(path: Path) -> Transcript:
    metas = (line for line in past.head(path) if line.get("type") == "session_meta")
    meta = past.inner(next(metas, {}), "payload")
    return Transcript(
        host="codex",
        # The name ends in the id of the conversation, after the moment it began at.
        session_key=past.text(meta.get("id")) or path.stem[-36:],
        stamp=past.stamp(path),
        pieces=lambda damaged: _pieces(path, damaged),
        folder=past.text(meta.get("cwd")),
        remote=past.text(past.inner(meta, "git").get("repository_url")),
    )


def _pieces(path: Path, damaged: Damaged) -> Iterator[Piece]:
    for number, line in enumerate(past.lines(path, damaged)):
        at, payload = past.moment(line.get("timestamp")), past.inner(line, "payload")
        kind, key = payload.get("type"), f"{path.stem}:{number}"
        said = past.text(payload.get("message"))
        if line.get("type") == "compacted" and said:
            yield Piece(at, text=said)
        elif kind == "user_message" and said:
            yield Piece(at, "user", said, key)
        elif kind == "agent_message" and said:
            yield Piece(at, "assistant", said, key)
        elif kind in {"custom_tool_call", "function_call"}:
            given = payload.get("input") or payload.get("arguments")
            if files := past.edited(payload.get("name"), given):
                yield Piece(at, files=files)


READER = Reader("codex", "Codex", find)
