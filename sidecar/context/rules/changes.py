"""Summarize what happened since an agent was last here."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct

from protocol.contexts import Changes
from protocol.events import Commit
from protocol.memories import Memory
from protocol.messages import Message
from protocol.sessions import Session
from protocol.tasks import Task
from sidecar.privacy import cleaning
from sidecar.text import clipping

HIGHLIGHTS = 5
SECOND = timedelta(seconds=1)
"""All that is known of when a commit was made."""
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
    events = [event for event in _events(happenings) if event.is_after(since)]
    counts = dict.fromkeys(_KINDS, 0)
    for event in events:
        counts[event.kind] += 1
    return Changes(since=since, **counts, highlights=_highlights(events))


_KINDS = ("sessions", "commits", "memories", "tasks", "messages")


class _Event(NamedTuple):
    at: datetime
    kind: str
    label: str
    said: str | None

    def is_after(self, since: datetime) -> bool:
        """Return whether it came after a moment; of a commit only the second is known, and none is to be missed."""
        is_vague = self.kind == "commits" and since.microsecond
        return self.at >= since.replace(microsecond=0) if is_vague else self.at > since

    @property
    def told(self) -> str:
        """Say it in one line, without what is known as a secret today."""
        said = cleaning.clean(self.said) if self.said else ""
        return clipping.clip(f"{self.label}: {said}")[0] if said.strip() else ""


def _events(happenings: Happenings) -> Iterator[_Event]:
    for session in happenings.sessions:
        yield _Event(session.last_event_at, "sessions", "Session", session.summary)
    for commit in happenings.commits:
        if not commit.dropped:
            at = commit.committed_at or commit.authored_at
            yield _Event(at, "commits", f"Commit {commit.sha[:7]}", commit.subject)
    for memory in happenings.memories:
        if memory.status == "active":
            label = "Summary" if memory.type == "episodic" else memory.type.capitalize()
            yield _Event(memory.created_at, "memories", label, memory.title)
    for task in happenings.tasks:
        yield _Event(task.updated_at, "tasks", _TASK[task.status], task.title)
    for message in happenings.messages:
        label = f"Message from {cleaning.clean(message.sender_id)}"
        yield _Event(message.created_at, "messages", label, message.subject or message.content)


_TASK = {
    "backlog": "Task for later",
    "todo": "Task to do",
    "in_progress": "Task begun",
    "done": "Task done",
    "blocked": "Task blocked",
}


def _highlights(events: Iterable[_Event]) -> tuple[str, ...]:
    told = _told(events)
    shown = _mixed(told)[:HIGHLIGHTS]
    return tuple(sorted(shown, key=list(told).index))


def _told(events: Iterable[_Event]) -> dict[str, str]:
    """Put what may be named into words, the latest first, each with its kind; no more of a kind than could be."""
    told: dict[str, str] = {}
    seen = dict.fromkeys(_KINDS, 0)
    latest = sorted(events, key=_at, reverse=True)
    for _, together in itertools.groupby(latest, key=_at):
        open_ones = [event for event in together if seen[event.kind] < HIGHLIGHTS]
        for line, kind in sorted(((one.told, one.kind) for one in open_ones), reverse=True):
            if line and line not in told:
                told[line] = kind
                seen[kind] += 1
    return told


def _at(event: _Event) -> datetime:
    return event.at


def _mixed(told: Mapping[str, str]) -> list[str]:
    """Put the first of each kind before the others."""
    seen = dict.fromkeys(_KINDS, 0)
    first: list[str] = []
    others: list[str] = []
    for line, kind in told.items():
        seen[kind] += 1
        (first if seen[kind] <= _EACH else others).append(line)
    return first + others
