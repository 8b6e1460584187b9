"""Collecting: turns and activities wait on the disk until their conversation is saved."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from protocol.conversations import Conversation
from protocol.settings import Settings
from protocol.turns import Activity, Entry, KeptActivity
from sidecar.domain.continuity import turns
from sidecar.domain.continuity.turns import Turn
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
    """Say how to write down what was said and done; of too much, the oldest goes."""
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
    """Give what was said and not saved yet."""
    return vault.entries.find("sessionKey", session_key)


def done(vault: Vault, session_key: str) -> list[KeptActivity]:
    """Give what was done and not saved yet."""
    return vault.activities.find("sessionKey", session_key)


def drop(vault: Vault, session_key: str) -> list[Op]:
    """Say how to remove what waits of a conversation."""
    return [
        *(vault.entries.drop(one.turn_id) for one in said(vault, session_key)),
        *(vault.activities.drop(one.activity_id) for one in done(vault, session_key)),
    ]


def is_significant(vault: Vault, talk: Conversation) -> bool:
    """Tell whether a conversation leaves something behind."""
    key = talk.session_key
    return turns.is_significant(talk, done(vault, key), said(vault, key))


def waiting(vault: Vault) -> set[str]:
    """Name the conversations of which something waits; nothing of it is read."""
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
