"""Checkpoints: a conversation's saved state, so that an agent survives its own context window."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.contexts import MessageItem, StartContext
from protocol.memories import Content, Grade, MemoryType, Names, Paths, Title
from protocol.projects import ProjectParams
from protocol.turns import Activity
from protocol.values import Key, Name, Params, ProjectId, Record, Text, Timestamp, Ulid

Trigger = Literal["periodic", "pre_compaction", "agent", "explicit", "session_end"]
Said = Annotated[tuple[Text, ...], Meta(max_length=50)]
CheckpointOutcome = Literal["created", "skipped", "superseded", "failed"]


class Checkpoint(Record, frozen=True, kw_only=True):
    """What was known of a conversation at one moment."""

    id: str
    """A UUID."""
    session_key: str
    agent_id: str
    harness: str
    project: str
    """The folder it works in, as it was named."""
    project_normalized: str
    """The real path of that folder."""
    trigger: Trigger
    digest: str
    """An agent's own words, or what was observed of its conversation."""
    prompt_count: int
    memory_queries: tuple[str, ...] = ()
    """What was searched for since the checkpoint before."""
    recent_remembers: tuple[str, ...] = ()
    """What was asked to be remembered since then."""
    created_at: Timestamp


class ConversationParams(ProjectParams, frozen=True, kw_only=True):
    """Which conversation is meant, and who leads it."""

    session_key: Key
    """What the host calls the conversation."""
    agent_id: Name | None = None
    """The agent that leads it; its harness where absent."""
    harness: Name | None = None
    """The program it runs in; the client's own name where absent."""


class TrackParams(ConversationParams, frozen=True, kw_only=True):
    """What was just seen of a conversation."""

    prompt: Text | None = None
    """What its user said: it counts as a prompt."""
    response: Text | None = None
    """What its agent said."""
    queries: Said = ()
    """What was searched for."""
    remembered: Said = ()
    """What was asked to be remembered."""
    memory_ids: Annotated[tuple[Ulid, ...], Meta(max_length=50)] = ()
    """Memories that were read or quoted."""
    files: Paths = ()
    """Files that were worked on."""
    activities: Annotated[tuple[Activity, ...], Meta(max_length=50)] = ()
    """What was done with tools."""
    idempotency_key: Key | None = None
    """Reporting the same key again changes nothing."""
    occurred_at: Timestamp | None = None


class Tracked(Record, frozen=True, kw_only=True):
    """How a conversation stands."""

    session_key: str
    prompt_count: int
    is_checkpoint_due: bool
    """Whether its state is about to be saved."""
    is_kept: bool = True
    """Whether this was written down: not while capture is paused, nor where checkpoints are turned off."""
    start: StartContext | None = None
    """What an agent gets that began to work without asking for its context; once."""


class CheckpointMemory(Params, frozen=True, kw_only=True):
    """A memory that an agent wants kept."""

    content: Content
    memory_type: MemoryType = "fact"
    title: Title | None = None
    """Its first sentence where absent."""
    rationale: Text | None = None
    importance: Grade = 3
    confidence: Grade = 3
    entities: Names = ()
    files: Paths = ()
    tags: Names = ()


class CheckpointParams(ProjectParams, frozen=True, kw_only=True):
    """What an agent wants to survive: memories, and what its conversation was about."""

    memories: Annotated[tuple[CheckpointMemory, ...], Meta(max_length=50)] = ()
    session_summary: Text | None = None
    """Written as if to brief the next reader: what was accomplished, decided, left open."""
    dedup: bool = True
    """Compare with what is known: a repetition is skipped, an update supersedes."""
    agent_run_id: Key | None = None
    """The conversation; with it, a retry makes nothing new."""
    agent_id: Name | None = None
    harness: Name | None = None
    vault_id: ProjectId | None = None
    """The project, by its id."""


class CheckpointedMemory(Record, frozen=True, kw_only=True):
    """What became of one memory."""

    outcome: CheckpointOutcome
    memory_id: str | None = None
    """The memory that now says it."""
    reason: str | None = None
    """Why it was not kept."""


class Checkpointed(Record, frozen=True, kw_only=True):
    """What a checkpoint did."""

    created: int
    skipped: int
    superseded: int
    failed: int
    memories: tuple[CheckpointedMemory, ...]
    """What became of each memory, in the order they were given."""
    summary_id: str | None = None
    """The memory that the summary became."""
    checkpoint_id: str | None = None
    pending_messages: tuple[MessageItem, ...] = ()
    """Messages that were waiting, the five most urgent."""
    other_pending_message_count: int = 0
    """How many more messages wait."""
    start: StartContext | None = None
    """What an agent gets that began to work without asking for its context; once."""


class DigestParams(ConversationParams, frozen=True, kw_only=True):
    """An agent's own account of where it stands, or a host's word that its context is about to be cut."""

    digest: Text = ""
    """Decisions, state, blockers; kept word by word, but for secrets. Before a compaction: what the host knows."""
    trigger: Literal["agent", "explicit", "pre_compaction"] = "agent"
    occurred_at: Timestamp | None = None
    """When that was; now where absent."""


class EndParams(ConversationParams, frozen=True, kw_only=True):
    """That a conversation is over."""

    session_summary: Text | None = None
    """Written as if to brief the next reader."""
    occurred_at: Timestamp | None = None
    """When it was over; now where absent."""


class Digested(Record, frozen=True, kw_only=True):
    """The checkpoint that was made."""

    checkpoint: Checkpoint | None
    """Null where checkpoints are turned off, capture is paused, or a conversation ended of which nothing is known."""
    start: StartContext | None = None
    """What an agent gets that began to work without asking for its context; once."""


class ListCheckpointsParams(ProjectParams, frozen=True, kw_only=True):
    """Which checkpoints to list."""

    session_key: Key | None = None
    """Only those of this conversation."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class CheckpointList(Record, frozen=True, kw_only=True):
    """Checkpoints, newest first."""

    checkpoints: tuple[Checkpoint, ...]
    total: int
    """How many match in all."""
