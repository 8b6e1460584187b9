"""Read past conversations of Claude Code: one file of JSON Lines each, by project."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Line, Piece, Reader, Transcript


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the transcripts; those of subagents alone are left out, since no person speaks in them."""
    del folders
    chosen = os.environ.get("CLAUDE_CONFIG_DIR", "")
    places = [home / ".claude", *([Path(chosen)] if Path(chosen).is_absolute() else [])]
    for place in places:
        for path in sorted(place.glob("projects/*/*.jsonl")):
            if not path.name.startswith("agent-"):
                yield _transcript(path)


def _transcript(path: Path) -> Transcript:
    folders = (past.text(line.get("cwd")) for line in past.head(path))
    return Transcript(
        host="claude-code",
        session_key=path.stem,
        stamp=past.stamp(path),
        pieces=lambda damaged: _pieces(path, damaged),
        folder=next(filter(None, folders), ""),
    )


def _pieces(path: Path, damaged: Damaged) -> Iterator[Piece]:
    for line in past.lines(path, damaged):
        at = past.moment(line.get("timestamp"))
        if files := _changed(line):
            yield Piece(at, files=files)
        said = past.content(past.inner(line, "message").get("content"))
        if not said or line.get("isSidechain") or line.get("isMeta"):
            continue
        key = past.text(line.get("uuid"))
        if line.get("isCompactSummary"):
            yield Piece(at, text=said)
        elif line.get("type") == "user":
            yield Piece(at, "user", said, key)
        elif line.get("type") == "assistant":
            yield Piece(at, "assistant", said, key)


def _changed(line: Line) -> tuple[str, ...]:
    """Name the file that a tool says it has changed, also one of a subagent's."""
    result = past.inner(line, "toolUseResult")
    has_changed = "structuredPatch" in result or "newString" in result
    path = past.text(result.get("filePath"))
    return (path,) if has_changed and path else ()


READER = Reader("claude-code", "Claude Code", find)
