"""A line leads to its commit, its session and the memories behind it; a file to all that is known of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.errors import Code
from protocol.memories import Anchor, Evidence
from sidecar.memory.explain import Mentioned
from tests.desks import DECISION, Desk, elsewhere
from tests.support import HOUR, MINUTE, Repository

pytestmark = pytest.mark.slow

CODE = "def load(a):\n    return a + 1\n\n\ndef save(a):\n    return a - 1\n"


def explain(desk: Desk, path: str = "locks.py", line: int = 1, **more: Any) -> Any:
    return desk.ask("lines/explain", path=path, line=line, **more)


def about(desk: Desk, path: str = "locks.py", **more: Any) -> Any:
    return desk.ask("files/about", path=path, **more)


def reasons(found: Any) -> list[tuple[str, str]]:
    return [(one["why"], one["memory"]["title"]) for one in found["memories"]]


def test_a_line_leads_to_its_commit_session_and_memory(desk: Desk) -> None:
    """Part of D13."""
    sha = desk.commit(DECISION, "locks.py")
    made = desk.remember("Take advisory locks", "decision")
    desk.change(made, evidence=(Evidence(quote=DECISION, commit_sha=sha),))
    desk.enrich()
    found = explain(desk)
    assert (found["origin"]["sha"], found["origin"]["subject"]) == (sha, DECISION)
    assert (found["origin"]["authorName"], found["origin"]["path"]) == ("Ada", "locks.py")
    (page,) = desk.ask("sessions/list")["sessions"]
    assert found["session"]["sessionId"] == page["sessionId"]
    assert found["memories"][0]["why"] == "commit"
    assert found["memories"][0]["memory"]["type"] == "decision"
    assert "advisory locks" in found["memories"][0]["memory"]["title"]
    assert found["total"] == len(found["memories"])
    assert len(explain(desk, limit=1)["memories"]) == 1


def test_a_commit_is_known_by_the_names_it_had_before(desk: Desk) -> None:
    """Part of D13."""
    old = desk.commit(DECISION, "locks.py")
    made = desk.remember("Take advisory locks", "decision")
    desk.change(made, evidence=(Evidence(quote=DECISION, commit_sha=old),))
    desk.enrich()
    desk.app.workspace.arrange([desk.repository.path])
    desk.app.workspace.look()
    desk.clock.pass_(MINUTE)
    desk.repository.git("commit", "--quiet", "--amend", "-m", "Said better", at=desk.clock.now)
    desk.app.workspace.look()
    new = desk.repository.git("rev-parse", "HEAD")
    found = explain(desk)
    assert (found["origin"]["sha"], found["origin"]["subject"]) == (new, "Said better")
    assert found["origin"]["replaces"] == [old]
    assert found["session"] is not None
    assert reasons(found)[0][0] == "commit"


def test_memories_of_the_symbol_and_of_the_file_come_after_those_of_the_commit(desk: Desk) -> None:
    """Part of D13."""
    sha = desk.commit("write it", "locks.py", content=CODE)
    made = desk.remember("From the commit")
    desk.change(made, evidence=(Evidence(quote="x", commit_sha=sha[:8]),))
    for title, symbol in (("About load", "load"), ("About save", "save"), ("About all", None)):
        key = desk.remember(title)
        desk.change(key, anchors=(Anchor(path="locks.py", symbol=symbol),))
    desk.remember("Named", files=["locks.py"])
    desk.remember("Of another file", files=["other.py"])
    found = explain(desk, line=2)
    assert found["symbol"] == "load"
    assert reasons(found)[:2] == [("commit", "From the commit"), ("symbol", "About load")]
    assert {title for why, title in reasons(found) if why == "file"} == {
        "About save",
        "About all",
        "Named",
    }


def test_what_is_no_longer_true_is_not_told_and_what_replaced_it_is(desk: Desk) -> None:
    """Part of D13."""
    ids = [desk.remember(f"Number {number}", files=["locks.py"]) for number in range(5)]
    desk.commit("write it", "locks.py")
    desk.change(ids[0], status="superseded", superseded_by=ids[1])
    desk.change(ids[2], status="stale")
    desk.change(ids[3], feedback=-1.0)
    desk.ask("memories/forget", memoryIds=[ids[4]])
    assert [title for _, title in reasons(explain(desk))] == ["Number 1"]
    assert about(desk)["memoryCount"] == 1
    desk.change(ids[1], status="superseded", superseded_by=ids[0])
    assert about(desk)["memoryCount"] == 0


def test_what_belongs_to_another_branch_is_not_told(desk: Desk) -> None:
    """Part of D13."""
    desk.commit("begin", "locks.py", content=CODE)
    desk.repository.git("checkout", "--quiet", "-b", "side")
    sha = desk.commit("only here", "locks.py", content=CODE.replace("+ 1", "+ 2"))
    key = desk.remember("Of the side branch", files=["locks.py"])
    desk.change(key, evidence=(Evidence(quote="only here", commit_sha=sha),), branch="side")
    assert reasons(explain(desk, line=2)) == [("commit", "Of the side branch")]
    assert about(desk)["memoryCount"] == 1
    desk.repository.git("checkout", "--quiet", "main")
    assert reasons(explain(desk, line=2)) == []
    assert about(desk)["memoryCount"] == 0


def test_a_file_is_told_with_its_memories_and_sessions_by_all_its_names(desk: Desk) -> None:
    """Part of D13."""
    desk.commit("one", "old.py", content=CODE)
    desk.clock.pass_(5 * HOUR)
    desk.commit("two", "old.py", content=CODE.replace("+ 1", "+ 2"))
    desk.clock.pass_(5 * HOUR)
    desk.repository.git("mv", "old.py", "new.py")
    desk.commit("three", "new.py", content=CODE.replace("+ 1", "+ 3"))
    desk.remember("About the old name", files=["old.py"])
    desk.remember("About the new name", files=["new.py"])
    found = about(desk, "new.py")
    assert (found["memoryCount"], found["sessionCount"]) == (2, 3)
    assert len(found["memories"]) == 2
    starts = [one["startedAt"] for one in found["sessions"]]
    assert starts == sorted(starts, reverse=True)
    small = about(desk, "new.py", limit=1)
    assert (len(small["memories"]), len(small["sessions"]), small["sessionCount"]) == (1, 1, 3)


def test_counts_follow_every_change_whoever_makes_it(desk: Desk) -> None:
    """Part of D13."""
    assert about(desk)["sessionCount"] == 0
    other = desk.second()
    key = other.remember("By another process", files=["locks.py"])
    assert about(desk)["memoryCount"] == 1
    other.ask("ingest", events=[{"kind": "save", "files": [{"path": "locks.py"}]}])
    assert about(desk)["sessionCount"] == 1
    other.ask("memories/forget", memoryIds=[key])
    assert about(desk)["memoryCount"] == 0
    other.ask("purge", path="locks.py")
    assert about(desk)["sessionCount"] == 0
    other.close()


def test_a_session_with_very_many_files_has_all_of_them(desk: Desk) -> None:
    files = [{"path": f"file{number}.py"} for number in range(600)]
    desk.ask("ingest", events=[{"kind": "save", "files": files}])
    assert about(desk, "file599.py")["sessionCount"] == 1


def test_secret_ignored_and_outside_files_are_silent(desk: Desk, tmp_path: Path) -> None:
    """Part of D13."""
    desk.repository.write(".gitignore", "ignored.py\n")
    desk.repository.write(".threadlineignore", "hidden.py\n")
    desk.repository.write("ignored.py")
    desk.commit("secrets", ".env")
    desk.commit("hidden", "hidden.py")
    (tmp_path / "outside.py").write_text("x = 1\n")
    (desk.repository.path / "link.py").symlink_to(tmp_path / "outside.py")
    for path in (".env", "hidden.py", "ignored.py", ".git/config", "../outside.py", "link.py", "."):
        desk.remember(f"About {path}", files=[path])
        found = explain(desk, path)
        assert (found["origin"], found["session"], found["memories"]) == (None, None, []), path
        assert about(desk, path)["memoryCount"] == 0, path
    assert explain(desk, str(tmp_path / "outside.py"))["origin"] is None


def test_a_link_inside_leads_to_the_file_it_names(desk: Desk) -> None:
    desk.commit(DECISION, "locks.py")
    (desk.repository.path / "link.py").symlink_to("locks.py")
    found = explain(desk, "link.py")
    assert (found["path"], found["origin"]["subject"]) == ("locks.py", DECISION)
    absolute = explain(desk, str(desk.repository.path / "locks.py"))
    assert absolute["origin"] == found["origin"]


def test_a_folder_without_git_has_files_but_no_origins(desk: Desk, tmp_path: Path) -> None:
    """Part of D13."""
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "notes.md").write_text("hello\n")
    events = [{"kind": "save", "files": [{"path": "notes.md"}]}]
    desk.ask("ingest", project=str(plain), events=events)
    desk.remember("A", project=str(plain), files=["notes.md"])
    found = explain(desk, "notes.md", project=str(plain))
    assert (found["origin"], reasons(found)) == (None, [("file", "A")])
    told = about(desk, "notes.md", project=str(plain))
    assert (told["memoryCount"], told["sessionCount"]) == (1, 1)


def test_projects_do_not_see_each_other(desk: Desk, tmp_path: Path) -> None:
    other = elsewhere(tmp_path / "other", desk)
    desk.remember("Here", files=["a.txt"])
    assert about(desk, "a.txt")["memoryCount"] == 1
    assert about(other, "a.txt")["memoryCount"] == 0


def test_a_commit_that_was_not_recorded_is_told_by_git_without_what_is_secret(desk: Desk) -> None:
    """Part of D13."""
    token = "ghp_" + "a1B2" * 9
    desk.repository.commit(f"use {token} <private>and this</private>", name="locks.py")
    found = explain(desk)
    assert found["session"] is None
    assert token not in found["origin"]["subject"]
    assert "and this" not in found["origin"]["subject"]


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("lines/explain", {"path": "a.py"}, "line"),
        ("lines/explain", {"path": "a.py", "line": 0}, "line"),
        ("lines/explain", {"path": "", "line": 1}, "path"),
        ("lines/explain", {"path": "a.py", "line": 1, "limit": 0}, "limit"),
        ("lines/explain", {"path": "a.py", "line": 1.5}, "line"),
        ("files/about", {}, "path"),
        ("files/about", {"path": "x" * 5000}, "path"),
        ("files/about", {"path": "a.py", "extra": 1}, "extra"),
    ],
)
def test_what_is_wrong_is_named(
    desk: Desk, method: str, params: dict[str, Any], field: str
) -> None:
    problem = desk.refused(method, **params)
    assert (problem["code"], problem["data"]["field"]) == (Code.INVALID_PARAMS, field)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(path=st.text(min_size=1, max_size=60), line=st.integers(1, 2**31))
def test_any_place_is_answered(desk: Desk, path: str, line: int) -> None:
    """Part of D13."""
    for method, params in (
        ("lines/explain", {"path": path, "line": line}),
        ("files/about", {"path": path}),
    ):
        answer = desk.app.answer(1, f"threadline/{method}", params)
        assert answer.error is msgspec.UNSET or answer.error.code == Code.INVALID_PARAMS, answer


def test_only_what_changed_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        desk.remember(f"Number {number}", files=["locks.py"])
    mentioned, vault = Mentioned(), desk.vault
    assert len(mentioned.by_files(vault, ["locks.py"])) == 20
    read: list[str] = []
    glimpses = vault.memories.glimpses

    def note(ids: Any, *fields: str) -> Any:
        read.extend(ids)
        return glimpses(ids, *fields)

    monkeypatch.setattr(vault.memories, "glimpses", note)
    new = desk.remember("One more", files=["locks.py"])
    assert mentioned.by_files(vault, ["locks.py"])[-1] == new
    assert read == [new]


def test_a_repository_in_a_repository_is_its_own(desk: Desk) -> None:
    inner = Repository.create(desk.repository.path / "inner")
    inner.commit("inside", name="b.py")
    found = explain(desk, "b.py", project=str(inner.path))
    assert found["origin"]["subject"] == "inside"
    assert found["projectId"] != desk.vault.project_id
    assert explain(desk, "inner/b.py")["origin"] is None
