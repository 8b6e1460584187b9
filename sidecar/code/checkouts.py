"""Working trees: location, HEAD and its log."""

import functools
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from protocol.errors import GitFailedError
from protocol.events import NewEvent
from sidecar.capture.rules.head_moves import NOWHERE, Listed, Mark, Move
from sidecar.code import commits, foreign_files, git, identity, skips
from sidecar.text import paths
from sidecar.text.hashing import blake2b

_LINE = re.compile(
    rb"(?P<old>[0-9a-f]{40,64}) (?P<new>[0-9a-f]{40,64}) .*> (?P<at>\d+) [+-]\d+(?:\t(?P<reason>.*))?"
)

_TAIL = 1024 * 1024
"""Bytes of a log that are read: its last thousands of moves."""
_BEGINNING = 200
"""Bytes in which no two logs agree: two commits, a name, a time."""


def read(log: Path, mark: Mark, tree: Path | None = None) -> tuple[list[Move], list[Mark]] | None:
    """Return the moves since a mark, each with the mark after it; None where there is no log.

    Of a very long log only the end is read; what was passed over is noted for the working tree.
    """
    tail = _tail(log)
    if tail is None:
        return None
    start, data = tail
    if tree is not None and 0 < mark.offset < start:
        skips.note(tree, str(log), f"moves before the last {_TAIL:,} bytes")
    is_same = _is_same(start, data, mark)
    offset = max(start, mark.offset) if is_same else start + _find(data, mark)
    moves: list[Move] = []
    marks: list[Mark] = []
    for line in _lines(data[offset - start :]):
        offset += len(line)
        move = _parse(line)
        if move is not None:
            moves.append(move)
            marks.append(
                msgspec.structs.replace(
                    mark, head=move.new, seen_at=move.at, offset=offset, digest=_digest(line)
                )
            )
    return moves, marks


def at_end(log: Path, now: datetime, since: datetime) -> Mark:
    """Return a mark after everything logged before a moment."""
    mark = Mark(seen_at=now)
    _, marks = read(log, mark) or ([], [])
    known = [later for later in marks if later.seen_at < since]
    return known[-1] if known else mark


def continues(log: Path, mark: Mark) -> bool:
    """Return whether a log still has the line of a mark at the same place."""
    tail = _tail(log)
    return tail is not None and mark.offset > 0 and _is_same(*tail, mark)


def beginning(log: Path) -> bytes:
    """Return the beginning of a log; empty without one."""
    return (foreign_files.read(log, _BEGINNING) or b"").partition(b"\n")[0]


def read_all(log: Path) -> list[Move]:
    """Return all moves in a log, or the last of very many."""
    _, data = _tail(log) or (0, b"")
    return [move for line in _lines(data) if (move := _parse(line))]


def _tail(log: Path) -> tuple[int, bytes] | None:
    """Return the last whole lines of a log and their offset; None where there is no log."""
    found = foreign_files.read_tail(log, _TAIL)
    if found is None:
        return None
    start, data = found
    if start:
        first = data.find(b"\n") + 1
        start, data = start + first, data[first:]
    return start, data[: data.rfind(b"\n") + 1]


def _is_same(start: int, data: bytes, mark: Mark) -> bool:
    if mark.offset == 0:
        return True
    before = data[: max(0, mark.offset - start)]
    return start + len(before) == mark.offset and _digest(_last_line(before)) == mark.digest


def _find(data: bytes, mark: Mark) -> int:
    """Return where to continue in a log that was rewritten.

    That is behind the known line; where git has forgotten it, at what came next: the first move away
    from the known place, or the first that is later.
    """
    offset = len(data)
    following = len(data)
    for line in reversed(_lines(data)):
        if _digest(line) == mark.digest:
            return offset
        offset -= len(line)
        move = _parse(line)
        if move and (move.at > mark.seen_at or (move.at, move.old) == (mark.seen_at, mark.head)):
            following = offset
    return following


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]]


def _last_line(data: bytes) -> bytes:
    return data[data.rfind(b"\n", 0, len(data) - 1) + 1 :]


def _parse(line: bytes) -> Move | None:
    found = _LINE.match(line.rstrip(b"\n"))
    if found is None:
        return None
    return Move(
        old=_place(found["old"]),
        new=_place(found["new"]),
        at=commits.moment(found["at"]),
        reason=git.text(found["reason"] or b""),
    )


def _place(sha: bytes) -> str:
    return sha.decode() if sha.strip(b"0") else NOWHERE


def _digest(line: bytes) -> str:
    return blake2b(line, digest_size=8).hexdigest()


_DEPTH = 4
_FOLDERS = 2000
"""How deep, and in how many folders, a workspace is searched for repositories of its own."""
_NOBODYS = {"node_modules", "target", "dist", "build", "venv", "vendor", "__pycache__"}
_SHA = re.compile(rb"[0-9a-f]{40,64}")
_LINKS = 5
_REFERENCES = 16 * 1024 * 1024
"""Bytes of packed references that are searched here; a longer list is left to git."""
_PACKED = ("packed-refs", "reftable/tables.list")
"""Where git keeps references that have no file of their own."""
_DISCOVERY = (
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
)
"""What changes which repository git finds, or what it says of it."""
_OUTSIDE = ("commondir", "objects/info/alternates")
"""Files by which a repository takes in another; whether that is to be followed is not decided at a glance."""


_RULES = 2
"""Counts up with the rules that tell whose a repository is: what was found by older ones is found anew."""


class Checkout(Struct, frozen=True):
    """A working tree with a HEAD of its own; a repository has one, and one more for each worktree."""

    gitdir: Path
    common: Path
    folder: Path
    """The root of the working tree; git's own folder where a repository has none."""

    @property
    def name(self) -> str:
        """Return a name that no other checkout has."""
        return paths.read(os.fsencode(self.gitdir))

    def places(self) -> list[Path]:
        """Return the folders in which something changes when HEAD moves or a worktree appears."""
        trees = self.common / "worktrees"
        if self._has_log():
            return [self.gitdir / "logs", trees]
        refs = self.common / "refs" / "heads"
        return [self.gitdir, self.common, trees, refs, *_parents(self, refs)]

    def fingerprint(self) -> object:
        """Return a cheap stamp that changes when HEAD moves."""
        log = _stamp(self.gitdir / "logs" / "HEAD")
        return log or (self.head(), self.branch()), self.is_rebasing()

    def surroundings(self) -> object:
        """Return a cheap stamp that changes with new worktrees or another repository."""
        return self.birth(), _stamp(self.common / "worktrees")

    def tips(self, names: tuple[str, ...]) -> object:
        """Return a cheap stamp that changes when one of these references moves."""
        return tuple(map(_stamp, _joined(self.common, (*names, *_PACKED))))

    def birth(self) -> object:
        """Return a stamp that another repository at the same place would not have."""
        return beginning(self.gitdir / "logs" / "HEAD")

    def continues(self, mark: Mark) -> bool:
        """Return whether a mark was made in this log, wherever the repository was then."""
        return continues(self.gitdir / "logs" / "HEAD", mark)

    def moves(self, mark: Mark, now: datetime) -> tuple[list[Move], list[Mark]]:
        """Return the moves of HEAD since a mark, each with the mark after it."""
        logged = read(self.gitdir / "logs" / "HEAD", mark, self.folder)
        if logged is not None:
            return logged
        head = self.head()
        if head == mark.head:
            return [], []
        move = Move(old=mark.head, new=head, at=mark.seen_at, reason=None)
        return [move], [msgspec.structs.replace(mark, head=head, seen_at=now)]

    def mark(self, now: datetime, since: datetime) -> Mark:
        """Return a mark after everything that happened before a moment."""
        mark = at_end(self.gitdir / "logs" / "HEAD", now, since)
        return mark if self._has_log() else msgspec.structs.replace(mark, head=self.head())

    def head(self) -> str:
        """Return the commit that HEAD is at."""
        content = _content(self.gitdir / "HEAD")
        for _ in range(_LINKS):
            if not content.startswith(b"ref: "):
                break
            name = os.fsdecode(content.removeprefix(b"ref: ").strip())
            content = _content(self.common / name) or self._packed(name)
        sha = content.strip()
        return sha.decode() if _SHA.fullmatch(sha) else NOWHERE

    def branch(self) -> str | None:
        """Return the branch that HEAD is on; None where it is on none."""
        content = _content(self.gitdir / "HEAD")
        prefix = b"ref: refs/heads/"
        return paths.read(content[len(prefix) :].strip()) if content.startswith(prefix) else None

    def is_rebasing(self) -> bool:
        """Return whether a rebase is under way."""
        names = ("rebase-merge", "rebase-apply")
        return any(os.path.lexists(self.gitdir / name) for name in names)

    def came_from(self, branch: str | None, tip: str, at: datetime) -> str | None:
        """Return where a branch was before a rebase that ended at this tip and moment.

        The branch's own log says it; where that is gone, the moment at which HEAD last left the branch.
        """
        if branch is None:
            return None
        log = self.common / "logs" / "refs" / "heads" / os.fsdecode(paths.write(branch))
        for move in reversed(read_all(log)):
            if _is_end(move, tip, at):
                return move.old
        has_ended = False
        for move in reversed(read_all(self.gitdir / "logs" / "HEAD")):
            has_ended |= _is_end(move, tip, at)
            if has_ended and (move.reason or "").startswith(f"checkout: moving from {branch} to "):
                return move.old
        return None

    def commits(self, wanted: Sequence[tuple[str, str | None]]) -> list[NewEvent]:
        """Read commits as events, with their lines counted."""
        return list(commits.read(self.folder, wanted, line_counts=True))

    def between(self, tip: str, without: Iterable[str]) -> list[Listed]:
        """Return the commits behind one and not behind others, oldest first."""
        return commits.between(self.folder, tip, [sha for sha in without if sha])

    def lost(self, tip: str) -> list[str]:
        """Return the commits that no branch, tag or HEAD holds but this one."""
        return [listed.sha for listed in commits.between(self.folder, tip, ("--all", "HEAD"))]

    def patch_ids(self, shas: Iterable[str]) -> dict[str, str]:
        """Return git's patch-id of each commit that has one."""
        return commits.patch_ids(self.folder, shas)

    def is_same_content(self, one: str, other: str) -> bool:
        """Return whether two commits hold the same files."""
        tree = commits.tree(self.folder, one)
        return tree is not None and tree == commits.tree(self.folder, other)

    def user_email(self) -> str | None:
        """Return the email that git would use as author here."""
        return identity.user_email(self.folder)

    def _has_log(self) -> bool:
        return os.path.isfile(self.gitdir / "logs" / "HEAD")  # noqa: PTH113  # never raises

    def _packed(self, name: str) -> bytes:
        """Look up a packed reference; ask git itself as a last resort."""
        line = re.compile(
            rb"^([0-9a-f]{40,64}) " + re.escape(os.fsencode(name)) + rb"$", re.MULTILINE
        )
        packed = foreign_files.read(self.common / "packed-refs", _REFERENCES) or b""
        found = line.search(packed)
        if found:
            return found[1]
        if len(packed) < _REFERENCES and not (self.common / "reftable").is_dir():
            return b""
        return git.ask(self.folder, "rev-parse", "--verify", "--quiet", "HEAD")[1]


class Heads:
    """The HEAD of a checkout; git's files are read again only after they were replaced."""

    def __init__(self, checkout: Checkout) -> None:
        """Start empty."""
        self._checkout = checkout
        self._files: tuple[str, ...] = ()
        self._seen: object = None
        self._known: tuple[str, str | None] = (NOWHERE, None)

    def look(self) -> tuple[str, str | None]:
        """Return the commit that HEAD is at, and the branch that it is on."""
        seen = tuple(map(_stamp, self._files))
        if len(seen) <= 1 or seen[0] is None or seen != self._seen:
            self._files = tuple(map(str, self._follow()))
            self._seen = tuple(map(_stamp, self._files))
            # What is read after it was looked at is at least as new.
            self._known = self._checkout.head(), self._checkout.branch()
        return self._known

    def _follow(self) -> Iterator[Path]:
        """Return the files that say where HEAD is; less than two where it is kept in another way."""
        common = self._checkout.common
        place = self._checkout.gitdir / "HEAD"
        for _ in range(0 if (common / "reftable").is_dir() else _LINKS):
            yield place
            content = _content(place)
            if not content.startswith(b"ref: "):
                break
            place = common / os.fsdecode(content.removeprefix(b"ref: ").strip())
        yield common / "packed-refs"


Complain = Callable[[GitFailedError], None]


def find(folder: Path, complain: Complain) -> Iterator[Checkout]:
    """Find the repositories of a workspace folder: around it, in it, and all their working trees.

    One that git cannot read is complained about, and left out.
    """
    seen: set[Path] = set()
    for place in [folder, *_nested(folder)]:
        try:
            checkout = enclosing(place)
        except GitFailedError as error:
            complain(error)
            continue
        for found in [checkout, *_worktrees(checkout)] if checkout else []:
            if found.gitdir not in seen:
                seen.add(found.gitdir)
                yield found


class Sight(NamedTuple):
    """A repository as it looks from outside."""

    root: str
    stamp: str
    """Is another once it is another repository, or set up otherwise."""


def sight(folder: Path) -> Sight | None:
    """Return the plain repository that a folder is in, without running git; None where only git can tell."""
    if any(name in os.environ for name in _DISCOVERY):
        return None
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        gitdir = place / ".git"
        if _looks_bare(place) or gitdir.is_file() or gitdir.is_symlink():
            return None
        if gitdir.is_dir():
            return _seen(place, gitdir)
    return None


def _seen(place: Path, gitdir: Path) -> Sight | None:
    """Return the stamp of a repository of this user; whether another's may be read is git's decision."""
    facts = [one.lstat() for one in (place, gitdir)]
    if os.name != "posix" or any(fact.st_uid != os.geteuid() for fact in facts):
        return None
    if any(os.path.lexists(gitdir / name) for name in _OUTSIDE):
        return None
    setup = [_stamp(gitdir / name) for name in ("config", "config.worktree", "shallow", "HEAD")]
    # HEAD is replaced by every checkout: it only has to be there.
    if setup[0] is None or setup[-1] is None:
        return None
    inodes = [(fact.st_dev, fact.st_ino) for fact in facts]
    return Sight(str(place), repr([_RULES, *inodes, *setup[:-1]]))


def enclosing(folder: Path) -> Checkout | None:
    """Find the working tree that a folder is in; None where there is none, or its `.git` is not to be followed."""
    found = identity.survey(folder)
    if found is None or found.rule == "refused":
        return None
    return Checkout(found.gitdir, found.common, found.folder)


def is_bare(folder: Path) -> bool:
    """Return whether a folder is, or is in, what looks like a repository without a working tree."""
    real = Path(os.path.realpath(folder))
    return any(_looks_bare(place) for place in (real, *real.parents))


def _looks_bare(place: Path) -> bool:
    return (place / "HEAD").exists() and (place / "objects").exists()


def _nested(folder: Path) -> Iterator[Path]:
    waiting = deque([(folder, 0)])
    looked = 0
    while waiting and looked < _FOLDERS:
        place, depth = waiting.popleft()
        looked += 1
        if depth and os.path.lexists(place / ".git"):
            yield place
        if depth < _DEPTH:
            waiting += [(child, depth + 1) for child in _children(place)]


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
                and entry.name not in _NOBODYS
            )
    except OSError:
        return []


def _worktrees(checkout: Checkout) -> Iterator[Checkout]:
    main = checkout.common
    is_bare = main.name != ".git"
    if main != checkout.gitdir and not is_bare:
        yield Checkout(main, main, main.parent)
    for gitdir in sorted((main / "worktrees").glob("*")):
        link = os.fsdecode(_content(gitdir / "gitdir")).strip()
        tree = Path(os.path.realpath((gitdir / link).parent))
        # A repository may list any folder; only one that leads back is its worktree.
        if link and identity.leads_to(tree) == Path(os.path.realpath(gitdir)):
            yield Checkout(gitdir, main, tree)


def _parents(checkout: Checkout, refs: Path) -> list[Path]:
    branch = checkout.branch()
    place = refs / os.fsdecode(paths.write(branch)) if branch else refs
    folder = place.parent
    return [folder] if folder != refs and os.path.isdir(folder) else []  # noqa: PTH112  # never raises


def _is_end(move: Move, tip: str, at: datetime) -> bool:
    return (move.new, move.at) == (tip, at) and "(finish)" in (move.reason or "")


@functools.lru_cache(maxsize=64)
def _joined(folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(folder / name) for name in names)


def _stamp(path: Path | str) -> tuple[int, int, int] | None:
    try:
        facts = os.stat(path)  # noqa: PTH116  # asked before each answer
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _content(path: Path) -> bytes:
    """Return a small file of git's; empty where it is missing or too large to be git's."""
    content = foreign_files.read(path, foreign_files.SMALL + 1) or b""
    return content if len(content) <= foreign_files.SMALL else b""
