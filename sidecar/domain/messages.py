"""Messages: whom one concerns, whether it still waits, and which comes first."""

from datetime import datetime

import msgspec

from protocol.messages import EVERYONE, Handling, Message


def is_pending(message: Message, agent_id: str, now: datetime) -> bool:
    """Tell whether a message waits for a recipient: nobody hears from themselves, or twice."""
    is_meant = message.target_id in (agent_id, EVERYONE) and message.sender_id != agent_id
    return is_meant and agent_id not in message.handlings and not is_expired(message, now)


def is_expired(message: Message, now: datetime) -> bool:
    """Tell whether a message has vanished by now."""
    return message.expires_at is not None and message.expires_at <= now


def urgency(message: Message) -> tuple[int, datetime, str]:
    """Sort messages: the most urgent first, then the oldest."""
    return -message.priority, message.created_at, message.message_id


def delivered(message: Message, agent_id: str, now: datetime) -> Message:
    """Note that a recipient has read a message; for the others it stays unread."""
    handling = Handling(delivered_at=now)
    return msgspec.structs.replace(message, handlings=message.handlings | {agent_id: handling})
