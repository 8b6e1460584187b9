"""Tasks as every transport serves them: how they end by themselves, who is told, and what never happens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.handlers.workspaces import MAINTAIN
from sidecar.tasks.checks import Checks
from sidecar.tasks.rules import conditions
from tests.desks import Desk, titles
from tests.support import HOUR, MINUTE

pytestmark = pytest.mark.slow

AGENT = "claude-code"
WRITTEN = "def sign(data):\n    return data\n"
KINDS = [
    ("path exists: src/sign.py", "src/sign.py exists"),
    ("path gone: old.py", "old.py is gone"),
    ("commit touches: src/", "commit {sha} touches src/"),
    ("commit message matches: sign* uploads", "commit {sha} says “Sign uploads”"),
    ("symbol exists: src/sign.py::sign", "src/sign.py defines sign"),
]
"""Each sort of condition, and what shows that it holds after `work`."""


def work(desk: Desk) -> str:
    """Commit what fulfils every condition, and tell nobody."""
    desk.clock.pass_(10 * MINUTE)
    desk.repository.write("src/sign.py", WRITTEN)
    (desk.repository.path / "old.py").unlink()
    desk.repository.git("add", "--all")
    desk.repository.git("commit", "--quiet", "-m", "Sign uploads", at=desk.clock.now)
    return desk.repository.git("rev-parse", "HEAD")


def plan(desk: Desk, *tasks: dict[str, Any], **more: Any) -> list[Any]:
    found: list[Any] = desk.ask("tasks/create", tasks=list(tasks), **more)["tasks"]
    return found


def listed(desk: Desk, **filters: Any) -> list[str]:
    return titles(desk.ask("tasks/list", **filters)["tasks"])


def shown(desk: Desk, task: Any) -> Any:
    every = desk.ask("tasks/list", limit=200)["tasks"]
    return next(one for one in every if one["taskId"] == task["taskId"])


def watch(desk: Desk) -> None:
    """Let the watcher look, and wait for what that set going."""
    desk.clock.pass_(MAINTAIN)
    desk.app.workspace.look()
    desk.app.flush()


def scan(desk: Desk) -> None:
    desk.ask("scan")


def report(desk: Desk) -> None:
    """Report the latest commit as a client does that sees it itself."""
    sha, subject = desk.repository.git("log", "-1", "--format=%H %s").split(" ", 1)
    at = desk.clock.now.isoformat().replace("+00:00", "Z")
    event = {
        "kind": "commit",
        "occurredAt": at,
        "files": [{"path": "src/sign.py"}],
        "commit": {"sha": sha, "authoredAt": at, "subject": subject},
    }
    desk.ask("ingest", events=[event])


@pytest.fixture
def begun(desk: Desk) -> Desk:
    """A desk whose workspace is watched, with a file that is to go."""
    desk.commit("begin", "old.py")
    desk.app.workspace.arrange([desk.repository.path])
    desk.clock.pass_(MINUTE)
    return desk


@pytest.mark.parametrize("hear", [watch, scan, report])
def test_a_commit_completes_what_it_fulfils_and_the_next_start_tells_it(
    begun: Desk, hear: Callable[[Desk], None]
) -> None:
    """Part of F11 and D2: however the commit is heard of."""
    desk = begun
    desk.start(sessionKey="c1")
    wanted = [{"title": kind, "doneWhen": kind, "assignedAgentId": "cursor"} for kind, _ in KINDS]
    plan(desk, *wanted, {"title": "Something else", "doneWhen": "path exists: never.py"})
    watch(desk)
    assert listed(desk, statuses=["done"]) == []
    sha = work(desk)
    hear(desk)
    assert listed(desk, statuses=["todo"]) == ["Something else"]
    every = desk.ask("tasks/list", statuses=["done"])["tasks"]
    assert {one["title"]: one["evidence"] for one in every} == {
        kind: evidence.format(sha=sha[:7]) for kind, evidence in KINDS
    }
    assert all(one["autoCompleted"] and one["completedAt"] for one in every)
    told = [{name: one[name] for name in ("taskId", "title", "evidence")} for one in every]
    desk.clock.pass_(MINUTE)
    for context in (
        desk.look(sessionKey="c2"),
        desk.start(sessionKey="c2"),
        desk.start("cursor", sessionKey="k1"),
    ):
        assert sorted(context["tasksAutoCompleted"], key=str) == sorted(told, key=str)
    desk.clock.pass_(HOUR)
    assert desk.start(sessionKey="c3")["tasksAutoCompleted"] == []


def test_a_start_looks_first_at_what_was_committed_while_nobody_did(desk: Desk) -> None:
    """Part of F11, B2 and D2: without an editor, and without a word from anyone."""
    desk.commit("begin", "old.py")
    desk.start(sessionKey="c1")
    plan(desk, *({"title": kind, "doneWhen": kind} for kind, _ in KINDS))
    desk.clock.pass_(MINUTE)
    sha = work(desk)
    told = desk.start(sessionKey="c2")
    assert {one["title"]: one["evidence"] for one in told["tasksAutoCompleted"]} == {
        kind: evidence.format(sha=sha[:7]) for kind, evidence in KINDS
    }
    (session,) = desk.ask("sessions/list")["sessions"]
    assert session["headCommitSha"] == sha


def test_a_start_looks_again_where_git_could_not_be_asked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Part of B2: one failure costs no commit."""
    desk.commit("begin", "old.py")
    desk.start(sessionKey="c1")
    desk.clock.pass_(MINUTE)
    sha = work(desk)
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(tmp_path))
        desk.app.answer(1, "threadline/context/start", {"agentId": AGENT, "sessionKey": "c2"})
    assert desk.ask("sessions/list")["sessions"][0]["headCommitSha"] != sha
    desk.start(sessionKey="c3")
    assert desk.ask("sessions/list")["sessions"][0]["headCommitSha"] == sha


@pytest.mark.parametrize("target", ["../outside", "nowhere"])
def test_a_path_that_leads_out_of_the_tree_is_neither_there_nor_gone(
    begun: Desk, target: str
) -> None:
    """Part of F11."""
    root = begun.repository.path
    (root / "vendor").mkdir()
    (root / "vendor" / "lib.py").write_text("1")
    (root.parent / "outside").mkdir()
    (root.parent / "outside" / "other.py").write_text("1")
    wishes = ["path gone: vendor", "path exists: vendor/other.py"]
    wishes += ["path gone: vendor/lib.py"] if target.startswith("..") else []
    plan(begun, *({"title": wish, "doneWhen": wish} for wish in wishes))
    (root / "vendor" / "lib.py").unlink()
    (root / "vendor").rmdir()
    (root / "vendor").symlink_to(target)
    assert begun.start(sessionKey="c1")["tasksAutoCompleted"] == []


def test_a_start_completes_what_holds_without_a_commit(begun: Desk) -> None:
    """Part of F11 and D2: of code, only what is committed counts."""
    plan(begun, *({"title": kind, "doneWhen": kind} for kind, _ in KINDS))
    assert begun.start(sessionKey="c1")["tasksAutoCompleted"] == []
    begun.repository.write("src/sign.py", WRITTEN)
    (begun.repository.path / "old.py").unlink()
    expected = [evidence for kind, evidence in KINDS if kind.startswith("path")]
    looked = begun.look(sessionKey="c2")["tasksAutoCompleted"]
    assert [one["evidence"] for one in looked] == expected
    assert listed(begun, statuses=["done"]) == []
    told = begun.start(sessionKey="c2")["tasksAutoCompleted"]
    assert (told, len(listed(begun, statuses=["done"]))) == (looked, 2)


def test_all_lines_must_hold(begun: Desk) -> None:
    """Part of F11."""
    every = "\n".join(kind for kind, _ in KINDS)
    whole, half = plan(
        begun,
        {"title": "All of it", "doneWhen": every},
        {"title": "More than that", "doneWhen": f"{every}\npath exists: never.py"},
    )
    sha = work(begun)
    scan(begun)
    assert shown(begun, half)["status"] == "todo"
    assert shown(begun, whole)["evidence"] == "; ".join(
        shown_by.format(sha=sha[:7]) for _, shown_by in KINDS
    )


COMMANDS = (
    "run: touch ran",
    "touch ran",
    "command succeeds: touch ran",
    "$(touch ran)",
    "path exists: $(touch ran)",
    "path exists: `touch ran`",
    "path exists: ; touch ran",
    "symbol exists: src/sign.py::sign; touch ran",
    "commit message matches: $(touch ran)",
    "commit touches: --upload-pack=touch ran",
)


def test_no_condition_ever_runs_anything(begun: Desk) -> None:
    """Part of F11."""
    plan(begun, *({"title": words, "doneWhen": words} for words in COMMANDS))
    work(begun)
    watch(begun)
    scan(begun)
    begun.start(sessionKey="c1")
    assert listed(begun, statuses=["done"]) == []
    assert [*begun.repository.path.rglob("ran")] == []


def test_a_task_that_is_taken_up_again_stays_so(begun: Desk) -> None:
    """Part of F11: what showed its end has shown too little."""
    order = ("backlog", "blocked", "in_progress", "todo")
    tasks = plan(begun, *({"title": one, "doneWhen": "commit touches: src/"} for one in order))
    work(begun)
    scan(begun)
    for task in tasks:
        assert shown(begun, task)["status"] == "done"
        (again,) = begun.ask("tasks/update", taskId=task["taskId"], status=task["title"])["tasks"]
        cleared = (again["evidence"], again["completedAt"], again["autoCompleted"])
        assert cleared == (None, None, False)
    begun.commit("Sign more", "src/more.py")
    assert begun.start(sessionKey="c1")["tasksAutoCompleted"] == []
    assert [shown(begun, task)["status"] for task in tasks] == list(order)
    key = tasks[0]["taskId"]
    begun.ask("tasks/update", taskId=key, doneWhen="path exists: src/most.py")
    begun.commit("Sign most", "src/most.py")
    assert [shown(begun, task)["status"] for task in tasks] == ["done", *order[1:]]


def test_what_a_person_completes_is_not_told_as_if_it_had_done_so_itself(begun: Desk) -> None:
    """Part of F11."""
    (task,) = plan(begun, {"title": "Sign them", "doneWhen": "path exists: never.py"})
    begun.start(sessionKey="c1")
    begun.clock.pass_(MINUTE)
    begun.ask("tasks/update", taskId=task["taskId"], status="done", evidence="seen")
    assert begun.start(sessionKey="c2")["tasksAutoCompleted"] == []


def test_nothing_completes_while_capture_is_paused_and_the_commit_is_not_kept(begun: Desk) -> None:
    """Part of F11 and B6."""
    (task,) = plan(begun, {"title": "Sign them", "doneWhen": "commit touches: src/"})
    begun.ask("capture/pause")
    work(begun)
    watch(begun)
    report(begun)
    assert shown(begun, task)["status"] == "todo"


def test_what_a_commit_seems_to_have_done_is_suggested_and_left_to_people(begun: Desk) -> None:
    """Part of F11 and D2."""
    (task,) = plan(begun, {"title": "Sign uploads with SHA-256", "doneWhen": "the auditor agrees"})

    def suggested(key: str) -> list[tuple[str, str]]:
        told = begun.start(sessionKey=key)["tasksSuggestedDone"]
        return [(one["taskId"], one["evidence"]) for one in told]

    begun.commit("WIP: sign uploads with SHA-256")
    begun.commit("test: cover signing of uploads with SHA-256", "tests/test_sign.py")
    assert suggested("c1") == []
    sha = begun.commit("feat(uploads): sign with SHA-256 (#12)", "src/sign.py")
    evidence = f"commit {sha[:7]} says “feat(uploads): sign with SHA-256 (#12)”"
    assert suggested("c2") == [(task["taskId"], evidence)]
    assert shown(begun, task)["status"] == "todo"
    begun.commit('Revert "feat(uploads): sign with SHA-256 (#12)"', "src/sign.py")
    assert suggested("c3") == []


def test_a_plan_is_made_in_one_call_and_worked_through(begun: Desk) -> None:
    """Part of F10 and F11."""
    first, second, third = plan(
        begun,
        {"title": "Design it", "priority": 2, "status": "backlog", "description": "On paper."},
        {"title": "Build it", "dependsOn": [0], "assignedAgentId": AGENT},
        {"title": "Sell it", "dependsOn": [1], "priority": 5, "doneWhen": "somebody buys it"},
        agentId="planner",
        idempotencyKey="plan",
    )
    assert (
        plan(begun, {"title": "Other"}, agentId="planner", idempotencyKey="plan")[0]["taskId"]
        == first["taskId"]
    )
    assert listed(begun) == ["Sell it", "Build it", "Design it"]
    assert (second["waitingFor"], third["waitingFor"]) == ([first["taskId"]], [second["taskId"]])
    assert {one["createdBy"] for one in (first, second, third)} == {"planner"}
    assert (first["assignedAgentId"], first["projectId"]) == ("any", begun.vault.project_id)
    for status in ("todo", "in_progress", "blocked", "in_progress", "done"):
        begun.clock.pass_(MINUTE)
        changed = begun.ask("tasks/update", taskId=first["taskId"], status=status, agentId=AGENT)
        assert (changed["outcome"], changed["tasks"][0]["status"]) == ("updated", status)
    assert (shown(begun, first)["updatedBy"], shown(begun, second)["waitingFor"]) == (AGENT, [])
    assert titles(begun.look()["sessionContext"]["activeTasks"]) == ["Sell it", "Build it"]
    filters: list[tuple[dict[str, Any], list[str]]] = [
        ({"statuses": ["done"]}, ["Design it"]),
        ({"statuses": ["todo", "done"], "priority": 5}, ["Sell it"]),
        ({"assignedAgentId": AGENT}, ["Build it"]),
        (
            {"assignedAgentId": AGENT, "includeAny": True, "statuses": ["todo"]},
            ["Sell it", "Build it"],
        ),
        ({"createdBy": "planner", "text": "PAPER"}, ["Design it"]),
        ({"createdBy": "user"}, []),
        ({"limit": 1, "offset": 1}, ["Build it"]),
    ]
    assert [listed(begun, **one) for one, _ in filters] == [expected for _, expected in filters]


LIMITS = {"title": 500, "description": 5_000, "doneWhen": 1_000}
HOSTILE = "*a" * 90 + "b"
"""What takes a matcher that goes back for ever."""


def test_a_task_is_planned_worked_on_and_ends_by_itself_or_is_suggested(begun: Desk) -> None:
    """F11."""
    check_limits(begun)
    check_life(begun)
    begun.start(sessionKey="before")
    begun.clock.pass_(MINUTE)
    wanted = [{"title": kind, "doneWhen": kind, "assignedAgentId": "cursor"} for kind, _ in KINDS]
    hopeless = {"title": "Hopeless", "doneWhen": f"commit message matches: {HOSTILE}"}
    prose = {"title": "Sign uploads with SHA-256", "doneWhen": "the auditor agrees"}
    assert conditions.parse(hopeless["doneWhen"]) is not None
    *checked, _, likely = plan(begun, *wanted, hopeless, prose, agentId="planner")
    begun.repository.write("long.txt")
    begun.repository.git("add", "--all")
    begun.repository.git("commit", "--quiet", "-m", f"Note\n\n{'a' * 4_900}", at=begun.clock.now)
    sha = work(begun)
    watch(begun)
    every = begun.ask("tasks/list", statuses=["done"], createdBy="planner")["tasks"]
    assert {(one["title"], one["evidence"]) for one in every} == {
        (kind, evidence.format(sha=sha[:7])) for kind, evidence in KINDS
    }
    assert all(one["autoCompleted"] and one["completedAt"] for one in every)
    assert shown(begun, likely)["status"] == "todo"
    done = begun.commit("feat(uploads): sign with SHA-256 (#12)", "src/more.py")
    told = begun.start(sessionKey="after")
    assert {one["taskId"] for one in told["tasksAutoCompleted"]} == {
        one["taskId"] for one in checked
    }
    assert all(one["evidence"] for one in told["tasksAutoCompleted"])
    (seeming,) = told["tasksSuggestedDone"]
    evidence = f"commit {done[:7]} says “feat(uploads): sign with SHA-256 (#12)”"
    assert (seeming["taskId"], seeming["evidence"]) == (likely["taskId"], evidence)
    (listed_,) = begun.ask("tasks/list", text="SHA-256", suggest=True)["tasks"]
    assert (listed_["status"], listed_["suggestion"]) == ("todo", evidence)


def check_limits(desk: Desk) -> None:
    """See that a task takes what fits, to the letter, and nothing of what does not."""
    fields = {name: "ä" * limit for name, limit in LIMITS.items()}
    for name, limit in LIMITS.items():
        refusal = desk.refused("tasks/create", tasks=[{"title": "x"} | {name: "ä" * (limit + 1)}])
        said = f"`tasks[0].{name}` has {limit + 1:,} characters, and {limit:,} is the most"
        assert said in refusal["message"]
    for wrong in ({"priority": 0}, {"priority": 6}, {"status": "doing"}):
        field = f"tasks[0].{next(iter(wrong))}"
        assert (
            desk.refused("tasks/create", tasks=[{"title": "x"} | wrong])["data"]["field"] == field
        )
    assert listed(desk) == []
    (whole,) = plan(desk, fields | {"priority": 5, "assignedAgentId": "cursor"})
    assert {name: whole[name] for name in LIMITS} == fields
    assert (whole["priority"], whole["assignedAgentId"]) == (5, "cursor")
    (plain,) = plan(desk, {"title": "Plain"})
    assert (plain["priority"], plain["assignedAgentId"], plain["status"]) == (3, "any", "todo")
    assert plan(desk, {"title": "Least", "priority": 1})[0]["priority"] == 1
    assert titles(desk.look("windsurf")["sessionContext"]["activeTasks"]) == ["Plain", "Least"]
    assert desk.look("windsurf")["otherOpenTaskCount"] == 1
    for one in desk.ask("tasks/list")["tasks"]:
        desk.ask("tasks/update", taskId=one["taskId"], status="done")


def check_life(desk: Desk) -> None:
    """Take a task through all its states, and one that waits for it."""
    first, second = plan(desk, {"title": "Cut"}, {"title": "Sew", "dependsOn": [0]})
    for status in ("backlog", "todo", "in_progress", "blocked", "done"):
        desk.clock.pass_(MINUTE)
        desk.ask("tasks/update", taskId=first["taskId"], status=status)
        now = shown(desk, first)
        assert (now["status"], now["completedAt"] is not None) == (status, status == "done")
        needs = [{"taskId": first["taskId"], "title": "Cut", "status": status}]
        waiting = shown(desk, second)
        assert waiting["needs"] == needs
        assert waiting["waitingFor"] == ([] if status == "done" else [first["taskId"]])
    circle = desk.refused("tasks/update", taskId=first["taskId"], dependsOn=[second["taskId"]])
    assert circle["data"]["field"] == "dependsOn"
    desk.ask("tasks/update", taskId=second["taskId"], status="done")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"dependsOn": [1]}, "tasks[0].dependsOn[0]"),
        ({"dependsOn": [0]}, "tasks[0].dependsOn"),
        ({"title": "x" * 501}, "tasks[0].title"),
        ({"description": "x" * 5_001}, "tasks[0].description"),
        ({"doneWhen": "x" * 1_001}, "tasks[0].doneWhen"),
    ],
)
def test_a_plan_that_does_not_fit_leaves_nothing(
    begun: Desk, fields: dict[str, Any], field: str
) -> None:
    """Part of F11."""
    bad = {"title": "Bad"} | fields
    refusal = begun.refused("tasks/create", tasks=[bad])
    assert refusal["data"]["field"] == field
    later = begun.refused(
        "tasks/create", tasks=[{"title": "Good"}, {"title": "Bad", "dependsOn": [7]}]
    )
    assert later["data"]["field"] == "tasks[1].dependsOn[0]"
    assert listed(begun) == []


def test_what_is_wanted_while_somebody_looks_is_looked_at_again(begun: Desk) -> None:
    """Part of F11: no commit is missed because another was just looked at."""
    folder, seen = begun.repository.path, list[int]()

    def look(_: object) -> None:
        seen.append(len(seen))
        if len(seen) == 1:
            checks.want(folder)
        if len(seen) == 2:
            raise RuntimeError("no room")

    checks = Checks(look)
    checks.want(folder)
    checks.settle()
    assert seen == [0, 1]
    checks.want(folder)
    checks.settle()
    assert seen == [0, 1, 2]
