"""Fitting: no answer is longer than its cap, and none is shorter than it must be."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

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
    VaultCounts,
)
from protocol.memories import MemoryHealth
from sidecar.context.rules import fitting
from sidecar.context.rules.fitting import EVERYTHING, ORDER, Fitted
from tests.support import NOON

PROJECT = "0123456789abcdef0123"
CORE = ("recentSessions", "importantFacts", "activeTasks", "constraints")
NAMES = {
    one.encode_name: one.name
    for record in (StartContext, SessionContext)
    for one in msgspec.structs.fields(record)
}
SEED = (
    "Retries are capped at 3 because the upstream bans clients that hammer it; see src/retry.py. "
)


def measure(context: StartContext) -> int:
    return len(msgspec.json.format(msgspec.json.encode(context), indent=0).decode())


def items_of(context: StartContext, section: str) -> list[Any]:
    """List what a section holds, each thing that is counted by itself."""
    holder = context.session_context if section in CORE else context
    value = UNSET if holder is UNSET else getattr(holder, NAMES[section])
    if value is UNSET or value is None:
        return []
    if isinstance(value, Changes):
        return [msgspec.structs.replace(value, highlights=()), *value.highlights]
    return list(value) if isinstance(value, tuple) else [value]


def counts(context: StartContext) -> dict[str, int]:
    return {section: len(items_of(context, section)) for section in ORDER}


def missing(whole: StartContext, fitted: Fitted) -> dict[str, int]:
    had, has = counts(whole), counts(fitted.context)
    return {
        section: had[section] - has[section] for section in ORDER if had[section] > has[section]
    }


def check(whole: StartContext, cap: int) -> Fitted:
    """Hold an answer against everything that is always true of one."""
    fitted = fitting.fit(whole, cap)
    written = msgspec.json.encode(fitted.context)
    assert measure(fitted.context) == fitted.chars <= cap
    assert msgspec.json.decode(written, type=StartContext) == fitted.context
    lost = missing(whole, fitted)
    left_out = fitted.context.left_out
    assert left_out == lost or left_out == {EVERYTHING: sum(lost.values())}
    assert len(fitted.dropped) == sum(lost.values())
    assert fitted.context.project_id == whole.project_id
    return fitted


def memory_item(number: int, size: int = 200, kind: Any = "fact") -> ContextItem:
    return ContextItem(
        memory_id=f"01J{number:023d}",
        type=kind,
        title=f"Item {number}",
        text=(SEED * (size // len(SEED) + 1))[:size],
        origin="commit 1a2b3c4 by Ada",
        occurred_at=NOON,
        files=("src/retry.py",),
    )


def rich(size: int = 200, each: int = 10, document: int = 3_000) -> StartContext:
    task = TaskItem(task_id="01T", title="Do it", status="todo", priority=3, text="x" * size)
    done = CompletedTask(task_id="01D", title="Done", evidence="commit 1a2b3c4")
    message = MessageItem(
        message_id="01M",
        sender_id="codex",
        content="y" * size,
        category="info",
        priority=3,
        created_at=NOON,
    )
    return StartContext(
        project_id=PROJECT,
        receipt_id="01J00000000000000000000000",
        agent_label="Claude Code",
        is_first_connection=False,
        introduction="Threadline remembers what happens in this repository.",
        session_context=SessionContext(
            recent_sessions=tuple(memory_item(at, size, "episodic") for at in range(each)),
            important_facts=tuple(memory_item(100 + at, size + 7 * at) for at in range(each)),
            active_tasks=(task,) * (each // 2),
            constraints=tuple(memory_item(200 + at, size, "constraint") for at in range(each)),
        ),
        recovery=Recovery(
            session_key="conversation-1",
            checkpoint_id="5c5b7f4e-0000-4000-8000-000000000000",
            lineage="conversation",
            created_at=NOON,
            text="\n".join(f"- step {at}: {SEED}" for at in range(12)),
        ),
        query_results=tuple(memory_item(300 + at, size) for at in range(each)),
        pending_messages=(message,) * 5,
        changes_since_last_session=Changes(
            since=NOON - timedelta(days=1), commits=12, highlights=("one", "two", "three")
        ),
        documents=(DocumentItem(name="soul", content=f"# Soul\n{SEED}\n" * (document // 100)),),
        available_documents=("soul", "skills", "instructions", "release-checklist"),
        tasks_auto_completed=(done,),
        tasks_suggested_done=(done, done),
        other_open_task_count=3,
        recent_agents=(AgentItem(agent_id="codex", label="Codex", last_seen_at=NOON),),
        vaults=(
            VaultCounts(
                vault_id=PROJECT, name="threadline", memories=9, tasks=2, documents=1, sessions=4
            ),
        ),
        memory_health=MemoryHealth(),
    )


RICH = rich()
VITAL = 4
"""Sections at the end of the priorities that nobody would think to ask for."""


def test_every_section_of_an_answer_has_its_priority() -> None:
    outer = {one.encode_name for one in msgspec.structs.fields(StartContext)}
    inner = {one.encode_name for one in msgspec.structs.fields(SessionContext)}
    known = set(ORDER) | set(fitting.HEADER) | {"projectId", "leftOut", "sessionContext"}
    assert outer | inner == known


def test_an_answer_that_fits_is_given_as_it_is() -> None:
    size = measure(RICH)
    fitted = fitting.fit(RICH, size)
    assert (fitted.context, fitted.dropped, fitted.chars) == (RICH, (), size)
    assert fitting.fit(RICH, size - 1).context != RICH


def test_no_answer_is_longer_than_any_cap() -> None:
    """Part of D5."""
    for cap in range(200, 3001, 19):
        check(RICH, cap)


@pytest.mark.slow
def test_no_answer_is_longer_than_any_of_all_the_caps_up_to_its_size() -> None:
    """Part of D5."""
    for cap in range(200, measure(RICH) + 2):
        check(RICH, cap)


def test_what_matters_less_only_fills_the_room_that_what_matters_more_leaves() -> None:
    """Part of D5."""
    parts = [one for one in fitting.split(RICH) if one.is_counted]
    for cap in range(2000, measure(RICH) - 1500, 60):
        fitted = check(RICH, cap)
        highest = max(ORDER.index(section) for section, _ in fitted.dropped)
        least = min(one.chars for one in parts if one.section == ORDER[highest])
        fillers = [
            one.chars - len(f'"{one.section}": 1, ')
            for one in fitting.split(fitted.context)
            if one.section in ORDER[:highest] and one.is_counted
        ]
        assert sum(fillers) < least, (cap, highest)


def test_sections_begin_to_go_in_the_order_of_the_priorities() -> None:
    """Part of D5."""
    even = msgspec.structs.replace(
        RICH,
        other_open_task_count=UNSET,
        recovery=None,
        link_offer="a copy of another " * 10,
        personal=RICH.query_results,
    )
    gone: dict[str, int] = {}
    for cap in range(measure(even), 1000, -40):
        for section in fitting.fit(even, cap).context.left_out:
            gone.setdefault(section, cap)
    absent = {"missingDocuments", "otherOpenTaskCount", "otherPendingMessageCount", "recovery"}
    assert list(gone) == [one for one in ORDER if one not in absent]


def test_the_last_items_of_a_section_go_first() -> None:
    facts = RICH.session_context.important_facts  # type: ignore[union-attr]  # it is set above
    even = msgspec.structs.replace(RICH, session_context=SessionContext(constraints=facts[:1] * 9))
    numbered = tuple(
        msgspec.structs.replace(one, memory_id=f"{at}")
        for at, one in enumerate(even.session_context.constraints)  # type: ignore[union-attr]  # it is set above
    )
    only = StartContext(project_id=PROJECT, session_context=SessionContext(constraints=numbered))
    fitted = check(only, 2000)
    kept = [one.memory_id for one in items_of(fitted.context, "constraints")]
    assert kept == [str(at) for at in range(len(kept))]
    assert fitted.dropped == tuple(("constraints", str(at)) for at in range(len(kept), 9))


def test_nothing_that_would_still_fit_is_missing() -> None:
    for cap in range(300, measure(RICH), 997):
        fitted = check(RICH, cap)
        if EVERYTHING in fitted.context.left_out:
            continue
        for section in fitted.context.left_out:
            assert all(size > cap for size in with_one_more(RICH, fitted, section)), (cap, section)


def with_one_more(whole: StartContext, fitted: Fitted, section: str) -> list[int]:
    """Measure an answer with each of a section's missing items put back where it was."""
    sizes: list[int] = []
    parts = fitting.split(whole)
    lost = set(fitted.dropped)
    kept = fitting.split(fitted.context)
    for part in parts:
        if part.section != section or (section, part.id) not in lost or part.frame < 0:
            continue
        own = [one for one in kept if one.section in {section, parts[part.frame].section}]
        frame = [] if any(one.frame < 0 for one in own) else [parts[part.frame]]
        left_out = dict(fitted.context.left_out)
        left_out[section] -= 1
        left_out = {name: count for name, count in left_out.items() if count}
        sizes.append(measure(fitting.join(whole, [*kept, *frame, part], left_out)))
    return sizes


@pytest.mark.parametrize("cap", [400, 500, 700, 1000, 1500])
def test_recovery_is_clipped_at_a_line_and_never_given_up_for_anything_else(cap: int) -> None:
    """Part of D5."""
    recovery = check(RICH, cap).context.recovery
    assert isinstance(recovery, Recovery)
    whole = RICH.recovery.text  # type: ignore[union-attr]  # it is set above
    assert recovery.text.endswith("…")
    assert whole.startswith(recovery.text.removesuffix("…").rstrip())
    assert len(recovery.text) > cap - 400


def test_recovery_is_whole_while_anything_else_can_go() -> None:
    whole = RICH.recovery
    for cap in range(2000, 6000, 111):
        assert check(RICH, cap).context.recovery == whole


def test_a_long_document_is_clipped_before_it_is_left_out() -> None:
    only = StartContext(
        project_id=PROJECT, documents=(DocumentItem(name="soul", content="a line of it\n" * 900),)
    )
    (document,) = items_of(check(only, 4000).context, "documents")
    assert document.is_clipped
    assert document.content.endswith("a line of it\n…")
    assert 3500 < len(document.content) < 4000
    assert check(only, 250).context.left_out == {"documents": 1}


def test_names_of_empty_sections_go_before_what_nobody_would_ask_for() -> None:
    fitted = check(msgspec.structs.replace(RICH, recovery=None), 1000)
    given = ("activeTasks", "pendingMessages", "constraints")
    assert sum(len(items_of(fitted.context, section)) for section in given) == 1
    assert fitted.context.vaults is UNSET


def test_the_last_resort_says_how_much_there_would_be() -> None:
    label = "\x00" * 200
    huge = msgspec.structs.replace(
        RICH, agent_label=label, recovery=None, other_open_task_count=UNSET, introduction=label
    )
    fitted = check(huge, 200)
    assert set(fitted.context.left_out) == {EVERYTHING}
    assert fitted.context.session_context is UNSET
    assert fitted.context.agent_label is UNSET


def test_an_answer_that_was_fitted_can_be_fitted_again() -> None:
    once = check(RICH, 6000).context
    twice = fitting.fit(once, 2500).context
    assert measure(twice) <= 2500
    had, has = counts(RICH), counts(twice)
    assert twice.left_out == {
        section: had[section] - has[section] for section in ORDER if had[section] > has[section]
    }


TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\\n\t\x00\x1f\x7f😀é'),
    max_size=60,
)
TIMES = st.datetimes(timezones=st.just(NOON.tzinfo))
SMALL = st.integers(0, 12_000)


def several(one: st.SearchStrategy[Any], most: int = 5) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=most).map(tuple)


def maybe(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return value | st.just(UNSET)


MEMORIES = st.builds(
    ContextItem,
    memory_id=TEXT,
    type=st.sampled_from(("fact", "episodic", "constraint")),
    title=TEXT,
    text=TEXT,
    occurred_at=TIMES,
    files=several(TEXT, 3),
    has_changed=st.booleans(),
)
TASKS = st.builds(
    TaskItem,
    task_id=TEXT,
    title=TEXT,
    text=TEXT,
    status=st.just("todo"),
    priority=st.integers(1, 5),
)
DONE = st.builds(CompletedTask, task_id=TEXT, title=TEXT, evidence=TEXT)
LONG = st.builds("".join, st.lists(TEXT, max_size=40))
CONTEXTS = st.builds(
    StartContext,
    project_id=st.just(PROJECT),
    receipt_id=maybe(TEXT),
    agent_label=maybe(TEXT),
    is_first_connection=maybe(st.booleans()),
    introduction=maybe(TEXT),
    session_context=maybe(
        st.builds(
            SessionContext,
            recent_sessions=several(MEMORIES),
            important_facts=several(MEMORIES),
            active_tasks=several(TASKS),
            constraints=several(MEMORIES),
        )
    ),
    recovery=maybe(
        st.none()
        | st.builds(
            Recovery, session_key=TEXT, lineage=st.just("path"), created_at=TIMES, text=LONG
        )
    ),
    query_results=maybe(several(MEMORIES)),
    pending_messages=maybe(
        several(
            st.builds(
                MessageItem,
                message_id=TEXT,
                sender_id=TEXT,
                content=TEXT,
                category=TEXT,
                priority=st.integers(1, 5),
                created_at=TIMES,
            )
        )
    ),
    changes_since_last_session=maybe(
        st.none() | st.builds(Changes, since=TIMES, commits=SMALL, highlights=several(TEXT))
    ),
    documents=maybe(several(st.builds(DocumentItem, name=TEXT, content=LONG), 2)),
    available_documents=maybe(several(TEXT)),
    tasks_auto_completed=maybe(several(DONE)),
    tasks_suggested_done=maybe(several(DONE)),
    other_open_task_count=maybe(SMALL),
    other_pending_message_count=maybe(SMALL),
    recent_agents=maybe(
        several(st.builds(AgentItem, agent_id=TEXT, label=TEXT, last_seen_at=TIMES))
    ),
    vaults=maybe(
        several(
            st.builds(
                VaultCounts,
                vault_id=TEXT,
                name=TEXT,
                memories=SMALL,
                tasks=SMALL,
                documents=SMALL,
                sessions=SMALL,
            )
        )
    ),
    memory_health=maybe(st.builds(MemoryHealth, semantic=st.booleans())),
)
CAPS = st.integers(200, 3_000) | st.integers(200, 20_000)


@settings(max_examples=30, deadline=None)
@given(CONTEXTS, CAPS)
def test_any_answer_fits_any_cap(context: StartContext, cap: int) -> None:
    """Part of D5."""
    assert check(context, cap) == fitting.fit(context, cap)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(CONTEXTS, CAPS, st.integers(1, 2_000))
def test_what_is_whole_from_the_top_down_stays_so_in_a_larger_answer(
    context: StartContext, cap: int, more: int
) -> None:
    """Part of D5."""
    smaller, larger = check(context, cap), check(context, cap + more)
    if EVERYTHING in smaller.context.left_out or EVERYTHING in larger.context.left_out:
        return
    promised = VITAL if has_lost_frames(context, smaller) else len(ORDER)
    whole = min(whole_from_the_top(context, smaller), promised)
    assert whole <= whole_from_the_top(context, larger)


def has_lost_frames(context: StartContext, fitted: Fitted) -> bool:
    """Tell whether a name is missing that would be there with an empty list."""
    had, has = (
        {one.section for one in fitting.split(some) if one.frame < 0 and not one.is_counted}
        for some in (context, fitted.context)
    )
    return had > has


def whole_from_the_top(context: StartContext, fitted: Fitted) -> int:
    lost = missing(context, fitted)
    return next((at for at, name in enumerate(reversed(ORDER)) if name in lost), len(ORDER))
