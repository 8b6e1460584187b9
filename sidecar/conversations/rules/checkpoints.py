"""What a checkpoint contains, and which ones to prune."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from protocol.checkpoints import Checkpoint, CheckpointMemory, Trigger
from protocol.conversations import Conversation, Note
from protocol.events import Commit
from protocol.memories import MemoryType
from protocol.settings import Settings
from sidecar.conversations.rules import conversations
from sidecar.privacy import cleaning
from sidecar.text import wording
from sidecar.text.hashing import blake2b

OBSERVED = "## Session Checkpoint"
"""Begins what was observed of a conversation."""
KEPT = "### Memories kept"
"""Begins a checkpoint in which an agent said nothing but what to remember."""
HOST = "### What the host knew"
"""Stands above a host's own words in a checkpoint made before a compaction."""
GROUPS: dict[str, frozenset[MemoryType]] = {
    "Constraints": frozenset({"constraint", "preference"}),
    "Decisions": frozenset({"decision", "correction"}),
    "Open": frozenset({"task"}),
    "Also said": frozenset({"fact", "skill", "episodic"}),
}
"""What was said, by what it is good for, the most valuable first."""
_MOST = 20
"""Statements of a kind that a checkpoint tells; the conversation itself knows more."""
_TOP = 5
_FILES = 20
_COMMITS = 20
_SHA = 8
WHOLE: frozenset[Trigger] = frozenset({"periodic", "pre_compaction", "session_end"})
"""Triggers of checkpoints that tell all that is known of a conversation."""


class Work(Struct, frozen=True, kw_only=True):
    """What was done in the repository while a conversation went on."""

    commits: tuple[Commit, ...] = ()
    """The latest first."""
    files: tuple[str, ...] = ()
    """The latest first."""


def make(
    conversation: Conversation, trigger: Trigger, digest: str, *, identifier: str, now: datetime
) -> Checkpoint:
    """Write down a conversation's state."""
    return Checkpoint(
        id=identifier,
        session_key=conversation.session_key,
        agent_id=conversation.agent_id,
        harness=conversation.harness,
        project=conversation.project,
        project_normalized=conversation.project_normalized,
        trigger=trigger,
        digest=digest,
        prompt_count=conversation.prompt_count,
        memory_queries=conversation.queries,
        recent_remembers=conversation.remembered,
        created_at=now,
    )


def mark(conversation: Conversation, trigger: Trigger, now: datetime) -> Conversation:
    """Note that a conversation's state was saved; what was searched and remembered counts anew."""
    prompts = conversation.prompt_count if trigger in WHOLE else conversation.checkpointed_prompts
    return msgspec.structs.replace(
        conversation,
        queries=(),
        remembered=(),
        checkpointed_prompts=prompts,
        checkpointed_at=now,
    )


def describe(
    conversation: Conversation, work: Work, titles: Mapping[str, str], now: datetime
) -> str:
    """Return what was observed of a conversation; `titles` name the memories that it may have used."""
    return "\n".join(_described(conversation, work, titles, now))


def before_compaction(described: str, context: str) -> str:
    """Put together what was observed of a conversation and what its host says of it."""
    return f"{described}\n{HOST}\n{context.strip()}" if context.strip() else described


def hosts_words(checkpoint: Checkpoint) -> str:
    """Return what a host said of its conversation before a compaction."""
    _, _, words = checkpoint.digest.partition(f"\n{HOST}\n")
    return words if checkpoint.trigger == "pre_compaction" else ""


def cleaned(checkpoint: Checkpoint) -> Checkpoint:
    """Take out of a checkpoint what is known as a secret today."""
    return msgspec.structs.replace(
        checkpoint,
        digest=cleaning.clean(checkpoint.digest),
        memory_queries=tuple(map(cleaning.clean, checkpoint.memory_queries)),
        recent_remembers=tuple(map(cleaning.clean, checkpoint.recent_remembers)),
    )


def by_age(checkpoints: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Sort checkpoints, the newest first."""
    return sorted(checkpoints, key=lambda one: (one.created_at, one.id), reverse=True)


def timely(checkpoints: Iterable[Checkpoint], now: datetime) -> list[Checkpoint]:
    """Return those that lie in the future as made just before now, in their order: a clock was set back."""
    early = [one for one in by_age(checkpoints) if one.created_at > now]
    return [
        msgspec.structs.replace(one, created_at=now - timedelta(microseconds=place))
        for place, one in enumerate(early, 1)
    ]


def surplus(checkpoints: Iterable[Checkpoint], settings: Settings, now: datetime) -> list[str]:
    """Return the checkpoints that are too old, and the oldest of those that are too many."""
    oldest = now - timedelta(days=settings.retention_days)
    ranks: defaultdict[str, int] = defaultdict(int)
    gone: list[str] = []
    for one in by_age(checkpoints):
        ranks[one.session_key] += 1
        is_too_many = ranks[one.session_key] > settings.max_checkpoints_per_session
        if is_too_many or one.created_at < oldest:
            gone.append(one.id)
    return gone


def key(run: str, index: int | str, memory: CheckpointMemory) -> str:
    """Name a memory of a checkpoint, so that a retry is known as one."""
    return f"{prefix(run)}{index}:{content_hash(memory)}"


def prefix(run: str) -> str:
    """Return what the names of all memories of one run begin with."""
    return f"checkpoint:{run}:"


def content_hash(memory: CheckpointMemory) -> str:
    """Hash what a memory says."""
    said = (memory.memory_type, memory.title, memory.content, memory.rationale)
    return blake2b(msgspec.json.encode(said), digest_size=16).hexdigest()


def grouped(notes: Iterable[Note]) -> dict[str, list[str]]:
    """Sort what was said by what it is good for, the latest first; what people said goes before."""
    places = dict(enumerate(notes))
    order = sorted(places, key=lambda place: (places[place].said_by != "user", -place))
    latest = [places[place] for place in order]
    return {
        name: [note.text for note in latest if note.type in types] for name, types in GROUPS.items()
    }


def short(commit: Commit) -> str:
    """Name a commit in one line."""
    return conversations.bounded(f"{commit.sha[:_SHA]} {commit.subject}")


def _described(
    conversation: Conversation, work: Work, titles: Mapping[str, str], now: datetime
) -> Iterator[str]:
    yield OBSERVED
    yield f"Project: {conversation.project}"
    lasted = _span(max(now, conversation.last_seen_at) - conversation.started_at)
    yield f"Prompts: {conversation.prompt_count} | Duration: {lasted}"
    yield "### Memory Activity Since Last Checkpoint"
    yield f"Queries: {_listed(conversation.queries)}"
    yield f"Remembered: {_listed(conversation.remembered)}"
    yield f"Top memories used: {_listed(_most_used(conversation, titles))}"
    for name, texts in grouped(conversation.notes).items():
        yield from _section(name, texts[:_MOST])
    files = tuple(dict.fromkeys((*conversation.files, *work.files)))
    yield from _section("Files", files[:_FILES])
    yield from _section("Commits", [short(commit) for commit in work.commits[:_COMMITS]])


def _section(name: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"### {name}"
        yield from (f"- {line}" for line in lines)


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(texts) or "none"


def _most_used(conversation: Conversation, titles: Mapping[str, str]) -> list[str]:
    """Return the memories that were used most; in full, so that they can be forgotten here, too."""
    known = [one for one in conversation.used if one in titles]
    known.sort(key=lambda one: (-conversation.used[one], titles[one]))
    return [f"{titles[one]} ({conversation.used[one]})" for one in known[:_TOP]]


def _span(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"  # noqa: PLR2004  # minutes of an hour


_MARKS = re.compile(r"^[\s#>*+_`~|=-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s*)?[*_`]*")
_BARE = re.compile(
    r"(?:(?:session|conversation|work|final|short|brief|context|checkpoint)\s+)*"
    r"(?:summary|overview|recap|report|status|digest|notes?|checkpoint|tl;?dr"
    r"|what (?:was|has been|we|i) (?:done|did|accomplished|achieved)"
    r"|accomplished|accomplishments|done|completed|progress|results?|highlights?|changes)"
    r"\s*(?:of (?:the|this) (?:session|conversation|work))?\s*[:.*_-]*",
    re.IGNORECASE,
)
"""A heading that says nothing by itself, or the label before what is said."""
_LABEL = re.compile(rf"{_BARE.pattern}(?<=:)[*_]*\s+(?=\S)", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[*_`]*\s|(?<=[\u3002\uff01\uff1f])")
_NAMELESS = "What happened in this conversation"


def headline(text: str) -> str:
    """Return the first sentence that says something, as a title."""
    lines = (_MARKS.sub("", line).strip() for line in text.splitlines())
    telling = (line for line in lines if line and not _BARE.fullmatch(line))
    first = next(telling, None)
    if first is None:
        return _NAMELESS
    sentence = _END.split(_LABEL.sub("", first, count=1), maxsplit=1)[0]
    return wording.title(sentence.strip(" *_`") or first)
