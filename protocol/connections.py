"""Connections: which agents are set up to use this memory, and what that changes in their files."""

from typing import Literal

from protocol.projects import ProjectParams
from protocol.values import Name, Record

Level = Literal["user", "project"]
Action = Literal["create", "change", "restore", "delete", "unchanged", "refused"]


class ConnectParams(ProjectParams, frozen=True, kw_only=True):
    """Which agents to connect or disconnect, and where."""

    agents: tuple[Name, ...] = ()
    """Names of agents; with none of them, all that are found."""
    level: Level = "user"
    """Whether the user's own configuration is meant, or the project's."""
    dry_run: bool = False
    """Only say what would change."""


class FoundAgent(Record, frozen=True, kw_only=True):
    """An agent that can be connected."""

    agent: str
    """The name it is connected by."""
    label: str
    """The name people know it by."""
    installed: bool
    """Whether it is found on this machine."""


class Connection(Record, frozen=True, kw_only=True):
    """One agent at one level."""

    agent: str
    """The name it is connected by."""
    label: str
    """The name people know it by."""
    level: Level
    """Whether the user's own configuration is meant, or the project's."""
    refusal: str | None = None
    """Why it cannot be connected there at all."""
    notes: tuple[str, ...] = ()
    """What its user should know."""


class ConfigChange(Record, frozen=True, kw_only=True):
    """What becomes of one file."""

    path: str
    """The file."""
    agents: tuple[str, ...]
    """The agents it is changed for."""
    action: Action
    """What is done with it."""
    reason: str | None = None
    """Why it is refused."""
    diff: str = ""
    """The change as a unified diff."""
    backup: str | None = None
    """The copy that was kept of it, once the change is made."""


class Plan(Record, frozen=True, kw_only=True):
    """What connecting or disconnecting changes, or has changed."""

    connections: tuple[Connection, ...]
    """The agents that were named or found."""
    files: tuple[ConfigChange, ...]
    """Their files."""
    applied: bool
    """Whether it was done, or only planned."""
