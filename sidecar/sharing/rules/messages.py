"""Who receives a message, when it expires, which comes first."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

import msgspec

from protocol.messages import EVERYONE, Handling, Message, MessageStatus


def is_pending(message: Message, agent_id: str, now: datetime) -> bool:
    """Return whether a message waits for a recipient: nobody hears from themselves, or twice."""
    is_new = agent_id not in message.handlings and not is_expired(message, now)
    return is_new and is_meant(message, agent_id)


def is_meant(message: Message, agent_id: str) -> bool:
    """Return whether a message is for a recipient."""
    return message.target_id in (agent_id, EVERYONE) and message.sender_id != agent_id


def status(message: Message, agent_id: str) -> MessageStatus:
    """Return how a message stands with a recipient."""
    return _status(message.handlings.get(agent_id))


def progress(message: Message) -> MessageStatus:
    """Return how far the recipient of a message that is furthest has come."""
    found = {_status(handling) for handling in message.handlings.values()}
    return "acknowledged" if "acknowledged" in found else "delivered" if found else "pending"


def is_expired(message: Message, now: datetime) -> bool:
    """Return whether a message has vanished by now."""
    return message.expires_at is not None and message.expires_at <= now


def urgency(message: Message) -> tuple[int, datetime, str]:
    """Sort messages: the most urgent first, then the oldest."""
    return -message.priority, message.created_at, message.message_id


def age(message: Message) -> tuple[datetime, str]:
    """Sort messages: the oldest first."""
    return message.created_at, message.message_id


def delivered(message: Message, agent_id: str, now: datetime) -> Message:
    """Note that a recipient has read a message; for the others it stays unread."""
    handling = Handling(delivered_at=now)
    return msgspec.structs.replace(message, handlings=message.handlings | {agent_id: handling})


def acknowledged(message: Message, agent_id: str, now: datetime) -> Message:
    """Note that a recipient has dealt with a message; the first time counts."""
    known = message.handlings.get(agent_id) or Handling(delivered_at=now)
    if known.acknowledged_at is not None:
        return message
    handling = msgspec.structs.replace(known, acknowledged_at=now)
    return msgspec.structs.replace(message, handlings=message.handlings | {agent_id: handling})


def thread(every: Iterable[Message], message_id: str) -> set[str]:
    """Name all messages that answer each other, directly or not, also those that are only answered.

    Each names the first of its thread, too: so those before and after one that is gone stay together.
    """
    beside: dict[str, set[str]] = defaultdict(set)
    for message in every:
        key = message.message_id
        for other in filter(None, (key, message.parent_message_id, message.thread_id)):
            beside[key].add(other)
            beside[other].add(key)
    found: set[str] = set()
    ahead = [message_id] if message_id in beside else []
    while ahead:
        key = ahead.pop()
        if key not in found:
            found.add(key)
            ahead += beside[key]
    return found


def thread_id(every: Iterable[Message], parent_id: str) -> str:
    """Name the thread that an answer belongs to, also where what it answers is there no more."""
    named = [one for one in every if parent_id in (one.message_id, one.parent_message_id)]
    named.sort(key=lambda one: one.message_id != parent_id)
    return next((one.thread_id for one in named if one.thread_id is not None), parent_id)


def _status(handling: Handling | None) -> MessageStatus:
    if handling is None:
        return "pending"
    return "delivered" if handling.acknowledged_at is None else "acknowledged"
