"""Archives: the events of compacted sessions, one small compressed file each, complete."""

import contextlib
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from protocol.events import Event
from sidecar.store import files
from sidecar.store.lines import Document

SUFFIX = ".events.z"
_MAGIC = b"threadline archive 1\n"
_OURS = re.compile(r"([0-7][0-9A-HJKMNP-TV-Z]{25})\.events\.z")
_USUAL = (
    b'[{"eventId":"01","sessionId":"01","kind":"capture","kind":"save","kind":"commit","occurredAt":"2026-01-01T00:00:00Z"'
    b',"recordedAt":"2026-01-01T00:00:00Z","idempotencyKey":"commit:","source":"cli-scan","source":"vscode","agentId":null'
    b',"files":[{"path":"src/","status":"added","status":"deleted","status":"renamed","status":"modified","previousPath":null'
    b',"addedLines":null,"deletedLines":null},{"path":"tests/test_.py","status":"modified","previousPath":null,"addedLines":null'
    b',"deletedLines":null}],"commit":{"sha":"","parents":[""],"authorName":"","authorEmail":"@users.noreply.github.com"'
    b',"authoredAt":"2026-01-01T00:00:00Z","committedAt":"2026-01-01T00:00:00Z","subject":"Merge pull request #","body":""'
    b',"branch":"main","branch":null,"replaces":[],"dropped":false},"text":null}]'
)
"""What most events have in common: with it even a session of one commit shrinks."""
_decoder = msgspec.json.Decoder(list[Event])


class Archives:
    """Compressed sessions in a folder; whoever writes holds the store's lock."""

    def __init__(self, folder: Path) -> None:
        """Stand on a folder, which is made with the first archive."""
        self._folder = folder

    def read(self, session_id: str) -> list[Event] | None:
        """Give a session's events in the order of their arrival; None where it has no good archive."""
        data = self.raw(session_id)
        return None if data is None else _decoder.decode(data)

    def write(self, session_id: str, events: Sequence[Event]) -> int:
        """Keep a session's events, durably; tell how many bytes that takes."""
        files.ensure_folder(self._folder)
        data = pack(msgspec.json.encode(events))
        files.replace(self.path(session_id), data)
        return len(data)

    def rewrite(self, session_id: str, change: Callable[[Document], Document | None]) -> None:
        """Write an archive anew, each event changed or left out."""
        changed = map(change, msgspec.json.decode(self.raw(session_id) or b"[]"))
        data = msgspec.json.encode([event for event in changed if event is not None])
        files.replace(self.path(session_id), pack(data))

    def drop(self, session_id: str) -> None:
        """Remove a session's archive."""
        with contextlib.suppress(FileNotFoundError):
            self.path(session_id).unlink()

    def exists(self, session_id: str) -> bool:
        """Tell whether a session has an archive."""
        return os.path.lexists(self.path(session_id))

    def session_ids(self) -> Iterator[str]:
        """Go through all sessions that have an archive."""
        with contextlib.suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            yield from sorted(name[1] for entry in entries if (name := _OURS.fullmatch(entry.name)))

    def raw(self, session_id: str) -> bytes | None:
        """Give an archive's content; one that is damaged is set aside."""
        path = self.path(session_id)
        data = files.read(path)
        if data is None:
            return None
        unpacked = unpack(data)
        if unpacked is None:
            files.set_aside(path)
            path.unlink()
        return unpacked

    def path(self, session_id: str) -> Path:
        """Name the file of a session's archive, which may not exist."""
        return self._folder / f"{session_id}{SUFFIX}"


def pack(data: bytes) -> bytes:
    """Compress an archive's content; the checksum of the stream tells later whether it is whole."""
    packer = zlib.compressobj(9, zdict=_USUAL)
    return _MAGIC + packer.compress(data) + packer.flush()


def unpack(data: bytes) -> bytes | None:
    """Give an archive's content; None where it is damaged."""
    unpacker = zlib.decompressobj(zdict=_USUAL)
    try:
        content = unpacker.decompress(data.removeprefix(_MAGIC))
    except zlib.error:
        return None
    return content if data.startswith(_MAGIC) and unpacker.eof else None
