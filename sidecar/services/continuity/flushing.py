"""Flushing: a conversation that has fallen silent is saved, if it was about anything."""

from datetime import datetime, timedelta

from protocol.conversations import Conversation
from protocol.settings import Settings
from sidecar.services.continuity import collecting, observing
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def flush(vault: Vault, settings: Settings) -> int:
    """Save the conversations in which nothing has happened for a while; tell how many there were.

    What waits of each becomes a checkpoint; of one that was about nothing it just goes.
    """
    if not collecting.idle(vault, settings):
        return 0
    with vault.transaction():
        silent = collecting.idle(vault, settings)
        if ops := [op for key in silent for op in _flushed(vault, key, settings)]:
            vault.write(ops)
    return len(silent)


def _flushed(vault: Vault, session_key: str, settings: Settings) -> list[Op]:
    talk = vault.conversations.get(session_key)
    if talk is None or not _is_wanted(vault, talk, settings):
        return collecting.drop(vault, session_key)
    moment = min(vault.clock(), _silence(talk))
    made = observing.make(talk, "periodic", observing.describe(vault, talk, moment), now=moment)
    return observing.save(vault, made, talk, settings)


def _is_wanted(vault: Vault, talk: Conversation, settings: Settings) -> bool:
    """Tell whether a conversation is to be saved: not one that would be too old at once, or about nothing."""
    oldest = vault.clock() - timedelta(days=settings.retention_days)
    is_young = settings.continuity_enabled and talk.last_seen_at >= oldest
    return is_young and collecting.is_significant(vault, talk)


def _silence(talk: Conversation) -> datetime:
    """Tell when a conversation fell silent: its checkpoint is of that moment, whenever somebody comes to make it."""
    return max(talk.last_seen_at, talk.checkpointed_at or talk.last_seen_at)
