"""Parts: the sections of a context in the order in which they are read."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec import Struct, UnsetType

from protocol.contexts import SessionContext, StartContext
from protocol.documents import SOUL
from sidecar.domain.rendering import items
from sidecar.domain.rendering.items import Item

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
    """Tell whether there is anything that an agent would miss."""
    known = _given(context.session_context, SessionContext())
    changes = _given(context.changes_since_last_session, None)
    return bool(
        _given(context.is_first_connection, otherwise=False)
        or _given(context.recovery, None)
        or _given(context.link_offer, "")
        or (
            known.recent_sessions
            or known.important_facts
            or known.active_tasks
            or known.constraints
        )
        or _given(context.query_results, ())
        or _given(context.pending_messages, ())
        or _given(context.tasks_auto_completed, ())
        or _given(context.tasks_suggested_done, ())
        or (changes and items.changes(changes))
        or any(document.version for document in _given(context.documents, ()))
        or any(agent.last_summary for agent in _given(context.recent_agents, ()))
    )


def _first(context: StartContext, most: int) -> Iterator[Part]:
    """Write what is new and what binds."""
    known = _given(context.session_context, SessionContext())
    recovery = _given(context.recovery, None)
    if recovery:
        yield Part(
            "recovery", "Session Recovery Context", (items.recovery(recovery, _WHOLE * most),)
        )
    introduction = _given(context.introduction, "")
    if introduction and _given(context.is_first_connection, otherwise=False):
        yield Part("introduction", "About this memory", (items.introduction(introduction, most),))
    offer = _given(context.link_offer, "")
    if offer:
        yield Part("linkOffer", "Another memory of this repository", (items.offer(offer),))
    messages = _given(context.pending_messages, ())
    yield Part("pendingMessages", "Messages", _each(items.message, messages, most))
    waiting = _given(context.other_pending_message_count, 0)
    if waiting > 0:
        yield Part("otherPendingMessageCount", "Messages", (items.waiting(waiting),))
    yield Part("constraints", "Constraints", _each(items.memory, known.constraints, most))
    yield Part("activeTasks", "Tasks", _each(items.task, known.active_tasks, most))
    others = _given(context.other_open_task_count, 0)
    if others > 0:
        yield Part("otherOpenTaskCount", "Tasks", (items.others(others),))
    facts = known.important_facts
    yield Part("importantFacts", "Decisions and facts", _each(items.memory, facts, most))


def _rest(context: StartContext, most: int) -> Iterator[Part]:
    """Write what was asked for, what has happened, and what can be read."""
    sessions = _given(context.session_context, SessionContext()).recent_sessions
    found = _given(context.query_results, ())
    yield Part("queryResults", "Found for the question", _each(items.memory, found, most))
    yield Part("recentSessions", "Recent sessions", _each(items.memory, sessions, most))
    changes = _given(context.changes_since_last_session, None)
    if changes:
        yield Part("changesSinceLastSession", "Changes since last time", items.changes(changes))
    done = _given(context.tasks_auto_completed, ())
    yield Part("tasksAutoCompleted", "Completed tasks", _each(items.completed, done, most))
    seeming = _given(context.tasks_suggested_done, ())
    yield Part("tasksSuggestedDone", "Tasks that seem done", _each(items.completed, seeming, most))
    documents = sorted(_given(context.documents, ()), key=lambda one: one.name != SOUL)
    yield Part("documents", "Documents", _each(items.document, documents, 2 * most))
    read = {one.name for one in documents if not one.is_clipped}
    names = [one for one in _given(context.available_documents, ()) if one not in read]
    yield Part("availableDocuments", "Documents", tuple(map(items.available, names)))
    agents = _given(context.recent_agents, ())
    yield Part("recentAgents", "Recent agents", _each(items.agent, agents, most))


def _each(
    write: Callable[[_Value, int], Item], given: Iterable[_Value], most: int
) -> tuple[Item, ...]:
    return tuple(write(one, most) for one in given)


def _given(value: _Value | UnsetType, otherwise: _Value) -> _Value:
    return otherwise if isinstance(value, UnsetType) else value
