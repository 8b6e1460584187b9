"""Facts that identify the project of a folder."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from protocol.errors import GitFailedError
from protocol.projects import Rule
from sidecar.code import foreign_files, git
from sidecar.projects.rules import identities
from sidecar.projects.rules.identities import Facts, Pointer
from sidecar.text import paths

Believe = Callable[[str, str | None], Iterable[str]]
"""Root commits to expect in a folder with a remote."""

_QUESTION = (
    *("rev-parse", "--path-format=absolute", "--absolute-git-dir", "--is-shallow-repository"),
    *("--git-common-dir", "--is-shallow-repository", "--show-toplevel"),
)
_ANSWER = re.compile(rb"(.+?)\n(true|false)\n(.+?)\n\2\n(.*)", re.DOTALL)
"""Paths may have newlines; what stands between them tells where they end."""
_CORE = {"HEAD", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees"}
"""What of a repository must not be a link to another's; links to hooks and the like are people's own."""
_INNER = ("refs", "refs/heads", "logs", "logs/refs", "objects", "objects/info", "objects/pack")
"""Folders in which nothing must be."""
_SMALL = 1 << 16
"""Bytes that are read of a file that names other places."""


class Survey(Struct, frozen=True):
    """Where a folder's repository is, and whether it is to be followed."""

    folder: Path
    """The root of the working tree."""
    gitdir: Path
    common: Path
    is_shallow: bool
    rule: Rule
    reason: str


def survey(folder: Path) -> Survey | None:
    """Return the repository that a folder is in; None without git.

    A bare repository among the files of a working tree is not entered: its folder belongs to what is around it.
    """
    place = Path(os.path.realpath(folder))
    while True:
        code, output, problem = git.ask(place, *_QUESTION)
        answer = _ANSWER.fullmatch(output)
        if answer is None and "not a git repository" in problem:
            return None
        if answer is None and "cannot use bare repository" not in problem:
            raise GitFailedError(f"git cannot read {folder}: {problem}")
        gitdir = place if answer is None else _real(answer[1])
        if answer is not None and not place.is_relative_to(gitdir):
            common, top = _real(answer[3]), answer[4].removesuffix(b"\n")
            tree = _real(top) if code == 0 else gitdir.parent
            return _surveyed(place, tree, (gitdir, common), is_shallow=answer[2] == b"true")
        if gitdir == gitdir.parent:
            return None
        place = gitdir.parent


def facts(folder: Path, believe: Believe = lambda _folder, _remote: ()) -> Facts:
    """Return what identifies the project a folder is in; a folder without git is its real path.

    `believe` is asked which root commits were seen before in a folder or with a remote: the first that
    is here is taken. That is cheaper than to look for it, and a branch of its own root changes nothing.
    """
    surveyed = survey(folder)
    if surveyed is None:
        return _facts_of(Path(os.path.realpath(folder)), "plain")
    if surveyed.rule == "refused":
        return _facts_of(surveyed.folder, "refused", surveyed.reason)
    facts = _facts_of(surveyed.common, surveyed.rule)
    remote = _remote(surveyed.folder)
    believed = believe(facts.folder, remote)
    return msgspec.structs.replace(
        facts,
        root=None if surveyed.is_shallow else _root(surveyed.folder, believed),
        remote=remote,
    )


def user_email(folder: Path) -> str | None:
    """Return the email that git would use as author here."""
    return git.text(git.setting(folder, "--get", "user.email")).strip() or None


def leads_to(folder: Path) -> Path | None:
    """Return where the `.git` file of a folder leads; None where it is no such file."""
    entry = folder / ".git"
    content = b"" if entry.is_symlink() else (foreign_files.read(entry, _SMALL) or b"")
    if not content.startswith(b"gitdir: "):
        return None
    return _real(content.removeprefix(b"gitdir: ").rstrip(b"\r\n"), folder)


def _surveyed(place: Path, tree: Path, git: tuple[Path, Path], *, is_shallow: bool) -> Survey:
    """Judge a repository by the folder that git takes for its working tree."""
    gitdir, common = git
    is_here = place.is_relative_to(tree)
    entry = _entry(tree / ".git") if is_here else "none"
    pointer = Pointer(
        entry=entry,
        gitdir=gitdir,
        common=common,
        is_inside=entry == "folder" and gitdir == tree / ".git",
        is_listed=gitdir.parent == common / "worktrees" and _lists(gitdir, tree),
        is_named=entry == "file" and _names(gitdir, tree),
        links=[*_links_out(gitdir), *(_links_out(common) if common != gitdir else ())],
        borrowed=[*_borrowed(common / "objects")],
    )
    rule, reason = identities.judge(pointer)
    root = tree if is_here else _holder(place)
    return Survey(root, gitdir, common, is_shallow, rule, reason)


def _entry(path: Path) -> Literal["folder", "file", "link", "none"]:
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "file" if path.exists() else "none"


def _lists(gitdir: Path, tree: Path) -> bool:
    content = (foreign_files.read(gitdir / "gitdir", _SMALL) or b"").rstrip(b"\r\n")
    listed = gitdir / os.fsdecode(content)
    return bool(content) and listed.name == ".git" and _is_same(listed.parent, tree)


def _names(gitdir: Path, tree: Path) -> bool:
    for name in ("config", "config.worktree"):
        if (gitdir / name).is_file():
            question = ("--no-includes", "-z", "--file", str(gitdir / name), "core.worktree")
            named = os.fsdecode(git.setting(tree, *question)).removesuffix("\0")
            if named and _is_same(gitdir / named, tree):
                return True
    return False


def _links_out(gitdir: Path) -> Iterator[Path]:
    for inner in ("", *_INNER):
        try:
            with os.scandir(gitdir / inner) as entries:
                links = [Path(entry.path) for entry in entries if entry.is_symlink()]
        except OSError:
            continue
        for link in links:
            is_core = bool(inner) or link.name in _CORE
            if is_core and not _real(os.fsencode(link)).is_relative_to(gitdir):
                yield link


def _borrowed(objects: Path) -> Iterator[Path]:
    for line in (foreign_files.read(objects / "info" / "alternates", _SMALL) or b"").split(b"\n"):
        if line.strip() and not line.startswith(b"#"):
            place = _real(line, objects)
            if not place.is_relative_to(objects):
                yield place


def _holder(place: Path) -> Path:
    around = (one for one in (place, *place.parents) if os.path.lexists(one / ".git"))
    return next(around, place)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _real(path: bytes, base: Path | None = None) -> Path:
    name = os.fsdecode(path).replace("\0", "?")
    return Path(os.path.realpath(name if base is None else base / name))


def _facts_of(folder: Path, rule: Rule, reason: str = "") -> Facts:
    return Facts(
        folder=paths.read(os.fsencode(folder)),
        name=paths.read(os.fsencode(identities.name_of(folder))),
        rule=rule,
        reason=paths.read(os.fsencode(reason)),
    )


def _root(folder: Path, believed: Iterable[str]) -> str | None:
    """Return the oldest root commit; a known one only needs to exist."""
    for sha in believed:
        if git.ask(folder, "cat-file", "-e", sha + "^{commit}")[0] == 0:
            return sha
    for start in ("HEAD", "--all"):
        code, output, _ = git.ask(folder, "rev-list", "--max-parents=0", start, "--")
        if code == 0 and output.strip():
            return output.split()[-1].decode()
    return None


def _remote(folder: Path) -> str | None:
    """Return the remote's address; a local one as its real path."""
    output = git.setting(folder, "-z", "--get-regexp", r"^remote\..*\.url$")
    entries = dict(
        entry.split("\n", 1) for entry in os.fsdecode(output).split("\0") if "\n" in entry
    )
    address = entries.get("remote.origin.url") or (entries[min(entries)] if entries else "")
    if not address.strip():
        return None
    local = Path(folder, address.removeprefix("file://"))
    name = os.path.realpath(local) if local.is_dir() else address
    return identities.normalise(paths.read(os.fsencode(name)))
