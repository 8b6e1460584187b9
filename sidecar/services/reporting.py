"""Reporting: a project's memory as Markdown, for people to read and keep."""

import re
from collections.abc import Iterator

from protocol.events import Event
from protocol.projects import Project
from protocol.sessions import Session
from sidecar.store.vaults import Vault

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_FILES_SHOWN = 20


def report(vault: Vault, project: Project) -> Iterator[str]:
    """Write all sessions, newest first, one block of lines each."""
    timeline = vault.sessions.timeline()
    yield f"# {_plain(project.name)}\n\n{len(timeline)} sessions, times in UTC.\n"
    for entry in reversed(timeline):
        session = vault.sessions.get(entry.session_id)
        if session is not None:
            yield _session(session, vault.sessions.events(session.session_id))


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
