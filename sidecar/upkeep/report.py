"""Write a project's memory as Markdown."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import get_args

from protocol.checkpoints import Checkpoint
from protocol.contexts import Feedback, Receipt
from protocol.conversations import Agent, Conversation
from protocol.documents import Document
from protocol.events import Event
from protocol.links import Link
from protocol.memories import Memory, MemoryType
from protocol.messages import Message
from protocol.projects import Project
from protocol.sessions import Session
from protocol.tasks import Task
from sidecar.privacy import cleaning
from sidecar.storage.vault import Vault
from sidecar.tasks.rules import tasks
from sidecar.text import characters

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_FILES_SHOWN = 20


def report(vault: Vault, project: Project) -> Iterator[str]:
    """Write what is remembered, what agents and people have left, then all sessions, newest first; nothing is hidden in it."""
    return map(characters.visible, _blocks(vault, project))


def _blocks(vault: Vault, project: Project) -> Iterator[str]:
    known = [one for one in vault.memories.all() if one.status == "active"]
    yield (
        f"# {_plain(project.name)}\n\n{len(known)} memories, {vault.sessions.count()} sessions, times in UTC.\n"
    )
    for kind in get_args(MemoryType):
        own = [cleaning.clean_memory(one) for one in known if one.type == kind]
        if own:
            yield _memories(kind, sorted(own, key=lambda one: one.occurred_at, reverse=True))
    yield from _left(vault)
    for session in vault.sessions.newest():
        events = vault.sessions.events(session.session_id)
        yield _session(session, [cleaning.clean_event(event) for event in events])


def _left(vault: Vault) -> Iterator[str]:
    """Write what agents and people have left, section by section; an empty one is not mentioned."""
    clean = cleaning.clean_record
    todo = sorted(vault.tasks.all(), key=tasks.urgency)
    yield from _section("Tasks", (_task(clean(one)) for one in todo))
    named = sorted(vault.documents.all(), key=lambda one: one.name)
    yield from _section("Documents", (_document(clean(one)) for one in named))
    papers = sorted(vault.revisions.all(), key=lambda one: (one.name, -one.version))
    yield from _section("Earlier versions", (_document(clean(one)) for one in papers))
    linked = sorted(vault.links.all(), key=lambda one: one.link_id)
    yield from _section("Links", (_link(clean(one)) for one in linked))
    sent = sorted(vault.messages.all(), key=lambda one: one.created_at, reverse=True)
    yield from _section("Messages", (_message(clean(one)) for one in sent))
    seen = sorted(vault.agents.all(), key=lambda one: one.last_seen_at, reverse=True)
    yield from _section("Agents", (_agent(clean(one)) for one in seen))
    talks = sorted(vault.conversations.all(), key=lambda one: one.started_at, reverse=True)
    yield from _section("Conversations", (_conversation(clean(one)) for one in talks))
    saved = sorted(vault.checkpoints.all(), key=lambda one: one.created_at, reverse=True)
    yield from _section("Checkpoints", (_checkpoint(clean(one)) for one in saved))
    thought = sorted(vault.feedback.all(), key=lambda one: one.at, reverse=True)
    yield from _section("Feedback", (_feedback(clean(one)) for one in thought))
    given = sorted(vault.receipts.all(), key=lambda one: one.last_given_at, reverse=True)
    yield from _section("Receipts", (_receipt(clean(one)) for one in given))


def _section(title: str, entries: Iterable[str]) -> Iterator[str]:
    lines = list(entries)
    if lines:
        yield "\n".join([f"\n## {title}", "", *lines]) + "\n"


def _task(task: Task) -> str:
    whom = "" if task.assigned_agent_id == "any" else f", {_plain(task.assigned_agent_id)}"
    facts = f"({task.status}, priority {task.priority}{whom})"
    more = [
        task.description,
        f"Done when: {task.done_when}" if task.done_when else "",
        f"Done: {task.evidence}" if task.evidence else "",
        f"After: {', '.join(task.depends_on)}" if task.depends_on else "",
        *(f"{_moment(note.at)} {note.agent_id or ''}: {note.text}" for note in task.notes),
    ]
    return _entry(f"**{_plain(task.title)}** {facts}", more)


def _document(document: Document) -> str:
    longest = max((len(run) for run in re.findall("`+", document.content)), default=0)
    fence = "`" * max(longest + 1, 3)
    whose = f"version {document.version}, {_moment(document.updated_at)}"
    body = document.content.rstrip("\n")
    return f"### {_plain(document.name)} ({whose})\n\n{fence}markdown\n{body}\n{fence}\n"


def _link(link: Link) -> str:
    source, target = (f"{end.kind} {_plain(end.id)}" for end in (link.source, link.target))
    return _entry(f"{source} {link.type} {target}", [])


def _message(message: Message) -> str:
    sender, target = _plain(message.sender_id), _plain(message.target_id)
    facts = f"{_moment(message.created_at)} {sender} to {target} ({_plain(message.category)})"
    readers = ", ".join(sorted(message.handlings))
    more = [message.content, f"Read by {readers}" if readers else ""]
    return _entry(
        f"{facts}: **{_plain(message.subject or '')}**" if message.subject else facts, more
    )


def _agent(agent: Agent) -> str:
    facts = f"{agent.conversations} conversations, last seen {_moment(agent.last_seen_at)}"
    return _entry(f"**{_plain(agent.label)}** ({facts})", [agent.last_summary or ""])


def _conversation(talk: Conversation) -> str:
    end = f" to {_moment(talk.ended_at)}" if talk.ended_at else ""
    facts = f"{_plain(talk.session_key)}, {talk.prompt_count} prompts"
    more = [
        *(f"{note.type}: {note.text}" for note in talk.notes),
        *(f"remember: {text}" for text in talk.remembered),
        *(f"searched: {text}" for text in talk.queries),
        f"Files: {', '.join(map(characters.shown, talk.files[:_FILES_SHOWN]))}"
        if talk.files
        else "",
    ]
    return _entry(f"{_moment(talk.started_at)}{end} **{_plain(talk.agent_id)}** ({facts})", more)


def _checkpoint(saved: Checkpoint) -> str:
    facts = f"{_plain(saved.session_key)}, {saved.trigger}, {saved.prompt_count} prompts"
    return _entry(
        f"{_moment(saved.created_at)} **{_plain(saved.agent_id)}** ({facts})", [saved.digest]
    )


def _feedback(thought: Feedback) -> str:
    whose = f" by {_plain(thought.agent_id)}" if thought.agent_id else ""
    return _entry(
        f"{_moment(thought.at)} {thought.memory_id}: {thought.verdict}{whose}", [thought.note or ""]
    )


def _receipt(receipt: Receipt) -> str:
    facts = f"{len(receipt.items)} items, {receipt.chars} of {receipt.cap} characters"
    times = f", {receipt.times} times" if receipt.times > 1 else ""
    return _entry(
        f"{_moment(receipt.last_given_at)} {_plain(receipt.agent_id)}: {facts}{times}",
        [receipt.query],
    )


def _entry(headline: str, more: Iterable[str]) -> str:
    lines = (line for text in more for line in text.splitlines())
    return "\n".join([f"- {headline}", *(f"  - {_plain(one)}" for one in lines if one.strip())])


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")


def _memories(kind: str, own: list[Memory]) -> str:
    lines = [f"\n## {kind.capitalize()}", ""]
    for memory in own:
        day = memory.occurred_at.strftime("%Y-%m-%d")
        shas = ", ".join(one.commit_sha[:10] for one in memory.evidence if one.commit_sha)
        reading = "a model's reading" if memory.by_model else ""
        facts = ", ".join(filter(None, (day, shas, reading)))
        lines.append(f"- **{_plain(memory.title)}** ({facts})")
        if memory.content != memory.title:
            lines.append(f"  {_plain(memory.content)}")
        if memory.rationale and memory.rationale not in memory.content:
            lines.append(f"  Why: {_plain(memory.rationale)}")
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
        lines += ["", "Files: " + ", ".join(map(_path, shown)) + tail]
    return "\n".join(lines) + "\n"


def _event(event: Event) -> str:
    when = event.occurred_at.strftime("%H:%M")
    if event.commit is not None:
        dropped = " (dropped)" if event.commit.dropped else ""
        return f"{when} commit {event.commit.sha[:10]}: {_plain(event.commit.subject)}{dropped}"
    what = _plain(event.text or "") or ", ".join(_path(change.path) for change in event.files)
    return f"{when} {event.kind}: {what}"


def _path(name: str) -> str:
    return _plain(characters.shown(name))


def _plain(text: str) -> str:
    """Write text on one line so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
