"""Read conversation transcripts written by hosts."""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from protocol.conversations import Speaker
from sidecar.text import own_words

TAIL = 256 * 1024
"""Bytes at the end of a transcript that are read."""
Turn = tuple[Speaker, str]
Line = dict[str, Any]
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_MACHINE = re.compile(
    r"\s*(?:<(?:command-|local-command|bash-|task-|ide_|system|user-prompt-submit-hook|environment_context|user_instructions)|\[Request interrupted|Caveat: )"
)
"""How a user's message begins that a program has written."""
_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)


def summary(path: str, harness: str, home: Path) -> str | None:
    """Read the last summary that a host made when it compacted a conversation; None where there is none."""
    kept = _KEPT.get(harness)
    if kept is None:
        return None
    texts = (kept.summary(line) for line in reversed(_lines(path, kept.folders(home))))
    return next((text for text in texts if text and text.strip()), None)


def turns(path: str, harness: str, home: Path, *, limit: int = 50) -> list[Turn]:
    """Read what was said last, the oldest first, without tools' output and without our own words."""
    kept = _KEPT.get(harness)
    if kept is None or limit < 1:
        return []
    said = (kept.turn(line) for line in _lines(path, kept.folders(home)))
    return [(speaker, own) for speaker, own in map(_own, filter(None, said)) if own][-limit:]


def _own(turn: Turn) -> Turn:
    speaker, text = turn
    is_machine = speaker == "user" and _MACHINE.match(text)
    return speaker, "" if is_machine else own_words.without(text).strip()


def _lines(path: str, folders: list[Path]) -> list[Line]:
    tail = _tail(path, folders)
    return [line for raw in tail.split(b"\n") if raw.strip() and (line := _line(raw))]


def _line(raw: bytes) -> Line | None:
    try:
        line = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _tail(path: str, folders: list[Path]) -> bytes:
    """Read the end of a file from the first whole line on; nothing of what is none of ours."""
    try:
        if not any(_lies_under(path, folder) for folder in folders):
            return b""
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return b""
    try:
        return _read(descriptor) if _is_trusted(descriptor, path, folders) else b""
    except (OSError, ValueError):
        return b""
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes:
    start = max(0, os.fstat(descriptor).st_size - TAIL)
    os.lseek(descriptor, start, os.SEEK_SET)
    parts: list[bytes] = []
    wanted = TAIL
    while wanted > 0 and (part := os.read(descriptor, wanted)):
        parts.append(part)
        wanted -= len(part)
    tail = b"".join(parts)
    return tail.partition(b"\n")[2] if start else tail


def _is_trusted(descriptor: int, path: str, folders: list[Path]) -> bool:
    """Tell whether the open file is the user's own plain file in one of the folders, by no other name.

    The folder is looked at once more when the file is open, so that nobody can change the path in between.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or not _is_own(status):
        return False
    is_same = os.path.samestat(status, os.lstat(os.path.realpath(path, strict=True)))
    return is_same and any(_lies_under(path, folder) for folder in folders)


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _lies_under(path: str, folder: Path) -> bool:
    """Tell whether the real path of a file lies in a real folder."""
    if not Path(path).is_absolute():
        return False
    try:
        real = Path(os.path.realpath(path, strict=True))
        return real.is_relative_to(os.path.realpath(folder, strict=True))
    except OSError:
        return False


def _claude_folders(home: Path) -> list[Path]:
    chosen = os.environ.get("CLAUDE_CONFIG_DIR", "")
    folders = [home / ".claude", *([Path(chosen)] if Path(chosen).is_absolute() else [])]
    return [folder / "projects" for folder in folders]


def _claude_summary(line: Line) -> str | None:
    if line.get("isCompactSummary") is not True or line.get("isSidechain"):
        return None
    return _content(line.get("message"))


def _claude_turn(line: Line) -> Turn | None:
    if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
        return None
    return _turn(line.get("type"), _content(line.get("message")))


def _copilot_summary(line: Line) -> str | None:
    data = line.get("data")
    is_told = line.get("type") == "session.compaction_complete" and not line.get("agentId")
    if not is_told or not isinstance(data, dict) or data.get("success") is False:
        return None
    return _text(data.get("summaryContent"))


def _copilot_turn(line: Line) -> Turn | None:
    kind, data = line.get("type"), line.get("data")
    if not isinstance(data, dict) or data.get("parentToolCallId") or line.get("agentId"):
        return None
    speakers = {"user.message": "user", "assistant.message": "assistant"}
    return _turn(speakers.get(kind) if isinstance(kind, str) else None, _text(data.get("content")))


def _codex_summary(line: Line) -> str | None:
    payload = line.get("payload")
    if line.get("type") != "compacted" or not isinstance(payload, dict):
        return None
    return _text(payload.get("message"))


def _codex_turn(line: Line) -> Turn | None:
    payload = line.get("payload")
    if line.get("type") != "event_msg" or not isinstance(payload, dict):
        return None
    kind = payload.get("type")
    speakers = {"user_message": "user", "agent_message": "assistant"}
    said = _text(payload.get("message"))
    return _turn(speakers.get(kind) if isinstance(kind, str) else None, said)


def _no_summary(line: Line) -> None:
    """Find none: the host writes none down."""
    del line


def _cursor_turn(line: Line) -> Turn | None:
    said = _content(line.get("message"))
    query = _QUERY.search(said) if said else None
    return _turn(line.get("role"), query[1] if query else said)


def _turn(speaker: object, text: str | None) -> Turn | None:
    if not text:
        return None
    if speaker == "user":
        return ("user", text)
    return ("assistant", text) if speaker == "assistant" else None


def _content(message: object) -> str | None:
    """Give a message's text: its content, or the blocks of it that are text."""
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if not isinstance(content, list):
        return _text(content)
    blocks = (block for block in content if isinstance(block, dict) and block.get("type") == "text")
    return "\n".join(filter(None, (_text(block.get("text")) for block in blocks))) or None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class _Host(NamedTuple):
    """Where a host keeps its conversations, and how a line of one is read."""

    folders: Callable[[Path], list[Path]]
    summary: Callable[[Line], str | None]
    turn: Callable[[Line], Turn | None]


_KEPT = {
    "claude-code": _Host(_claude_folders, _claude_summary, _claude_turn),
    "copilot": _Host(
        lambda home: [home / ".copilot" / "session-state"], _copilot_summary, _copilot_turn
    ),
    "codex": _Host(lambda home: [home / ".codex" / "sessions"], _codex_summary, _codex_turn),
    "cursor": _Host(lambda home: [home / ".cursor"], _no_summary, _cursor_turn),
}
"""Hosts that write JSON Lines; others keep databases, or nothing that we may read."""
