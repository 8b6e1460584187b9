"""Idempotency keys of settled sessions, hashed, one line each: derived, and made anew when lost."""

import functools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from sidecar.domain.hashing import blake2b
from sidecar.store import files

Pairs = Iterable[tuple[str, str]]
"""Keys, each with the session its event went to."""

_DIGEST = 12
_HEADER = b"threadline idempotency keys 1".ljust(51, b".") + b"\n"
_LINE = len(_HEADER)
_GOOD = re.compile(rb"(?:[0-9a-f]{24} [0-9A-Z]{26}\n)*")


class Keys:
    """Which session a key's event went to; the caller of `add` and `rebuild` holds the store's lock."""

    def __init__(self, path: Path, rebuild: Callable[[], Pairs]) -> None:
        """Name the file, and how to make its content anew."""
        self._path = path
        self._gather = rebuild
        self._sessions: dict[bytes, bytes] = {}
        self._seen = (-1, 0)

    def find(self, key: str) -> str | None:
        """Tell the session of a key that is known."""
        session_id = self._sessions.get(_digest(key))
        return None if session_id is None else session_id.decode()

    def refresh(self, expected: int = 0) -> None:
        """Catch up with what other processes added; make anew what is missing, damaged or cut."""
        try:
            facts = os.lstat(self._path)
        except FileNotFoundError:
            self.rebuild()
            return
        if (facts.st_ino, facts.st_size) == self._seen and facts.st_size >= expected:
            return
        inode, offset = self._seen
        if facts.st_ino != inode or facts.st_size < offset:
            self._sessions, offset = {}, 0
        data = files.read(self._path) or b""
        added = data[offset or _LINE :]
        if len(data) < expected or not data.startswith(_HEADER) or not _GOOD.fullmatch(added):
            self.rebuild()
            return
        self._learn(added)
        self._seen = (facts.st_ino, len(data))

    def catch_up(self) -> bool:
        """Learn what was added, without the lock; False where the file would have to be made anew first."""
        try:
            facts = os.lstat(self._path)
        except FileNotFoundError:
            return False
        if (facts.st_ino, facts.st_size) == self._seen:
            return True
        data = files.read(self._path) or b""
        # A writer may be in the middle of a line.
        whole = data[: len(data) - len(data) % _LINE]
        if not whole.startswith(_HEADER) or not _GOOD.fullmatch(whole, _LINE):
            return False
        self._sessions = {}
        self._learn(whole[_LINE:])
        self._seen = (facts.st_ino, len(whole))
        return True

    def add(self, pairs: Pairs) -> int:
        """Remember keys durably; tell how large the file is then. The caller has refreshed."""
        new = {key: session_id for key, session_id in pairs if self.find(key) != session_id}
        data = b"".join(_line(key, session_id) for key, session_id in new.items())
        if data:
            descriptor = files.open_private(self._path)
            try:
                files.append(descriptor, data, self._path)
                files.sync(descriptor, self._path)
            finally:
                os.close(descriptor)
            self.refresh()
        return self._seen[1]

    def rebuild(self) -> None:
        """Make the file anew from the events."""
        files.ensure_folder(self._path.parent)
        data = b"".join(_line(key, session_id) for key, session_id in self._gather())
        files.replace(self._path, _HEADER + data)
        self._sessions = {}
        self._learn(data)
        self._seen = (os.lstat(self._path).st_ino, len(_HEADER + data))

    def _learn(self, data: bytes) -> None:
        for line in data.splitlines():
            digest, _, session_id = line.partition(b" ")
            self._sessions[digest] = session_id


@functools.lru_cache(maxsize=4096)
def _digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=_DIGEST).hexdigest().encode()


def _line(key: str, session_id: str) -> bytes:
    return b"%b %b\n" % (_digest(key), session_id.encode())
