"""Messages: what agents and people tell each other."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from protocol.memories import Content, Grade
from protocol.projects import ProjectParams
from protocol.values import Key, Name, Record, Timestamp, Ulid

EVERYONE = "*"
"""Stands for all agents, also those that appear later."""
USER = "user"
"""Stands for the person."""
MessageStatus = Literal["pending", "delivered", "acknowledged"]
SendOutcome = Literal["sent", "duplicate"]
Category = Annotated[str, Meta(min_length=1, max_length=50)]


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
    thread_id: str | None = None
    """The message that began its thread; null for one that answers none."""
    handlings: dict[str, Handling] = field(default_factory=dict)
    """What each recipient has done with it; who is not named has not read it."""
    created_at: Timestamp
    expires_at: Timestamp | None = None
    idempotency_key: str | None = None
    team_id: str | UnsetType = UNSET
    """The team that its project is in; absent without one."""


class ShownMessage(Message, frozen=True, kw_only=True):
    """A message with how it stands."""

    status: MessageStatus
    """How it stands with who asks; of a sent one, how far the recipient that is furthest has come."""


class SendParams(ProjectParams, frozen=True, kw_only=True):
    """A message to send."""

    target_id: Name
    """An agent, `user`, or `*` for all agents, also those that appear later."""
    content: Content
    """What it says, in at most 100,000 characters."""
    sender_id: Name | None = None
    """Who sends it: an agent or `user`; the client's own name where absent."""
    category: Category = "info"
    """`info`, `request`, `alert`, `error`, or a word of the sender's own."""
    priority: Grade = 3
    """From 1 to 5, 5 being the most urgent."""
    subject: Annotated[str, Meta(max_length=200)] | None = None
    """What it is about, in at most 200 characters."""
    expires_in_days: Annotated[float, Meta(gt=0, le=3650)] | None = None
    """After how many days it vanishes; never where absent."""
    parent_message_id: Ulid | None = None
    """The message that this one answers."""
    idempotency_key: Key | None = None
    """Sending the same key again changes nothing; each sender has keys of its own."""


class SentMessage(Record, frozen=True, kw_only=True):
    """What became of a message that was to be sent."""

    outcome: SendOutcome
    """`duplicate`: its key was known."""
    message: ShownMessage
    is_target_known: bool
    """Whether the target has ever been here; a new one finds the message when it comes."""
    meant: str | None = None
    """Where the target has never been here: an agent of nearly the same name that has."""
    is_parent_known: bool = True
    """Whether the message that it answers is still there."""


class ReadMessagesParams(ProjectParams, frozen=True, kw_only=True):
    """Whose messages to read, and which."""

    agent_id: Name | None = None
    """Who reads: an agent or `user`; the client's own name where absent."""
    status: Literal["pending", "delivered", "acknowledged", "open", "all"] = "pending"
    """Only messages that stand like this with the reader; `open` are all that are not acknowledged."""
    category: Category | None = None
    """Only messages of this category."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    """The most messages to give at once."""
    offset: Annotated[int, Meta(ge=0)] = 0
    """How many to pass over: those of the pages before. What was waiting and is read waits no more."""
    include_broadcast: bool = True
    """Also what was sent to all."""
    sent: bool = False
    """Those that the reader has sent, instead: their `handlings` tell who has read and acknowledged them."""
    thread_of: Ulid | None = None
    """Instead, the whole thread of this message, the oldest first."""
    preview: bool = False
    """Only look: messages stay unread."""


class MessageList(Record, frozen=True, kw_only=True):
    """Messages, the most urgent first, then the oldest; of what is sent or dealt with the latest first.

    A thread has the oldest first; of a long one the latest are given.
    """

    messages: tuple[ShownMessage, ...]
    total: int
    """How many match in all."""


class AckParams(ProjectParams, frozen=True, kw_only=True):
    """Which message has been dealt with, and by whom."""

    message_id: Ulid
    """Which message."""
    agent_id: Name | None = None
    """Who has dealt with it; where absent the one it was sent to, or the client's own name if it was sent to all."""


class ThreadParams(ProjectParams, frozen=True, kw_only=True):
    """A message of which to read the thread."""

    message_id: Ulid
    """Any message of the thread."""


class Thread(Record, frozen=True, kw_only=True):
    """A message, what it answers, and what answers it; the oldest first."""

    messages: tuple[ShownMessage, ...]
    missing: tuple[str, ...] = ()
    """Messages that are answered here and have vanished."""
