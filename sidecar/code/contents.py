"""Changes and blobs of commits."""

import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from protocol.errors import GitFailedError
from sidecar.code import commits, git, lineage, skips
from sidecar.memory.rules.drafts import FileDiff
from sidecar.memory.rules.drift import Span, Touched
from sidecar.text import paths

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
        """Return its lines as a diff."""
        return FileDiff(
            path=self.path,
            previous_path=self.previous_path,
            added=tuple(self.added),
            removed=tuple(self.removed),
            context=tuple(dict.fromkeys(self.context)),
        )

    def touched(self) -> Touched:
        """Return the lines it wrote."""
        return Touched(
            path=self.path,
            previous_path=self.previous_path,
            blob=self.blob,
            spans=tuple(self.spans),
        )


class _Stream:
    """Bytes that arrive in chunks and are consumed piece by piece."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._data = bytearray()
        self._place = 0

    def begins(self, prefix: bytes) -> bool:
        """Return whether the next bytes are these."""
        while len(self._data) - self._place < len(prefix) and self._more():
            pass
        return self._data.startswith(prefix, self._place)

    def until(self, end: bytes) -> bytes | None:
        """Consume up to and including an end; None at the end of the stream."""
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
    """Yield each commit with its patches as soon as it is complete."""
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
            raise git.LimitError(f"a commit changes more than {FILES:,} files")
        # A file that became a link is printed twice: as it went, and as it came.
        sections += [patch, patch] if status[:1] == b"T" else [patch]
    if stream.begins(b"\0"):
        stream.until(b"\0")
        _read_sections(stream, iter(sections))
    return patches


def _read_sections(stream: _Stream, sections: Iterator[Patch]) -> None:
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


SIZE = 1_000_000
"""Bytes from which a file is only named."""

_FAILURES = 20
"""Commits that cannot be read, after which the rest is given up."""
_FEW = 100
"""Paths that git is asked for by name; from more on the whole tree is read."""
_NAMES = 1_000
"""Words that are searched for at once."""
_PATHS = 2_000_000
"""Paths of a tree that are looked at."""
_TOGETHER = 256 * SIZE
"""Bytes of files that are read at once."""
_BIG = ("-c", f"core.bigFileThreshold={SIZE}")
_FILE_MODES = (b"100644", b"100755")


def diffs(folder: Path, shas: Iterable[str]) -> dict[str, tuple[FileDiff, ...]]:
    """Return the lines that commits added and removed.

    Merges have none, and commits that git no longer has are left out. Binary and very large files, and
    those with very many changed lines, are named without lines.
    """
    read = _patches(folder, list(shas))
    return {sha: tuple(patch.diff() for patch in found) for sha, found in read}


def touched(folder: Path, shas: Iterable[str]) -> dict[str, tuple[Touched, ...]]:
    """Return how commits left the files they changed, and which lines they wrote."""
    read = _patches(folder, list(shas))
    return {sha: tuple(patch.touched() for patch in found) for sha, found in read}


def _patches(folder: Path, shas: list[str]) -> Iterator[tuple[str, list[Patch]]]:
    """Return commits from one git process, under the given names.

    One that breaks git is left out, and reading goes on after it.
    """
    if not shas:
        return
    renames = "--find-renames=100%" if commits.is_partial(folder) else "--find-renames"
    command = (
        *(*_BIG, "log", "--ignore-missing", "--stdin", "--no-walk=unsorted", "--diff-merges=off"),
        *(FORMAT, *SHAPE, renames, *commits.SAFE_DIFF),
    )
    asked = set(shas)
    waiting = list(dict.fromkeys(shas))
    for _ in range(_FAILURES):
        done = 0
        try:
            with git.listed(map(str.encode, waiting)) as names:
                for sha, found in parse(git.chunks(folder, command, names)):
                    name = sha if sha in asked else next(filter(sha.startswith, waiting), sha)
                    done = waiting.index(name) + 1 if name in waiting else done
                    yield name, found
        except git.LimitError:
            skips.note(
                folder, f"commit {next(iter(waiting[done:]), '')}", "its changes are too many"
            )
        except GitFailedError:
            pass
        else:
            return
        del waiting[: done + 1]


def blobs(folder: Path, commit: str, wanted: Collection[str]) -> dict[str, str]:
    """Return the blobs a commit holds at paths; paths that are no files are left out."""
    if not wanted:
        return {}
    names = {paths.write(path): path for path in wanted}
    tokens = git.tokens(folder, (*_tree(commit), *_named(names)))
    return {names[path]: blob for path, blob in _files(folder, tokens) if path in names}


def earlier(folder: Path, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the blobs that commits hold at paths, by commit and path; missing ones are left out."""
    asked = [pair for pair in wanted if "\n" not in pair[1]]
    # Of a partial clone nobody can ask this without its wanting to fetch.
    if not asked or commits.is_partial(folder):
        return {}
    lines = (sha.encode() + b":" + paths.write(path) for sha, path in asked)
    command = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    with git.listed(lines) as names:
        output = b"".join(git.chunks(folder, command, names))
    answers = (line.split(b" ") for line in output.split(b"\n"))
    return {
        pair: answer[0].decode()
        for pair, answer in zip(asked, answers, strict=False)
        if answer[1:] == [b"blob"]
    }


def holders(folder: Path, commit: str, wanted: Collection[str]) -> dict[str, str]:
    """Return the first path at which a commit holds each blob."""
    found: dict[str, str] = {}
    for path, blob in _files(folder, git.tokens(folder, _tree(commit))) if wanted else ():
        if blob in wanted:
            found.setdefault(blob, paths.read(path))
    return found


def _tree(commit: str) -> tuple[str, ...]:
    return ("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit)


def _named(names: Collection[bytes]) -> tuple[str, ...]:
    return ("--", *(os.fsdecode(name) for name in names)) if len(names) <= _FEW else ()


def _files(folder: Path, tokens: Iterator[bytes]) -> Iterator[tuple[bytes, str]]:
    """Return the plain files of a tree; of very many, the first."""
    for token in itertools.islice(tokens, _PATHS):
        facts, _, path = token.partition(b"\t")
        mode, _, blob = facts.split(b" ")
        if mode in _FILE_MODES:
            yield path, blob.decode()
    if next(tokens, None) is not None:
        skips.note(folder, "tree", f"files beyond the first {_PATHS:,}")


def read(folder: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """Return blobs; missing and very large ones are left out."""
    sizes = _sizes(folder, wanted)
    if not sizes:
        return {}
    with git.listed(blob.encode() for blob in sizes) as names:
        output = b"".join(git.chunks(folder, ("cat-file", "--batch"), names))
    return dict(_cut(output))


def _sizes(folder: Path, wanted: Collection[str]) -> list[str]:
    if wanted and commits.is_partial(folder):
        wanted = lineage.existing(folder, wanted, ("--objects", "--no-object-names"))
    if not wanted:
        return []
    with git.listed(blob.encode() for blob in wanted) as names:
        output = b"".join(git.chunks(folder, ("cat-file", "--batch-check"), names))
    rows = (line.split(b" ") for line in output.splitlines())
    found = [(row[0].decode(), int(row[2])) for row in rows if row[1:2] == [b"blob"]]
    together = itertools.accumulate(size if size <= SIZE else 0 for _, size in found)
    return [
        blob
        for (blob, size), total in zip(found, together, strict=True)
        if size <= SIZE and total <= _TOGETHER
    ]


def _cut(output: bytes) -> Iterator[tuple[str, bytes]]:
    place = 0
    while (end := output.find(b"\n", place)) >= 0:
        blob, *facts = output[place:end].split(b" ")
        size = int(facts[-1]) if facts[:1] == [b"blob"] else -1
        if size >= 0:
            yield blob.decode(), output[end + 1 : end + 1 + size]
        place = end + 1 + size + 1


def mentioning(folder: Path, commit: str, words: Collection[str]) -> list[str]:
    """Return the files of a commit in which one of these words stands; of very many words, the first."""
    output = _grep(folder, commit, words, "--word-regexp", "--files-with-matches", "-z")
    found = (token.partition(b":")[2] for token in output.split(b"\0") if token)
    return [paths.read(path) for path in found]


def holding(folder: Path, commit: str, phrases: Collection[str]) -> list[str]:
    """Return the files of a commit that contain one of these phrases, ignoring case."""
    output = _grep(folder, commit, phrases, "--ignore-case", "--files-with-matches", "-z")
    found = (token.partition(b":")[2] for token in output.split(b"\0") if token)
    return [paths.read(path) for path in found]


def standing(folder: Path, commit: str, words: Collection[str]) -> set[str]:
    """Return the words that occur anywhere in a commit."""
    output = _grep(folder, commit, words, "--word-regexp", "--only-matching", "-h")
    return {line.decode("utf-8", "replace") for line in set(output.split(b"\n"))}.intersection(
        words
    )


def _grep(folder: Path, commit: str, words: Collection[str], *options: str) -> bytes:
    chosen = [word.encode() for word in list(words)[:_NAMES] if word and "\n" not in word]
    if not chosen:
        return b""
    command = (
        *("grep", "-f", "-", "--fixed-strings", *options),
        *("-I", "--full-name", "--no-textconv", "--no-recurse-submodules", "--no-color", commit),
    )
    with git.listed(chosen) as names:
        return git.ask(folder, *command, "--", ":/", stdin=names)[1]


def tree(folder: Path, commit: str) -> dict[str, str]:
    """Tell the blob of every file of a commit, by its path."""
    files = _files(folder, git.tokens(folder, _tree(commit)))
    return {paths.read(path): blob for path, blob in files}
