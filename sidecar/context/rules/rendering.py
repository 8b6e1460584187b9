"""Render a context as Markdown."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

from msgspec import Struct, UnsetType, field

from protocol.contexts import (
    AgentItem,
    Changes,
    CompletedTask,
    ContextItem,
    DocumentItem,
    MessageItem,
    Recovery,
    SessionContext,
    StartContext,
    TaskItem,
)
from protocol.documents import SOUL
from protocol.tasks import ANYONE
from sidecar.context.rules.fitting import ORDER
from sidecar.text import own_words, quoting
from sidecar.text.quoting import QUOTE

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


def render_recovery(known: Recovery, most: int) -> Item:
    """Write where an earlier conversation stood, line by line."""
    only = "; only what the host's own summary left out" if known.dropped_only else ""
    source = _LINEAGES.get(known.lineage, "an earlier conversation")
    first = f"{DASH} from {source}, saved {quoting.moment(known.created_at)}{only}"
    # The section has that name already.
    told = known.text.removeprefix(f"{own_words.RECOVERY}\n")
    return Item(known.checkpoint_id or "recovery", (first, *quoting.lines(told, most)))


def render_introduction(text: str, most: int) -> Item:
    """Write what an agent should know that has never been here."""
    return Item("", quoting.lines(text, most))


def render_offer(text: str) -> Item:
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


def render_changes(given: Changes) -> tuple[Item, ...]:
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


def render_others(number: int) -> Item:
    """Write how many tasks there are for other agents."""
    return Item("", (f"{DASH} {count(number, 'task')} open for other agents",))


def render_waiting(number: int) -> Item:
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


_SHORTEST = 160
"""Letters that a text is shown in however little room there is."""
_WHOLE = 4
"""How many texts may share the room."""
_Value = TypeVar("_Value")


class Part(Struct, frozen=True):
    """Items of one section, the best first, and the heading they stand under."""

    section: str
    heading: str
    items: tuple[Item, ...]


def parts(context: StartContext, cap: int) -> tuple[Part, ...]:
    """Write all that a context holds; no single text takes more than a part of the room."""
    most = max(_SHORTEST, cap // _WHOLE)
    return tuple(part for part in (*_first(context, most), *_rest(context, most)) if part.items)


def is_worth_saying(context: StartContext) -> bool:
    """Return whether there is anything that an agent would miss; our own words of welcome are not."""
    known = _given(context.session_context, SessionContext())
    changes = _given(context.changes_since_last_session, None)
    return bool(
        _given(context.recovery, None)
        or _given(context.link_offer, "")
        or (
            known.recent_sessions
            or known.important_facts
            or known.active_tasks
            or known.constraints
        )
        or _given(context.personal, ())
        or _given(context.query_results, ())
        or _given(context.pending_messages, ())
        or _given(context.tasks_auto_completed, ())
        or _given(context.tasks_suggested_done, ())
        or (changes and render_changes(changes))
        or any(document.version for document in _given(context.documents, ()))
        or any(agent.last_summary for agent in _given(context.recent_agents, ()))
    )


def _first(context: StartContext, most: int) -> Iterator[Part]:
    """Write what is new and what binds."""
    known = _given(context.session_context, SessionContext())
    recovery = _given(context.recovery, None)
    if recovery:
        yield Part(
            "recovery", "Session Recovery Context", (render_recovery(recovery, _WHOLE * most),)
        )
    introduction = _given(context.introduction, "")
    if introduction and _given(context.is_first_connection, otherwise=False):
        yield Part("introduction", "About this memory", (render_introduction(introduction, most),))
    offer = _given(context.link_offer, "")
    if offer:
        yield Part("linkOffer", "Another memory of this repository", (render_offer(offer),))
    messages = _given(context.pending_messages, ())
    yield Part("pendingMessages", "Messages", _each(message, messages, most))
    waiting = _given(context.other_pending_message_count, 0)
    if waiting > 0:
        yield Part("otherPendingMessageCount", "Messages", (render_waiting(waiting),))
    yield Part("constraints", "Constraints", _each(memory, known.constraints, most))
    yield Part(
        "personal", "Yours, in every project", _each(memory, _given(context.personal, ()), most)
    )
    yield Part("activeTasks", "Tasks", _each(task, known.active_tasks, most))
    others = _given(context.other_open_task_count, 0)
    if others > 0:
        yield Part("otherOpenTaskCount", "Tasks", (render_others(others),))
    facts = known.important_facts
    yield Part("importantFacts", "Decisions and facts", _each(memory, facts, most))


def _rest(context: StartContext, most: int) -> Iterator[Part]:
    """Write what was asked for, what has happened, and what can be read."""
    sessions = _given(context.session_context, SessionContext()).recent_sessions
    found = _given(context.query_results, ())
    yield Part("queryResults", "Found for the question", _each(memory, found, most))
    yield Part("recentSessions", "Recent sessions", _each(memory, sessions, most))
    changes = _given(context.changes_since_last_session, None)
    if changes:
        yield Part("changesSinceLastSession", "Changes since last time", render_changes(changes))
    done = _given(context.tasks_auto_completed, ())
    yield Part("tasksAutoCompleted", "Completed tasks", _each(completed, done, most))
    seeming = _given(context.tasks_suggested_done, ())
    yield Part("tasksSuggestedDone", "Tasks that seem done", _each(completed, seeming, most))
    # Our own default says nothing about this project.
    written = [document for document in _given(context.documents, ()) if document.version]
    documents = sorted(written, key=lambda document: document.name != SOUL)
    yield Part("documents", "Documents", _each(document, documents, 2 * most))
    read = {one.name for one in _given(context.documents, ()) if not one.is_clipped}
    names = [one for one in _given(context.available_documents, ()) if one not in read]
    yield Part("availableDocuments", "Documents", tuple(map(available, names)))
    agents = [agent for agent in _given(context.recent_agents, ()) if agent.last_summary]
    yield Part("recentAgents", "Recent agents", _each(agent, agents, most))


def _each(
    write: Callable[[_Value, int], Item], given: Iterable[_Value], most: int
) -> tuple[Item, ...]:
    return tuple(write(one, most) for one in given)


def _given(value: _Value | UnsetType, otherwise: _Value) -> _Value:
    return otherwise if isinstance(value, UnsetType) else value


_RESERVED = "recovery"
_CUT = f"{QUOTE} …"
_KEPT = 2
"""Lines that say anything: where it comes from, and one of what was known."""


class Filled(Struct, frozen=True):
    """What fits, in the order it is read, and what does not."""

    parts: tuple[Part, ...]
    dropped: tuple[tuple[str, str], ...]
    """The section and the id of each item that is left out."""


def fill(parts: Sequence[Part], room: int) -> Filled:
    """Take from each section what fits, the most missed section first, its last items last."""
    kept: dict[str, tuple[Item, ...]] = {}
    headings: set[str] = set()
    for part in sorted(parts, key=_priority):
        heading = 0 if part.heading in headings else len(headed(part.heading))
        taken = _take(part, room - heading)
        if taken:
            headings.add(part.heading)
            room -= heading + sum(item.size for item in taken)
        kept[part.section] = taken
    shown = (Part(part.section, part.heading, kept[part.section]) for part in parts)
    dropped = (
        (part.section, item.id) for part in parts for item in part.items[len(kept[part.section]) :]
    )
    return Filled(tuple(part for part in shown if part.items), tuple(dropped))


def write(parts: Iterable[Part]) -> str:
    """Write parts below their headings; what shares a heading stands under it once."""
    text: list[str] = []
    heading = ""
    for part in parts:
        if part.heading != heading:
            heading = part.heading
            text.append(headed(heading))
        text += [f"{line}\n" for item in part.items for line in item.lines]
    return "".join(text)


def headed(heading: str) -> str:
    """Write a heading with the empty line above it."""
    return f"\n### {heading}\n"


def _priority(part: Part) -> int:
    return -ORDER.index(part.section)


def _take(part: Part, room: int) -> tuple[Item, ...]:
    taken: list[Item] = []
    for item in part.items:
        fitting = _shortened(item, room) if part.section == _RESERVED else item
        if fitting.size > room:
            break
        taken.append(fitting)
        room -= fitting.size
    return tuple(taken)


def _shortened(item: Item, room: int) -> Item:
    """Leave lines out at the end until the rest fits; one of them at least is kept."""
    if item.size <= room:
        return item
    ends = accumulate((len(line) + 1 for line in item.lines), initial=len(_CUT) + 1)
    fitting = sum(end <= room for end in ends) - 1
    return Item(item.id, (*item.lines[: max(fitting, _KEPT)], _CUT))


_ROOMY = 2500
"""From how many letters on there is room for an explanation."""
HEADING = "## Memory of this repository\n\n"
MORE = "Full records: `read_memories`. More: `search_memories`.\n"
NOTHING_YET = (
    f"{own_words.BEGIN} Threadline, the memory of this repository, has nothing to tell yet. Keep in it what the next reader "
    "cannot see in the code (`write_memory`), and checkpoint before you stop (`context_checkpoint`). "
    f"{own_words.END}"
)
"""What an agent is told that has never been here and finds nothing."""
NOUNS = {
    "recovery": "recovery text",
    "pendingMessages": "messages",
    "otherPendingMessageCount": "count of other messages",
    "constraints": "constraints",
    "personal": "memories for every project",
    "activeTasks": "tasks",
    "otherOpenTaskCount": "count of other tasks",
    "importantFacts": "decisions and facts",
    "queryResults": "search results",
    "recentSessions": "recent sessions",
    "changesSinceLastSession": "changes",
    "tasksAutoCompleted": "completed tasks",
    "tasksSuggestedDone": "tasks that seem done",
    "documents": "documents",
    "availableDocuments": "names of documents",
    "missingDocuments": "names of missing documents",
    "recentAgents": "agents",
    "introduction": "introduction",
    "linkOffer": "offer to share another memory",
}


class Rendering(Struct, frozen=True, kw_only=True):
    """What a host is given, and what it is not."""

    text: str = ""
    """Markdown; empty where there is nothing worth saying."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many items of each section are left out, here or before."""
    dropped: tuple[tuple[str, str], ...] = ()
    """The section and the id of each item that did not fit here."""
    sizes: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many letters each item takes, by its section and id."""


def render(context: StartContext, cap: int, key: bytes) -> Rendering:
    """Write a context in at most `cap` letters; the same content and key give the same text."""
    if not is_worth_saying(context):
        is_new = _given(context.is_first_connection, otherwise=False)
        is_introduced = is_new and bool(_given(context.introduction, ""))
        text = NOTHING_YET if is_introduced and len(NOTHING_YET) <= cap else ""
        return Rendering(text=text, left_out=dict(context.left_out))
    written = parts(context, cap)
    for filled in _fillings(written, context.left_out, cap):
        left_out = _left_out(filled, context.left_out)
        text = _compose(filled, left_out, cap, key)
        if len(text) <= cap:
            return Rendering(
                text=text, left_out=left_out, dropped=filled.dropped, sizes=_sizes(filled)
            )
    return Rendering(left_out=left_out, dropped=filled.dropped)


def _fillings(written: tuple[Part, ...], before: Mapping[str, int], cap: int) -> Iterator[Filled]:
    yield Filled(written, ())
    least = fill(written, cap - _least(fill(written, 0), before, cap))
    yield fill(written, cap - _least(least, before, cap))
    yield least


def _least(filled: Filled, before: Mapping[str, int], cap: int) -> int:
    return len(_frame("", _closing(_left_out(filled, before), cap), "0" * own_words.LENGTH, cap))


def _left_out(filled: Filled, before: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(section for section, _ in filled.dropped) + Counter(before))


def _sizes(filled: Filled) -> dict[tuple[str, str], int]:
    return {(part.section, item.id): item.size for part in filled.parts for item in part.items}


def _compose(filled: Filled, left_out: Mapping[str, int], cap: int, key: bytes) -> str:
    body = write(filled.parts)
    closing = _closing(left_out, cap)
    return _frame(body, closing, own_words.token(body + closing, key), cap)


def _frame(body: str, closing: str, token: str, cap: int) -> str:
    heading = HEADING if cap >= _ROOMY else ""
    data = f"{own_words.opening(token)}\n{body}\n{own_words.closing(token)}"
    return f"{own_words.BEGIN}\n{heading}{data}\n{closing}{own_words.END}"


def _closing(left_out: Mapping[str, int], cap: int) -> str:
    if cap < _ROOMY:
        number = sum(left_out.values())
        return f"{number} left out: `threadline search`\n" if number else ""
    named = [
        f"{noun} ({left_out[section]})" for section, noun in NOUNS.items() if section in left_out
    ]
    return f"\nLeft out for lack of room: {', '.join(named)}. {MORE}" if named else f"\n{MORE}"
