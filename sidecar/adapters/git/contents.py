"""What commits hold: their changes, the blobs of their files, and what stands in those."""

import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from protocol.errors import GitFailedError
from sidecar.adapters import skips
from sidecar.adapters.git import commits, lineage, patches, runner
from sidecar.domain import paths
from sidecar.domain.drafts import FileDiff
from sidecar.domain.drift.traces import Touched

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
    """Read which lines commits added and removed.

    Merges have none, and commits that git no longer has are left out. Binary and very large files, and
    those with very many changed lines, are named without lines.
    """
    read = _patches(folder, list(shas))
    return {sha: tuple(patch.diff() for patch in found) for sha, found in read}


def touched(folder: Path, shas: Iterable[str]) -> dict[str, tuple[Touched, ...]]:
    """Read how commits left the files they changed, and where they wrote."""
    read = _patches(folder, list(shas))
    return {sha: tuple(patch.touched() for patch in found) for sha, found in read}


def _patches(folder: Path, shas: list[str]) -> Iterator[tuple[str, list[patches.Patch]]]:
    """Read commits in one go, under the names they were asked for.

    One that breaks git is left out, and reading goes on after it.
    """
    if not shas:
        return
    renames = "--find-renames=100%" if commits.is_partial(folder) else "--find-renames"
    command = (
        *(*_BIG, "log", "--ignore-missing", "--stdin", "--no-walk=unsorted", "--diff-merges=off"),
        *(patches.FORMAT, *patches.SHAPE, renames, *commits.SAFE_DIFF),
    )
    asked = set(shas)
    waiting = list(dict.fromkeys(shas))
    for _ in range(_FAILURES):
        done = 0
        try:
            with runner.listed(map(str.encode, waiting)) as names:
                for sha, found in patches.parse(runner.chunks(folder, command, names)):
                    name = sha if sha in asked else next(filter(sha.startswith, waiting), sha)
                    done = waiting.index(name) + 1 if name in waiting else done
                    yield name, found
        except runner.LimitError:
            skips.note(
                folder, f"commit {next(iter(waiting[done:]), '')}", "its changes are too many"
            )
        except GitFailedError:
            pass
        else:
            return
        del waiting[: done + 1]


def blobs(folder: Path, commit: str, wanted: Collection[str]) -> dict[str, str]:
    """Tell what a commit holds at paths; those that are no files there are left out."""
    if not wanted:
        return {}
    names = {paths.write(path): path for path in wanted}
    tokens = runner.tokens(folder, (*_tree(commit), *_named(names)))
    return {names[path]: blob for path, blob in _files(folder, tokens) if path in names}


def earlier(folder: Path, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Tell what many commits hold at paths, by both; what git has not is left out."""
    asked = [pair for pair in wanted if "\n" not in pair[1]]
    # Of a partial clone nobody can ask this without its wanting to fetch.
    if not asked or commits.is_partial(folder):
        return {}
    lines = (sha.encode() + b":" + paths.write(path) for sha, path in asked)
    command = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    with runner.listed(lines) as names:
        output = b"".join(runner.chunks(folder, command, names))
    answers = (line.split(b" ") for line in output.split(b"\n"))
    return {
        pair: answer[0].decode()
        for pair, answer in zip(asked, answers, strict=False)
        if answer[1:] == [b"blob"]
    }


def holders(folder: Path, commit: str, wanted: Collection[str]) -> dict[str, str]:
    """Tell where a commit holds blobs: for each the first of its paths."""
    found: dict[str, str] = {}
    for path, blob in _files(folder, runner.tokens(folder, _tree(commit))) if wanted else ():
        if blob in wanted:
            found.setdefault(blob, paths.read(path))
    return found


def _tree(commit: str) -> tuple[str, ...]:
    return ("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit)


def _named(names: Collection[bytes]) -> tuple[str, ...]:
    return ("--", *(os.fsdecode(name) for name in names)) if len(names) <= _FEW else ()


def _files(folder: Path, tokens: Iterator[bytes]) -> Iterator[tuple[bytes, str]]:
    """Give the plain files of a tree; of very many, the first."""
    for token in itertools.islice(tokens, _PATHS):
        facts, _, path = token.partition(b"\t")
        mode, _, blob = facts.split(b" ")
        if mode in _FILE_MODES:
            yield path, blob.decode()
    if next(tokens, None) is not None:
        skips.note(folder, "tree", f"files beyond the first {_PATHS:,}")


def read(folder: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """Read blobs; those that git has not, and very large ones, are left out."""
    sizes = _sizes(folder, wanted)
    if not sizes:
        return {}
    with runner.listed(blob.encode() for blob in sizes) as names:
        output = b"".join(runner.chunks(folder, ("cat-file", "--batch"), names))
    return dict(_cut(output))


def _sizes(folder: Path, wanted: Collection[str]) -> list[str]:
    if wanted and commits.is_partial(folder):
        wanted = lineage.existing(folder, wanted, ("--objects", "--no-object-names"))
    if not wanted:
        return []
    with runner.listed(blob.encode() for blob in wanted) as names:
        output = b"".join(runner.chunks(folder, ("cat-file", "--batch-check"), names))
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
    """Name the files of a commit in which one of these words stands; of very many words, the first."""
    chosen = [word.encode() for word in list(words)[:_NAMES] if "\n" not in word]
    if not chosen:
        return []
    command = (
        *("grep", "-f", "-", "--fixed-strings", "--word-regexp", "--files-with-matches", "-z"),
        *("-I", "--full-name", "--no-textconv", "--no-recurse-submodules", "--no-color", commit),
    )
    with runner.listed(chosen) as names:
        _, output, _ = runner.ask(folder, *command, "--", ":/", stdin=names)
    found = (token.partition(b":")[2] for token in output.split(b"\0") if token)
    return [paths.read(path) for path in found]
