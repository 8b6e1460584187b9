"""Turns: what is said in a conversation, what is done in it, and what waits until it is saved."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.conversations import Speaker
from protocol.projects import ProjectParams
from protocol.values import Key, Name, Params, Record, Text, Timestamp

ExtractionStatus = Literal["queued", "skipped", "duplicate", "dropped"]
Category = Literal["read", "write", "search", "system"]

ENTRY_LIMIT = 500
Summary = Annotated[str, Meta(max_length=ENTRY_LIMIT)]


class Activity(Params, frozen=True, kw_only=True):
    """Something an agent did with a tool."""

    tool: Name
    """What the tool is called."""
    category: Category = "system"
    at: Timestamp | None = None
    """When it was used; the moment of the report where absent."""
    input_summary: Summary = ""
    """What it was asked, in few words."""
    output_summary: Summary = ""
    """What came of it, in few words."""


class KeptActivity(Record, frozen=True, kw_only=True):
    """An activity as it waits until its conversation is saved."""

    activity_id: str
    session_key: str
    tool: str
    category: Category
    at: Timestamp
    input_summary: str = ""
    output_summary: str = ""


class Entry(Record, frozen=True, kw_only=True):
    """A turn as it waits until its conversation is saved: its first 500 letters."""

    turn_id: str
    session_key: str
    said_by: Speaker
    text: str
    at: Timestamp
    signal_score: float = 0.0


class KeptTurn(Record, frozen=True, kw_only=True):
    """A turn as it can be found later, word for word, without what is private or secret; a long one in parts."""

    turn_id: str
    part: int = 0
    """Which part of a long turn, from 0."""
    session_key: str
    said_by: Speaker
    text: str
    at: Timestamp
    agent_id: str
    """The agent that leads the conversation."""
    session_id: str | None = None
    """The session of work that it fell into."""
    files: tuple[str, ...] = ()
    """Files that were worked on."""


class IngestTurnParams(ProjectParams, frozen=True, kw_only=True):
    """One turn of a conversation, as it was said."""

    session_key: Key | None = None
    """What the host calls the conversation."""
    agent_run_id: Key | None = None
    """Another name for the session key; one of them is needed."""
    agent_id: Name | None = None
    """The agent that leads it; its harness where absent."""
    harness: Name | None = None
    """The program it runs in; the client's own name where absent."""
    role: Speaker
    """Who said it."""
    content: Text
    """What was said, in full."""
    idempotency_key: Key | None = None
    """Sending the same key again changes nothing; without one, the same words right after each other count once."""
    occurred_at: Timestamp | None = None

    def __post_init__(self) -> None:
        """Refuse a turn of no conversation, or of two."""
        if self.session_key is None and self.agent_run_id is None:
            raise ValueError("a turn needs the field `sessionKey`")
        if None not in (named := {self.session_key, self.agent_run_id}) and len(named) > 1:
            raise ValueError(
                "a turn needs the field `sessionKey` alone: `agentRunId` names another"
            )


class IngestedTurn(Record, frozen=True, kw_only=True):
    """What became of a turn."""

    turn_id: str
    """Names the turn: the same key, or the same words of the same speaker, have the same id."""
    signal_score: float
    """How much of it must not be lost, from 0 to 1."""
    signal_keywords: tuple[str, ...]
    """What made the score: the kinds of statements that were found, and the words that showed them."""
    extraction_status: ExtractionStatus
    """`queued`: it is an event of its session, and becomes memory when that is enriched. `skipped`: nothing in it
    needs to be remembered. `duplicate`: it was known. `dropped`: not kept, because capture is paused, checkpoints
    are turned off, or nothing of it is public and not ours."""
