"""Observing: what is seen of a conversation and of its repository becomes a checkpoint."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from protocol.checkpoints import Checkpoint, Trigger
from protocol.conversations import Conversation
from protocol.events import Event
from protocol.settings import Settings
from sidecar.domain import privacy
from sidecar.domain.continuity import checkpoints, conversations, turns
from sidecar.domain.continuity.checkpoints import Work
from sidecar.services.continuity import collecting
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

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
    """Tell what was observed of a conversation, and of the repository meanwhile."""
    most = sorted(conversation.used, key=lambda one: -conversation.used[one])[:_TITLES]
    found = filter(None, map(vault.memories.get, most))
    titles = {one.memory_id: one.title for one in found if one.status != "forgotten"}
    told = checkpoints.describe(conversation, work(vault, conversation), titles, now)
    key = conversation.session_key
    waiting = turns.tell(collecting.done(vault, key), collecting.said(vault, key))
    return privacy.clean("\n".join((told, *waiting)))


def save(
    vault: Vault, checkpoint: Checkpoint, conversation: Conversation, settings: Settings
) -> list[Op]:
    """Say how to write a checkpoint and that it was made; what is too many by now goes, and what it has told."""
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
        *(collecting.drop(vault, conversation.session_key) if is_whole else ()),
    ]


def make(conversation: Conversation, trigger: Trigger, digest: str, *, now: datetime) -> Checkpoint:
    """Write down a conversation's state under a new id."""
    import uuid  # noqa: PLC0415  # it asks much of the system as it is loaded

    return checkpoints.make(conversation, trigger, digest, identifier=str(uuid.uuid4()), now=now)


def save_if_due(vault: Vault, session_key: str, settings: Settings) -> list[Op]:
    """Say how to write the periodic checkpoint of a conversation, if it is still due."""
    talk, now = vault.conversations.get(session_key), vault.clock()
    if talk is None or not conversations.is_due(talk, settings, now):
        return []
    made = make(talk, "periodic", describe(vault, talk, now), now=now)
    return save(vault, made, talk, settings)


def _events(vault: Vault, since: datetime) -> Iterator[Event]:
    """Read the events from a moment on, of those sessions alone that may hold any."""
    for session in vault.sessions.newest():
        if session.ended_at is None or session.ended_at >= since:
            events = vault.sessions.latest(session.session_id, _EVENTS)
            yield from (privacy.clean_event(one) for one in events if one.occurred_at >= since)
        elif session.started_at < since - 2 * vault.rule.window:
            return
