"""The one table of methods; every transport serves it."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.capture import CaptureState, PauseDuration
from protocol.checkpoints import (
    Checkpointed,
    CheckpointList,
    CheckpointParams,
    Digested,
    DigestParams,
    EndParams,
    ListCheckpointsParams,
    Tracked,
    TrackParams,
)
from protocol.checks import CHECKING
from protocol.contexts import (
    ContextParams,
    FeedbackParams,
    ReceiptList,
    ReceiptsParams,
    Rendered,
    RenderParams,
    StartContext,
    Stats,
    StatsParams,
)
from protocol.diagnosis import Diagnosis
from protocol.enrichment import (
    Compacted,
    EnrichedAll,
    JobList,
    JobParams,
    ListJobsParams,
    ModelAnswer,
    ModelParams,
    StartAllParams,
    StartParams,
)
from protocol.events import Event, EventKind, NewEvent
from protocol.explanations import AboutParams, ExplainParams, Explanation, FileStory
from protocol.forgetting import ForgetParams, PurgeParams, PurgeReport
from protocol.jobs import Job
from protocol.looking import LOOKING
from protocol.memories import Memory, MemoryHealth
from protocol.projects import LINKING, Project, ProjectParams, Skipped
from protocol.recall import (
    ListMemoriesParams,
    MemoryList,
    MemoryPage,
    ReadParams,
    SearchParams,
    SearchResult,
    UpdateParams,
    WriteParams,
    WriteResult,
)
from protocol.review import (
    DecideParams,
    ListProposalsParams,
    Proposals,
    Reviewed,
    WorthKnowing,
    WorthKnowingParams,
)
from protocol.rows import Method
from protocol.rules import RULES
from protocol.sessions import Session, SessionStatus, ShownSession
from protocol.sharing import SHARED
from protocol.teams import (
    HistoryParams,
    InitTeamParams,
    JoinTeamParams,
    PushParams,
    TeamBegun,
    TeamHistory,
    TeamKey,
    TeamKeyParams,
    TeamLeft,
    TeamPreview,
    TeamStatus,
    TeamSynced,
)
from protocol.turns import IngestedTurn, IngestTurnParams
from protocol.values import Name, Params, Record, Sha, Timestamp, Ulid

Page = Annotated[int, Meta(ge=1, le=1000)]
Outcome = Literal["stored", "duplicate", "spooled", "dropped"]


class IngestParams(ProjectParams, frozen=True, kw_only=True):
    """A batch of events."""

    events: Annotated[tuple[NewEvent, ...], Meta(min_length=1, max_length=1000)]
    source: Name | None = None
    """Who saw them, for events that do not say so themselves."""


class PlacedEvent(Record, frozen=True, kw_only=True):
    """Where one event went."""

    outcome: Outcome
    """`duplicate`: its key was known. `spooled`: safely kept, placed as soon as the store is free.
    `dropped`: not kept, because capture is paused or nothing of it is public."""
    event_id: Ulid | None = None
    session_id: Ulid | None = None
    deferred: bool = False
    """It is on the disk, but in no session yet: the store was busy for as long as a request may wait."""


class IngestResult(Record, frozen=True, kw_only=True):
    """Where each event of the batch went, in the batch's order."""

    project_id: str
    events: tuple[PlacedEvent, ...]


class ListSessionsParams(ProjectParams, frozen=True, kw_only=True):
    """Which sessions to list."""

    status: SessionStatus | None = None
    limit: Page = 50
    before: Ulid | None = None
    """Only sessions that started before this one: the `next` of the previous page."""


class SessionPage(Record, frozen=True, kw_only=True):
    """Sessions, newest first."""

    sessions: tuple[Session, ...]
    total: int
    """How many match in all."""
    next: Ulid | None = None
    """Pass it as `before` for the page that follows; null on the last."""


class SessionParams(ProjectParams, frozen=True, kw_only=True):
    """One session."""

    session_id: Ulid


class SessionEventsParams(SessionParams, frozen=True, kw_only=True):
    """Which events of a session to read."""

    limit: Page = 200
    offset: Annotated[int, Meta(ge=0)] = 0
    query: Annotated[str, Meta(max_length=1000)] = ""
    """Only events in which each of these words stands: in their texts, names of files, authors or commits."""
    kind: EventKind | None = None
    """Only events of this kind."""
    newest_first: bool = False
    """Begin with what happened last."""


class EventPage(Record, frozen=True, kw_only=True):
    """Events in the order they happened, unless the other was asked for."""

    events: tuple[Event, ...]
    total: int
    """How many match in all."""


class CommitParams(ProjectParams, frozen=True, kw_only=True):
    """One commit."""

    sha: Sha
    """In full; a name that it has replaced finds it, too."""


class CloseSessionParams(ProjectParams, frozen=True, kw_only=True):
    """The session to close."""

    session_id: Ulid | None = None
    """The active session where absent."""


class ListProjectsParams(Params, frozen=True, kw_only=True):
    """Which projects to list."""

    everywhere: bool = False
    """All that are remembered, not only those of the client's workspace."""


class ProjectList(Record, frozen=True, kw_only=True):
    """Projects, in the order of the workspace's folders."""

    projects: tuple[Project, ...]


class ScanParams(ProjectParams, frozen=True, kw_only=True):
    """Which part of a repository's history to import."""

    since: Name | None = None
    """Only commits newer than this; anything git understands as a date."""
    author: Name | None = None
    """Only commits whose author name or email contains this."""
    all_authors: bool = True
    """Everyone's commits; where false, the local user's."""
    line_counts: bool = False
    """Count added and deleted lines too; git needs about ten times as long."""


class ScanResult(Record, frozen=True, kw_only=True):
    """What an import did."""

    project_id: str
    author: str | None
    """Whose commits were read; null for everyone's."""
    found: int
    imported: int
    already_known: int
    sessions: int
    """How many sessions the imported commits went to."""


class PauseParams(ProjectParams, frozen=True, kw_only=True):
    """For how long to record nothing."""

    duration: PauseDuration = "forever"
    """`restart`: until the process that answers this request has ended."""


class NoParams(Params, frozen=True, kw_only=True):
    """Nothing to say."""


class Version(Record, frozen=True, kw_only=True):
    """Who answers."""

    version: str
    process: int
    """The number of the process, as the operating system knows it."""


class Status(Record, frozen=True, kw_only=True):
    """A project's memory at a glance."""

    project_id: str
    name: str
    folder: str
    """Where its memory is kept."""
    format: int
    sessions: int
    events: int
    active_session: Session | None
    capture: CaptureState
    waiting: int
    """Events in the inbox that are not placed yet."""
    bytes_on_disk: int
    snapshots: tuple[Timestamp, ...] = ()
    """When the copies were made that are kept, the newest first."""
    recoveries: tuple[str, ...] = ()
    """What was done about damage so far, the latest last."""
    journal: Literal["wal", "rollback"] = "wal"
    """How changes become durable; `rollback` on a network file system, where readers wait for writers."""
    damaged_copies: tuple[str, ...]
    """Files that were found damaged; what was good in them is in use, the original is kept here."""
    oldest: Timestamp | None
    newest: Timestamp | None
    memories: int = 0
    """Memories that are active."""
    proposed: int = 0
    """What waits for review."""
    memory_health: MemoryHealth = MemoryHealth()
    skipped: tuple[Skipped, ...] = ()
    """What of the repository exceeded a limit lately and was skipped, the latest first."""
    parked_events: int = 0
    """Events of hooks, of all projects, that could not be placed in three tries and are kept aside."""
    late_hooks: int = 0
    """Hooks, of all projects, that ran out of time lately, as far as their log goes back."""
    last_late_hook: Timestamp | None = None
    """When the last of them did."""


METHODS: tuple[Method, ...] = (
    Method(
        name="threadline/ingest",
        params=IngestParams,
        result=IngestResult,
        doc="Store a batch of events and say which session each went to.",
    ),
    Method(
        name="threadline/sessions/list",
        params=ListSessionsParams,
        result=SessionPage,
        doc="List a project's sessions, newest first.",
    ),
    Method(
        name="threadline/sessions/get",
        params=SessionParams,
        result=ShownSession,
        doc="Read one session.",
    ),
    Method(
        name="threadline/sessions/events",
        params=SessionEventsParams,
        result=EventPage,
        doc="Read a session's events in the order they happened.",
    ),
    Method(
        name="threadline/commits/get",
        params=CommitParams,
        result=Event,
        doc="Read what was recorded of a commit.",
    ),
    Method(
        name="threadline/sessions/close",
        params=CloseSessionParams,
        result=Session,
        doc="Close a session by hand; the next event opens a new one.",
    ),
    Method(
        name="threadline/sessions/compact",
        params=SessionParams,
        result=Compacted,
        doc="Compress a closed session's events; everything about it stays answerable.",
    ),
    Method(
        name="threadline/enrichment/start",
        params=StartParams,
        result=Job,
        doc="Make memory from all unprocessed events of a session; the job says how it went.",
        is_long=True,
    ),
    Method(
        name="threadline/enrichment/startAll",
        params=StartAllParams,
        result=EnrichedAll,
        doc="Make memory from all sessions that nobody has read, and say what came of it.",
        is_long=True,
    ),
    Method(
        name="threadline/review/list",
        params=ListProposalsParams,
        result=Proposals,
        doc="List what rules or a model found and were not sure of; no assistant is shown it.",
    ),
    Method(
        name="threadline/review/decide",
        params=DecideParams,
        result=Reviewed,
        doc="Accept, edit or reject proposals, by their ids or all of a kind.",
    ),
    Method(
        name="threadline/worthKnowing",
        params=WorthKnowingParams,
        result=WorthKnowing,
        doc="Tell the best of memories, notes in code, rules of guides and reasoned commits.",
    ),
    Method(
        name="threadline/enrichment/retry",
        params=JobParams,
        result=Job,
        doc="Go on with a job from the stage that failed.",
        is_long=True,
    ),
    Method(
        name="threadline/enrichment/cancel",
        params=JobParams,
        result=Job,
        doc="Stop a job, whoever runs it.",
    ),
    Method(
        name="threadline/enrichment/jobs",
        params=ListJobsParams,
        result=JobList,
        doc="List jobs with their stages, newest first.",
    ),
    Method(
        name="threadline/memories/search",
        params=SearchParams,
        result=SearchResult,
        doc="Find the memories that help most with a question, here and now.",
    ),
    Method(
        name="threadline/memories/list",
        params=ListMemoriesParams,
        result=MemoryPage,
        doc="List memories, those that are pinned first, then the latest.",
    ),
    Method(
        name="threadline/memories/read",
        params=ReadParams,
        result=MemoryList,
        doc="Read memories in full.",
    ),
    Method(
        name="threadline/memories/write",
        params=WriteParams,
        result=WriteResult,
        doc="Keep a memory, unless it is known already.",
    ),
    Method(
        name="threadline/memories/update",
        params=UpdateParams,
        result=Memory,
        doc="Change what is said of a memory.",
    ),
    Method(
        name="threadline/memories/forget",
        params=ForgetParams,
        result=PurgeReport,
        doc="Remove memories from everything on the disk, and prove it.",
    ),
    Method(
        name="threadline/context/start",
        params=ContextParams,
        result=StartContext,
        doc="Tell an assistant what it should know before it starts, or after its context was cut.",
    ),
    Method(
        name="threadline/context/render",
        params=RenderParams,
        result=Rendered,
        doc="Write the same as Markdown for a host, within its limit and marked as data.",
    ),
    Method(
        name="threadline/context/track",
        params=TrackParams,
        result=Tracked,
        doc="Note what was just seen of a conversation.",
    ),
    Method(
        name="threadline/context/checkpoint",
        params=CheckpointParams,
        result=Checkpointed,
        doc="Keep memories and a summary of a conversation; a retry makes nothing new.",
    ),
    Method(
        name="threadline/context/digest",
        params=DigestParams,
        result=Digested,
        doc="Keep an agent's own account of where it stands, or what is known before its context is cut.",
    ),
    Method(
        name="threadline/context/end",
        params=EndParams,
        result=Digested,
        doc="End a conversation: what is known of it is saved.",
    ),
    Method(
        name="threadline/turns/ingest",
        params=IngestTurnParams,
        result=IngestedTurn,
        doc="Take in one turn of a conversation; what must not be lost of it is read for memory.",
    ),
    Method(
        name="threadline/context/receipts",
        params=ReceiptsParams,
        result=ReceiptList,
        doc="Tell what was given to conversations, why, and what was left out.",
    ),
    Method(
        name="threadline/context/feedback",
        params=FeedbackParams,
        result=Memory,
        doc="Say that a memory is wrong, stale or useful; it counts from now on.",
    ),
    Method(
        name="threadline/context/stats",
        params=StatsParams,
        result=Stats,
        doc="Tell what memory was worth to conversations.",
    ),
    Method(
        name="threadline/checkpoints/list",
        params=ListCheckpointsParams,
        result=CheckpointList,
        doc="List the checkpoints of a project or of a conversation, newest first.",
    ),
    *SHARED,
    *LOOKING,
    Method(
        name="threadline/lines/explain",
        params=ExplainParams,
        result=Explanation,
        doc="Tell why a line is as it is: the commit that wrote it, its session, and the memories behind it.",
    ),
    Method(
        name="threadline/files/about",
        params=AboutParams,
        result=FileStory,
        doc="Tell which memories and sessions a file has.",
    ),
    *RULES,
    Method(
        name="threadline/purge",
        params=PurgeParams,
        result=PurgeReport,
        doc="Remove an item, a file, a phrase or the whole project from everything on the disk, and prove it.",
    ),
    Method(
        name="threadline/projects/list",
        params=ListProjectsParams,
        result=ProjectList,
        doc="List the projects of the client's workspace: one for each repository in it.",
    ),
    *LINKING,
    *CHECKING,
    Method(
        name="threadline/scan",
        params=ScanParams,
        result=ScanResult,
        doc="Import a repository's history, grouped into sessions by author time.",
        is_long=True,
    ),
    *(
        Method(name=f"threadline/team/{name}", params=params, result=result, doc=doc)
        for name, params, result, doc in (
            ("init", InitTeamParams, TeamBegun, "Set up a team for a project, and join it."),
            (
                "join",
                JoinTeamParams,
                TeamBegun,
                "Join a team; nothing is sent before the person agrees.",
            ),
            ("leave", ProjectParams, TeamLeft, "Leave a team; all records stay."),
            (
                "status",
                ProjectParams,
                TeamStatus,
                "Tell who takes part, what waits, and who has confirmed a purge.",
            ),
            ("preview", ProjectParams, TeamPreview, "Show what is shared from here."),
            (
                "push",
                PushParams,
                TeamSynced,
                "Take over what others have told, and send what waits.",
            ),
            ("pull", ProjectParams, TeamSynced, "Take over what others have told."),
            (
                "key",
                TeamKeyParams,
                TeamKey,
                "Show, take over or renew the key that a team encrypts with.",
            ),
            (
                "history",
                HistoryParams,
                TeamHistory,
                "Tell who has set what of a shared record, and when.",
            ),
        )
    ),
    Method(
        name="threadline/status",
        params=ProjectParams,
        result=Status,
        doc="Tell what is kept for a project, where, and in what condition.",
    ),
    Method(
        name="threadline/doctor",
        params=ProjectParams,
        result=Diagnosis,
        doc="Look for what is wrong on this machine or with a project; each finding names its fix.",
    ),
    Method(
        name="threadline/version",
        params=NoParams,
        result=Version,
        doc="Tell which version answers, at the least cost.",
    ),
    Method(
        name="threadline/capture/pause",
        params=PauseParams,
        result=CaptureState,
        doc="Record nothing in a project for some time, whoever reports it.",
    ),
    Method(
        name="threadline/capture/resume",
        params=ProjectParams,
        result=CaptureState,
        doc="Record again; what happened meanwhile stays unrecorded.",
    ),
)

QUESTIONS: tuple[Method, ...] = (
    Method(
        name="threadline/model/complete",
        params=ModelParams,
        result=ModelAnswer,
        doc="Let the editor's own language model answer, with its user's consent.",
    ),
)
"""What we ask a client that said `"model": true` in its initialization options."""

Subject = Literal[
    "sessions",
    "jobs",
    "memories",
    "messages",
    "tasks",
    "documents",
    "links",
    "conversations",
    "capture",
]


class Change(Record, frozen=True, kw_only=True):
    """What is not any more as it was, whoever changed it."""

    what: Subject
    project_id: str
    ids: tuple[str, ...]
    """Which ones, where that can be said: by their ids, documents by their names, conversations by their keys."""


class Notification(Record, frozen=True, kw_only=True):
    """One thing that we tell a client unasked."""

    name: str
    params: type[Record]
    doc: str


NOTIFICATIONS: tuple[Notification, ...] = (
    Notification(
        name="threadline/didChange",
        params=Change,
        doc="Something changed: ask again for what is shown.",
    ),
)
