"""What all readers of other tools' past conversations share: one kind of record, and reading without trust."""

import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from protocol.conversations import Speaker

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line; a longer one counts as damaged."""
WHOLE_FILE = 256 * 1024 * 1024
"""Bytes of a file that has to be read at once; a larger one counts as damaged."""
_HEAD = 50
"""Lines at the beginning of a transcript that are searched for its folder."""
_SECONDS = 10**11
"""Numbers above this are milliseconds."""
_EDITING = {
    *("write", "edit", "multiedit", "notebookedit", "create", "str_replace", "insert", "patch"),
    *("apply_patch", "replace", "write_file", "edit_file", "edit_file_v2", "search_replace"),
}
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "relativeWorkspacePath")
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)

Line = dict[str, Any]
Damaged = Callable[[], None]
"""Counts something that could not be read."""


class Piece(NamedTuple):
    """Something that a transcript holds: words, a host's summary, or files that a tool has changed."""

    at: datetime | None
    """None where the host does not say; then it is as old as what came before."""
    speaker: Speaker | None = None
    """None for a summary or for files alone."""
    text: str = ""
    key: str = ""
    """What the host calls it, the same wherever it stands again."""
    files: tuple[str, ...] = ()


class Transcript(NamedTuple):
    """One past conversation, found and not read yet."""

    host: str
    session_key: str
    """What the host calls the conversation, as its hooks do."""
    stamp: str
    """Is another one after the conversation has grown."""
    pieces: Callable[[Damaged], Iterator[Piece]]
    """Reads it, the oldest first, a little at a time."""
    folder: str = ""
    """Where it was held, if that is known."""
    remote: str = ""
    """The address of the repository it was held in, if that is known."""


class Reader(NamedTuple):
    """How the conversations of a host are found: in a user's home, or in the folders of a project."""

    host: str
    label: str
    find: Callable[[Path, Sequence[str]], Iterator[Transcript]]


def lines(path: Path, damaged: Damaged) -> Iterator[Line]:
    """Read a file of JSON Lines one by one; what is no object is counted and passed over."""
    for raw in _raw_lines(path, damaged):
        line = parse(raw)
        if line is not None:
            yield line
        elif raw.strip():
            damaged()


def texts(path: Path, damaged: Damaged) -> Iterator[str]:
    """Read a file of text line by line, without line ends."""
    for raw in _raw_lines(path, damaged):
        yield raw.decode("utf-8", "replace").rstrip("\r\n")


def whole(path: Path, damaged: Damaged) -> Line:
    """Read a file that is one JSON object; an empty one where it is not."""
    data = b"".join(_raw_lines(path, damaged, WHOLE_FILE))
    found = parse(data)
    if found is None:
        damaged()
    return found or {}


def head(path: Path) -> Iterator[Line]:
    """Read the first lines of a file."""
    return itertools.islice(lines(path, _ignore), _HEAD)


def parse(raw: bytes | str) -> Line | None:
    """Read a JSON object; None where it is none."""
    try:
        line = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def stamp(*files: Path) -> str:
    """Tell by its size and time whether a file has changed."""
    found = []
    for path in files:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append(f"{status.st_size}:{status.st_mtime_ns}")
    return "/".join(found)


def moment(value: object) -> datetime | None:
    """Read a moment: ISO 8601, or seconds or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, str) and value:
            read = datetime.fromisoformat(value.strip())
            return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > _SECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def text(value: object) -> str:
    """Return a text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def speaker(is_users: bool) -> Speaker:  # noqa: FBT001  # one question, one answer
    """Name who speaks."""
    return "user" if is_users else "assistant"


def inner(line: Line, *names: str) -> Line:
    """Return an object within an object; an empty one where there is none."""
    for name in names:
        found = line.get(name)
        line = found if isinstance(found, dict) else {}
    return line


def objects(value: object) -> list[Line]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def content(value: object, kinds: Sequence[str] = ("text",)) -> str:
    """Return the text of a message: the text itself, or the blocks of these kinds in a list."""
    if isinstance(value, str):
        return value
    blocks = (one for one in objects(value) if one.get("type", "text") in kinds)
    return "\n".join(filter(None, (text(block.get("text")) for block in blocks)))


def edited(tool: object, given: object) -> tuple[str, ...]:
    """Return the files that a tool changes, as its name and arguments tell."""
    if text(tool).lower() not in _EDITING:
        return ()
    arguments = (parse(given) or {"input": given}) if isinstance(given, str) else given
    if not isinstance(arguments, dict):
        return ()
    named = [text(arguments.get(name)) for name in _PATHS]
    patches = [text(arguments.get(name)) for name in ("input", "patch", "patchText")]
    return tuple(dict.fromkeys(filter(None, (*named, *_patched(patches)))))


def _patched(patches: Iterable[str]) -> Iterator[str]:
    for line in itertools.chain.from_iterable(patch.splitlines() for patch in patches):
        yield from (line.removeprefix(mark).strip() for mark in _PATCHED if line.startswith(mark))


def _raw_lines(path: Path, damaged: Damaged, most: int | None = None) -> Iterator[bytes]:
    """Read the lines of a plain file of the user's own; pipes, devices and others' files have none."""
    most = most or LONGEST_LINE
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        damaged()
        return
    status = os.fstat(descriptor)
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    if not stat.S_ISREG(status.st_mode) or not is_own:
        os.close(descriptor)
        damaged()
        return
    with os.fdopen(descriptor, "rb") as file:
        while line := file.readline(most):
            if line.endswith(b"\n") or len(line) < most:
                yield line
                continue
            damaged()
            while line and not line.endswith(b"\n"):
                line = file.readline(most)


def _ignore() -> None:
    """Count nothing."""
