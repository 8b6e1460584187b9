"""Hovers, lenses and their commands under a raw client, and the same on the command line."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.errors import Code
from protocol.methods import METHODS
from sidecar.transports.exits import Exit
from tests.lsp_client import RawClient
from tests.support import NOON, Repository, threadline

pytestmark = pytest.mark.slow

DECISION = "Use advisory locks instead of Redis because we run no Redis in production"
HOVER, LENS = "textDocument/hover", "textDocument/codeLens"
MARKDOWN = {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}}
REFRESH = {"workspace": {"codeLens": {"refreshSupport": True}, "configuration": False}}
COMMANDS = {"memory": "threadline.openMemory", "file": "threadline.openStory", "session": "no good"}


@pytest.fixture
def worked(repository: Repository) -> Repository:
    """A repository with one decision in its memory."""
    repository.write("locks.py", "def lock():\n    pass\n")
    repository.commit(DECISION, at=NOON, name="notes.txt")
    repository.commit("nothing to say", at=NOON, name="silent.txt")
    assert threadline("scan", cwd=repository.path).returncode == Exit.OK
    assert threadline("enrich", "--all", cwd=repository.path).returncode == Exit.OK
    threadline("review", "--all-of", "decision", "--accept", cwd=repository.path)
    return repository


@contextlib.contextmanager
def serving(*folders: Path, **params: Any) -> Iterator[RawClient]:
    client = RawClient(folders[0])
    try:
        places = [{"uri": folder.as_uri(), "name": "folder"} for folder in folders]
        client.initialize(**({"workspaceFolders": places} | params))
        yield client
    finally:
        client.close()


def document(path: Path) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}}


def hover(client: RawClient, path: Path, line: int = 0) -> Any:
    params = document(path) | {"position": {"line": line, "character": 0}}
    return client.request("hover", HOVER, params)["result"]


def lenses(client: RawClient, path: Path) -> Any:
    return client.request("lens", LENS, document(path))["result"]


def test_a_hover_tells_the_decision_behind_a_line(worked: Repository) -> None:
    """Part of D13."""
    with serving(worked.path) as client:
        found = hover(client, worked.path / "locks.py", 1)
        assert found["contents"]["kind"] == "plaintext"
        first, *_, commit, session = found["contents"]["value"].splitlines()
        assert first.startswith("• Use advisory locks instead of Redis")
        assert "decision, 2026-03-02, commit" in first
        assert commit.startswith("commit ")
        assert session.startswith("session of 2026-03-02 12:00 UTC (cli-scan)")
    with serving(worked.path, capabilities=MARKDOWN) as client:
        found = hover(client, worked.path / "locks.py", 1)
        assert found["contents"]["kind"] == "markdown"
        assert found["contents"]["value"].startswith("- **Use advisory locks instead of Redis")
        assert "command:" not in found["contents"]["value"]


def test_a_lens_counts_and_its_command_shows_what_there_is(worked: Repository) -> None:
    """Part of D13."""
    with serving(worked.path) as client:
        (lens,) = lenses(client, worked.path / "locks.py")
        assert lens["range"]["start"] == {"line": 0, "character": 0}
        assert lens["command"]["title"].endswith("1 session")
        assert "memor" in lens["command"]["title"]
        assert lens["command"]["command"] == "threadline.showFile"
        run = {name: lens["command"][name] for name in ("command", "arguments")}
        story = client.request("run", "workspace/executeCommand", run)["result"]
        assert (story["path"], story["sessionCount"]) == ("locks.py", 1)
        told = client.hear(lambda said: said["method"] == "window/showMessage")
        assert told["params"]["message"].startswith(f"locks.py: {lens['command']['title']}\n- ")
        assert lenses(client, worked.path / "nowhere.py") == []


def test_silence_where_there_is_nothing_to_say(worked: Repository, tmp_path: Path) -> None:
    """Part of D13."""
    stray = Repository.create(tmp_path / "stray")
    stray.commit("elsewhere", name="a.py")
    worked.commit("new", name=".env")
    worked.write("unsaved.py")
    with serving(worked.path) as client:
        for path in (stray.path / "a.py", worked.path / ".env", worked.path / "unsaved.py"):
            assert hover(client, path) is None
            assert lenses(client, path) == []
        assert hover(client, worked.path / "locks.py", 99) is None
        for uri in (
            "untitled:Untitled-1",
            "vscode-remote://ssh/locks.py",
            "file://host/a",
            "file:",
            "",
            "%",
        ):
            params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
            assert client.request("hover", HOVER, params)["result"] is None
            assert client.request("lens", LENS, params)["result"] == []
    projects = json.loads(
        threadline(
            "call", "threadline/projects/list", '{"everywhere": true}', cwd=worked.path
        ).stdout
    )
    assert [one["name"] for one in projects["projects"]] == ["repository"]


def test_names_that_are_no_text_are_served(tmp_path: Path) -> None:
    """Part of D13."""
    repository = Repository.create(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")))
    odd = repository.path / os.fsdecode(b"caf\xe9.py")
    odd.write_text("x = 1\n")
    repository.commit(DECISION, at=NOON, name="other.py")
    with serving(repository.path) as client:
        assert "result" in client.request("scan", "threadline/scan", {})
        assert "result" in client.request("enrich", "threadline/enrichment/start", {})
        decided = {"kind": "decision", "verdict": "accept"}
        assert "result" in client.request("accept", "threadline/review/decide", decided)
        assert hover(client, odd) is not None
        (lens,) = lenses(client, odd)
        run = {name: lens["command"][name] for name in ("command", "arguments")}
        story = client.request("run", "workspace/executeCommand", run)["result"]
        assert story["path"] == "caf\\xe9.py"


def test_every_workspace_folder_and_worktree_is_served(worked: Repository, tmp_path: Path) -> None:
    """Part of D13."""
    other = Repository.create(tmp_path / "other")
    other.commit("before", name="a.py")
    worked.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    inside = worked.path / "deep"
    inside.mkdir()
    with serving(other.path, worked.path, tmp_path / "side") as client:
        assert hover(client, other.path / "a.py") is None
        assert hover(client, worked.path / "locks.py") is not None
        assert hover(client, tmp_path / "side" / "locks.py") is not None
        assert lenses(client, tmp_path / "side" / "locks.py") != []
    with serving(inside) as client:
        assert hover(client, worked.path / "locks.py") is None


def test_links_are_for_editors_that_say_they_follow_them(worked: Repository) -> None:
    """Part of D13."""
    params: dict[str, Any] = {
        "capabilities": MARKDOWN,
        "initializationOptions": {"commands": COMMANDS},
    }
    for name, is_linked in (("Visual Studio Code", True), ("Cursor", True), ("Neovim", False)):
        with serving(worked.path, clientInfo={"name": name}, **params) as client:
            text = hover(client, worked.path / "locks.py")["contents"]["value"]
            assert ("](command:threadline.openMemory?%5B%22" in text) is is_linked
            assert "no good" not in text
            (lens,) = lenses(client, worked.path / "locks.py")
            own = "threadline.openStory" if is_linked else "threadline.showFile"
            assert lens["command"]["command"] == own


def test_each_can_be_turned_off_and_lenses_are_asked_for_again(worked: Repository) -> None:
    """Part of D13."""
    path = worked.path / "locks.py"
    with serving(worked.path, capabilities=REFRESH) as client:
        assert len(lenses(client, path)) == 1
        off = {"settings": {"threadline": {"codeLens": False}}}
        client.notify("workspace/didChangeConfiguration", off)
        assert client.hear(lambda said: said["method"] == "workspace/codeLens/refresh")
        assert lenses(client, path) == []
        assert hover(client, path) is not None
        off = {"settings": {"threadline": {"hover": False}}}
        client.notify("workspace/didChangeConfiguration", off)
        assert hover(client, path) is None
        assert len(lenses(client, path)) == 1


def test_lenses_are_refreshed_when_they_say_something_else(worked: Repository) -> None:
    """Part of D13."""
    path = worked.path / "locks.py"
    with serving(worked.path, capabilities=REFRESH) as client:
        (before,) = lenses(client, path)
        written = {"type": "fact", "title": "One more", "content": "More", "files": ["locks.py"]}
        answer = client.request("write", "threadline/memories/write", written)
        assert "result" in answer
        assert client.hear(lambda said: said["method"] == "workspace/codeLens/refresh")
        (after,) = lenses(client, path)
        assert before["command"]["title"] != after["command"]["title"]
    with serving(worked.path) as client:
        lenses(client, path)
        client.request("write", "threadline/memories/write", written | {"title": "Another"})
        assert client.hear(lambda said: said["method"] == "threadline/didChange")
        assert client.hear(lambda said: said["method"] == "workspace/codeLens/refresh", 1.5) is None


def test_every_method_is_a_command(worked: Repository) -> None:
    """Part of D13."""
    client = RawClient(worked.path)
    with contextlib.closing(client):
        offered = client.initialize()["result"]["capabilities"]
        assert (offered["hoverProvider"], offered["codeLensProvider"]) == (
            True,
            {"resolveProvider": False},
        )
        commands = set(offered["executeCommandProvider"]["commands"])
        assert commands == {
            "threadline.showFile",
            *(method.name.replace("/", ".") for method in METHODS),
        }
        for command in sorted(commands):
            run = {"command": command, "arguments": [{"no such field": 1}]}
            answer = client.request(command, "workspace/executeCommand", run)
            assert (answer["id"], answer["error"]["code"]) == (command, Code.INVALID_PARAMS)
            assert "no such field" in answer["error"]["message"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["textDocument", "position", "uri", "line", "character", "x"]), inner
        )
    ),
    max_leaves=10,
)


def test_nonsense_gets_one_answer_each(worked: Repository) -> None:
    """Part of D13 and H4."""
    with serving(worked.path) as client:
        numbers = iter(range(1_000_000))

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(params=JSON, method=st.sampled_from([HOVER, LENS, "command"]))
        def ask(params: Any, method: str) -> None:
            identifier = next(numbers)
            if method == "command":
                run = {"command": "threadline.showFile", "arguments": params}
                answer = client.request(identifier, "workspace/executeCommand", run)
            else:
                answer = client.request(identifier, method, params)
            assert answer["id"] == identifier
            if "error" in answer:
                assert answer["error"]["code"] == Code.INVALID_PARAMS, answer
            else:
                assert answer["result"] in (None, [])

        ask()
        assert client.request("after", "threadline/version")["id"] == "after"


def test_a_hover_that_was_cancelled_is_answered_once(worked: Repository) -> None:
    """Part of D13."""
    with serving(worked.path) as client:
        path = worked.path / "locks.py"
        for number in range(20):
            params = document(path) | {"position": {"line": 0, "character": 0}}
            client.send({"jsonrpc": "2.0", "id": number, "method": HOVER, "params": params})
            client.notify("$/cancelRequest", {"id": number})
        answers = [client.receive() for _ in range(20)]
        assert sorted(one["id"] for one in answers) == list(range(20))
        for one in answers:
            assert "result" in one or one["error"]["code"] == Code.CANCELLED
        assert client.request("after", "threadline/version")["id"] == "after"


def test_why_tells_the_same_on_the_command_line(worked: Repository, tmp_path: Path) -> None:
    """Part of D13."""
    told = threadline("why", "locks.py:2", cwd=worked.path)
    assert told.returncode == Exit.OK
    lines = told.stdout.decode().splitlines()
    assert lines[0].startswith("commit ")
    assert lines[2].startswith("• Use advisory locks instead of Redis")
    found = json.loads(threadline("why", "locks.py:2", "--json", cwd=worked.path).stdout)
    assert (found["line"], found["memories"][0]["why"]) == (2, "commit")
    # A file of another repository is that one's.
    there = threadline("why", str(worked.path / "locks.py") + ":2", "--json", cwd=tmp_path)
    assert json.loads(there.stdout) == found
    named = threadline("why", "locks.py:2", "--project", str(worked.path), "--json", cwd=tmp_path)
    assert json.loads(named.stdout) == found
    about = threadline("why", "locks.py", cwd=worked.path)
    assert about.stdout.decode().startswith("locks.py: ")
    worked.write("unknown.py", "1\n")
    for name, code in (("unknown.py:1", Exit.OK), ("missing.py:1", Exit.NOT_FOUND)):
        silent = threadline("why", name, cwd=worked.path)
        assert (silent.returncode, silent.stdout) == (code, b"")
        assert b"nothing is known" in silent.stderr
    assert threadline("why", ":1", cwd=worked.path).returncode == Exit.USAGE
    assert threadline("why", "locks.py:0", cwd=worked.path).returncode == Exit.USAGE
