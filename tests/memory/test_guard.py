"""What a change concerns: by files, symbols and conditions; silent where nobody can tell."""

import json

import msgspec
import pytest

from protocol.memories import Anchor
from sidecar.transports.exits import Exit
from tests.desks import Desk
from tests.support import NOON, Repository, threadline

APP = (
    "class Store:\n    def open(self):\n        return lock()\n\n\ndef close():\n    return None\n"
)


def stage(repository: Repository, **files: str | None) -> None:
    for name, text in files.items():
        path = repository.path / f"{name}.py"
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
    repository.git("add", "--all")


def told(desk: Desk, **params: str) -> list[tuple[str, str, str]]:
    found = desk.ask("check", **params)["concerns"]
    return [(one["state"], one["kind"], one["title"]) for one in found]


@pytest.fixture
def guarded(desk: Desk) -> Desk:
    stage(desk.repository, app=APP, other="x = 1\n")
    desk.repository.git("commit", "--quiet", "-m", "Add the store", at=NOON)
    for kind, title in (("constraint", "Rule"), ("decision", "Choice"), ("fact", "Fact")):
        desk.ask(
            "memories/write",
            type=kind,
            title=title,
            content=f"{title} about the store and nothing else",
            files=["app.py"],
            dedup=False,
        )
    return desk


def test_a_change_touches_what_speaks_of_its_files(guarded: Desk) -> None:
    """Part of D18: constraints and decisions; nothing where another file changes."""
    assert told(guarded) == []
    stage(guarded.repository, other="x = 2\n")
    assert told(guarded) == []
    stage(guarded.repository, app=APP.replace("lock", "bolt"))
    assert told(guarded) == [("touched", "constraint", "Rule"), ("touched", "decision", "Choice")]


def test_what_speaks_of_a_file_that_goes_becomes_stale(guarded: Desk) -> None:
    """Part of D18: but not where it is only renamed."""
    guarded.repository.git("mv", "app.py", "moved.py")
    assert {state for state, _, _ in told(guarded)} == {"touched"}
    guarded.repository.git("mv", "moved.py", "app.py")
    stage(guarded.repository, app=None)
    assert {state for state, _, _ in told(guarded)} == {"stale"}


def test_an_anchored_symbol_is_followed_and_its_neighbours_are_not(guarded: Desk) -> None:
    """Part of D18."""
    vault = guarded.vault
    memory = next(one for one in vault.memories.all() if one.title == "Rule")
    blob = guarded.repository.git("rev-parse", "HEAD:app.py").strip()
    sha = guarded.repository.git("rev-parse", "HEAD").strip()
    anchor = Anchor(path="app.py", commit_sha=sha, blob=blob, symbol="Store.open")
    anchored = msgspec.structs.replace(memory, anchors=(anchor,), type="constraint")
    vault.write([vault.memories.put(memory.memory_id, anchored)])

    def rule() -> list[str]:
        return [state for state, kind, _ in told(guarded) if kind == "constraint"]

    stage(guarded.repository, app=APP.replace("None", "True"))
    assert rule() == []
    stage(guarded.repository, app=APP.replace("lock()", "bolt()"))
    assert rule() == ["touched"]
    stage(guarded.repository, app="def close():\n    return None\n")
    assert rule() == ["stale"]
    stage(guarded.repository, app="def close():\n    return None\n", store=APP)
    assert rule() == ["touched"]


def test_a_change_that_finishes_a_task_says_so(guarded: Desk) -> None:
    """Part of D18."""
    tasks = [
        {"title": "Write it", "doneWhen": "path exists: new.py"},
        {"title": "Drop it", "doneWhen": "path gone: other.py"},
        {"title": "Later", "doneWhen": "path exists: later.py"},
    ]
    guarded.ask("tasks/create", tasks=tasks)
    stage(guarded.repository, new="y = 1\n", other=None)
    assert told(guarded) == [("done", "task", "Write it"), ("done", "task", "Drop it")]


def test_a_range_names_two_commits(guarded: Desk) -> None:
    """Part of D18."""
    stage(guarded.repository, app=None)
    guarded.repository.git("commit", "--quiet", "-m", "Remove the store", at=NOON)
    assert told(guarded) == []
    assert len(told(guarded, range="HEAD~1..HEAD")) == 2
    for wrong in ("HEAD", "HEAD~1...HEAD", "--output=x..HEAD", "nowhere..HEAD", "..", "HEAD.."):
        assert guarded.refused("check", range=wrong)["data"]["field"] == "range"
    assert not (guarded.repository.path / "x").exists()


@pytest.mark.slow
def test_ci_sees_it_by_the_exit_code(repository: Repository) -> None:
    """Part of D18."""
    stage(repository, app=APP)
    repository.git("commit", "--quiet", "-m", "Add the store", at=NOON)
    words = ("remember", "The store is opened once", "--type", "constraint", "--path", "app.py")
    assert threadline(*words, cwd=repository.path).returncode == Exit.OK
    silent = threadline("check", cwd=repository.path)
    assert (silent.returncode, silent.stdout) == (Exit.OK, b"")
    stage(repository, app=None)
    failed = threadline("check", "--staged", cwd=repository.path)
    assert failed.returncode == Exit.FAILED
    assert b"The store is opened once" in failed.stdout
    spoken = threadline("check", "--json", cwd=repository.path)
    assert json.loads(spoken.stdout)["concerns"][0]["state"] == "stale"
