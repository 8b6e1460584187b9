"""Planning: tasks are written down whole, change when nobody else has changed them, and never wait in a circle."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.errors import ConflictError, InvalidParamsError, NotFoundError, ThreadlineError
from protocol.tasks import (
    CreateTasksParams,
    ListTasksParams,
    NewTask,
    ShownTask,
    Task,
    TaskNote,
    TaskStatus,
    UpdateTaskParams,
    WrittenTasks,
)
from sidecar.storage.vault import Vault
from sidecar.tasks import open_tasks, plan
from sidecar.tasks.rules import completion
from sidecar.upkeep import tidy
from tests.support import HOUR, MINUTE, FixedClock, reopen
from tests.tasks.test_open_tasks import NOTHING, commit, seeing

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def create(vault: Vault, *new: NewTask | str, **more: object) -> WrittenTasks:
    made = tuple(one if isinstance(one, NewTask) else NewTask(title=one) for one in new)
    params = msgspec.structs.replace(CreateTasksParams(tasks=made), **more)
    return plan.create(vault, params, NOTHING)


def update(vault: Vault, task_id: str, **more: object) -> WrittenTasks:
    params = msgspec.structs.replace(UpdateTaskParams(task_id=task_id), **more)
    return plan.update(vault, params, NOTHING)


def listed(vault: Vault, **more: object) -> list[str]:
    params = msgspec.structs.replace(ListTasksParams(), **more)
    return [one.title for one in plan.list_tasks(vault, params).tasks]


def find(vault: Vault, title: str) -> ShownTask:
    page = plan.list_tasks(vault, ListTasksParams())
    return next(one for one in page.tasks if one.title == title)


def test_a_plan_is_written_in_one_call_with_what_waits_for_what(vault: Vault) -> None:
    """Part of F11."""
    before = create(vault, "Agree on it").tasks[0]
    plan = (
        NewTask(title="Ship", depends_on=(1, 2)),
        NewTask(title="Build", depends_on=(before.task_id,), assigned_agent_id="cursor"),
        NewTask(title="Test", depends_on=(1, 1), priority=5),
    )
    written = create(vault, *plan, agent_id="claude-code")
    ship, build, test = written.tasks
    assert written.outcome == "created"
    assert (ship.depends_on, ship.waiting_for) == ((build.task_id, test.task_id),) * 2
    assert (test.depends_on, build.waiting_for) == ((build.task_id,), (before.task_id,))
    assert {one.created_by for one in written.tasks} == {"claude-code"}
    assert before.created_by is None
    assert listed(vault) == ["Test", "Agree on it", "Ship", "Build"]
    update(vault, before.task_id, status="done")
    assert find(vault, "Build").waiting_for == ()
    assert [one.title for one in open_tasks.open_for(vault, "cursor")] == ["Test", "Build", "Ship"]
    other = reopen(vault)
    assert other.tasks.by_id() == vault.tasks.by_id()
    other.close()


@pytest.mark.parametrize(
    ("needs", "field"),
    [
        (((1,), (0,)), "tasks[0].dependsOn"),
        (((0,), ()), "tasks[0].dependsOn"),
        (((), (2,)), "tasks[1].dependsOn[0]"),
        (((), ("01ARZ3NDEKTSV4RRFFQ69G5FAV",)), "tasks[1].dependsOn"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_as_a_whole(
    vault: Vault, needs: tuple[tuple[int | str, ...], ...], field: str
) -> None:
    """Part of F11."""
    plan = [NewTask(title=f"task {place}", depends_on=some) for place, some in enumerate(needs)]
    with pytest.raises(ThreadlineError) as refusal:
        create(vault, *plan)
    assert refusal.value.field == field
    assert isinstance(refusal.value, InvalidParamsError | NotFoundError)
    assert vault.tasks.all() == []


def test_a_task_is_shown_with_whom_it_is_for_and_what_it_needs(vault: Vault) -> None:
    """Part of F11."""
    plan = (
        NewTask(title="Build", assigned_agent_id="claude-code"),
        NewTask(title="Test", assigned_agent_id="my bot", depends_on=(0,)),
        NewTask(title="Ship", depends_on=(0, 1)),
    )
    build, test, ship = create(vault, *plan).tasks
    assert [one.assigned_label for one in (build, test, ship)] == ["Claude Code", "my bot", ""]
    update(vault, build.task_id, status="done")
    (needed, other) = find(vault, "Ship").needs
    assert (needed.task_id, needed.title, needed.status) == (build.task_id, "Build", "done")
    assert (other.task_id, other.title, other.status) == (test.task_id, "Test", "todo")


def test_a_task_for_a_name_that_is_nearly_known_is_doubted(vault: Vault) -> None:
    """Part of F11."""
    first = create(vault, "Begin", agent_id="cursor")
    written = create(vault, *(NewTask(title=x, assigned_agent_id=x) for x in ("Cursor", "codex")))
    (doubt,) = written.warnings
    assert doubt.task_id == written.tasks[0].task_id
    assert doubt.text == "no agent “Cursor” was here yet, but “cursor”: is that what is meant?"
    key = first.tasks[0].task_id
    assert len(update(vault, key, assigned_agent_id="cursr").warnings) == 1
    for name in ("cursor", "any", "user"):
        assert update(vault, key, assigned_agent_id=name).warnings == ()


def test_what_seems_done_is_told_where_that_is_asked(vault: Vault, clock: FixedClock) -> None:
    """Part of D2 and F11: whoever's task it is."""
    create(
        vault,
        NewTask(title="Sign uploads with SHA-256", assigned_agent_id="cursor"),
        NewTask(title="Sign downloads with MD5"),
        NewTask(title="Sign uploads with SHA-256", status="done"),
        NewTask(title="Sign uploads with SHA-256", done_when="path exists: x"),
    )
    clock.pass_(MINUTE)
    commit(vault, 1, "Sign all uploads with SHA-256")

    def seeming(**more: object) -> list[str]:
        params = msgspec.structs.replace(ListTasksParams(), **more)
        return [one.suggestion for one in plan.list_tasks(vault, params).tasks if one.suggestion]

    assert seeming() == []
    assert seeming(suggest=True) == ["commit 0000000 says “Sign all uploads with SHA-256”"]
    assert seeming(suggest=True, assigned_agent_id="any") == []


def test_a_task_that_is_not_done_is_not_suggested_by_the_same_commit_again(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F11."""
    (made,) = create(vault, NewTask(title="Sign uploads with SHA-256")).tasks
    clock.pass_(MINUTE)
    commit(vault, 1, "Sign all uploads with SHA-256")
    assert len(open_tasks.suggest_done(vault, "me", completion.is_done_by)) == 1
    told = update(vault, made.task_id, not_done=True)
    assert (told.outcome, told.tasks[0].status) == ("updated", "todo")
    assert open_tasks.suggest_done(vault, "me", completion.is_done_by) == []
    assert plan.list_tasks(vault, ListTasksParams(suggest=True)).tasks[0].suggestion is None
    assert open_tasks.suggest_done(reopen(vault), "me", completion.is_done_by) == []
    update(vault, made.task_id, priority=5)
    assert open_tasks.suggest_done(vault, "me", completion.is_done_by) == []
    clock.pass_(MINUTE)
    commit(vault, 2, "Sign the last uploads with SHA-256 too")
    (again,) = open_tasks.suggest_done(vault, "me", completion.is_done_by)
    assert "the last uploads" in again.evidence


def test_a_plan_that_comes_again_is_the_plan_that_is_there(vault: Vault, clock: FixedClock) -> None:
    """Part of F11 and A7."""
    first = create(vault, "One", "Two", idempotency_key="plan")
    update(vault, first.tasks[0].task_id, status="done")
    clock.pass_(HOUR)
    other = reopen(vault)
    again = create(other, "One", "Two", idempotency_key="plan")
    assert again.outcome == "duplicate"
    assert [one.task_id for one in again.tasks] == [one.task_id for one in first.tasks]
    assert [one.status for one in again.tasks] == ["done", "todo"]
    assert len(vault.tasks) == 2
    assert create(vault, "One", idempotency_key="another").outcome == "created"
    other.close()


def test_a_task_is_written_with_its_first_note_or_not_at_all(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F11."""
    (made,) = create(vault, NewTask(title="Ask", note=f"Of {TOKEN}"), agent_id="a").tasks
    assert made.notes == (TaskNote(at=clock.now, agent_id="a", text="Of [REDACTED]"),)
    with pytest.raises(InvalidParamsError) as refused:
        create(vault, "One", NewTask(title="Two", note="<private>x</private>"))
    assert refused.value.field == "tasks[1].note"
    assert listed(vault) == ["Ask"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Any", "any"), (" any ", "any"), ("  ", "any"), ("USER", "user"), (" beta ", "beta")],
)
def test_who_is_to_do_a_task_is_known_however_it_is_written(
    vault: Vault, written: str, meant: str
) -> None:
    """Part of F11."""
    (made,) = create(vault, NewTask(title="Do it", assigned_agent_id=written)).tasks
    (other,) = create(vault, "Other", agent_id=" User ").tasks
    update(vault, other.task_id, assigned_agent_id=written)
    assert (made.assigned_agent_id, other.created_by) == (meant, None)
    assert listed(vault, assigned_agent_id=written) == ["Do it", "Other"]
    assert listed(vault, assigned_agent_id=meant) == ["Do it", "Other"]


def test_two_authors_may_choose_the_same_key(vault: Vault) -> None:
    """Part of F11 and A7."""
    authors = (None, "a", "b", "a", "user")
    written = [create(vault, f"{who}", agent_id=who, idempotency_key="1") for who in authors]
    outcomes = [one.outcome for one in written]
    assert outcomes == ["created", "created", "created", "duplicate", "duplicate"]
    assert [one.tasks[0].title for one in written] == ["None", "a", "b", "a", "None"]


def test_a_task_goes_through_its_states(vault: Vault, clock: FixedClock) -> None:
    """Part of F11."""
    (made,) = create(vault, NewTask(title="Do it", status="backlog")).tasks
    order: list[TaskStatus] = ["todo", "in_progress", "blocked", "in_progress", "done", "todo"]
    for status in order:
        clock.pass_(MINUTE)
        changed = update(
            vault, made.task_id, status=status, evidence="seen" if status == "done" else None
        )
        (now,) = changed.tasks
        assert (changed.outcome, now.status, now.updated_at) == ("updated", status, clock.now)
        assert now.completed_at == (clock.now if status == "done" else None)
        assert now.evidence == ("seen" if status == "done" else None)
    assert update(vault, made.task_id, status="todo").outcome == "unchanged"


def test_what_is_done_comes_last_the_latest_first(vault: Vault, clock: FixedClock) -> None:
    """Part of F11."""
    plan = (NewTask(title="Old", priority=5), NewTask(title="New"), NewTask(title="Open"))
    old, new, _ = create(vault, *plan).tasks
    for one in (old, new):
        clock.pass_(MINUTE)
        update(vault, one.task_id, status="done")
    assert listed(vault) == ["Open", "New", "Old"]
    assert listed(vault, statuses=("done",), limit=1) == ["New"]


def test_what_is_absent_stays_and_notes_add_up(vault: Vault, clock: FixedClock) -> None:
    """Part of F10 and F11."""
    (made,) = create(vault, NewTask(title="Do it", description="well", done_when="soon")).tasks
    clock.pass_(MINUTE)
    update(vault, made.task_id, note="first", agent_id="cursor")
    first = clock.now
    clock.pass_(MINUTE)
    update(vault, made.task_id, note="second", assigned_agent_id="cursor", priority=5, done_when="")
    (kept,) = vault.tasks.all()
    assert [(one.at, one.agent_id, one.text) for one in kept.notes] == [
        (first, "cursor", "first"),
        (clock.now, None, "second"),
    ]
    assert (kept.title, kept.description, kept.done_when) == ("Do it", "well", None)
    assert (kept.assigned_agent_id, kept.priority, kept.updated_by) == ("cursor", 5, None)


def test_who_has_read_an_older_state_changes_nothing(vault: Vault) -> None:
    """Part of F11: also within the same moment."""
    (made,) = create(vault, "Take me").tasks
    other = reopen(vault)
    (taken,) = update(
        other, made.task_id, assigned_agent_id="b", expected_updated_at=made.updated_at
    ).tasks
    with pytest.raises(ConflictError) as refusal:
        update(vault, made.task_id, assigned_agent_id="a", expected_updated_at=made.updated_at)
    current = msgspec.to_builtins(taken.updated_at)
    assert (refusal.value.field, refusal.value.current) == ("expectedUpdatedAt", current)
    assert vault.tasks.all()[0].assigned_agent_id == "b"
    again = update(vault, made.task_id, status="in_progress", expected_updated_at=taken.updated_at)
    assert again.tasks[0].updated_at > taken.updated_at
    other.close()


def test_a_task_that_is_not_there_is_not_found(vault: Vault) -> None:
    with pytest.raises(NotFoundError) as refusal:
        update(vault, "01ARZ3NDEKTSV4RRFFQ69G5FAV", status="done")
    assert refusal.value.field == "taskId"


def test_a_circle_is_refused_and_named(vault: Vault) -> None:
    """Part of F11."""
    plan = create(
        vault, "A", NewTask(title="B", depends_on=(0,)), NewTask(title="C", depends_on=(1,))
    )
    a, b, c = (one.task_id for one in plan.tasks)
    for needed in (a, b, c):
        with pytest.raises(InvalidParamsError) as refusal:
            update(vault, a, depends_on=(needed,))
        assert refusal.value.field == "dependsOn"
        assert a in str(refusal.value)
    assert find(vault, "A").depends_on == ()
    update(vault, c, depends_on=(a,))
    update(vault, b, depends_on=(c,))
    assert find(vault, "B").depends_on == (c,)


@pytest.fixture
def two(vault: Vault) -> Iterator[tuple[Vault, Vault]]:
    other = reopen(vault)
    yield vault, other
    other.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_two_ask_for_no_task_ever_waits_for_itself(
    two: tuple[Vault, Vault], data: st.DataObject
) -> None:
    """Part of F11: every order of work that is left can be gone through."""
    count = data.draw(st.integers(2, 6))
    ids = [one.task_id for one in create(two[0], *(f"t{n}" for n in range(count))).tasks]
    steps = st.lists(
        st.tuples(st.booleans(), st.sampled_from(ids), st.lists(st.sampled_from(ids), max_size=3)),
        max_size=12,
    )
    for is_first, task_id, needs in data.draw(steps):
        vault = two[0] if is_first else two[1]
        before = vault.tasks.get(task_id)
        try:
            update(vault, task_id, depends_on=tuple(needs))
        except InvalidParamsError:
            assert vault.tasks.get(task_id) == before
    left = {key: set(two[1].tasks.by_id()[key].depends_on) for key in ids}
    while left:
        ready = [key for key, needs in left.items() if not needs & left.keys()]
        assert ready, left
        left = {key: needs for key, needs in left.items() if key not in ready}


def test_what_a_task_waits_for_and_is_gone_holds_up_nobody(vault: Vault) -> None:
    """Part of F11."""
    first, second = create(vault, "First", NewTask(title="Second", depends_on=(0,))).tasks
    with vault.transaction():
        vault.write([vault.tasks.drop(first.task_id)])
    assert find(vault, "Second").waiting_for == ()
    assert update(vault, second.task_id, status="in_progress").outcome == "updated"
    assert tidy.tidy(vault) == 1
    kept = vault.tasks.get(second.task_id)
    assert kept is not None
    assert kept.depends_on == ()
    assert tidy.tidy(vault) == 0


def test_a_condition_that_holds_already_is_told_and_completes_nothing(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F11."""
    look = seeing("src/x.py")
    new = NewTask(title="Sign uploads with SHA-256", done_when="path exists: src/x.py")
    written = plan.create(vault, CreateTasksParams(tasks=(new,)), look)
    (made,) = written.tasks
    assert (made.status, made.held_before) == ("todo", True)
    assert [one.task_id for one in written.warnings] == [made.task_id]
    assert "src/x.py exists" in written.warnings[0].text
    assert open_tasks.complete_due(vault, look) == []
    clock.pass_(MINUTE)
    commit(vault, 1, "Sign uploads with SHA-256")
    assert [one.task_id for one in open_tasks.suggest_done(vault, "me", completion.is_done_by)] == [
        made.task_id
    ]
    changed = UpdateTaskParams(task_id=made.task_id, done_when="path exists: src/y.py")
    assert plan.update(vault, changed, look).warnings == ()
    assert [one.task_id for one in open_tasks.complete_due(vault, seeing("src/y.py"))] == [
        made.task_id
    ]


def test_a_condition_that_does_not_hold_yet_completes_later(vault: Vault) -> None:
    """Part of F11."""
    new = NewTask(title="Write it", done_when="path exists: src/x.py")
    written = plan.create(vault, CreateTasksParams(tasks=(new,)), NOTHING)
    assert written.warnings == ()
    assert [one.title for one in open_tasks.complete_due(vault, seeing("src/x.py"))] == ["Write it"]


def test_tasks_are_filtered_and_come_in_pages(vault: Vault) -> None:
    """Part of F11."""
    create(vault, NewTask(title="Mine", assigned_agent_id="me", priority=5), agent_id="you")
    create(vault, NewTask(title="Anyone's", description="About HERONS and foxes"))
    create(vault, NewTask(title="Yours", assigned_agent_id="you", status="done"))
    assert listed(vault) == ["Mine", "Anyone's", "Yours"]
    assert listed(vault, statuses=("todo", "blocked")) == ["Mine", "Anyone's"]
    assert listed(vault, assigned_agent_id="me") == ["Mine"]
    assert listed(vault, assigned_agent_id="any") == ["Anyone's"]
    assert listed(vault, assigned_agent_id="me", include_any=True) == ["Mine", "Anyone's"]
    assert listed(vault, created_by="you") == ["Mine"]
    assert listed(vault, created_by="user") == ["Anyone's", "Yours"]
    assert listed(vault, priority=5) == ["Mine"]
    assert listed(vault, text="foxes heron") == ["Anyone's"]
    assert listed(vault, text="foxes owls") == []
    page = plan.list_tasks(vault, ListTasksParams(limit=2, offset=2))
    assert ([one.title for one in page.tasks], page.total) == (["Yours"], 3)


def test_no_secret_and_nothing_private_is_kept(vault: Vault) -> None:
    """Part of B6 and E11."""
    (made,) = create(
        vault,
        NewTask(title=f"Use {TOKEN}", description="a <private>b</private> c", done_when=TOKEN),
    ).tasks
    update(vault, made.task_id, note=f"or {TOKEN}")
    (kept,) = vault.tasks.all()
    assert (kept.title, kept.description, kept.done_when) == (
        "Use [REDACTED]",
        "a  c",
        "[REDACTED]",
    )
    assert kept.notes[0].text == "or [REDACTED]"
    data = b"".join(path.read_bytes() for path in vault.folder.rglob("*") if path.is_file())
    assert TOKEN.encode() not in data
    for words in ("<private>all of it</private>", " \n"):
        with pytest.raises(InvalidParamsError) as refusal:
            create(vault, "fine", words)
        assert refusal.value.field == "tasks[1].title"
    assert len(vault.tasks) == 1


def test_a_task_keeps_its_notes_and_takes_no_more_than_it_can_bear(vault: Vault) -> None:
    """Part of F11: nothing that was noted is dropped for something new."""
    (made,) = create(vault, "Talk").tasks
    for number in range(200):
        update(vault, made.task_id, note=f"note {number}")
    with pytest.raises(ConflictError) as refusal:
        update(vault, made.task_id, note="one too many")
    assert refusal.value.field == "note"
    (kept,) = vault.tasks.all()
    assert [one.text for one in kept.notes] == [f"note {number}" for number in range(200)]


def test_a_task_written_before_there_were_needs_is_read(vault: Vault) -> None:
    """Part of H1: records of an older version have fewer fields."""
    (made,) = create(vault, "Old").tasks
    fields = {"dependsOn", "notes", "updatedBy", "idempotencyKey", "heldBefore"}
    document = msgspec.to_builtins(vault.tasks.get(made.task_id))
    old = {name: value for name, value in document.items() if name not in fields}
    with vault.transaction():
        vault.tasks.table.store(made.task_id, msgspec.json.encode(old), [None])
    other = Vault(vault.folder, vault.project_id, vault.ids, vault.rule)
    kept = other.tasks.get(made.task_id)
    assert isinstance(kept, Task)
    assert (kept.depends_on, kept.notes) == ((), ())
    other.close()


def test_a_regular_expression_of_an_older_version_is_reported(vault: Vault) -> None:
    """Part of F11."""
    old = NewTask(title="Fix", done_when="commit message matches: fix(es)? it")
    (doubt,) = create(vault, old).warnings
    assert "only words and `*`" in doubt.text
    (again,) = update(vault, doubt.task_id, priority=2).warnings
    assert again == doubt
    assert update(vault, doubt.task_id, done_when="commit message matches: fix* it").warnings == ()
