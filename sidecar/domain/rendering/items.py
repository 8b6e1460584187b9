"""Items: each record as one line, or one line and quoted lines below it.

A line begins with a dash and words of ours (the id, who said it and when); what others wrote stands behind
them, so that it can neither begin a line nor be mistaken for its own origin.
"""

from collections.abc import Iterable

from msgspec import Struct

from protocol.contexts import (
    AgentItem,
    Changes,
    CompletedTask,
    ContextItem,
    DocumentItem,
    MessageItem,
    Recovery,
    TaskItem,
)
from protocol.tasks import ANYONE
from sidecar.domain import echoes
from sidecar.domain.rendering import quoting

DASH = "-"
_TITLE, _NAME = 300, 80
_LINEAGES = {
    "conversation": "this conversation",
    "previous": "the conversation before this one",
    "path": "another conversation in this folder",
}


class Item(Struct, frozen=True):
    """Something that is said or left out as a whole."""

    id: str
    lines: tuple[str, ...]

    @property
    def size(self) -> int:
        """Count its letters, with the ends of its lines."""
        return sum(map(len, self.lines)) + len(self.lines)


def recovery(known: Recovery, most: int) -> Item:
    """Write where an earlier conversation stood, line by line."""
    only = "; only what the host's own summary left out" if known.dropped_only else ""
    source = _LINEAGES.get(known.lineage, "an earlier conversation")
    first = f"{DASH} from {source}, saved {quoting.moment(known.created_at)}{only}"
    # The section has that name already.
    told = known.text.removeprefix(f"{echoes.RECOVERY}\n")
    return Item(known.checkpoint_id or "recovery", (first, *quoting.lines(told, most)))


def introduction(text: str, most: int) -> Item:
    """Write what an agent should know that has never been here."""
    return Item("", (f"{DASH} this agent's first connection", *quoting.lines(text, most)))


def offer(text: str) -> Item:
    """Write that the person may share another memory; the words are ours."""
    return Item("linkOffer", (f"{DASH} {text}",))


def message(given: MessageItem, most: int) -> Item:
    """Write a message with its sender."""
    about = (
        f"from {quoting.name(given.sender_id)}",
        quoting.name(given.category),
        f"priority {given.priority}",
        quoting.moment(given.created_at),
        f"answers {quoting.identifier(given.parent_message_id)}" if given.parent_message_id else "",
    )
    said = _said(given.subject or "", given.content, most, is_clipped=given.is_clipped)
    return _item(given.message_id, about, said)


def memory(given: ContextItem, most: int) -> Item:
    """Write a memory with its origin, and whether the code has moved on."""
    changed = "the code has changed since" if given.has_changed else ""
    about = (
        quoting.name(given.type),
        quoting.name(given.origin),
        quoting.day(given.occurred_at),
        changed,
    )
    said = _said(given.title, given.text, most, is_clipped=given.is_clipped)
    return _item(given.memory_id, about, said, files=quoting.paths(given.files))


def task(given: TaskItem, most: int) -> Item:
    """Write a task with its state, and how one can tell that it is done."""
    is_anyones = given.assigned_agent_id == ANYONE
    about = (
        quoting.name(given.status.replace("_", " ")),
        f"priority {given.priority}",
        "" if is_anyones else f"for {quoting.name(given.assigned_agent_id)}",
    )
    said = _said(given.title, given.text, most, is_clipped=given.is_clipped)
    done_when = quoting.line(given.done_when or "", _TITLE)
    return _item(given.task_id or given.memory_id or "", about, said, done_when=done_when)


def completed(given: CompletedTask, most: int) -> Item:
    """Write a task that was found to be done, and what shows it."""
    return _item(given.task_id, (), _said(given.title, given.evidence, most))


def document(given: DocumentItem, most: int) -> Item:
    """Write a document, quoted line by line."""
    version = f"version {given.version}" if given.version else "the default"
    about = (version, "agents may edit it" if given.agent_editable else "")
    first = f"{DASH} document{_about(about)} {quoting.line(given.name, _NAME)}"
    return Item(
        given.name, (first, *quoting.lines(given.content, most, is_clipped=given.is_clipped))
    )


def agent(given: AgentItem, most: int) -> Item:
    """Write who was here, when, and what it summed up."""
    first, *more = _said(given.label, given.last_summary or "", most)
    seen = _about((f"last seen {quoting.moment(given.last_seen_at)}",))
    return Item(given.agent_id, (f"{DASH} agent{seen} {first}", *more))


def changes(given: Changes) -> tuple[Item, ...]:
    """Write how much has happened, and some of it in words."""
    numbers = {
        "session": given.sessions,
        "commit": given.commits,
        "memory": given.memories,
        "task": given.tasks,
        "message": given.messages,
    }
    counted = ", ".join(count(number, noun) for noun, number in numbers.items() if number > 0)
    first = f"{DASH} since {quoting.moment(given.since)}: {counted}"
    news = (f"{DASH} new: {quoting.line(one, _TITLE)}" for one in given.highlights)
    return tuple(Item("", (one,)) for one in ((first, *news) if counted else news))


def others(number: int) -> Item:
    """Write how many tasks there are for other agents."""
    return Item("", (f"{DASH} {count(number, 'task')} open for other agents",))


def waiting(number: int) -> Item:
    """Write how many messages wait beside those that are told."""
    verb = "waits" if number == 1 else "wait"
    return Item("", (f"{DASH} {count(number, 'more message')} {verb} (by `read_messages`)",))


def available(name: str) -> Item:
    """Write the name of a document that can be asked for."""
    return Item(name, (f"{DASH} document (by `read_document`) {quoting.line(name, _NAME)}",))


def count(number: int, noun: str) -> str:
    """Write a number of things."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def _item(given: str, about: Iterable[str], said: tuple[str, ...], **notes: str) -> Item:
    first, *more = said
    noted = "".join(f" ({note.replace('_', ' ')}: {text})" for note, text in notes.items() if text)
    return Item(given, (f"{DASH} {quoting.identifier(given)}{_about(about)} {first}{noted}", *more))


def _about(notes: Iterable[str]) -> str:
    joined = ", ".join(filter(None, notes))
    return f" ({joined})" if joined else ""


def _said(title: str, text: str, most: int, *, is_clipped: bool = False) -> tuple[str, ...]:
    *others, last = quoting.said(title, text, most)
    return (*others, f"{last} …" if is_clipped and not last.endswith("…") else last)
