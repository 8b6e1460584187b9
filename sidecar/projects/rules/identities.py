"""Decide which project a folder belongs to, from facts alone."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Literal

import msgspec
from msgspec import Struct

from protocol.projects import Project, Rule
from protocol.values import Record
from sidecar.text.hashing import blake2b
from sidecar.text.patterns import late

_SCHEME = late(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = late(r"^(?:[^@/]+@)?(?P<host>[^:/]{2,}):(?P<path>.*)$")
_GIT = "/.git"


class Pointer(Struct, frozen=True, kw_only=True):
    """What a folder's `.git` is, and where it leads."""

    entry: Literal["folder", "file", "link", "none"]
    """What `.git` itself is; `none` where git says that the working tree is elsewhere."""
    gitdir: PurePath
    """Where git keeps the HEAD of this folder; a real path, like all others here."""
    common: PurePath
    """Where git keeps what all working trees of the repository share."""
    is_inside: bool
    """Whether `.git` is that very folder."""
    is_listed: bool = False
    """Whether the repository lists this folder among its worktrees."""
    is_named: bool = False
    """Whether the repository's own configuration names this folder as its working tree."""
    links: Sequence[PurePath] = ()
    """Links in git's own folder that lead out of it."""
    borrowed: Sequence[PurePath] = ()
    """Folders outside from which it takes objects."""


class Facts(Record, frozen=True, kw_only=True):
    """What a folder says about itself."""

    folder: str
    """Real path of git's common folder, or of the folder itself without git."""
    name: str
    root: str | None = None
    """Its root commit; None where it has none, or a shallow clone does not tell."""
    remote: str | None = None
    rule: Rule = "repository"
    reason: str = ""
    """Why a pointer is not followed."""


def judge(pointer: Pointer) -> tuple[Rule, str]:
    """Return what a folder with a `.git` is; where that is not to be followed, why.

    Who could have written `.git` is anybody; so another folder's repository counts only where that repository
    says itself that this folder is one of its working trees.
    """
    rule = _rule(pointer)
    problem = _problem(pointer) if rule == "refused" else _leak(pointer)
    return ("refused", problem) if problem else (rule, "")


def _rule(pointer: Pointer) -> Rule:
    is_whole = pointer.gitdir == pointer.common
    if pointer.entry == "folder" and pointer.is_inside and is_whole:
        return "repository"
    if pointer.entry == "file" and pointer.is_listed:
        return "worktree"
    if pointer.entry == "file" and pointer.is_named and is_whole:
        return "submodule"
    return "refused"


def _problem(pointer: Pointer) -> str:
    match pointer.entry:
        case "link":
            return f"`.git` is a link to {pointer.gitdir}"
        case "file":
            return (
                f"`.git` is a file that leads to {pointer.gitdir}, and the repository there does not list this folder; "
                "`git worktree repair` in its main folder lists a worktree that was moved"
            )
        case "folder" if pointer.is_inside:
            return f"`.git/commondir` leads to {pointer.common}"
        case _:
            return f"the repository in {pointer.gitdir} names another folder as its working tree"


def _leak(pointer: Pointer) -> str:
    if pointer.links:
        return f"{pointer.links[0]} is a link that leads out of the repository"
    if pointer.borrowed:
        return (
            f"it borrows objects from {pointer.borrowed[0]} (objects/info/alternates); "
            "`git repack -a -d` and removing that file make it whole"
        )
    return ""


def normalise(address: str) -> str:
    """Write a remote's address so that ssh, https and a trailing `.git` do not matter.

    User names and passwords are dropped: the result is stored.
    """
    rest = _SCHEME.sub("", address.strip())
    if rest == address.strip():
        match = _SCP.match(rest)
        rest = f"{match['host']}/{match['path'].lstrip('/')}" if match else rest
    host, slash, path = rest.partition("/")
    host = re.sub(r":\d+$", "", host.rpartition("@")[2]).lower()
    return (host + slash + path).rstrip("/").removesuffix(".git")


def match(facts: Facts, projects: Iterable[Project]) -> Project | None:
    """Return the project whose record lists this folder, or None.

    A folder stays with its project as long as nothing speaks against it. The worktrees of a repository are the
    same folder here, since its common folder stands for all of them.
    """
    return next(
        (p for p in projects if is_among(facts.folder, p.folders) and _may_stay(facts, p)), None
    )


def candidates(facts: Facts, project: Project, projects: Iterable[Project]) -> list[Project]:
    """Return the other projects that this folder may be a copy of, the oldest first: same root commit and remote."""
    same = [p for p in projects if p.project_id != project.project_id and _is_same(facts, p)]
    return sorted(same, key=_age)


def offers(facts: Facts, project: Project, projects: Iterable[Project]) -> list[Project]:
    """Return the projects that the person is still to be asked about: older ones that were not refused."""
    return [
        other
        for other in candidates(facts, project, projects)
        if _age(other) < _age(project) and other.project_id not in project.declined
    ]


def believed_roots(folder: str, remote: str | None, projects: Iterable[Project]) -> list[str]:
    """List the root commits that a folder with this remote is likely to have, likeliest first."""
    projects = [project for project in projects if project.root]
    likely = [p for p in projects if folder in p.folders]
    likely += [p for p in projects if _knows(p, remote)]
    return list(dict.fromkeys(project.root for project in likely if project.root))


def found(facts: Facts, created_at: datetime, taken: Collection[str] = ()) -> Project:
    """Begin a project; the same facts give the same id on every machine, unless that is another project's."""
    digest = next(digest for digest in _digests(facts, created_at) if digest not in taken)
    return Project(
        project_id=digest,
        name=facts.name,
        folders=(facts.folder,),
        root=facts.root,
        remotes=(facts.remote,) if facts.remote else (),
        created_at=created_at,
    )


def learn(project: Project, facts: Facts) -> Project:
    """Add what these facts tell anew about a project."""
    told = Project(
        project_id=project.project_id,
        name=facts.name,
        folders=(facts.folder,),
        root=facts.root,
        remotes=(facts.remote,) if facts.remote else (),
        created_at=project.created_at,
    )
    return merge(project, told)


def merge(project: Project, other: Project) -> Project:
    """Add the folders, remotes and root commit of another project; its own folders are no remotes of it."""
    folders = tuple(dict.fromkeys((*project.folders, *other.folders)))
    remotes = dict.fromkeys((*project.remotes, *other.remotes))
    own = {_address(folder) for folder in folders}
    return msgspec.structs.replace(
        project,
        root=project.root or other.root,
        remotes=tuple(remote for remote in remotes if remote not in own),
        folders=folders,
    )


def without(project: Project, facts: Facts) -> Project:
    """Take a folder out of a project."""
    gone = {facts.folder, facts.folder.removesuffix(_GIT)}
    return msgspec.structs.replace(
        project, folders=tuple(folder for folder in project.folders if folder not in gone)
    )


def is_among(folder: str, known: Collection[str]) -> bool:
    """Return whether a folder is a known one, perhaps from before there was a repository."""
    return folder in known or folder.removesuffix(_GIT) in known


def explain(facts: Facts, project: Project, projects: Collection[Project]) -> Iterator[str]:
    """Say in sentences which rule decided, and what would be offered."""
    yield _RULES[facts.rule].format(folder=facts.folder, reason=facts.reason)
    if len(project.folders) > 1:
        yield f"{project.name} lists this folder among its {len(project.folders)} folders."
    asked = offers(facts, project, projects)
    for other in candidates(facts, project, projects):
        likeness = f"It has the root commit and the remote of {other.name} ({other.project_id})"
        if other in asked:
            yield f"{likeness}: `threadline link` shares that memory, `threadline link --no` never asks again."
        elif other.project_id in project.declined:
            yield f"{likeness}, and stays apart, as you chose; `threadline link {other.project_id}` shares that memory."
        else:
            yield f"{likeness}, a later copy; `threadline link {other.project_id}` joins it."
    if facts.rule in {"repository", "worktree", "submodule"} and facts.root is None:
        yield "Its root commit is not known (no commit yet, or a shallow clone), so it is compared with no other."


_RULES: dict[Rule, str] = {
    "repository": "It is a repository of its own: {folder}.",
    "worktree": "It is a worktree that its main repository lists: {folder}.",
    "submodule": "It is a submodule whose repository names it as its working tree: {folder}.",
    "plain": "It is a folder without git, which is its real path: {folder}.",
    "refused": "Its `.git` is not followed, so it counts as a folder without git: {reason}.",
}


def _digests(facts: Facts, created_at: datetime) -> Iterator[str]:
    """Yield ids for a project, from the one that every machine would choose to one that nobody else has."""
    traits = [facts.root, facts.remote] if facts.root or facts.remote else [facts.folder]
    for more in ((), (facts.folder,), (facts.folder, created_at.isoformat())):
        text = "\0".join(trait or "" for trait in (*traits, *more))
        yield blake2b(text.encode(), digest_size=10).hexdigest()


def _age(project: Project) -> tuple[datetime, str]:
    return project.created_at, project.project_id


def _may_stay(facts: Facts, project: Project) -> bool:
    """Return whether the folder may still be the project's: not if another repository took its place."""
    if facts.root and project.root:
        return facts.root == project.root
    if not facts.root and (project.root or project.remotes):
        return _knows(project, facts.remote)
    return not (facts.remote and project.remotes) or _knows(project, facts.remote)


def _is_same(facts: Facts, project: Project) -> bool:
    if facts.root is None or facts.root != project.root:
        return False
    return _knows(project, facts.remote) if facts.remote else not project.remotes


def _knows(project: Project, remote: str | None) -> bool:
    return remote is not None and remote in {*project.remotes, *map(_address, project.folders)}


def _address(folder: str) -> str:
    return normalise(folder.removesuffix(_GIT))


def name_of(folder: PurePath) -> str:
    """Name a project after its folder; git's own folder is not a name."""
    return (folder.parent if folder.name == ".git" else folder).name or str(folder)
