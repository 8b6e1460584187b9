"""State of an agent's conversation, bounded in size."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import PurePath

import msgspec
from msgspec import Struct

from protocol.conversations import Agent, Conversation, Note
from protocol.settings import Settings
from sidecar.privacy import cleaning, secret_files
from sidecar.text import own_words, wording
from sidecar.text.hashing import blake2b

NOTES = 100
QUERIES = 20
REMEMBERED = 10
FILES = 50
HEARD = 50
USED = 500
PROMPTS = 16_000
"""Letters that are kept of all prompts."""
LONGEST = 500
"""Letters that are kept of one statement."""
_LABEL = 60
_SUMMARY = 200


class Who(Struct, frozen=True, kw_only=True):
    """Who leads a conversation, and where."""

    agent_id: str
    harness: str
    """The program it runs in."""
    folder: PurePath
    """The folder it works in, as it was named."""
    real_folder: PurePath
    """The real path of the working tree that it is in."""
    inside: PurePath = PurePath()
    """Where in it the named folder is."""
    is_placed: bool = True
    """Whether a folder was named at all, and not only a project."""
    label: str | None = None
    """How people call the agent, if that is known."""


def led(who: Who, agent_id: str | None, harness: str | None) -> Who:
    """Return who leads a conversation, where that is told: an agent is called by its harness otherwise."""
    return msgspec.structs.replace(
        who,
        agent_id=cleaning.clean(agent_id or harness or who.agent_id),
        harness=cleaning.clean(harness or who.harness),
    )


class Report(Struct, frozen=True, kw_only=True):
    """What was just seen of a conversation, already without what may not be kept."""

    key: str | None = None
    """Names the report; the same one changes nothing when it comes again."""
    prompts: int = 0
    said: tuple[str, ...] = ()
    """What the user said, condensed."""
    last_words: str = ""
    notes: tuple[Note, ...] = ()
    queries: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()


def known_as(session_key: str) -> str:
    """Return the key under which a conversation is kept: its own, unless there is a secret in it."""
    return (
        session_key
        if cleaning.clean(session_key) == session_key
        else f"hashed:{_hash(session_key)}"
    )


def begin(session_key: str, project_id: str, who: Who, now: datetime) -> Conversation:
    """Begin to know of a conversation."""
    return Conversation(
        session_key=session_key,
        project_id=project_id,
        agent_id=who.agent_id,
        harness=who.harness,
        project=str(who.folder),
        project_normalized=str(who.real_folder),
        started_at=now,
        last_seen_at=now,
    )


def lead(conversation: Conversation, who: Who) -> Conversation:
    """Name a conversation's agent, where so far only its harness was known."""
    if conversation.agent_id != conversation.harness:
        return conversation
    return msgspec.structs.replace(conversation, agent_id=who.agent_id, harness=who.harness)


def follow(conversation: Conversation, who: Who) -> Conversation:
    """Return where a conversation works now: it may go from one working tree to another."""
    if not who.is_placed or conversation.project_normalized == str(who.real_folder):
        return conversation
    return msgspec.structs.replace(
        conversation, project=str(who.folder), project_normalized=str(who.real_folder)
    )


def timely(conversation: Conversation, now: datetime) -> Conversation:
    """Take for now what lies in the future: a clock that was wrong has been set back."""
    if conversation.last_seen_at <= now:
        return conversation
    ended, saved = conversation.ended_at, conversation.checkpointed_at
    return msgspec.structs.replace(
        conversation,
        started_at=min(conversation.started_at, now),
        last_seen_at=now,
        ended_at=ended and min(ended, now),
        checkpointed_at=saved and min(saved, now),
    )


def seen(conversation: Conversation, now: datetime) -> Conversation:
    """Note that a conversation goes on, also after it was said to be over."""
    ended = conversation.ended_at
    return msgspec.structs.replace(
        conversation,
        last_seen_at=max(conversation.last_seen_at, now),
        ended_at=ended if ended and now < ended else None,
    )


def told(conversation: Conversation, report: Report, now: datetime) -> Conversation:
    """Add what was seen; the very same conversation where the report was heard before."""
    if has_heard(conversation, report.key):
        return conversation
    return msgspec.structs.replace(
        seen(conversation, now),
        prompt_count=conversation.prompt_count + report.prompts,
        prompts=_latest_prompts((*conversation.prompts, *filter(None, report.said))),
        last_words=report.last_words or conversation.last_words,
        notes=_noted(conversation.notes, report.notes),
        queries=latest(conversation.queries, report.queries, QUERIES),
        remembered=latest(conversation.remembered, report.remembered, REMEMBERED),
        files=_at_hand(conversation.files, report.files),
        used=_counted(conversation.used, report.memory_ids),
        heard=(*conversation.heard, *_hashes(report.key))[-HEARD:],
    )


def has_heard(conversation: Conversation, key: str | None) -> bool:
    """Return whether a report was heard before."""
    return any(name in conversation.heard for name in _hashes(key))


def unheard(conversation: Conversation, words: str) -> str:
    """Name a report that has no key by its words: as the last one where that was the same, else as a new one."""
    name, number = words, 0
    while has_heard(conversation, name) and conversation.heard[-1:] != _hashes(name):
        number += 1
        name = f"{number}:{words}"
    return name


def is_due(conversation: Conversation, settings: Settings, now: datetime) -> bool:
    """Return whether a conversation's state is to be saved: after some prompts, or some time with one."""
    prompts = conversation.prompt_count - conversation.checkpointed_prompts
    since = conversation.checkpointed_at or conversation.started_at
    is_late = now - since >= timedelta(milliseconds=settings.time_interval_ms)
    return prompts >= settings.prompt_interval or (prompts > 0 and is_late)


def is_telling(conversation: Conversation) -> bool:
    """Return whether anything is known of a conversation that another could go on from."""
    return bool(
        conversation.prompt_count
        or conversation.notes
        or conversation.files
        or conversation.queries
        or conversation.remembered
    )


def leaves_something(conversation: Conversation) -> bool:
    """Return whether more was said and done in a conversation than greetings and mere looking."""
    return bool(
        conversation.prompts or conversation.notes or conversation.files or conversation.remembered
    )


def faded(conversation: Conversation) -> Conversation:
    """Leave the figures of a conversation, and nothing of what was said in it."""
    return msgspec.structs.replace(
        conversation,
        prompts=(),
        last_words="",
        notes=(),
        queries=(),
        remembered=(),
        files=(),
        summary=None,
        heard=(),
    )


def kept(text: str) -> str:
    """Take out of a text what is private or secret, and what we ourselves have put into it."""
    return cleaning.clean(own_words.without(text)).strip()


def bounded(text: str) -> str:
    """Write a statement on one line, and no longer than is kept of one."""
    return wording.clipped(" ".join(text.split()), LONGEST)


def same(text: str) -> str:
    """Return what two ways of writing one statement have in common."""
    return " ".join(text.casefold().split()).strip(" .!,;:*_`\"'")


def latest(known: Iterable[str], new: Iterable[str], most: int) -> tuple[str, ...]:
    """Add statements at the end, each once; the latest stay."""
    kept: dict[str, str] = {}
    for text in (*known, *map(bounded, new)):
        kept.pop(same(text), None)
        kept[same(text)] = text
    return tuple(text for key, text in kept.items() if key)[-most:]


def name_files(paths: Iterable[str], who: Who) -> Iterator[str]:
    """Name files as the repository does; those that may hold secrets are not named at all."""
    for path in map(PurePath, paths):
        name = _within(path, who).as_posix()
        if name != "." and not secret_files.is_secret(name):
            yield cleaning.clean(name)


def _within(path: PurePath, who: Who) -> PurePath:
    if path.is_relative_to(who.real_folder):
        return path.relative_to(who.real_folder)
    return who.inside / path.relative_to(who.folder) if path.is_relative_to(who.folder) else path


def greet(agent: Agent | None, who: Who, project_id: str, now: datetime) -> Agent:
    """Bring up to date what is known of an agent that is here."""
    if agent is None:
        return Agent(
            agent_id=who.agent_id,
            project_id=project_id,
            label=label(who),
            harness=who.harness,
            first_seen_at=now,
            last_seen_at=now,
        )
    return msgspec.structs.replace(
        agent,
        label=label(who) if who.label else agent.label,
        harness=who.harness,
        last_seen_at=max(agent.last_seen_at, now),
    )


def label(who: Who) -> str:
    """Return how people call an agent: as it says, or by its id in plain words."""
    plain = who.agent_id.replace("-", " ").replace("_", " ").strip()
    is_written = any(letter.isupper() for letter in plain)
    return (who.label or (plain if is_written else plain.title()) or who.agent_id)[:_LABEL]


def summed_up(agent: Agent, words: str) -> Agent:
    """Keep in one line what an agent last said about its work."""
    line = wording.clipped(" ".join(words.split()), _SUMMARY)
    return msgspec.structs.replace(agent, last_summary=line) if line else agent


def _latest_prompts(prompts: tuple[str, ...]) -> tuple[str, ...]:
    size = sum(map(len, prompts))
    first = 0
    while size > PROMPTS:
        size -= len(prompts[first])
        first += 1
    return prompts[first:]


def _noted(known: Iterable[Note], new: Iterable[Note]) -> tuple[Note, ...]:
    kept: dict[str, Note] = {}
    for note in (*known, *(_cut(note) for note in new)):
        before = kept.pop(same(note.text), None)
        is_users = before is not None and before.said_by == "user"
        kept[same(note.text)] = msgspec.structs.replace(note, said_by="user") if is_users else note
    return tuple(note for key, note in kept.items() if key)[-NOTES:]


def _cut(note: Note) -> Note:
    return msgspec.structs.replace(note, text=bounded(note.text))


def _at_hand(known: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*reversed(tuple(new)), *known)))[:FILES]


def _counted(known: dict[str, int], new: Iterable[str]) -> dict[str, int]:
    """Count uses; of too many memories those that were used least and longest ago go."""
    counts = dict(known)
    for memory_id in new:
        counts[memory_id] = counts.pop(memory_id, 0) + 1
    if len(counts) <= USED:
        return counts
    places = {memory_id: place for place, memory_id in enumerate(counts)}
    kept = set(sorted(counts, key=lambda one: (counts[one], places[one]))[-USED:])
    return {memory_id: count for memory_id, count in counts.items() if memory_id in kept}


def _hashes(key: str | None) -> tuple[str, ...]:
    return () if key is None else (_hash(key),)


def _hash(key: str) -> str:
    return blake2b(key.encode("utf-8", "replace"), digest_size=12).hexdigest()
