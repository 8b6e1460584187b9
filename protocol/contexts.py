"""Context: what an assistant should know before it starts, or after its context window was cut."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from protocol.memories import MemoryHealth, MemoryType, Paths
from protocol.projects import ProjectParams
from protocol.tasks import ANYONE, TaskStatus
from protocol.values import Key, Name, ProjectId, Record, Text, Timestamp, Ulid

Mode = Literal["default", "full", "planning", "incident", "handoff", "deep", "minimal", "none"]
Occasion = Literal["startup", "resume", "clear", "compact", "fork"]
Lineage = Literal["conversation", "previous", "path"]
Opinion = Literal["wrong", "stale", "useful"]
Most = Annotated[int, Meta(ge=0, le=50)]
Cap = Annotated[int, Meta(ge=200, le=1_000_000)]


class ContextParams(ProjectParams, frozen=True, kw_only=True):
    """Who starts, where, and what for."""

    query: Annotated[str, Meta(max_length=10_000)] = ""
    """What the conversation will be about, if that is known."""
    agent_id: Name | None = None
    """Who asks; the client's own name where absent."""
    mode: Mode = "default"
    """How many items of each kind are given."""
    summary_only: bool = True
    """Clip every item to 120 characters; its full text can be read by its id."""
    include_documents: Annotated[tuple[Name, ...], Meta(max_length=20)] = ()
    """Documents to add to the soul."""
    max_response_chars: Cap = 16_000
    """No answer is longer, written as JSON with a space after every comma and colon."""
    vault_id: ProjectId | None = None
    """The project, by its id."""
    max_episodic: Most | None = None
    """Instead of what the mode says."""
    max_facts: Most | None = None
    """Instead of what the mode says."""
    max_tasks: Most | None = None
    """Instead of what the mode says."""
    max_constraints: Most | None = None
    """Instead of what the mode says."""
    session_key: Key | None = None
    """What the host calls the conversation."""
    previous_session_key: Key | None = None
    """The conversation that this one continues."""
    harness: Name | None = None
    """The program that the agent runs in; the client's own name where absent."""
    occasion: Occasion = "startup"
    """Why the host starts."""
    transcript_path: Annotated[str, Meta(max_length=4096)] | None = None
    """Where the host keeps the conversation, to see what a compaction left of it."""
    files_at_hand: Paths = ()
    """Files that are open or changed: what concerns them comes first."""
    branch: Name | None = None
    """The branch that is worked on; the current one where absent."""
    preview: bool = False
    """Only look: messages stay unread, no task is completed, no conversation begins, no receipt is kept."""


RecordKind = Literal["commit", "capture", "turn"]


class ContextItem(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A memory as an assistant gets it, or a record that answers its question, quoted as it was written."""

    memory_id: str
    """Of the memory; of a record, that of its event or turn."""
    type: MemoryType | RecordKind
    title: str
    text: str = ""
    """What it says beyond its title."""
    importance: int = 3
    origin: str = ""
    """Who says so: a commit and its author, an agent, a person."""
    occurred_at: Timestamp
    files: tuple[str, ...] = ()
    """The first few files it speaks of."""
    has_changed: bool = False
    """The code that it speaks of has changed since."""
    is_clipped: bool = False
    """There is more to read."""


class TaskItem(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Something that is to be done: a task, or a memory of one."""

    task_id: str | None = None
    memory_id: str | None = None
    title: str
    text: str = ""
    status: TaskStatus
    priority: int
    done_when: str | None = None
    assigned_agent_id: str = ANYONE
    is_clipped: bool = False


class SessionContext(Record, frozen=True, kw_only=True):
    """The heart of it, the best first in each list."""

    recent_sessions: tuple[ContextItem, ...] = ()
    important_facts: tuple[ContextItem, ...] = ()
    """Facts, decisions, preferences, skills and corrections of importance 3 or more."""
    active_tasks: tuple[TaskItem, ...] = ()
    constraints: tuple[ContextItem, ...] = ()


class VaultCounts(Record, frozen=True, kw_only=True):
    """How much a vault holds."""

    vault_id: str
    name: str
    memories: int
    tasks: int
    documents: int
    sessions: int


class AgentItem(Record, frozen=True, kw_only=True, omit_defaults=True):
    """An agent that was here lately."""

    agent_id: str
    label: str
    last_seen_at: Timestamp
    last_summary: str | None = None


class DocumentItem(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A document as an assistant gets it."""

    name: str
    content: str
    version: int = 0
    """0: ours, since nobody has written one."""
    agent_editable: bool = False
    is_clipped: bool = False


class MessageItem(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A message as an assistant gets it."""

    message_id: str
    sender_id: str
    content: str
    category: str
    priority: int
    subject: str | None = None
    parent_message_id: str | None = None
    created_at: Timestamp
    is_clipped: bool = False
    """There is more of it: reading its thread (`threadOf`) gives it in full."""


class Changes(Record, frozen=True, kw_only=True):
    """What has happened since an agent's last conversation."""

    since: Timestamp
    sessions: int = 0
    commits: int = 0
    memories: int = 0
    tasks: int = 0
    messages: int = 0
    highlights: tuple[str, ...] = ()
    """A few of them in words, the latest first."""


class CompletedTask(Record, frozen=True, kw_only=True):
    """A task that was found to be done."""

    task_id: str
    title: str
    evidence: str
    """What shows it."""


class Recovery(Record, frozen=True, kw_only=True):
    """What was known of the conversation that this one continues."""

    session_key: str
    checkpoint_id: str | None = None
    lineage: Lineage
    """How it was found: this very conversation, the one it continues, or one in the same folder."""
    created_at: Timestamp
    text: str
    """The Session Recovery Context."""
    dropped_only: bool = False
    """Only what the host's own summary has left out."""


class StartContext(Record, frozen=True, kw_only=True):
    """What an assistant should know; a section is absent only where not even its name fits."""

    project_id: str
    receipt_id: str | UnsetType = UNSET
    """Under which it can be looked up why this was given; absent where somebody only looked."""
    agent_label: str | UnsetType = UNSET
    is_first_connection: bool | UnsetType = UNSET
    introduction: str | UnsetType = UNSET
    """What an agent should know of this memory that has never met it."""
    link_offer: str | UnsetType = UNSET
    """That the person may share another project's memory with this folder; absent where nothing is to be asked."""
    personal: tuple[ContextItem, ...] | UnsetType = UNSET
    """What the person wants in every project; absent where that is nothing."""
    session_context: SessionContext | UnsetType = UNSET
    recovery: Recovery | UnsetType | None = UNSET
    query_results: tuple[ContextItem, ...] | UnsetType = UNSET
    pending_messages: tuple[MessageItem, ...] | UnsetType = UNSET
    other_pending_message_count: int | UnsetType = UNSET
    """How many more messages wait; absent where none does."""
    changes_since_last_session: Changes | UnsetType | None = UNSET
    documents: tuple[DocumentItem, ...] | UnsetType = UNSET
    available_documents: tuple[str, ...] | UnsetType = UNSET
    missing_documents: tuple[str, ...] | UnsetType = UNSET
    """Documents that were asked for and do not exist; absent where there is none."""
    tasks_auto_completed: tuple[CompletedTask, ...] | UnsetType = UNSET
    tasks_suggested_done: tuple[CompletedTask, ...] | UnsetType = UNSET
    other_open_task_count: int | UnsetType = UNSET
    recent_agents: tuple[AgentItem, ...] | UnsetType = UNSET
    vaults: tuple[VaultCounts, ...] | UnsetType = UNSET
    memory_health: MemoryHealth | UnsetType = UNSET
    left_out: dict[str, int] = field(default_factory=dict)
    """How many items of each section did not fit; `everything`, where not even that could be said."""


class RenderParams(ContextParams, frozen=True, kw_only=True):
    """The same as text, for a host."""

    host: Name = "clipboard"
    """Whose limits hold: `claude-code`, `cursor`, `windsurf`, `copilot`, `clipboard` and others."""
    max_chars: Cap | None = None
    """A lower limit than the host's own."""


class Rendered(Record, frozen=True, kw_only=True):
    """What a host is given."""

    host: str
    text: str
    """Markdown; empty where there is nothing to say."""
    chars: int
    cap: int
    receipt_id: str | None = None
    """Null where somebody only looked, and where there is nothing to say."""
    left_out: dict[str, int] = field(default_factory=dict)


class GivenItem(Record, frozen=True, kw_only=True):
    """An item that was given, and why."""

    id: str
    section: str
    score: float = 0.0
    why: dict[str, float] = field(default_factory=dict)
    """What each signal added to the score."""
    chars: int = 0


class UngivenItem(Record, frozen=True, kw_only=True):
    """An item that came into question and was left out."""

    id: str
    section: str
    reason: str
    """Why: `cap`, `limit`, `said already`, `one author`, `gone`, `other branch`, `in a digest`, `wrong`,
    `superseded`."""
    score: float = 0.0


class Receipt(Record, frozen=True, kw_only=True):
    """What was given to a conversation, why, and what was not; never the words themselves."""

    receipt_id: str
    project_id: str
    session_key: str | None = None
    agent_id: str
    host: str | None = None
    """Who it was rendered for; null for the plain answer."""
    mode: Mode
    query: str = ""
    occasion: Occasion = "startup"
    items: tuple[GivenItem, ...] = ()
    left_out: tuple[UngivenItem, ...] = ()
    recovered_from: str | None = None
    chars: int
    cap: int
    times: int = 1
    """How often exactly this was given."""
    given_at: Timestamp
    last_given_at: Timestamp


class ItemWords(Record, frozen=True, kw_only=True):
    """What an item of a receipt says, in short."""

    title: str
    text: str = ""
    type: MemoryType | None = None
    """Of a memory; null for all others."""
    origin: str = ""
    """Who says so."""
    occurred_at: Timestamp | None = None
    feedback: float = 0.0
    """What was said of it, from -1 (wrong) to 1 (useful)."""
    pinned: bool = False


class Account(Record, frozen=True, kw_only=True):
    """What a host would be given now, why, and what it would not be."""

    rendered: Rendered
    receipt: Receipt
    """As it would be kept, had it been given."""
    words: dict[str, ItemWords]
    """What the items of the receipt say, by their ids, given or not."""


class ReceiptsParams(ProjectParams, frozen=True, kw_only=True):
    """Which receipts to read."""

    receipt_id: Key | None = None
    session_key: Key | None = None
    agent_id: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    replay: bool = False
    """Also show what was given, as far as it is still remembered."""


class Replay(Record, frozen=True, kw_only=True):
    """What was given, in the words it has now."""

    receipt_id: str
    items: tuple[ContextItem, ...]
    changed: tuple[str, ...] = ()
    """Items that were changed since."""
    forgotten: tuple[str, ...] = ()
    """Items that are not there any more."""
    words: dict[str, ItemWords] = field(default_factory=dict)
    """What all items of the receipt say, given or not, as far as they are still known."""


class ReceiptList(Record, frozen=True, kw_only=True):
    """Receipts, newest first."""

    receipts: tuple[Receipt, ...]
    total: int
    """How many match in all."""
    replays: tuple[Replay, ...] = ()


class FeedbackParams(ProjectParams, frozen=True, kw_only=True):
    """What somebody thinks of a memory that was given."""

    memory_id: Ulid
    verdict: Opinion
    """`wrong`: it is not given any more. `stale`: it counts less. `useful`: it counts more."""
    note: Text | None = None
    """Why."""
    agent_id: Name | None = None
    receipt_id: Key | None = None


class RetractParams(ProjectParams, frozen=True, kw_only=True):
    """Of which memory somebody takes back what they said last."""

    memory_id: Ulid
    agent_id: Name | None = None
    """Who said it; absent for a person."""


class Feedback(Record, frozen=True, kw_only=True):
    """An opinion about a memory."""

    memory_id: str
    verdict: Opinion
    note: str | None = None
    agent_id: str | None = None
    receipt_id: str | None = None
    at: Timestamp


class StatsParams(ProjectParams, frozen=True, kw_only=True):
    """Since when to look back."""

    days: Annotated[int, Meta(ge=1, le=3650)] = 30


class Worth(Record, frozen=True, kw_only=True):
    """What conversations of one kind had of their context."""

    conversations: int = 0
    given: int = 0
    """Memories that were put before them."""
    used: int = 0
    """Those of them that were searched, read or quoted later."""
    news: int = 0
    """Those of them that were new to the agent."""
    prompts: int = 0


class Stats(Record, frozen=True, kw_only=True):
    """What memory has been worth to the conversations of late."""

    since: Timestamp
    cold: Worth
    """Conversations that began without knowing of an earlier one."""
    recovered: Worth
    """Conversations that were told where an earlier one stood."""
    most_used: tuple[ContextItem, ...] = ()
