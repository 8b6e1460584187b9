"""Memory: what is worth keeping of what happened, with its evidence."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.values import Name, Params, Record, Sha, Text, Timestamp, Ulid

MemoryType = Literal[
    "fact", "decision", "preference", "constraint", "skill", "task", "correction", "episodic"
]
MemoryStatus = Literal["proposed", "active", "superseded", "stale", "forgotten"]
"""`proposed`: shown to people, who may make it active, and to no assistant."""
Verdict = Literal["fresh", "changed", "gone"]
Grade = Annotated[int, Meta(ge=1, le=5)]
Title = Annotated[str, Meta(min_length=1, max_length=200)]
Content = Annotated[str, Meta(min_length=1, max_length=100_000)]
Names = Annotated[tuple[Name, ...], Meta(max_length=100)]
Paths = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=4096)], ...], Meta(max_length=500)
]


class Evidence(Params, frozen=True, kw_only=True):
    """Where a memory comes from."""

    quote: Text
    """Words that stand in the event, as they stand there."""
    commit_sha: Sha | None = None
    event_id: Ulid | None = None


class Anchor(Params, frozen=True, kw_only=True):
    """A place in the code that a memory speaks of, as it was when the memory was made."""

    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    commit_sha: Sha | None = None
    """The commit in which the place looked like this."""
    blob: Sha | None = None
    """What git calls the file's contents; null where the commit deleted it."""
    symbol: Name | None = None
    """The function, class or other name that is meant, qualified by what it stands in (`Store.open`)."""
    digest: Name | None = None
    """A hash of the symbol's source text without its layout."""


RuleName = Literal[
    "deliberate-comment",
    "comment",
    "guideline",
    "obligation",
    "decision",
    "dependency",
    "lasting-words",
    "prohibition",
    "wish",
    "project-fact",
    "model",
]
"""By what something was found."""


class Condition(Params, frozen=True, kw_only=True):
    """Something that must be so at HEAD, or what depends on it is not true any more."""

    kind: Literal["text", "dependency", "no-dependency"]
    """`text`: these words stand in the file. `dependency`: the file names it. `no-dependency`: it does not."""
    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    text: Annotated[str, Meta(min_length=1, max_length=4096)]
    """The words, or the name of the dependency."""


class Review(Record, frozen=True, kw_only=True):
    """What became of a proposal: a label that is kept."""

    verdict: Literal["accepted", "edited", "rejected", "confirmed"]
    """`confirmed`: an agent or a later commit said the same."""
    at: Timestamp
    text: str | None = None
    """What was proposed, where somebody said it better."""


class Memory(Record, frozen=True, kw_only=True):
    """Something worth keeping."""

    memory_id: Ulid
    project_id: str
    type: MemoryType
    title: str
    content: str
    rationale: str | None = None
    """Why it is so."""
    importance: int = 3
    """From 1 to 5."""
    confidence: int = 3
    """From 1 to 5."""
    entities: tuple[str, ...] = ()
    """Names it speaks of: functions, tools, tickets."""
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agent_id: str | None = None
    """Who wrote it, if an agent did."""
    session_id: str | None = None
    """The activity session it was made from."""
    job_id: str | None = None
    """The enrichment job that made it."""
    branch: str | None = None
    """The branch its commits were seen on."""
    evidence: tuple[Evidence, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    verdict: Verdict | None = None
    """What has become of its anchors since; null where nobody has looked or there are none."""
    checked_at: Timestamp | None = None
    status: MemoryStatus = "active"
    superseded_by: str | None = None
    supersedes: str | None = None
    """The memory that this one brought up to date."""
    covers: tuple[str, ...] = ()
    """Memories that this one sums up, such as a day's sessions."""
    pinned: bool = False
    feedback: float = 0.0
    """What was said of it, from -1 (wrong: it is not given any more) to 1 (useful)."""
    idempotency_key: str | None = None
    occurred_at: Timestamp
    """When what it tells of happened."""
    created_at: Timestamp
    updated_at: Timestamp
    updated_by: str | None = None
    """The agent that changed what it says last; null where a person did, or nobody has."""
    by_model: bool = False
    """Whether a language model worded it, reading events: nobody has said it in these words."""
    rule: RuleName | None = None
    """By which rule it was found; null where somebody wrote it."""
    holds: tuple[Condition, ...] = ()
    """What must be so at HEAD for it to be true."""
    scope: Literal["user"] | UnsetType = UNSET
    """`user`: the person's own, told in every project and shared with no team. Absent: its project's."""
    review: Review | None = None
    """What was decided about it while it was proposed."""
    team_id: str | UnsetType = UNSET
    """The team that its project is in; absent without one."""


class MemoryHealth(Record, frozen=True, kw_only=True):
    """What memory can do at the moment, and what of it needs attention."""

    semantic: bool = False
    """Whether memories are compared by meaning too."""
    semantic_absence: str | None = None
    """Why not."""
    unprocessed_sessions: int = 0
    """Sessions from which no memory was made yet."""
    failed_jobs: int = 0
    changed: int = 0
    """Memories about code that has changed since."""
    gone: int = 0
    """Memories about code that is there no more."""
