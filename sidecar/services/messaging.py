"""Messaging: what waits for a recipient is given to it once."""

import contextlib
from collections.abc import Iterable

from protocol.errors import BusyError
from protocol.messages import Message
from sidecar.domain import messages, privacy
from sidecar.store.vaults import Vault


def pending(vault: Vault, agent_id: str, limit: int = 5) -> list[Message]:
    """List the messages that wait for a recipient, the most urgent first."""
    now = vault.clock()
    found = [
        message
        for message in vault.messages.by_id().values()
        if messages.is_pending(message, agent_id, now)
    ]
    return [privacy.clean_record(one) for one in sorted(found, key=messages.urgency)[:limit]]


def deliver(vault: Vault, agent_id: str, chosen: Iterable[Message]) -> list[Message]:
    """Note that a recipient gets these messages; give those that nobody has given to it before.

    Where the store cannot be had in time none is given: a message waits rather than coming twice.
    """
    keys = list(dict.fromkeys(message.message_id for message in chosen))
    if not keys:
        return []
    with contextlib.suppress(BusyError), vault.lock.held():
        now = vault.clock()
        found = [one for one in map(vault.messages.get, keys) if one is not None]
        waiting = [one for one in found if messages.is_pending(one, agent_id, now)]
        given = [messages.delivered(one, agent_id, now) for one in waiting]
        if given:
            vault.journal.append([vault.messages.put(one.message_id, one) for one in given])
        return [privacy.clean_record(one) for one in given]
    return []
