"""Reporting: a project's memory as Markdown, for people to read and keep."""

import re
from collections.abc import Iterator
from typing import get_args

from protocol.events import Event
from protocol.memories import Memory, MemoryType
from protocol.projects import Project
from protocol.sessions import Session
from sidecar.domain import privacy
from sidecar.store.vaults import Vault

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_FILES_SHOWN = 20


def report(vault: Vault, project: Project) -> Iterator[str]:
    """Write what is remembered, then all sessions, newest first, one block of lines each."""
    timeline = vault.sessions.timeline()
    known = [one for one in vault.memories.all() if one.status == "active"]
    yield (
        f"# {_plain(project.name)}\n\n{len(known)} memories, {len(timeline)} sessions, times in UTC.\n"
    )
    for kind in get_args(MemoryType):
        own = [privacy.clean_memory(one) for one in known if one.type == kind]
        if own:
            yield _memories(kind, sorted(own, key=lambda one: one.occurred_at, reverse=True))
    for entry in reversed(timeline):
        session = vault.sessions.get(entry.session_id)
        if session is not None:
            events = vault.sessions.events(session.session_id)
            yield _session(session, [privacy.clean_event(event) for event in events])


def _memories(kind: str, own: list[Memory]) -> str:
    lines = [f"\n## {kind.capitalize()}", ""]
    for memory in own:
        day = memory.occurred_at.strftime("%Y-%m-%d")
        shas = ", ".join(one.commit_sha[:10] for one in memory.evidence if one.commit_sha)
        lines.append(f"- **{_plain(memory.title)}** ({day}{', ' + shas if shas else ''})")
        if memory.content != memory.title:
            lines.append(f"  {_plain(memory.content)}")
    return "\n".join(lines) + "\n"


def _session(session: Session, events: list[Event]) -> str:
    begin = session.started_at.strftime("%Y-%m-%d %H:%M")
    end = session.last_event_at.strftime("%H:%M")
    sources = _plain(", ".join(session.sources))
    facts = f"{session.session_id}, {session.status}, {session.message_count} events from {sources}"
    lines = [f"\n## {begin} to {end}", "", facts, "", *(f"- {_event(event)}" for event in events)]
    shown = session.files_modified[:_FILES_SHOWN]
    more = len(session.files_modified) + session.files_overflow - len(shown)
    if shown:
        tail = f", and {more} more" if more else ""
        lines += ["", "Files: " + ", ".join(map(_plain, shown)) + tail]
    return "\n".join(lines) + "\n"


def _event(event: Event) -> str:
    when = event.occurred_at.strftime("%H:%M")
    if event.commit is not None:
        dropped = " (dropped)" if event.commit.dropped else ""
        return f"{when} commit {event.commit.sha[:10]}: {_plain(event.commit.subject)}{dropped}"
    what = event.text or ", ".join(change.path for change in event.files)
    return f"{when} {event.kind}: {_plain(what)}"


def _plain(text: str) -> str:
    """Write text on one line so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
