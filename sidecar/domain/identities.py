"""Which project a folder belongs to: the same root commit and remote is the same project."""

import re
from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import PurePath

import msgspec

from protocol.projects import Project
from protocol.values import Record
from sidecar.domain.enrichment.patterns import late
from sidecar.domain.hashing import blake2b

_SCHEME = late(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = late(r"^(?:[^@/]+@)?(?P<host>[^:/]{2,}):(?P<path>.*)$")


class Facts(Record, frozen=True, kw_only=True):
    """What a folder says about itself."""

    folder: str
    """Real path of git's common folder, or of the folder itself without git."""
    name: str
    root: str | None = None
    remote: str | None = None


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
    """Find the project that these facts belong to.

    A folder stays with its project as long as nothing speaks against it; otherwise the same root
    commit and remote is the same project, and a remote alone where one side knows no root commit.
    """
    projects = list(projects)
    candidates = (
        [p for p in projects if is_among(facts.folder, p.folders) and _may_stay(facts, p)],
        [p for p in projects if _is_same_repository(facts, p)],
        [p for p in projects if _is_same_remote(facts, p)],
    )
    return next((project for group in candidates for project in group), None)


def believed_roots(folder: str, remote: str | None, projects: Iterable[Project]) -> list[str]:
    """List the root commits that a folder with this remote is likely to have, likeliest first."""
    projects = [project for project in projects if project.root]
    likely = [p for p in projects if folder in p.folders]
    likely += [p for p in projects if remote is not None and remote in p.remotes]
    return list(dict.fromkeys(project.root for project in likely if project.root))


def found(facts: Facts, created_at: datetime) -> Project:
    """Begin a project; the same facts give the same id on every machine."""
    traits = [facts.root, facts.remote] if facts.root or facts.remote else [facts.folder]
    digest = blake2b("\0".join(trait or "" for trait in traits).encode(), digest_size=10)
    return Project(
        project_id=digest.hexdigest(),
        name=facts.name,
        folders=(facts.folder,),
        root=facts.root,
        remotes=(facts.remote,) if facts.remote else (),
        created_at=created_at,
    )


def learn(project: Project, facts: Facts) -> Project:
    """Add what these facts tell anew about a project."""
    remotes = project.remotes
    if facts.remote and facts.remote not in remotes:
        remotes = (*remotes, facts.remote)
    folders = project.folders
    if facts.folder not in folders:
        folders = (*folders, facts.folder)
    return msgspec.structs.replace(
        project, root=project.root or facts.root, remotes=remotes, folders=folders
    )


def is_among(folder: str, known: Collection[str]) -> bool:
    """Tell whether a folder is a known one, perhaps from before there was a repository."""
    return folder in known or folder.removesuffix("/.git") in known


def _may_stay(facts: Facts, project: Project) -> bool:
    """Tell whether the folder may still be the project's: not if another repository took its place."""
    if facts.root and project.root:
        return facts.root == project.root
    if not facts.root and (project.root or project.remotes):
        return _is_same_remote(facts, project)
    return not (facts.remote and project.remotes) or facts.remote in project.remotes


def _is_same_repository(facts: Facts, project: Project) -> bool:
    same_remote = facts.remote in project.remotes if facts.remote else not project.remotes
    return facts.root is not None and facts.root == project.root and same_remote


def _is_same_remote(facts: Facts, project: Project) -> bool:
    one_is_rootless = facts.root is None or project.root is None
    return facts.remote is not None and facts.remote in project.remotes and one_is_rootless


def name_of(folder: PurePath) -> str:
    """Name a project after its folder; git's own folder is not a name."""
    return (folder.parent if folder.name == ".git" else folder).name or str(folder)
