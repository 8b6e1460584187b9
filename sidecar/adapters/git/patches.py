"""Patches as git prints them, read as they come, and no more of them than anybody wants to keep."""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from sidecar.adapters.git import runner
from sidecar.domain import paths
from sidecar.domain.drafts import FileDiff
from sidecar.domain.drift.traces import Span, Touched

SHAPE = ("--raw", "--no-abbrev", "--patch", "--unified=0", "--inter-hunk-context=0", "-z")
"""What makes git print what is read here."""
FORMAT = "--format=commit %H"

LINES_OF_FILE = 2_000
LINES_OF_COMMIT = 20_000
"""Changed lines that are kept; a file with more is only named."""
LINE = 1_000
"""Characters that are kept of a line."""
FILES = 50_000
"""Files of a commit; one with more is not read."""

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)", re.DOTALL)


class Patch(Struct):
    """What a commit did to one file."""

    path: str
    previous_path: str | None = None
    blob: str | None = None
    spans: list[Span] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    changed: int = 0

    def diff(self) -> FileDiff:
        """Tell its lines."""
        return FileDiff(
            path=self.path,
            previous_path=self.previous_path,
            added=tuple(self.added),
            removed=tuple(self.removed),
            context=tuple(dict.fromkeys(self.context)),
        )

    def touched(self) -> Touched:
        """Tell its places."""
        return Touched(
            path=self.path,
            previous_path=self.previous_path,
            blob=self.blob,
            spans=tuple(self.spans),
        )


class _Stream:
    """Bytes that come in chunks, taken piece by piece."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._data = bytearray()
        self._place = 0

    def begins(self, prefix: bytes) -> bool:
        """Tell whether the next bytes are these."""
        while len(self._data) - self._place < len(prefix) and self._more():
            pass
        return self._data.startswith(prefix, self._place)

    def until(self, end: bytes) -> bytes | None:
        """Take what comes before an end, and the end; None where nothing comes."""
        looked = 0
        while (found := self._data.find(end, self._place + looked)) < 0:
            looked = len(self._data) - self._place
            if not self._more():
                found = len(self._data)
                break
        piece = bytes(self._data[self._place : found])
        is_over = self._place >= len(self._data)
        self._place = found + len(end)
        return None if is_over else piece

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        del self._data[: self._place]
        self._place = 0
        self._data += chunk
        return bool(chunk)


def parse(chunks: Iterator[bytes]) -> Iterator[tuple[str, list[Patch]]]:
    """Give each commit with its patches, as soon as it was read whole."""
    stream = _Stream(chunks)
    while (heading := stream.until(b"\0")) is not None:
        sha = heading.rpartition(b" ")[2].decode()
        patches: list[Patch] = []
        if stream.begins(b"\n"):
            stream.until(b"\n")
            patches = _read(stream)
        yield sha, patches


def _read(stream: _Stream) -> list[Patch]:
    patches: list[Patch] = []
    sections: list[Patch] = []
    while stream.begins(b":"):
        _, _, _, blob, status = (stream.until(b"\0") or b"").split(b" ")
        previous = stream.until(b"\0") if status[:1] in b"RC" else None
        patch = Patch(
            path=paths.read(stream.until(b"\0") or b""),
            previous_path=None if previous is None else paths.read(previous),
            blob=blob.decode() if blob.strip(b"0") else None,
        )
        patches.append(patch)
        if len(patches) > FILES:
            raise runner.LimitError(f"a commit changes more than {FILES:,} files")
        # A file that became a link is printed twice: as it went, and as it came.
        sections += [patch, patch] if status[:1] == b"T" else [patch]
    if stream.begins(b"\0"):
        stream.until(b"\0")
        _read_sections(stream, iter(sections))
    return patches


def _read_sections(stream: _Stream, sections: Iterator[Patch]) -> None:
    """Read the text of the patches, which come in the order in which they were listed."""
    room = LINES_OF_COMMIT
    patch: Patch | None = None
    while not stream.begins(b"commit ") and (line := stream.until(b"\n")) is not None:
        if line.startswith(b"diff --git "):
            room -= len(patch.added) + len(patch.removed) if patch else 0
            patch = next(sections, None)
        elif patch and (found := _HUNK.match(line)):
            _read_hunk(stream, patch, found, room)


def _read_hunk(stream: _Stream, patch: Patch, found: "re.Match[bytes]", room: int) -> None:
    removed, added = int(found[1] or 1), int(found[3] or 1)
    first = int(found[2])
    patch.spans.append((first, first + added - 1) if added else (first + 1, first))
    patch.changed += removed + added
    if patch.changed > min(room, LINES_OF_FILE):
        patch.added, patch.removed = [], []
    elif found[4]:
        patch.context.append(_text(found[4]))
    for _ in range(removed + added):
        line = stream.until(b"\n") or b""
        if patch.changed <= min(room, LINES_OF_FILE):
            (patch.added if line[:1] == b"+" else patch.removed).append(_text(line[1:]))
        if stream.begins(b"\\"):
            stream.until(b"\n")


def _text(line: bytes) -> str:
    return line[: 4 * LINE].decode("utf-8", "replace")[:LINE].rstrip("\r")
