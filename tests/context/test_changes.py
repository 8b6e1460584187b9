"""Changes: what has happened since, in numbers and a few words."""

from datetime import datetime, timedelta
from typing import Any

from protocol.contexts import Changes
from protocol.events import Commit
from protocol.memories import Memory
from protocol.messages import Message
from protocol.sessions import Session
from protocol.tasks import Task
from sidecar.context.rules import changes
from sidecar.context.rules.changes import Happenings
from tests.support import HOUR, MINUTE, NOON


def commit(minute: int, subject: str = "", **traits: Any) -> Commit:
    at = NOON + minute * MINUTE
    return Commit(
        sha=f"{minute % 0x1000:07x}",
        authored_at=at,
        subject=subject or f"Change {minute}",
        **traits,
    )


def memory(at: datetime, title: str, **traits: Any) -> Memory:
    return Memory(
        memory_id="01J",
        project_id="p",
        type=traits.pop("type", "decision"),
        title=title,
        content=title,
        occurred_at=at,
        created_at=at,
        updated_at=at,
        **traits,
    )


def task(at: datetime, title: str, **traits: Any) -> Task:
    return Task(
        task_id="01T", project_id="p", title=title, created_at=NOON, updated_at=at, **traits
    )


def session(at: datetime, summary: str | None) -> Session:
    return Session(
        session_id="01S",
        project_id="p",
        started_at=at,
        last_event_at=at,
        source="cli",
        sources=("cli",),
        summary=summary,
    )


def test_everything_after_the_moment_is_counted_and_the_latest_is_named_first() -> None:
    """Part of D2."""
    told = changes.tell(
        NOON,
        Happenings(
            sessions=(session(NOON + HOUR, "Taught the parser tabs"), session(NOON, "Before")),
            commits=(commit(-1), commit(5), commit(9)),
            memories=(memory(NOON + 7 * MINUTE, "Use uv"), memory(NOON, "Before")),
            tasks=(task(NOON + 8 * MINUTE, "Write docs", status="done"), task(NOON, "Before")),
            messages=(
                Message(
                    message_id="01M",
                    project_id="p",
                    target_id="*",
                    sender_id="codex",
                    content="Please rebase",
                    created_at=NOON + 6 * MINUTE,
                ),
            ),
        ),
    )
    assert told == Changes(
        since=NOON,
        sessions=1,
        commits=2,
        memories=1,
        tasks=1,
        messages=1,
        highlights=(
            "Session: Taught the parser tabs",
            "Commit 0000009: Change 9",
            "Task done: Write docs",
            "Decision: Use uv",
            "Message from codex: Please rebase",
        ),
    )


def test_many_commits_do_not_hide_what_else_happened() -> None:
    told = changes.tell(
        NOON,
        Happenings(
            commits=tuple(commit(at) for at in range(10, 40)),
            tasks=(task(NOON + MINUTE, "Write docs", status="done"),),
        ),
    )
    assert told.commits == 30
    assert told.highlights == (
        *(f"Commit {at:07x}: Change {at}" for at in (39, 38, 37, 36)),
        "Task done: Write docs",
    )


def test_what_is_gone_or_has_no_words_is_not_named() -> None:
    told = changes.tell(
        NOON,
        Happenings(
            commits=(commit(3, dropped=True),),
            sessions=(session(NOON + HOUR, None),),
            memories=(memory(NOON + HOUR, "Old", status="superseded"),),
        ),
    )
    assert told == Changes(since=NOON, sessions=1)


def test_highlights_are_clipped_and_never_repeated() -> None:
    long = "A very long title " * 20
    told = changes.tell(
        NOON, Happenings(memories=[memory(NOON + at * MINUTE, long) for at in range(1, 4)])
    )
    assert told.memories == 3
    assert len(told.highlights) == 1
    assert len(told.highlights[0]) <= 120


def test_nothing_new_is_told_as_nothing() -> None:
    since = NOON + timedelta(days=1)
    assert changes.tell(since, Happenings(commits=(commit(1),))) == Changes(since=since)


def test_a_commit_in_the_second_in_which_an_agent_left_is_not_missed() -> None:
    """Part of D2."""
    since = NOON + timedelta(milliseconds=300)
    assert changes.tell(since, Happenings(commits=(commit(0),))).commits == 1
    since = NOON + timedelta(seconds=1, milliseconds=300)
    assert changes.tell(since, Happenings(commits=(commit(0),))).commits == 0
