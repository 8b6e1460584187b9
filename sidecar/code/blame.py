"""Which commit wrote a line, also in unsaved text."""

import hashlib
import itertools
import os
import re
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from cachetools import LRUCache, TTLCache

from protocol.errors import GitFailedError
from sidecar.capture.rules.head_moves import NOWHERE
from sidecar.code import commits, contents, foreign_files, git, line_origins, lineage, symbols
from sidecar.code.checkouts import Checkout, Heads
from sidecar.code.line_origins import Origin, Sight
from sidecar.memory.rules.drift import Symbol
from sidecar.text import paths

Pair = tuple[int, int]
"""A line of the newer text, and the line of the older one that it is; counted from 0."""


def align(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, int]:
    """Return, for each line of the newer text, its line in the older one; new lines are left out."""
    found: dict[int, int] = {}
    first, last = (-1, -1), (len(new), len(old))
    before = first
    for after in [*_anchors(old, new), last]:
        _fill(found, (old, new), before, after)
        if after != last:
            found[after[0]] = after[1]
        before = after
    return found


def _fill(
    found: dict[int, int], texts: tuple[Sequence[bytes], Sequence[bytes]], before: Pair, after: Pair
) -> None:
    old, new = texts
    here, there = before[0] + 1, before[1] + 1
    while here < after[0] and there < after[1] and new[here] == old[there]:
        found[here] = there
        here, there = here + 1, there + 1
    up, above = after[0] - 1, after[1] - 1
    while up >= here and above >= there and new[up] == old[above]:
        found[up] = above
        up, above = up - 1, above - 1


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[Pair]:
    """Pair the lines that occur once in both texts, as many as stand in the same order in both."""
    places = dict(_single(old))
    pairs = [(here, places[line]) for line, here in _single(new) if line in places]
    ends: list[int] = []
    tops: list[int] = []
    earlier: list[int] = []
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        earlier.append(tops[length - 1] if length else -1)
        ends[length : length + 1] = [there]
        tops[length : length + 1] = [number]
    chain: list[Pair] = []
    number = tops[-1] if tops else -1
    while number >= 0:
        chain.append(pairs[number])
        number = earlier[number]
    return chain[::-1]


def _single(lines: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    counts = Counter(lines)
    return ((line, place) for place, line in enumerate(lines) if counts[line] == 1)


SECONDS = 2.0
"""How long git may take for an answer that somebody waits for."""

_BLAME = (
    *("-c", "core.quotePath=false", "blame", "--porcelain", "--root"),
    *("--no-textconv", "--encoding=UTF-8"),
)
_WRITTEN = ("-w", "-M")
"""Who only moved or indented a line has not written it."""
_NO_LIST = "could not open object name list"
"""What blame says of a file of commits to pass over that the user's settings name, and that is not here."""
_LOG = (
    *("log", "-1", "-s", "-z", "--encoding=UTF-8", "--format=%H%x00%at%x00%an%x00%s"),
    *commits.SAFE_DIFF,
)
_FOLLOW = (
    *("--literal-pathspecs", "log", "--follow", "-z", "--format=", "--name-status"),
    *("--diff-filter=R", *commits.SAFE_DIFF),
)
_NAMES = 20
"""Earlier names of a file that are told."""
_ENTRY = re.compile(rb"100(?:644|755) blob ([0-9a-f]{40,64})\t([^\0]+)\0", re.DOTALL)
_HEAD = re.compile(rb"([0-9a-f]{40,64}) (\d+) ")
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|(["\\abtnvfr]))')
_LETTERS = dict(zip(b'"\\abtnvfr', b'"\\\a\b\t\n\v\f\r', strict=True))


def blob(folder: Path, commit: str, path: str) -> str | None:
    """Return the blob a commit holds at a path, or None; raises where git fails."""
    tree = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", _name(path))
    code, output, problem = git.ask(folder, *tree, seconds=SECONDS)
    if code != 0:
        raise GitFailedError(f"git cannot tell what {commit} has at {path}: {problem}")
    entry = _ENTRY.fullmatch(output)
    return entry[1].decode() if entry and entry[2] == paths.write(path) else None


def origin(folder: Path, commit: str, path: str, line: int) -> Origin | None:
    """Return the commit that wrote a line of a committed file; None where git cannot tell in time."""
    where = ("-L", f"{line},{line}", commit, "--", _name(path))
    code, output, problem = git.ask(folder, *_BLAME, *_WRITTEN, *where, seconds=SECONDS)
    if code != 0 and _NO_LIST in problem:
        return _last_change(folder, commit, path, line)
    return _parse(output) if code == 0 else None


def names(folder: Path, path: str) -> tuple[str, ...]:
    """Return a file's earlier names, latest first, as far as git can tell in time."""
    _, output, _ = git.ask(folder, *_FOLLOW, "HEAD", "--", _name(path), seconds=SECONDS)
    tokens = output.split(b"\0")
    earlier = (paths.read(old) for kind, old in itertools.pairwise(tokens) if _is_move(kind))
    return tuple(dict.fromkeys(earlier))[:_NAMES]


def _last_change(folder: Path, commit: str, path: str, line: int) -> Origin | None:
    where = (f"-L{line},{line}:{_name(path)}", commit)
    code, output, _ = git.ask(folder, *_LOG, *where, seconds=SECONDS)
    sha, *fields = output.split(b"\0")
    facts = dict(zip((b"author-time", b"author", b"summary"), fields, strict=False))
    return _origin((sha, line), facts | {b"filename": paths.write(path)}) if code == 0 else None


def _name(path: str) -> str:
    return os.fsdecode(paths.write(path))


def _is_move(kind: bytes) -> bool:
    return re.fullmatch(rb"R\d{3}", kind.strip(b"\n")) is not None


def _parse(output: bytes) -> Origin | None:
    head = _HEAD.match(output)
    if head is None or not head[1].strip(b"0"):
        return None
    facts = dict(_fact(row) for row in output.split(b"\n\t", 1)[0].split(b"\n")[1:])
    facts[b"filename"] = _unquote(facts.get(b"filename", b""))
    return _origin((head[1], int(head[2])), facts)


def _origin(place: tuple[bytes, int], facts: Mapping[bytes, bytes]) -> Origin | None:
    sha, line = place
    try:
        at = datetime.fromtimestamp(int(facts.get(b"author-time", b"")), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return Origin(
        sha=sha.decode(),
        path=paths.read(facts.get(b"filename", b"")),
        line=line,
        author=git.text(facts.get(b"author", b"")),
        at=at,
        subject=git.text(facts.get(b"summary", b"")).rstrip("\n"),
    )


def _fact(row: bytes) -> tuple[bytes, bytes]:
    name, _, value = row.partition(b" ")
    return name, value


def _unquote(name: bytes) -> bytes:
    if not (name.startswith(b'"') and name.endswith(b'"')):
        return name
    return _ESCAPE.sub(
        lambda found: bytes([int(found[1], 8) if found[1] else _LETTERS[found[2][0]]]), name[1:-1]
    )


SIZE = contents.SIZE
"""Bytes from which a file is not looked into."""

_ORIGINS, _FILES, _NAMES_KEPT = 20_000, 256, 1_024
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
    """A file as it was last read: on the disk, and in HEAD."""

    stamp: Stamp
    blob: str | None
    symbols: tuple[Symbol, ...]
    lines: Mapping[int, int] | None
    """Which line of the committed file a line is, counted from 0; None where all are the same."""
    length: int
    """How many lines it has."""


_NOTHING = _Text(None, None, (), {}, 0)


class Origins:
    """Origins of lines in one working tree; safe to use from any thread."""

    def __init__(self, checkout: Checkout) -> None:
        """Start empty."""
        self.folder = checkout.folder
        self._shallow = checkout.common / "shallow"
        self._heads = Heads(checkout)
        self._mutex = threading.Lock()
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._blobs: LRUCache[tuple[str, str], str | None] = LRUCache(_NAMES_KEPT)
        self._texts: LRUCache[str, _Text] = LRUCache(_FILES)
        self._origins: LRUCache[Key, Origin] = LRUCache(_ORIGINS)
        self._silent: TTLCache[Key, bool] = TTLCache(_ORIGINS, _RESTING)
        self._names: TTLCache[str, tuple[str, ...]] = TTLCache(_NAMES_KEPT, _KNOWN_FOR)

    def look(self, path: str, line: int) -> Sight:
        """Return the commit of a line and the symbols around it, as far as they are known."""
        head = self._head()
        blob = None if head is None else self._blob(head, path)
        text = self._text(path, blob)
        committed = line if text.lines is None else text.lines.get(line - 1, -1) + 1
        origin = None
        if head is not None and blob is not None and committed > 0 and line <= text.length:
            origin = self._origin((head, path, blob, committed))
        return Sight(origin=origin, symbols=line_origins.around(text.symbols, line))

    def names(self, path: str) -> tuple[str, ...]:
        """Return all names of a file, latest first."""
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
            found = blob(self.folder, head, path)
        except GitFailedError:
            return None
        with self._mutex:
            self._blobs[head, path] = found
        return found

    def _text(self, path: str, blob: str | None) -> _Text:
        """Read a file, unless it is unchanged."""
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
        data = foreign_files.read(place, SIZE + 1)
        if data is not None and _is_unreadable(data):
            return _NOTHING
        if data is not None and (blob is None or blob == _named(data, blob)):
            return _whole(self.folder, path, data)
        committed = contents.read(self.folder, {blob}).get(blob) if blob is not None else None
        if committed is None or _is_unreadable(committed):
            return _NOTHING
        if data is None:
            return _whole(self.folder, path, committed)
        lines = align(_lines(committed), _lines(data))
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
        if not self._turns.acquire(timeout=SECONDS):
            return None
        try:
            found = origin(self.folder, head, path, line)
        finally:
            self._turns.release()
        # Where a history was cut off, its first commit holds what many have written.
        is_cut = found is not None and found.sha.encode() in (
            foreign_files.read(self._shallow, SIZE) or b""
        )
        return None if is_cut else found

    def _ask_names(self, path: str) -> tuple[str, ...]:
        if not self._turns.acquire(timeout=SECONDS):
            return (path,)
        try:
            return tuple(dict.fromkeys((path, *names(self.folder, path))))
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
