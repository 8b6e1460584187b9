"""Read conversation transcripts written by hosts."""

import os
import re
import stat
import sys
from pathlib import Path
from typing import Any, cast

import msgspec

from protocol.conversations import Speaker
from sidecar.hosts import assistant, locations
from sidecar.hosts.assistant import Assistant
from sidecar.hosts.locations import Surroundings
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
"""How a user's message begins that a program wrote."""


def summary(path: str, harness: str, home: Path) -> str | None:
    """Return the last summary that a host made when it compacted a conversation, or None."""
    host = assistant.find(harness)
    texts = (host.read_summary(line) for line in reversed(_lines(path, host, home)))
    return next((text for text in texts if text and text.strip()), None)


def turns(path: str, harness: str, home: Path, *, limit: int = 50) -> list[Turn]:
    """Return what was said last, oldest first, without tools' output and without our own words."""
    if limit < 1:
        return []
    host = assistant.find(harness)
    said = filter(None, (host.read_turn(line) for line in _lines(path, host, home)))
    own = [(cast("Speaker", speaker), _own(speaker, text)) for speaker, text in said]
    return [(speaker, text) for speaker, text in own if text][-limit:]


def _own(speaker: str, text: str) -> str:
    is_machine = speaker == "user" and _MACHINE.match(text)
    return "" if is_machine else own_words.without(text).strip()


def _lines(path: str, host: Assistant, home: Path) -> list[Line]:
    around = Surroundings(str(home), sys.platform, os.environ)
    folders = [Path(locations.resolve(place, around)) for place in host.transcripts]
    tail = _tail(path, folders)
    return [line for raw in tail.split(b"\n") if raw.strip() and (line := _line(raw))]


def _line(raw: bytes) -> Line | None:
    try:
        line = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _tail(path: str, folders: list[Path]) -> bytes:
    """Return the end of a file from the first whole line on; nothing of a file outside these folders."""
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
    """Return whether the open file is the user's own regular file in one of the folders, without other hard links.

    The path is checked again when the file is open, so that nobody can change it in between.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or not _is_own(status):
        return False
    is_same = os.path.samestat(status, os.lstat(os.path.realpath(path, strict=True)))
    return is_same and any(_lies_under(path, folder) for folder in folders)


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _lies_under(path: str, folder: Path) -> bool:
    if not Path(path).is_absolute():
        return False
    try:
        real = Path(os.path.realpath(path, strict=True))
        return real.is_relative_to(os.path.realpath(folder, strict=True))
    except OSError:
        return False
