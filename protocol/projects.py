"""Projects: one repository each, wherever it is checked out."""

from protocol.values import ProjectId, Record, Timestamp


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
