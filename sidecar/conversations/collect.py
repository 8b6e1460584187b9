"""Collect turns and activity until their conversation is saved."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from protocol.checkpoints import Checkpoint, Trigger
from protocol.conversations import Conversation
from protocol.events import Event
from protocol.settings import Settings
from protocol.turns import Activity, Entry, KeptActivity
from sidecar.conversations.rules import checkpoints, conversations, turns
from sidecar.conversations.rules.checkpoints import Work
from sidecar.conversations.rules.turns import Turn
from sidecar.privacy import cleaning
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def add(
    vault: Vault,
    session_key: str,
    said: Iterable[Turn] = (),
    *,
    done: Iterable[Activity] = (),
    now: datetime,
) -> list[Op]:
    """Return how to write down what was said and done; of too much, the oldest goes."""
    entries = {one.turn_id: turns.entry(session_key, one) for one in said}
    kept = (turns.activity(session_key, one, now) for one in done)
    activities = {one.activity_id: one for one in kept}
    if not entries and not activities:
        return []
    return [
        *(vault.entries.put(key, one) for key, one in entries.items()),
        *(vault.activities.put(key, one) for key, one in activities.items()),
        *_surplus(vault, session_key, entries, activities),
    ]


def said(vault: Vault, session_key: str) -> list[Entry]:
    """Return what was said and not saved yet."""
    return vault.entries.find("sessionKey", session_key)


def done(vault: Vault, session_key: str) -> list[KeptActivity]:
    """Return what was done and not saved yet."""
    return vault.activities.find("sessionKey", session_key)


def drop(vault: Vault, session_key: str) -> list[Op]:
    """Return how to remove what waits of a conversation."""
    return [
        *(vault.entries.drop(one.turn_id) for one in said(vault, session_key)),
        *(vault.activities.drop(one.activity_id) for one in done(vault, session_key)),
    ]


def waiting(vault: Vault) -> set[str]:
    """Return the conversations of which something waits; nothing of it is read."""
    return {*vault.entries.values("sessionKey"), *vault.activities.values("sessionKey")}


def idle(vault: Vault, settings: Settings) -> list[str]:
    """Name those of them in which nothing has happened for a while, and those that are not known any more."""
    since = vault.clock() - timedelta(milliseconds=settings.idle_flush_ms)
    talks = vault.conversations.some(waiting(vault))
    return sorted(
        key
        for key in waiting(vault)
        if key not in talks or not since < talks[key].last_seen_at <= vault.clock()
    )


def _surplus(
    vault: Vault,
    session_key: str,
    entries: dict[str, Entry],
    activities: dict[str, KeptActivity],
) -> Sequence[Op]:
    said_at = {one.turn_id: one.at for one in said(vault, session_key)}
    said_at |= {key: one.at for key, one in entries.items()}
    done_at = {one.activity_id: one.at for one in done(vault, session_key)}
    done_at |= {key: one.at for key, one in activities.items()}
    return [
        *(vault.entries.drop(key) for key in turns.surplus(said_at.items(), turns.ENTRIES)),
        *(vault.activities.drop(key) for key in turns.surplus(done_at.items(), turns.ACTIVITIES)),
    ]


_REACH = timedelta(hours=24)
"""How far back work is looked for, however long a conversation lasts."""
_EVENTS = 300
"""The events of a session that are looked at, the latest: it is quick however much happened."""
_FILES = 50
_COMMITS = 20
_TITLES = 10


def work(vault: Vault, conversation: Conversation) -> Work:
    """Find what was committed and saved while a conversation went on, the latest first."""
    since = max(conversation.started_at, conversation.last_seen_at - _REACH)
    events = sorted(_events(vault, since), key=lambda event: event.occurred_at, reverse=True)
    made = [event.commit for event in events if event.commit and not event.commit.dropped]
    files = dict.fromkeys(change.path for event in events for change in event.files)
    return Work(commits=tuple(made[:_COMMITS]), files=tuple(files)[:_FILES])


def describe(vault: Vault, conversation: Conversation, now: datetime) -> str:
    """Return what was observed of a conversation, and of the repository meanwhile."""
    most = sorted(conversation.used, key=lambda one: -conversation.used[one])[:_TITLES]
    found = filter(None, map(vault.memories.get, most))
    titles = {one.memory_id: one.title for one in found if one.status != "forgotten"}
    told = checkpoints.describe(conversation, work(vault, conversation), titles, now)
    key = conversation.session_key
    waiting = turns.tell(done(vault, key), said(vault, key))
    return cleaning.clean("\n".join((told, *waiting)))


def save(
    vault: Vault, checkpoint: Checkpoint, conversation: Conversation, settings: Settings
) -> list[Op]:
    """Return how to write a checkpoint and that it was made; what is too many by now goes, and what it has told."""
    now = checkpoint.created_at
    mine = vault.checkpoints.find("sessionKey", conversation.session_key)
    others = {one.id: one for one in mine if one.id != checkpoint.id}
    moved = {one.id: one for one in checkpoints.timely(others.values(), now)}
    gone = checkpoints.surplus([*(others | moved).values(), checkpoint], settings, now)
    is_whole = checkpoint.trigger in checkpoints.WHOLE
    marked = checkpoints.mark(conversation, checkpoint.trigger, now)
    return [
        vault.checkpoints.put(checkpoint.id, checkpoint),
        *(vault.checkpoints.put(one.id, one) for one in moved.values()),
        *(vault.checkpoints.drop(one) for one in gone),
        vault.conversations.put(conversation.session_key, marked),
        *(drop(vault, conversation.session_key) if is_whole else ()),
    ]


def make(conversation: Conversation, trigger: Trigger, digest: str, *, now: datetime) -> Checkpoint:
    """Write down a conversation's state under a new id."""
    import uuid  # noqa: PLC0415  # it asks much of the system as it is loaded

    return checkpoints.make(conversation, trigger, digest, identifier=str(uuid.uuid4()), now=now)


def save_if_due(vault: Vault, session_key: str, settings: Settings) -> list[Op]:
    """Return how to write the periodic checkpoint of a conversation, if it is still due."""
    talk, now = vault.conversations.get(session_key), vault.clock()
    if talk is None or not conversations.is_due(talk, settings, now):
        return []
    made = make(talk, "periodic", describe(vault, talk, now), now=now)
    return save(vault, made, talk, settings)


def _events(vault: Vault, since: datetime) -> Iterator[Event]:
    for session in vault.sessions.newest():
        if session.ended_at is None or session.ended_at >= since:
            events = vault.sessions.latest(session.session_id, _EVENTS)
            yield from (cleaning.clean_event(one) for one in events if one.occurred_at >= since)
        elif session.started_at < since - 2 * vault.rule.window:
            return
