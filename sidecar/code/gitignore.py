"""Match gitignore patterns in linear time."""

import string
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

SIZE = 256 * 1024
"""Bytes of a list that are read."""
LINES = 2_000
LENGTH = 1_024
WILDCARDS = 64
"""How many lines of a list count, how long each may be, and how many wildcards it may have."""

_SLASH = 0x2F
_ALL = frozenset(range(256))
_NAME = _ALL - {_SLASH}
"""What stands in the name of a file."""
_CLASSES = {
    b"alnum": string.ascii_letters + string.digits,
    b"alpha": string.ascii_letters,
    b"blank": " \t",
    b"cntrl": "".join(map(chr, (*range(32), 127))),
    b"digit": string.digits,
    b"graph": "".join(map(chr, range(33, 127))),
    b"lower": string.ascii_lowercase,
    b"print": "".join(map(chr, range(32, 127))),
    b"punct": string.punctuation,
    b"space": string.whitespace,
    b"upper": string.ascii_uppercase,
    b"xdigit": string.hexdigits,
}


class _Step(NamedTuple):
    """One part of a pattern: which bytes it takes, once or any number of times."""

    takes: frozenset[int]
    is_loop: bool = False
    skips: int = 0
    """How many steps may be left out from here."""


class _MalformedError(Exception):
    """A pattern that matches nothing, such as one with a bracket that is never closed."""


class _Pattern:
    """One line of a list."""

    def __init__(self, line: bytes) -> None:
        """Read a line that is not empty and no comment."""
        self.is_negated = line.startswith(b"!")
        glob = line.removeprefix(b"!")
        self.is_for_folders = glob.endswith(b"/")
        glob = glob.removesuffix(b"/")
        self.is_anchored = b"/" in glob
        glob = glob.removeprefix(b"/")
        self._start = _literal_start(glob)
        self._is_literal = len(self._start) == len(glob)
        self._glob = glob
        self._machine: _Machine | None = None
        self.is_mistaken = not line.strip(b"!") or not (self._is_literal or _is_sound(glob))

    def matches(self, path: bytes, name: bytes, *, is_folder: bool) -> bool:
        """Return whether a path with this last part matches."""
        if self.is_for_folders and not is_folder:
            return False
        text = path if self.is_anchored else name
        if self._is_literal or not text.startswith(self._start):
            return self._is_literal and text == self._start
        if self._machine is None:
            # As git does: stars right behind a plain beginning count as if they were the whole part of a path.
            self._machine = _Machine(self._glob[len(self._start) :])
        return self._machine.matches(text[len(self._start) :])


class _Machine:
    """The steps of a pattern as numbers whose bits are steps."""

    def __init__(self, glob: bytes) -> None:
        try:
            steps = list(_steps(glob))
        except _MalformedError:
            steps = [_Step(frozenset())]
        self._end = 1 << len(steps)
        self._loops = 0
        self._taking = [0] * 256
        self._staying = [0] * 256
        self._jumps: dict[int, int] = {}
        for number, step in enumerate(steps):
            bit = 1 << number
            self._loops |= bit if step.is_loop else 0
            if step.skips:
                self._jumps[bit] = step.skips
            for byte in step.takes:
                if step.is_loop:
                    self._staying[byte] |= bit
                else:
                    self._taking[byte] |= bit
        self._entries = sum(self._jumps)

    def matches(self, text: bytes) -> bool:
        state = self._reach(1)
        for byte in text:
            state = self._reach((state & self._taking[byte]) << 1 | (state & self._staying[byte]))
            if not state:
                return False
        return bool(state & self._end)

    def _reach(self, state: int) -> int:
        if state & self._entries:
            for bit, width in self._jumps.items():
                if state & bit:
                    state |= bit << 1 | bit << width
        return state | (state & self._loops) << 1


class List(NamedTuple):
    """The patterns of an ignore file, and how many of its lines exceed a limit, by reason."""

    patterns: tuple[_Pattern, ...]
    skipped: dict[str, int]
    mistakes: int = 0
    """Lines that can match nothing, as they are written."""

    def covers(self, path: bytes, known: dict[bytes, bool]) -> bool:
        """Return whether a file or a folder it is in is ignored; `known` caches the folders."""
        ends = [place for place, byte in enumerate(path) if byte == _SLASH]
        for end in ends:
            folder = path[:end]
            if folder not in known:
                known[folder] = self._decide(folder, is_folder=True)
            if known[folder]:
                return True
        return self._decide(path, is_folder=False)

    def _decide(self, path: bytes, *, is_folder: bool) -> bool:
        name = path.rpartition(b"/")[2]
        for pattern in reversed(self.patterns):
            if pattern.matches(path, name, is_folder=is_folder):
                return not pattern.is_negated
        return False


def read(content: bytes) -> List:
    """Return the patterns of an ignore file; lines that exceed a limit are left out and counted."""
    skipped: dict[str, int] = {}
    patterns: list[_Pattern] = []
    if len(content) > SIZE:
        skipped[f"beyond the first {SIZE:,} bytes"] = 1
        # What was cut in the middle is no line.
        content = content[:SIZE].rpartition(b"\n")[0]
    for line in _lines(content):
        reason = _excess(line, len(patterns))
        if reason is None:
            patterns.append(_Pattern(line))
        else:
            skipped[reason] = skipped.get(reason, 0) + 1
    return List(tuple(patterns), skipped, sum(pattern.is_mistaken for pattern in patterns))


def _excess(line: bytes, count: int) -> str | None:
    """Return which limit a line exceeds; None if none."""
    if count >= LINES:
        return f"lines beyond the first {LINES:,}"
    if len(line) > LENGTH:
        return f"lines longer than {LENGTH:,} bytes"
    if sum(map(line.count, (b"*", b"?", b"["))) > WILDCARDS:
        return f"lines with more than {WILDCARDS} wildcards"
    return None


def _lines(content: bytes) -> Iterator[bytes]:
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        pattern = _trimmed(line.removesuffix(b"\r"))
        if pattern and not line.startswith(b"#"):
            yield pattern


def _trimmed(line: bytes) -> bytes:
    short = line.rstrip(b" ")
    escapes = len(short) - len(short.rstrip(b"\\"))
    return line[: len(short) + 1] if escapes % 2 else short


def _is_sound(glob: bytes) -> bool:
    try:
        deque(_steps(glob), maxlen=0)
    except _MalformedError:
        return False
    return True


def _literal_start(glob: bytes) -> bytes:
    return glob[: next((place for place, byte in enumerate(glob) if byte in b"*?[\\"), len(glob))]


def _steps(glob: bytes) -> Iterator[_Step]:
    place = 0
    while place < len(glob):
        sign = glob[place : place + 1]
        if sign == b"*":
            end = place + len(glob[place:]) - len(glob[place:].lstrip(b"*"))
            yield from _stars(glob, place, end)
            # The slash behind belongs to what may be left out.
            place = end + (_is_whole(glob, place, end) and glob[end : end + 1] == b"/")
        elif sign == b"?":
            yield _Step(_NAME)
            place += 1
        elif sign == b"[":
            taken, place = _bracket(glob, place + 1)
            yield _Step(taken - {_SLASH})
        else:
            place += sign == b"\\"
            if place == len(glob):
                raise _MalformedError
            yield _Step(frozenset({glob[place]}))
            place += 1


def _stars(glob: bytes, start: int, end: int) -> Iterator[_Step]:
    if not _is_whole(glob, start, end):
        yield _Step(_NAME, is_loop=True)
    elif glob[end : end + 1] == b"/":
        yield _Step(frozenset(), skips=3)
        yield _Step(_ALL, is_loop=True)
        yield _Step(frozenset({_SLASH}))
    else:
        yield _Step(_ALL, is_loop=True)


def _is_whole(glob: bytes, start: int, end: int) -> bool:
    is_alone = glob[end : end + 1] in {b"", b"/"} or glob[end : end + 2] == b"\\/"
    return end - start > 1 and glob[start - 1 : start] in {b"", b"/"} and is_alone


def _bracket(glob: bytes, place: int) -> tuple[frozenset[int], int]:
    """Return the bytes that a bracket matches, and where it ends."""
    is_negated = glob[place : place + 1] in {b"!", b"^"}
    place += is_negated
    taken: set[int] = set()
    before: int | None = None
    first = place
    while place == first or glob[place : place + 1] != b"]":
        sign = _at(glob, place)
        if (
            sign == ord("-")
            and before is not None
            and glob[place + 1 : place + 2] not in {b"", b"]"}
        ):
            place += 1
            place += glob[place : place + 1] == b"\\"
            taken |= set(range(before, _at(glob, place) + 1))
            before = None
        elif sign == ord("[") and glob[place + 1 : place + 2] == b":":
            named, place = _class(glob, place)
            taken |= named
            before = None if len(named) != 1 else sign
        else:
            place += sign == ord("\\")
            before = _at(glob, place)
            taken.add(before)
        place += 1
    return (_ALL - taken if is_negated else frozenset(taken)), place + 1


def _class(glob: bytes, place: int) -> tuple[frozenset[int], int]:
    """Return a class such as `[:alpha:]` and where it ends; an unclosed one is a plain bracket."""
    end = glob.find(b"]", place + 2)
    if end < 0:
        raise _MalformedError
    name = glob[place + 2 : end - 1]
    if end < place + 3 or glob[end - 1 : end] != b":":
        return frozenset({ord("[")}), place
    if name not in _CLASSES:
        raise _MalformedError
    return frozenset(_CLASSES[name].encode()), end


def _at(glob: bytes, place: int) -> int:
    if place >= len(glob):
        raise _MalformedError
    return glob[place]
