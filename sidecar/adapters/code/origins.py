"""Where the lines of one working tree come from, as it is on the disk; git is asked as seldom as possible.

The file on the disk is never handed to git, which would run what the repository names as filters. It is held
against the committed one here, and git is asked of that.
"""

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cachetools import LRUCache, TTLCache

from protocol.errors import GitFailedError
from sidecar.adapters import plain
from sidecar.adapters.code import symbols
from sidecar.adapters.git import blames, contents, lineage
from sidecar.adapters.git.checkouts import Checkout, Heads
from sidecar.domain import alignments, origins, paths
from sidecar.domain.drift.traces import Symbol
from sidecar.domain.moves import NOWHERE
from sidecar.domain.origins import Origin, Sight

SIZE = contents.SIZE
"""Bytes from which a file is not looked into."""

_ORIGINS, _FILES, _NAMES = 20_000, 256, 1_024
"""Lines, files and names that are remembered."""
_RESTING = 60
"""Seconds for which git is not asked again what it could not tell."""
_KNOWN_FOR = 600
"""Seconds for which a file's earlier names are taken to be all."""
_AT_ONCE = 2
"""Questions that git is asked at the same time: pointers move faster than it answers."""
_BINARY = 8_000
_SHA1 = 40

Stamp = tuple[int, int, int] | None
Key = tuple[str, str, str, int]
"""HEAD, the path, what HEAD holds there, and the line of that."""


class _Text(NamedTuple):
    """A file as it was when last looked at: on the disk, and in HEAD."""

    stamp: Stamp
    blob: str | None
    symbols: tuple[Symbol, ...]
    lines: Mapping[int, int] | None
    """Which line of the committed file a line is, counted from 0; None where all are the same."""
    length: int
    """How many lines it has."""


_NOTHING = _Text(None, None, (), {}, 0)


class Origins:
    """Answers for the lines of one working tree; any thread may ask."""

    def __init__(self, checkout: Checkout) -> None:
        """Know nothing yet."""
        self.folder = checkout.folder
        self._shallow = checkout.common / "shallow"
        self._heads = Heads(checkout)
        self._mutex = threading.Lock()
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._blobs: LRUCache[tuple[str, str], str | None] = LRUCache(_NAMES)
        self._texts: LRUCache[str, _Text] = LRUCache(_FILES)
        self._origins: LRUCache[Key, Origin] = LRUCache(_ORIGINS)
        self._silent: TTLCache[Key, bool] = TTLCache(_ORIGINS, _RESTING)
        self._names: TTLCache[str, tuple[str, ...]] = TTLCache(_NAMES, _KNOWN_FOR)

    def look(self, path: str, line: int) -> Sight:
        """Tell where a line comes from and what it is in, as far as that can be told."""
        head = self._head()
        blob = None if head is None else self._blob(head, path)
        text = self._text(path, blob)
        committed = line if text.lines is None else text.lines.get(line - 1, -1) + 1
        origin = None
        if head is not None and blob is not None and committed > 0 and line <= text.length:
            origin = self._origin((head, path, blob, committed))
        return Sight(origin=origin, symbols=origins.around(text.symbols, line))

    def names(self, path: str) -> tuple[str, ...]:
        """Tell what a file is and was called, the latest name first."""
        head = self._head()
        # A file that is not committed yet has no other name, until it is.
        if head is None or self._blob(head, path) is None:
            return (path,)
        with self._mutex:
            known = self._names.get(path)
        if known is None:
            known = self._ask_names(path)
            with self._mutex:
                self._names[path] = known
        return known

    def _head(self) -> str | None:
        with self._mutex:
            found, _ = self._heads.look()
        return found if found != NOWHERE else lineage.head(self.folder)

    def _blob(self, head: str, path: str) -> str | None:
        with self._mutex:
            if (head, path) in self._blobs:
                return self._blobs[head, path]
        try:
            found = blames.blob(self.folder, head, path)
        except GitFailedError:
            return None
        with self._mutex:
            self._blobs[head, path] = found
        return found

    def _text(self, path: str, blob: str | None) -> _Text:
        """Read a file, unless it is as it was."""
        place = self.folder / os.fsdecode(paths.write(path))
        stamp = _stamp(place)
        with self._mutex:
            known = self._texts.get(path)
        if known is not None and (known.stamp, known.blob) == (stamp, blob):
            return known
        text = self._read(path, place, blob)._replace(stamp=stamp, blob=blob)
        with self._mutex:
            self._texts[path] = text
        return text

    def _read(self, path: str, place: Path, blob: str | None) -> _Text:
        data = plain.read(place, SIZE + 1)
        if data is not None and _is_unreadable(data):
            return _NOTHING
        if data is not None and (blob is None or blob == _named(data, blob)):
            return _whole(self.folder, path, data)
        committed = contents.read(self.folder, {blob}).get(blob) if blob is not None else None
        if committed is None or _is_unreadable(committed):
            return _NOTHING
        if data is None:
            return _whole(self.folder, path, committed)
        lines = alignments.align(_lines(committed), _lines(data))
        return _whole(self.folder, path, data)._replace(lines=lines)

    def _origin(self, key: Key) -> Origin | None:
        with self._mutex:
            known = self._origins.get(key)
            if known is not None or key in self._silent:
                return known
        found = self._ask(key)
        with self._mutex:
            if found is None:
                self._silent[key] = True
            else:
                self._origins[key] = found
        return found

    def _ask(self, key: Key) -> Origin | None:
        head, path, _, line = key
        if not self._turns.acquire(timeout=blames.SECONDS):
            return None
        try:
            found = blames.origin(self.folder, head, path, line)
        finally:
            self._turns.release()
        # Where a history was cut off, its first commit holds what many have written.
        is_cut = found is not None and found.sha.encode() in (
            plain.read(self._shallow, SIZE) or b""
        )
        return None if is_cut else found

    def _ask_names(self, path: str) -> tuple[str, ...]:
        if not self._turns.acquire(timeout=blames.SECONDS):
            return (path,)
        try:
            return tuple(dict.fromkeys((path, *blames.names(self.folder, path))))
        except GitFailedError:
            return (path,)
        finally:
            self._turns.release()


def _whole(root: Path, path: str, data: bytes) -> _Text:
    return _Text(None, None, symbols.find(path, data, root), None, len(_lines(data)))


def _is_unreadable(data: bytes) -> bool:
    return len(data) > SIZE or b"\0" in data[:_BINARY]


def _named(data: bytes, like: str) -> str:
    name = "sha1" if len(like) == _SHA1 else "sha256"
    return hashlib.new(name, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _lines(data: bytes) -> Sequence[bytes]:
    return [line.removesuffix(b"\r") for line in data.removesuffix(b"\n").split(b"\n")]


def _stamp(place: Path) -> Stamp:
    try:
        facts = os.stat(place)  # noqa: PTH116  # asked before each answer
    except (OSError, ValueError):
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns
