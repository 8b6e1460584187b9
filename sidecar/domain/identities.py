"""Which project a folder belongs to: the same root commit and remote is the same project."""

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePath

import msgspec

from protocol.projects import Project
from protocol.values import Record

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/]+@)?(?P<host>[^:/]{2,}):(?P<path>.*)$")


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
    host, slash, path = rest.rpartition("@")[2].partition("/")
    host = re.sub(r":\d+$", "", host).lower()
    return (host + slash + path).rstrip("/").removesuffix(".git")


def match(facts: Facts, projects: Iterable[Project]) -> Project | None:
    """Find the project that these facts belong to.

    The caller has made sure that a root commit in the facts of a known folder is that project's own.
    """
    projects = list(projects)
    same_repository = (p for p in projects if _is_same_repository(facts, p))
    same_folder = (p for p in projects if facts.folder in p.folders and _may_share(facts, p))
    return next(same_repository, None) or next(same_folder, None)


def found(facts: Facts, created_at: datetime) -> Project:
    """Begin a project; the same facts give the same id on every machine."""
    traits = [facts.root, facts.remote] if facts.root or facts.remote else [facts.folder]
    digest = hashlib.blake2b("\0".join(trait or "" for trait in traits).encode(), digest_size=10)
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


def _is_same_repository(facts: Facts, project: Project) -> bool:
    same_remote = facts.remote in project.remotes if facts.remote else not project.remotes
    if facts.root is None:
        return facts.remote is not None and same_remote
    return facts.root == project.root and same_remote


def _may_share(facts: Facts, project: Project) -> bool:
    return facts.root is None or project.root is None or facts.root == project.root


def name_of(folder: PurePath) -> str:
    """Name a project after its folder; git's own folder is not a name."""
    return (folder.parent if folder.name == ".git" else folder).name or str(folder)
