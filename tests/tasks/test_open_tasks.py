"""Tasks: an agent sees its own, and what is done completes by itself, once."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from protocol.contexts import CompletedTask
from protocol.events import Commit, Event, FileChange, NewEvent
from protocol.methods import CloseSessionParams, SessionParams
from protocol.tasks import Task, TaskStatus
from sidecar.capture import record, timeline
from sidecar.storage.database import deadline
from sidecar.storage.vault import Vault
from sidecar.tasks import open_tasks
from sidecar.tasks.open_tasks import Look
from sidecar.tasks.rules import completion
from sidecar.upkeep import maintenance, purge
from tests.support import HOUR, MINUTE, NOON, FixedClock, reopen


def task(vault: Vault, title: str, **more: object) -> Task:
    made = Task(
        task_id=vault.ids.next(),
        project_id=vault.project_id,
        title=title,
        created_at=vault.clock(),
        updated_at=vault.clock(),
    )
    made = msgspec.structs.replace(made, **more)
    with vault.transaction():
        vault.write([vault.tasks.put(made.task_id, made)])
    return made


def commit(
    vault: Vault, number: int, subject: str = "Work", path: str = "a.py", *, dropped: bool = False
) -> None:
    made = Commit(sha=f"{number:040x}", authored_at=vault.clock(), subject=subject, dropped=dropped)
    event = NewEvent(
        kind="commit",
        occurred_at=vault.clock().replace(microsecond=0),
        idempotency_key=f"commit:{number}",
        files=(FileChange(path=path, previous_path="before.py"),),
        commit=made,
    )
    record.ingest(vault, [event], "test")


def seeing(*paths: str, then: Callable[[], object] = lambda: None) -> Look:
    def path_exists(path: str) -> bool:
        then()
        return path in paths

    return Look(path_exists=path_exists, symbol_exists=lambda path, _: path in paths)


NOTHING = seeing()


def titles(done: list[CompletedTask]) -> list[str]:
    return [one.title for one in done]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"status": "in_progress", "priority": 1}, {"status": "todo", "priority": 5}),
        ({"status": "todo", "priority": 4}, {"status": "todo", "priority": 3}),
        ({"status": "blocked", "priority": 4}, {"status": "todo", "priority": 3}),
        ({"status": "todo", "priority": 3}, {"status": "blocked", "priority": 3}),
        ({"status": "todo", "priority": 1}, {"status": "backlog", "priority": 5}),
        ({"created_at": NOON - HOUR}, {"created_at": NOON}),
    ],
)
def test_the_most_urgent_task_comes_first(
    vault: Vault, first: dict[str, object], second: dict[str, object]
) -> None:
    """Part of F11."""
    task(vault, "second", **second)
    task(vault, "first", **first)
    assert [one.title for one in open_tasks.open_for(vault, "me")] == ["first", "second"]


def test_an_agent_sees_its_own_and_anyones_and_the_number_of_the_others(vault: Vault) -> None:
    """Part of D2 and F11."""
    task(vault, "anyone's")
    task(vault, "mine", assigned_agent_id="me", priority=2)
    task(vault, "theirs", assigned_agent_id="you")
    done: TaskStatus = "done"
    task(vault, "done", status=done)
    task(vault, "theirs, done", assigned_agent_id="you", status=done)
    assert [one.title for one in open_tasks.open_for(vault, "me")] == ["anyone's", "mine"]
    assert open_tasks.count_others(vault, "me") == 1


def test_a_task_completes_when_its_conditions_hold(vault: Vault, clock: FixedClock) -> None:
    """Part of F11."""
    made = task(vault, "Write it", done_when="path exists: src/x.py\ncommit touches: docs")
    task(vault, "In words", done_when="when everybody is happy")
    task(vault, "Without an end")
    assert open_tasks.complete_due(vault, seeing("src/x.py")) == []
    clock.pass_(MINUTE)
    commit(vault, 1, path="docs/a.md")
    expected = CompletedTask(
        task_id=made.task_id,
        title="Write it",
        evidence="src/x.py exists; commit 0000000 touches docs",
    )
    assert open_tasks.would_complete(vault, seeing("src/x.py")) == [expected]
    assert vault.tasks.get(made.task_id) == made
    clock.pass_(MINUTE)
    assert open_tasks.complete_due(vault, seeing("src/x.py")) == [expected]
    assert vault.tasks.get(made.task_id) == msgspec.structs.replace(
        made,
        status="done",
        evidence=expected.evidence,
        auto_completed=True,
        completed_at=clock.now,
        updated_at=clock.now,
    )
    assert open_tasks.complete_due(vault, seeing("src/x.py")) == []
    other = reopen(vault)
    assert other.tasks.get(made.task_id) == vault.tasks.get(made.task_id)
    other.close()


@pytest.mark.parametrize(
    ("done_when", "is_done"),
    [
        ("commit touches: a.py", True),
        ("commit touches: before.py", True),
        ("commit touches: b.py", False),
        ("commit message matches: fix* the login", True),
        ("commit message matches: the logi", False),
        ("symbol exists: a.py::b", False),
        ("path gone: a.py", True),
    ],
)
def test_what_is_committed_later_counts(
    vault: Vault, clock: FixedClock, done_when: str, is_done: bool
) -> None:
    """Part of F11."""
    task(vault, "Do it", done_when=done_when)
    clock.pass_(5 * HOUR)
    commit(vault, 1, "Fixed the  login page")
    assert bool(open_tasks.complete_due(vault, NOTHING)) is is_done


def test_what_was_committed_before_or_dropped_does_not_count(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F11."""
    commit(vault, 1)
    clock.pass_(MINUTE)
    task(vault, "Do it", done_when="commit touches: a.py")
    clock.pass_(MINUTE)
    commit(vault, 2, dropped=True)
    assert open_tasks.complete_due(vault, NOTHING) == []


def test_a_commit_in_the_second_in_which_a_task_was_written_counts(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F11: git counts whole seconds."""
    clock.now = NOON.replace(microsecond=300_000)
    task(vault, "Do it", done_when="commit touches: a.py")
    clock.now = NOON.replace(microsecond=900_000)
    commit(vault, 1)
    assert titles(open_tasks.complete_due(vault, NOTHING)) == ["Do it"]


def test_two_that_look_at_once_complete_a_task_once(vault: Vault) -> None:
    """Part of F11 and H1."""
    made = task(vault, "Do it", done_when="path exists: a")
    other = reopen(vault)
    first: list[CompletedTask] = []

    def race() -> None:
        first.extend(open_tasks.complete_due(other, seeing("a")))

    assert open_tasks.complete_due(vault, seeing("a", then=race)) == []
    assert [one.task_id for one in first] == [made.task_id]
    assert vault.tasks.get(made.task_id) == other.tasks.get(made.task_id)
    other.close()


def test_a_task_that_was_changed_meanwhile_is_left_alone(vault: Vault) -> None:
    """Part of F11: nobody's change is lost."""
    made = task(vault, "Do it", done_when="path exists: a")
    other = reopen(vault)

    def change() -> None:
        with other.transaction():
            changed = msgspec.structs.replace(made, done_when="path exists: b")
            other.write([other.tasks.put(made.task_id, changed)])

    assert open_tasks.complete_due(vault, seeing("a", then=change)) == []
    assert vault.tasks.all()[0].done_when == "path exists: b"
    other.close()


def test_a_store_that_cannot_be_had_completes_nothing_and_fails_nobody(vault: Vault) -> None:
    """Part of F11."""
    made = task(vault, "Do it", done_when="path exists: a")
    other = reopen(vault)
    with other.transaction(), deadline(0.01):
        assert open_tasks.complete_due(vault, seeing("a")) == []
    assert titles(open_tasks.complete_due(vault, seeing("a"))) == [made.title]
    other.close()


def test_events_are_read_only_when_a_task_needs_them_and_only_once(
    vault: Vault, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F11."""
    reads: list[str] = []
    real = vault.sessions.arrivals

    def arrivals(session_id: str) -> list[Event]:
        reads.append(session_id)
        return real(session_id)

    monkeypatch.setattr(vault.sessions, "arrivals", arrivals)
    commit(vault, 1)
    task(vault, "A path", done_when="path exists: nowhere")
    open_tasks.complete_due(vault, NOTHING)
    assert reads == []
    task(vault, "A commit", done_when="commit touches: nowhere")
    task(vault, "Another", done_when="commit message matches: never*")
    for _ in range(3):
        open_tasks.complete_due(vault, NOTHING)
    assert len(reads) == 1
    clock.pass_(MINUTE)
    commit(vault, 2)
    open_tasks.complete_due(vault, NOTHING)
    assert len(reads) == 2
    timeline.close_session(vault, CloseSessionParams())
    clock.pass_(100 * HOUR)
    for _ in range(3):
        open_tasks.complete_due(vault, NOTHING)
    # A session that was closed is another one than before, once.
    assert len(reads) == 3


@pytest.mark.parametrize("is_compacted", [False, True], ids=["open", "compacted"])
def test_what_was_forgotten_is_no_evidence(
    vault: Vault, clock: FixedClock, tmp_path: Path, is_compacted: bool
) -> None:
    """Part of F11 and H3: not even where what stands for the words is as long as they were."""
    task(vault, "Do it", done_when="commit message matches: * herons")
    other = reopen(vault)
    clock.pass_(MINUTE)
    commit(vault, 1, "blue herons")
    if is_compacted:
        (session,) = vault.sessions.timeline()
        timeline.close_session(vault, CloseSessionParams())
        maintenance.compact(vault, SessionParams(session_id=session.session_id))
    assert len(open_tasks.would_complete(vault, NOTHING)) == len(
        open_tasks.would_complete(other, NOTHING)
    )
    purge.forget_phrase(other, "blue herons", tmp_path / "logs")
    assert open_tasks.complete_due(vault, NOTHING) == open_tasks.complete_due(other, NOTHING) == []
    other.close()


def test_secrets_are_not_told(vault: Vault) -> None:
    """Part of E11."""
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    task(vault, f"Use {token}", description=token, done_when="path exists: a")
    (shown,) = open_tasks.open_for(vault, "me")
    assert (shown.title, shown.description) == ("Use [REDACTED]", "[REDACTED]")
    assert titles(open_tasks.would_complete(vault, seeing("a"))) == ["Use [REDACTED]"]


@pytest.mark.parametrize(
    ("title", "more", "subject", "is_likely"),
    [
        ("Sign uploads with SHA-256", {}, "Sign all uploads with sha-256 (#12)", True),
        ("Sign uploads with SHA-256", {}, "Revert: sign all uploads with sha-256", False),
        ("Sign uploads with SHA-256", {}, "Download what is signed", False),
        ("Add tests", {}, "Add tests", False),
        ("Sign uploads with SHA-256", {"status": "done"}, "Sign uploads with SHA-256", False),
        ("Sign uploads with SHA-256", {"assigned_agent_id": "you"}, "Sign uploads, SHA-256", False),
        (
            "Sign uploads with SHA-256",
            {"done_when": "path exists: x"},
            "Sign uploads with SHA-256",
            False,
        ),
        (
            "Sign uploads with SHA-256",
            {"done_when": "the auditor agrees"},
            "Sign uploads with SHA-256",
            True,
        ),
    ],
)
def test_a_task_that_nobody_can_check_is_suggested_when_a_commit_says_it(
    vault: Vault,
    title: str,
    more: dict[str, object],
    subject: str,
    is_likely: bool,
) -> None:
    """Part of D2 and F11."""
    made = task(vault, title, **more)
    assert open_tasks.suggest_done(vault, "me", completion.is_done_by) == []
    commit(vault, 1, subject)
    suggested = open_tasks.suggest_done(vault, "me", completion.is_done_by)
    evidence = f"commit 0000000 says “{subject}”"
    expected = CompletedTask(task_id=made.task_id, title=title, evidence=evidence)
    assert suggested == ([expected] if is_likely else [])
    assert vault.tasks.all() == [made]
