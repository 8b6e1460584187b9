"""Conversations: the runs of agents, and what is known of each while it lasts."""

from typing import Annotated, Literal

from msgspec import Meta, field

from protocol.memories import MemoryType
from protocol.projects import ProjectParams
from protocol.values import Record, Timestamp

Beginning = Literal["cold", "recovered"]
Speaker = Literal["user", "assistant"]


class Agent(Record, frozen=True, kw_only=True):
    """An assistant that has been here."""

    agent_id: str
    project_id: str
    label: str
    """How people call it."""
    harness: str | None = None
    """The program it runs in."""
    first_seen_at: Timestamp
    last_seen_at: Timestamp
    conversations: int = 0
    last_summary: str | None = None
    """What it last said about its work, in one line."""


class ListAgentsParams(ProjectParams, frozen=True, kw_only=True):
    """Which agents to list."""

    days_back: Annotated[int, Meta(ge=1, le=3650)] = 7
    """Only those that did something in so many days."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    """The most agents to give."""


class ActiveAgent(Agent, frozen=True, kw_only=True):
    """An agent with what it has left here; one that never led a conversation is known by that alone."""

    memories: int = 0
    """Memories that it wrote."""
    open_tasks: int = 0
    """Tasks that are its own and not done."""
    pending_messages: int = 0
    """Messages that wait for it."""
    sent_messages: int = 0
    """Messages of its own that have not vanished."""


class AgentList(Record, frozen=True, kw_only=True):
    """Agents, the latest first."""

    agents: tuple[ActiveAgent, ...]
    total: int
    """How many there are in that time."""


class Note(Record, frozen=True, kw_only=True):
    """Something said in a conversation that must not be lost: a decision, a constraint, a task."""

    type: MemoryType
    text: str
    said_by: Speaker = "user"
    at: Timestamp


class Conversation(Record, frozen=True, kw_only=True):
    """One run of an agent."""

    session_key: str
    """What its host calls it; also known as `agentRunId`."""
    project_id: str
    agent_id: str
    harness: str
    """The program it runs in."""
    project: str
    """The folder it works in, as it was named."""
    project_normalized: str
    """The real path of that folder."""
    previous_session_key: str | None = None
    """The conversation that this one continues."""
    began: Beginning | None = None
    """Whether its start context told it of an earlier one; null before it got any."""
    recovered_from: str | None = None
    """The checkpoint it was told of."""
    started_at: Timestamp
    last_seen_at: Timestamp
    ended_at: Timestamp | None = None
    prompt_count: int = 0
    prompts: tuple[str, ...] = ()
    """What its user said, without logs, code and mere nods, the latest 16,000 characters, the oldest first."""
    last_words: str = ""
    """What its agent said last, shortened."""
    notes: tuple[Note, ...] = ()
    """What was said that matters, the latest 100."""
    queries: tuple[str, ...] = ()
    """What was searched for since the last checkpoint, the latest 20."""
    remembered: tuple[str, ...] = ()
    """What was asked to be remembered since the last checkpoint, the latest 10."""
    files: tuple[str, ...] = ()
    """Files it worked on, the latest 50, the latest first."""
    given: tuple[str, ...] = ()
    """Memories that were put before it, the latest 500."""
    used: dict[str, int] = field(default_factory=dict)
    """How often it searched, read or quoted memories that it was given."""
    news: int = 0
    """How many of the memories it was given its agent had never been given before."""
    checkpointed_prompts: int = 0
    """Prompts that the last periodic checkpoint knew of."""
    checkpointed_at: Timestamp | None = None
    """When its state was last saved."""
    summary: str | None = None
    """What its host's own summary said when the conversation was last cut."""
    heard: tuple[str, ...] = ()
    """Keys of what was reported of it, the latest 50: a report that comes again changes nothing."""
