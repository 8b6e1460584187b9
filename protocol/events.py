"""What happened: commits, saves and captures."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.values import Key, Name, Params, Record, Sha, Text, Timestamp, Ulid

EventKind = Literal["commit", "save", "capture"]
FileStatus = Literal["added", "modified", "deleted", "renamed", "copied", "retyped"]


class FileChange(Params, frozen=True, kw_only=True):
    """One file an event touched; never its contents."""

    path: Annotated[str, Meta(min_length=1)]
    """Relative to the repository; bytes that are not UTF-8 stand as `\\xNN`."""
    status: FileStatus = "modified"
    previous_path: str | None = None
    """Where a renamed or copied file came from."""
    added_lines: int | None = None
    """Lines added; null for binary files and where nobody counted."""
    deleted_lines: int | None = None
    """Lines deleted; null for binary files and where nobody counted."""


class Commit(Params, frozen=True, kw_only=True):
    """A git commit as its author made it."""

    sha: Sha
    parents: tuple[Sha, ...] = ()
    author_name: str = ""
    author_email: str = ""
    authored_at: Timestamp
    committed_at: Timestamp | None = None
    subject: Text = ""
    body: Text = ""
    branch: str | None = None
    """The branch it was seen on, where that is known."""
    replaces: tuple[Sha, ...] = ()
    """Earlier commits of the same change, which this one amended, rebased or squashed."""
    dropped: bool = False
    """No branch holds it any more: it was reset away, or left out of a rebase."""
    files_overflow: int = 0
    """Files it changes beyond those that are listed: of a very large commit the rest is only counted."""


class NewEvent(Params, frozen=True, kw_only=True):
    """An event as a client reports it."""

    kind: EventKind
    occurred_at: Timestamp | None = None
    """When it happened; the moment of arrival where absent."""
    idempotency_key: Key | None = None
    """Reporting the same key again changes nothing."""
    source: Name | None = None
    """Who saw it; the batch's source where absent."""
    agent_id: Name | None = None
    """The agent that did it, if one did."""
    files: tuple[FileChange, ...] = ()
    commit: Commit | None = None
    """The commit, for kind `commit`."""
    text: Text | None = None
    """Free text, for kind `capture`."""

    def __post_init__(self) -> None:
        """Refuse a kind without the part that makes it one."""
        if self.kind == "commit" and self.commit is None:
            raise ValueError("kind `commit` needs the field `commit`")
        if self.kind == "save" and not self.files:
            raise ValueError("kind `save` needs the field `files`")
        if self.kind == "capture" and not self.text:
            raise ValueError("kind `capture` needs the field `text`")


class Event(Record, frozen=True, kw_only=True):
    """An event as it is kept."""

    event_id: Ulid
    session_id: Ulid
    """The activity session it belongs to."""
    kind: EventKind
    occurred_at: Timestamp
    """When it happened; this decides its session."""
    recorded_at: Timestamp
    """When it arrived."""
    idempotency_key: str | None = None
    source: str
    agent_id: str | None = None
    files: tuple[FileChange, ...] = ()
    commit: Commit | None = None
    text: str | None = None
