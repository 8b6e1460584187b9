"""Changes: what has happened since an agent was last here, in numbers and a few words."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from protocol.contexts import Changes
from protocol.events import Commit
from protocol.memories import Memory
from protocol.messages import Message
from protocol.sessions import Session
from protocol.tasks import Task
from sidecar.domain.context import clipping

HIGHLIGHTS = 5
_EACH = 2
"""Highlights of one kind, as long as there are others: twenty commits must not hide a task that was done."""


class Happenings(Struct, frozen=True, kw_only=True):
    """What may have happened, in any order, also from before."""

    sessions: Sequence[Session] = ()
    commits: Sequence[Commit] = ()
    memories: Sequence[Memory] = ()
    tasks: Sequence[Task] = ()
    messages: Sequence[Message] = ()


def tell(since: datetime, happenings: Happenings) -> Changes:
    """Count what happened after a moment, and name some of it, the latest first."""
    events = [event for event in _events(happenings) if event.at > since]
    counts = dict.fromkeys(_KINDS, 0)
    for event in events:
        counts[event.kind] += 1
    return Changes(since=since, **counts, highlights=_highlights(events))


_KINDS = ("sessions", "commits", "memories", "tasks", "messages")


class _Event(NamedTuple):
    at: datetime
    kind: str
    told: str


def _events(happenings: Happenings) -> Iterator[_Event]:
    for session in happenings.sessions:
        yield _Event(session.last_event_at, "sessions", _labelled("Session", session.summary))
    for commit in happenings.commits:
        if not commit.dropped:
            at = commit.committed_at or commit.authored_at
            yield _Event(at, "commits", _labelled(f"Commit {commit.sha[:7]}", commit.subject))
    for memory in happenings.memories:
        if memory.status == "active":
            label = "Summary" if memory.type == "episodic" else memory.type.capitalize()
            yield _Event(memory.created_at, "memories", _labelled(label, memory.title))
    for task in happenings.tasks:
        yield _Event(task.updated_at, "tasks", _labelled(_TASK[task.status], task.title))
    for message in happenings.messages:
        label = f"Message from {message.sender_id}"
        told = _labelled(label, message.subject or message.content)
        yield _Event(message.created_at, "messages", told)


_TASK = {
    "backlog": "Task for later",
    "todo": "Task to do",
    "in_progress": "Task begun",
    "done": "Task done",
    "blocked": "Task blocked",
}


def _labelled(label: str, said: str | None) -> str:
    return clipping.clip(f"{label}: {said}")[0] if said and said.strip() else ""


def _highlights(events: Sequence[_Event]) -> tuple[str, ...]:
    latest = sorted(events, key=lambda event: (event.at, event.told), reverse=True)
    told: dict[str, _Event] = {}
    for event in latest:
        told.setdefault(event.told, event)
    told.pop("", None)
    shown = sorted(_mixed(told.values())[:HIGHLIGHTS], key=list(told).index)
    return tuple(shown)


def _mixed(events: Iterable[_Event]) -> list[str]:
    """Put the first of each kind before the others."""
    seen = dict.fromkeys(_KINDS, 0)
    first: list[str] = []
    others: list[str] = []
    for event in events:
        seen[event.kind] += 1
        (first if seen[event.kind] <= _EACH else others).append(event.told)
    return first + others
