"""The timeline: what weeks of work looked like, in as few words as a picture of them needs."""

from msgspec import field

from protocol.memories import MemoryType
from protocol.projects import ProjectParams
from protocol.sessions import SessionStatus
from protocol.values import Record, Timestamp


class TimelineParams(ProjectParams, frozen=True, kw_only=True):
    """Which time to look at."""

    since: Timestamp
    """Sessions that went on at this moment or later, and what is remembered of that time."""
    until: Timestamp | None = None
    """Only what began before this moment; all to this day where absent."""


class CommitMark(Record, frozen=True, kw_only=True):
    """A commit in the picture."""

    sha: str
    subject: str
    at: Timestamp


class SessionMark(Record, frozen=True, kw_only=True):
    """A session in the picture."""

    session_id: str
    status: SessionStatus
    started_at: Timestamp
    last_event_at: Timestamp
    sources: tuple[str, ...]
    summary: str | None = None
    """How what it was about begins."""
    files_modified: tuple[str, ...] = ()
    """The first few of its files."""
    files_overflow: int = 0
    """How many more there were."""
    events: int
    saves: int = 0
    commit_count: int = 0
    commits: tuple[CommitMark, ...] = ()
    """The first 200, without those that no branch holds any more."""
    activity: tuple[int, ...] = ()
    """How many events came in each quarter of an hour from its start on, for a day at most."""


class MemoryMark(Record, frozen=True, kw_only=True):
    """A memory in the picture."""

    memory_id: str
    type: MemoryType
    title: str
    at: Timestamp
    """When what it tells of happened."""
    session_id: str | None = None


class Timeline(Record, frozen=True, kw_only=True):
    """What happened in a time, the earliest first; of very much the latest."""

    sessions: tuple[SessionMark, ...]
    memories: tuple[MemoryMark, ...]
    left_out: dict[str, int] = field(default_factory=dict)
    """How many more `sessions` and `memories` there were."""
    earlier: Timestamp | None = None
    """When the last session before that time began."""
