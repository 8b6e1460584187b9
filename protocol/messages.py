"""Messages: what agents and people tell each other."""

from msgspec import field

from protocol.values import Record, Timestamp, Ulid

EVERYONE = "*"
"""Stands for all agents, also those that appear later."""


class Handling(Record, frozen=True, kw_only=True):
    """What one recipient has done with a message."""

    delivered_at: Timestamp
    acknowledged_at: Timestamp | None = None


class Message(Record, frozen=True, kw_only=True):
    """Something that one tells another."""

    message_id: Ulid
    project_id: str
    target_id: str
    """An agent, `user`, or `*` for all."""
    sender_id: str
    content: str
    category: str = "info"
    """`info`, `request`, `alert`, `error`, or a word of the sender's own."""
    priority: int = 3
    """From 1 to 5, 5 being the most urgent."""
    subject: str | None = None
    parent_message_id: str | None = None
    """The message that this one answers."""
    handlings: dict[str, Handling] = field(default_factory=dict)
    """What each recipient has done with it; who is not named has not read it."""
    created_at: Timestamp
    expires_at: Timestamp | None = None
