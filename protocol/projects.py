"""Projects: one repository each, wherever it is checked out."""

from protocol.values import Key, Params, ProjectId, Record, Timestamp


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


class ProjectParams(Params, frozen=True, kw_only=True):
    """Params of a method that concerns one project."""

    project: Key | None = None
    """A path inside the project or its projectId; the client's own project where absent."""
