"""Items: what an assistant is told of memories, tasks, messages and documents."""

from typing import Any

import pytest

from protocol.contexts import ContextItem, DocumentItem, MessageItem, TaskItem
from protocol.documents import Document
from protocol.memories import Evidence, Memory
from protocol.messages import Message
from protocol.tasks import Task
from sidecar.context.rules import items
from tests.support import NOON

SHA = "1a2b3c4d5e6f"
LONG = "A sentence of some words that says a little. " * 8


def memory(title: str = "Use uv", content: str = "Use uv", **traits: Any) -> Memory:
    return Memory(
        memory_id="01J",
        project_id="p",
        type=traits.pop("type", "decision"),
        title=title,
        content=content,
        occurred_at=NOON,
        created_at=NOON,
        updated_at=NOON,
        **traits,
    )


def test_a_memory_is_told_with_its_origin_files_and_state() -> None:
    """Part of D2."""
    told = items.from_memory(
        memory(
            content="Use uv because pip is slow.",
            importance=4,
            evidence=(Evidence(quote="Use uv", commit_sha=SHA),),
            files=("a", "b", "c", "d"),
            verdict="changed",
        ),
        author="Ada",
    )
    assert told == ContextItem(
        memory_id="01J",
        type="decision",
        title="Use uv",
        text="because pip is slow.",
        importance=4,
        origin="commit 1a2b3c4 by Ada",
        occurred_at=NOON,
        files=("a", "b", "c"),
        has_changed=True,
    )


@pytest.mark.parametrize(
    ("title", "content", "rationale", "expected"),
    [
        ("Use uv", "Use uv", None, ""),
        ("Use uv.", "Use uv", None, ""),
        ("Use uv", "use uv.", None, ""),
        ("Use uv", "Use uv: it is fast", None, "it is fast"),
        ("Use uv", "Use uv\n\nIt is fast", None, "It is fast"),
        ("Use uv", "Use uv - it is fast", None, "it is fast"),
        ("Offset", "Offset -5 is right", None, "-5 is right"),
        ("Timeout", "Timeout .5 s", None, ".5 s"),
        ("Use uv", "Use uvloop", None, "Use uvloop"),
        ("Use uv", "Pip is slow", None, "Pip is slow"),
        ("Use uv for the…", "Use uv for the whole project", None, "… whole project"),
        ("Use uv", "Use uv", "Pip is slow", "Why: Pip is slow"),
        ("Use uv", "Use uv, always", "Pip is slow", "always\nWhy: Pip is slow"),
        ("Use uv", "Use uv since pip is slow", "Pip is slow.", "since pip is slow"),
    ],
)
def test_a_title_is_not_said_twice(
    title: str, content: str, rationale: str | None, expected: str
) -> None:
    assert items.says(memory(title, content, rationale=rationale)) == expected


@pytest.mark.parametrize(
    ("traits", "author", "expected"),
    [
        ({"agent_id": "daily-digest"}, None, "daily digest"),
        ({"agent_id": "claude-code"}, None, "agent claude-code"),
        (
            {"agent_id": "x", "evidence": (Evidence(quote="q", commit_sha=SHA),)},
            "Ada",
            "agent x, commit 1a2b3c4",
        ),
        (
            {"evidence": (Evidence(quote="q"), Evidence(quote="q", commit_sha=SHA))},
            None,
            "commit 1a2b3c4",
        ),
        ({"evidence": (Evidence(quote="q", commit_sha=SHA),)}, "Ada", "commit 1a2b3c4 by Ada"),
        ({"session_id": "s", "job_id": "j"}, None, "seen in a session"),
        ({"session_id": "s", "job_id": "j"}, "Ada", "work of Ada"),
        ({}, None, "written by hand"),
    ],
)
def test_an_origin_says_who_says_so(
    traits: dict[str, Any], author: str | None, expected: str
) -> None:
    assert items.origin(memory(**traits), author) == expected


def test_in_short_title_and_text_are_clipped_and_say_so() -> None:
    """Part of D4."""
    for told in (
        items.from_memory(memory(LONG, "Short")),
        items.from_memory(memory("Short", LONG)),
        items.from_intent(memory("Short", LONG, type="task")),
    ):
        assert told.is_clipped
        assert max(len(told.title), len(told.text)) <= 120
    assert not items.from_memory(memory("Short", "Other")).is_clipped


def test_in_full_nothing_is_clipped() -> None:
    """Part of D4."""
    told = items.from_memory(memory("Short", f"{LONG}\n\n{LONG}"), summary_only=False)
    assert told.text == f"{LONG}\n\n{LONG}".strip()
    assert not told.is_clipped


def test_a_task_is_told_with_how_one_can_tell_that_it_is_done() -> None:
    """Part of D2."""
    task = Task(
        task_id="01T",
        project_id="p",
        title="Write the docs",
        description="Write the docs. All of them.",
        status="in_progress",
        priority=5,
        assigned_agent_id="codex",
        done_when="path exists: docs/a.md",
        created_at=NOON,
        updated_at=NOON,
    )
    assert items.from_task(task) == TaskItem(
        task_id="01T",
        title="Write the docs",
        text="All of them.",
        status="in_progress",
        priority=5,
        done_when="path exists: docs/a.md",
        assigned_agent_id="codex",
    )


def test_a_memory_of_something_to_do_is_a_task() -> None:
    told = items.from_intent(
        memory("Remove the flag", "Remove the flag", type="task", importance=4)
    )
    assert told == TaskItem(memory_id="01J", title="Remove the flag", status="todo", priority=4)


def test_a_message_is_told_in_short_or_in_full() -> None:
    message = Message(
        message_id="01M",
        project_id="p",
        target_id="*",
        sender_id="codex",
        content=LONG,
        subject="Release",
        created_at=NOON,
    )
    short, full = items.from_message(message), items.from_message(message, summary_only=False)
    assert short.is_clipped
    assert len(short.content) <= 120
    assert full == MessageItem(
        message_id="01M",
        sender_id="codex",
        content=LONG,
        category="info",
        priority=3,
        subject="Release",
        created_at=NOON,
    )


def test_a_document_keeps_whole_lines() -> None:
    document = Document(
        name="soul",
        project_id="p",
        content="# Soul\nBe kind.\nBe brief.",
        created_at=NOON,
        updated_at=NOON,
    )
    assert items.from_document(document, 18) == DocumentItem(
        name="soul", content="# Soul\nBe kind.\n…", version=1, is_clipped=True
    )
    assert items.from_document(document, 100).content == document.content
