"""History of a commit: parents, renames, reverts."""

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from protocol.errors import GitFailedError
from sidecar.code import commits, git
from sidecar.memory.rules.drift import Departure, Revert
from sidecar.text import paths

_FEW = 100
"""Paths up to which git is told what to look for; from more on it is quicker to look at everything."""
_RECENT = 5_000
"""Commits among which the other form of a stray one is looked for."""
_RENAMES = "-l2000"
_HEADING = b"commit "
_LISTING = (
    *("--diff-merges=first-parent", "--name-status", "-z", "--format=commit %H"),
    *commits.SAFE_DIFF,
)
_ORIGIN = ("-z", "--format=%H %at %ae")
TRUNKS = (
    "refs/remotes/origin/HEAD",
    "refs/heads/main",
    "refs/heads/master",
    "refs/heads/trunk",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
)
_PHRASE = "This reverts commit "
_REVERTED = re.compile(
    rb"This reverts commit ([0-9a-f]{7,64})(?:,\s+reversing\s+changes made to ([0-9a-f]{7,64}))?"
)


def head(folder: Path) -> str | None:
    """Return the commit that HEAD is at; None before the first one, and where there is no repository."""
    question = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    code, output, _ = git.ask(folder, *question)
    return output.decode().strip() if code == 0 else None


def branch(folder: Path) -> str | None:
    """Return the branch that HEAD is on; None where it is on none."""
    code, output, _ = git.ask(folder, "symbolic-ref", "--quiet", "HEAD")
    name = paths.read(output.rstrip(b"\n"))
    return name.removeprefix("refs/heads/") if code == 0 else None


def trunk(folder: Path) -> str | None:
    """Return the tip of the main line: the remote's default branch, or a branch with a usual name."""
    question = ("for-each-ref", "--format=%(refname) %(objectname)", *TRUNKS)
    _, output, _ = git.ask(folder, *question)
    found = dict(line.split(" ") for line in output.decode(errors="replace").splitlines())
    return next((found[name] for name in TRUNKS if name in found), None)


def is_ancestor(folder: Path, old: str, new: str) -> bool:
    """Return whether a commit is an ancestor of another, as far as git knows."""
    return git.ask(folder, "merge-base", "--is-ancestor", old, new)[0] == 0


def walk(folder: Path, span: str) -> Iterator[str]:
    """Return the commits of a span (`HEAD`, `old..new`), children before their parents."""
    rest = b""
    for chunk in git.chunks(folder, ("rev-list", "--topo-order", span, "--")):
        # A line is a sha: what is left of a chunk is always short.
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode() for line in lines)


def present(folder: Path, shas: Collection[str]) -> set[str]:
    """Return the commits that git still has."""
    if shas and commits.is_partial(folder):
        return existing(folder, shas, ())
    return set(_resolved(folder, shas).values())


def existing(folder: Path, names: Collection[str], options: Iterable[str]) -> set[str]:
    """Return the commits that a partial clone has; other ways of asking would make git fetch, and fail."""
    command = ("rev-list", "--no-walk=unsorted", "--ignore-missing", "--missing=allow-any")
    with git.listed(name.encode() for name in names) as lines:
        output = b"".join(git.chunks(folder, (*command, *options, "--stdin"), lines))
    return set(output.decode().split()) & set(names)


def _resolved(folder: Path, shas: Collection[str]) -> dict[str, str]:
    if not shas:
        return {}
    with git.listed(sha.encode() for sha in shas) as names:
        _, output, _ = git.ask(folder, "cat-file", "--batch-check", stdin=names)
    rows = [line.split(b" ") for line in output.splitlines()]
    pairs = zip(shas, rows, strict=False)
    return {sha: row[0].decode() for sha, row in pairs if row[1:2] == [b"commit"]}


def reverts(folder: Path, span: str) -> list[Revert]:
    """Return the reverts in a span, newest first."""
    shape = ("--topo-order", "-z", "--format=%H%x00%B", "--fixed-strings", f"--grep={_PHRASE}")
    tokens = list(git.tokens(folder, ("log", *shape, span, "--")))
    said = [
        (sha.decode(), _REVERTED.findall(body))
        for sha, body in zip(tokens[0::2], tokens[1::2], strict=True)
    ]
    names = {one.decode() for _, pairs in said for pair in pairs for one in pair if one}
    full = _resolved(folder, sorted(names))
    return [Revert(sha=sha, of=tuple(_taken_back(folder, pairs, full))) for sha, pairs in said]


def _taken_back(
    folder: Path, pairs: Iterable[tuple[bytes, bytes]], full: dict[str, str]
) -> Iterator[str]:
    """Return the commits that a message says it reverts; for a merge, also those it brought."""
    for reverted, kept in pairs:
        sha = full.get(reverted.decode(), reverted.decode())
        yield sha
        parent = full.get(kept.decode())
        if parent and sha in full.values():
            yield from walk(folder, f"{parent}..{sha}")


def departures(folder: Path, span: str, wanted: Collection[str]) -> dict[str, list[Departure]]:
    """Return the commits of a span that removed paths, newest first, and where the files went."""
    names = {paths.write(path): path for path in wanted if "\n" not in path}
    if not names:
        return {}
    left = [(sha, path) for sha, path in _deletions(folder, span, names) if path in names]
    moved = _renames(folder, dict.fromkeys(sha for sha, _ in left))
    found: dict[str, list[Departure]] = {}
    for sha, path in left:
        to = moved.get((sha, path))
        step = Departure(sha=sha, to=None if to is None else paths.read(to))
        found.setdefault(names[path], []).append(step)
    return found


def _deletions(folder: Path, span: str, names: Collection[bytes]) -> list[tuple[str, bytes]]:
    command = (
        *("--literal-pathspecs", "log", "--stdin", "--topo-order", "--full-history"),
        *("--no-renames", "--diff-filter=D", *_LISTING),
    )
    limits = [b"--", *names] if len(names) <= _FEW else []
    with git.listed([span.encode(), *limits]) as lines:
        return [(sha, path) for sha, path, _ in _changes(git.tokens(folder, command, lines))]


def _renames(folder: Path, shas: Collection[str]) -> dict[tuple[str, bytes], bytes]:
    if not shas:
        return {}
    renames = "--find-renames=100%" if commits.is_partial(folder) else "--find-renames"
    command = (
        *("log", "--stdin", "--no-walk=unsorted", renames, _RENAMES, "--diff-filter=R", *_LISTING),
    )
    with git.listed(sha.encode() for sha in shas) as lines:
        changes = list(_changes(git.tokens(folder, command, lines)))
    return {(sha, path): to for sha, path, to in changes if to is not None}


def _changes(tokens: Iterator[bytes]) -> Iterator[tuple[str, bytes, bytes | None]]:
    """Read the files of each commit: from where, and where to if they moved."""
    sha = ""
    for token in tokens:
        if token.startswith(_HEADING):
            sha = token.removeprefix(_HEADING).decode()
        else:
            path = next(tokens)
            yield sha, path, next(tokens) if token.lstrip(b"\n")[:1] == b"R" else None


def twins(folder: Path, strays: Collection[str], tip: str) -> dict[str, str]:
    """Return, for commits that a tip lacks, the same change in what it has instead.

    Whoever rebases or picks a commit keeps its author and its author's time; git's patch-id confirms it.
    """
    if not strays:
        return {}
    with git.listed(sha.encode() for sha in strays) as names:
        command = ("log", "--ignore-missing", "--stdin", "--no-walk=unsorted", *_ORIGIN)
        left = _origins(git.tokens(folder, command, names))
    if not left:
        return {}
    oldest = min(int(origin.partition(b" ")[0]) for origin in left.values())
    recent = ("--no-merges", f"--since=@{oldest}", f"-{_RECENT}")
    here = _origins(git.tokens(folder, ("log", *recent, *_ORIGIN, tip, "--")))
    shared = set(left.values()) & set(here.values())
    alike = [sha for sha, origin in (left | here).items() if origin in shared]
    patches: dict[str, str] = {}
    # Where contents are missing, as in a partial clone, patches cannot be compared.
    with contextlib.suppress(GitFailedError):
        patches = commits.patch_ids(folder, alike) if alike else {}
    known = {patch: sha for sha, patch in patches.items() if sha in here}
    return {sha: known[patch] for sha, patch in patches.items() if sha in left and patch in known}


def _origins(tokens: Iterator[bytes]) -> dict[str, bytes]:
    return {sha.decode(): origin for sha, _, origin in (t.partition(b" ") for t in tokens) if sha}
