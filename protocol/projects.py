"""Projects: one repository each, wherever it is checked out, and which folder belongs to which."""

from typing import Literal

from protocol.rows import Method
from protocol.values import Key, Params, ProjectId, Record, Timestamp

Rule = Literal["repository", "worktree", "submodule", "plain", "refused"]
"""What a folder is: a repository of its own, a worktree that its main repository lists, a submodule, a folder
without git, or one whose `.git` leads elsewhere and is not followed."""


class Project(Record, frozen=True, kw_only=True):
    """What is known of a repository, enough to recognise it again."""

    project_id: ProjectId
    name: str
    folders: tuple[str, ...]
    """Real paths it was seen at: git's common folder, or the folder itself without git."""
    root: str | None = None
    """Its root commit; null before the first commit, for shallow clones and without git."""
    remotes: tuple[str, ...] = ()
    """Normalised addresses of its remote, newest last; no user names, no passwords."""
    created_at: Timestamp
    declined: tuple[ProjectId, ...] = ()
    """Projects that it matches and stays apart from, because the person chose so."""
    asked: tuple[ProjectId, ...] = ()
    """Projects about which an editor has asked the person; it does not ask again."""


class Skipped(Record, frozen=True, kw_only=True):
    """Something of a repository that exceeded a limit and was skipped."""

    path: str
    """The file, or `commit` and its sha."""
    reason: str
    count: int
    """How often, or how many lines, names or files."""
    at: Timestamp
    """When that last happened."""


class ProjectParams(Params, frozen=True, kw_only=True):
    """Params of a method that concerns one project."""

    project: Key | None = None
    """A path inside the project or its projectId; the client's own project where absent."""


class LinkFolderParams(ProjectParams, frozen=True, kw_only=True):
    """Whether a folder is to share the memory of a project that it matches."""

    to: ProjectId | None = None
    """The project to share with; where absent, the oldest that matches, or all of them to stay apart from."""
    refuse: bool = False
    """Stay apart instead, and never ask again."""


class Standing(Record, frozen=True, kw_only=True):
    """Which project a folder belongs to, and why."""

    project_id: ProjectId
    name: str
    rule: Rule
    folder: str
    """What stands for the folder: git's common folder, or the folder itself without git."""
    root: str | None
    remote: str | None
    why: tuple[str, ...]
    """The same in sentences."""
    folders: tuple[str, ...]
    """All folders that share this memory."""
    offers: tuple[Project, ...] = ()
    """Projects it matches that the person has not been asked about, or has not answered for."""


class LinkedFolder(Record, frozen=True, kw_only=True):
    """What has become of a folder's link."""

    project_id: ProjectId
    """The project that the folder belongs to now."""
    name: str
    outcome: Literal["linked", "refused", "unlinked"]
    other: ProjectId
    """The project that it was merged into, stays apart from, or has left."""
    sessions: int = 0
    memories: int = 0
    """What the folder had recorded by itself and has brought along."""
    copy: str | None = None
    """Where an untouched copy of that is kept."""


LINKING: tuple[Method, ...] = (
    Method(
        name="threadline/projects/why",
        params=ProjectParams,
        result=Standing,
        doc="Tell which project a folder belongs to, by which rule, and which others it matches.",
    ),
    Method(
        name="threadline/projects/link",
        params=LinkFolderParams,
        result=LinkedFolder,
        doc="Let a clone or moved folder share the memory of the project it matches, or refuse that for good.",
    ),
    Method(
        name="threadline/projects/unlink",
        params=ProjectParams,
        result=LinkedFolder,
        doc="Give a folder a memory of its own again; what was recorded stays with the project it leaves.",
    ),
)
