"""Read past conversations of Copilot CLI: events as JSON Lines, in a folder for each conversation."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Line, Piece, Reader, Transcript


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the conversations, also those in the layout of earlier versions."""
    del folders
    chosen = os.environ.get("COPILOT_HOME", "")
    place = Path(chosen) if Path(chosen).is_absolute() else home / ".copilot"
    for path in sorted(place.glob("session-state/*/events.jsonl")):
        yield _transcript(path, path.parent.name)
    for path in sorted(place.glob("session-state/*.jsonl")):
        yield _transcript(path, path.stem)


def _transcript(path: Path, name: str) -> Transcript:
    starts = (line for line in past.head(path) if line.get("type") == "session.start")
    data = past.inner(next(starts, {}), "data")
    context, session = past.inner(data, "context"), past.text(data.get("sessionId"))
    workspace = _workspace(path.with_name("workspace.yaml"))
    return Transcript(
        host="copilot",
        session_key=session or name,
        stamp=past.stamp(path),
        pieces=lambda damaged: _pieces(path, damaged),
        folder=past.text(context.get("gitRoot") or context.get("cwd"))
        or workspace.get("git_root", "")
        or workspace.get("cwd", ""),
        remote=_remote(context, workspace),
    )


def _workspace(path: Path) -> dict[str, str]:
    """Read the plain values of the file that says where a conversation was held."""
    rows = (row.partition(": ") for row in past.texts(path, lambda: None) if path.exists())
    return {name: value.strip().strip("'\"") for name, _, value in rows}


def _remote(context: Line, workspace: dict[str, str]) -> str:
    name = past.text(context.get("repository")) or workspace.get("repository", "")
    return f"github.com/{name}" if name.count("/") == 1 else name


def _pieces(path: Path, damaged: Damaged) -> Iterator[Piece]:
    calls: dict[object, tuple[str, ...]] = {}
    for line in past.lines(path, damaged):
        kind, data = past.text(line.get("type")), past.inner(line, "data")
        at, key = past.moment(line.get("timestamp")), past.text(line.get("id"))
        said = past.text(data.get("content"))
        is_agents = bool(data.get("parentToolCallId") or line.get("agentId"))
        if kind == "tool.execution_start":
            calls[data.get("toolCallId")] = past.edited(data.get("toolName"), data.get("arguments"))
        elif kind == "tool.execution_complete":
            files = calls.pop(data.get("toolCallId"), ())
            yield Piece(at, files=files if data.get("success") is True else ())
        elif kind == "session.compaction_complete":
            yield Piece(at, text=past.text(data.get("summaryContent")))
        elif said and not is_agents and kind == "user.message":
            yield Piece(at, "user", said, key)
        elif said and not is_agents and kind == "assistant.message":
            yield Piece(at, "assistant", said, key)


READER = Reader("copilot", "Copilot CLI", find)
