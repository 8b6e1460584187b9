"""`threadline serve` at work: what a client sees of saves, commits, settings, folders and long work."""

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.errors import Code
from tests.lsp_client import RawClient
from tests.support import NOON, Repository, documents, threadline

pytestmark = pytest.mark.slow

CHANGED = "threadline/didChange"
SESSIONS = "threadline/sessions/list"


class Editor(RawClient):
    """A client that answers what the server asks, from a table."""

    def __init__(self, folder: Path, answers: dict[str, Any] | None = None) -> None:
        super().__init__(folder)
        self.answers = answers or {}
        self.asked: list[str] = []

    def receive_any(self, seconds: float = 20.0) -> Any:
        message = super().receive_any(seconds)
        if isinstance(message, dict) and "method" in message and "id" in message:
            self.asked.append(message["method"])
            result = self.answers.get(message["method"])
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return message

    def open(self, *folders: Path, **params: Any) -> Any:
        """Begin, and wait until the repositories are watched."""
        listed = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        return self.initialize(workspaceFolders=listed, **params)

    def save(self, path: Path) -> None:
        self.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def change(self, what: str = "sessions", seconds: float = 20.0) -> Any:
        notice = self.hear(
            lambda said: said.get("method") == CHANGED and said["params"]["what"] == what, seconds
        )
        return notice and notice["params"]

    def events(self, project: Path | None = None) -> list[Any]:
        name = None if project is None else str(project)
        page = self.request("list", SESSIONS, {"project": name})["result"]
        found: list[Any] = []
        for session in reversed(page["sessions"]):
            params = {"project": name, "sessionId": session["sessionId"], "limit": 1000}
            found += self.request("events", "threadline/sessions/events", params)["result"][
                "events"
            ]
        return found

    def subjects(self, project: Path | None = None) -> list[str]:
        return [event["commit"]["subject"] for event in self.events(project) if event["commit"]]

    def until(self, done: Callable[[], bool]) -> None:
        """Wait for something to come true, looking again at every change."""
        limit = time.monotonic() + 30
        while not done():
            assert time.monotonic() < limit, "it did not come true"
            self.change(seconds=0.3)


Opener = Callable[..., Editor]


@pytest.fixture
def start() -> Iterator[Opener]:
    editors: list[Editor] = []

    def start(*folders: Path, answers: dict[str, Any] | None = None, **params: Any) -> Editor:
        editor = Editor(folders[0], answers)
        editors.append(editor)
        editor.open(*folders, **params)
        return editor

    yield start
    for editor in editors:
        editor.close()


def watched(editor: Editor, repository: Repository) -> Editor:
    """Wait until the server looks at a repository: a commit is what shows it."""
    editor.until(lambda: bool(marks(repository.path)))
    return editor


def marks(folder: Path) -> list[str]:
    """Name what the server says it has looked at."""
    found = threadline("status", "--json", cwd=folder)
    return list(documents(Path(json.loads(found.stdout)["folder"]), "marks"))


def test_a_commit_is_told_within_a_second(start: Opener, repository: Repository) -> None:
    """B1."""
    repository.commit("before")
    editor = watched(start(repository.path), repository)
    for subject in ("one", "two", "three"):
        repository.commit(subject)
        assert editor.change(seconds=1.0) is not None
    assert editor.subjects() == ["one", "two", "three"]


def test_a_save_is_told_and_recorded_under_the_editors_name(
    start: Opener, repository: Repository
) -> None:
    editor = start(repository.path, clientInfo={"name": "Cursor", "version": "3.19"})
    editor.save(repository.path / "src" / "a.py")
    (session_id,) = editor.change()["ids"]
    (event,) = editor.events()
    assert (event["sessionId"], event["source"]) == (session_id, "cursor")
    assert [change["path"] for change in event["files"]] == ["src/a.py"]


@pytest.mark.parametrize(
    ("client", "options", "source"),
    [
        ("Visual Studio Code", None, "vscode"),
        ("code-server", {"source": "devin"}, "devin"),
        ("Neovim", None, "neovim"),
        ("Helix", {"source": 5}, "lsp"),
    ],
)
def test_the_source_is_who_the_client_says_it_is(
    start: Opener, repository: Repository, client: str, options: Any, source: str
) -> None:
    editor = start(repository.path, clientInfo={"name": client}, initializationOptions=options)
    editor.save(repository.path / "a.py")
    assert editor.change() is not None
    assert [event["source"] for event in editor.events()] == [source]


def test_what_is_no_saved_file_is_passed_over(start: Opener, repository: Repository) -> None:
    """Part of B4."""
    editor = start(repository.path)
    for uri in ("untitled:1", "git:/a.py", "file:///", "file://%00", "http://x/a.py", "", "file:"):
        editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    wrong: list[Any] = [None, [], {}, {"textDocument": None}, {"textDocument": {"uri": 5}}]
    for params in wrong:
        editor.notify("textDocument/didSave", params)
    document = {"uri": (repository.path / "a.py").as_uri(), "languageId": "x", "version": 1}
    editor.notify("textDocument/didOpen", {"textDocument": document | {"text": "secret"}})
    editor.notify("textDocument/didClose", {"textDocument": {"uri": document["uri"]}})
    editor.save(repository.path / "real.py")
    assert editor.change() is not None
    assert [change["path"] for event in editor.events() for change in event["files"]] == ["real.py"]


def test_folders_are_added_and_removed_while_running(
    start: Opener, repository: Repository, tmp_path: Path
) -> None:
    """B1."""
    second = Repository.create(tmp_path / "second")
    editor = watched(start(repository.path), repository)
    folder = {"uri": second.path.as_uri(), "name": "second"}
    editor.notify(
        "workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}}
    )
    editor.until(lambda: bool(marks(second.path)))
    second.commit("now it counts")
    editor.until(lambda: editor.subjects(second.path) == ["now it counts"])
    answer = editor.request(1, "threadline/status")
    assert (answer["error"]["code"], answer["error"]["data"]["field"]) == (
        Code.INVALID_PARAMS,
        "project",
    )
    listed = editor.request(2, "threadline/projects/list", {})["result"]["projects"]
    assert [project["name"] for project in listed] == ["repository", "second"]
    editor.notify(
        "workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}}
    )
    editor.save(second.path / "unheard.py")
    editor.save(repository.path / "heard.py")
    editor.until(lambda: len(editor.events()) == 1)
    assert editor.subjects(second.path) == ["now it counts"]
    assert editor.request(3, "threadline/status")["result"]["name"] == "repository"


CONFIGURABLE = {
    "workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}
}


def test_settings_are_asked_for_and_a_wrong_one_is_reported_once(
    start: Opener, repository: Repository
) -> None:
    settings: list[Any] = [{"captureSaves": False, "sessionHours": "long", "command": ["x"]}]
    editor = start(
        repository.path,
        answers={"workspace/configuration": settings},
        capabilities=CONFIGURABLE,
    )
    said = editor.hear(lambda notice: notice["method"] == "window/showMessage")
    assert "threadline.sessionHours" in said["params"]["message"]
    assert editor.asked == ["client/registerCapability", "workspace/configuration"]
    editor.save(repository.path / "unheard.py")
    settings[0] = {"sessionHours": "long"}
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    editor.until(lambda: editor.asked.count("workspace/configuration") == 2)
    editor.save(repository.path / "heard.py")
    editor.until(lambda: len(editor.events()) == 1)
    assert not [notice for notice in editor.notices if notice["method"] == "window/showMessage"]


def test_settings_may_be_sent_by_a_client_that_cannot_be_asked(
    start: Opener, repository: Repository
) -> None:
    editor = start(repository.path)
    settings = {"threadline": {"captureSaves": False}}
    editor.notify("workspace/didChangeConfiguration", {"settings": settings})
    editor.save(repository.path / "unheard.py")
    editor.notify("workspace/didChangeConfiguration", {"settings": {"threadline": {}}})
    editor.save(repository.path / "heard.py")
    editor.until(lambda: bool(editor.events()))
    assert [event["files"][0]["path"] for event in editor.events()] == ["heard.py"]


def test_a_client_that_refuses_or_never_answers_is_served_all_the_same(
    repository: Repository,
) -> None:
    client = RawClient(repository.path)
    with contextlib.closing(client):
        client.initialize(
            capabilities=CONFIGURABLE,
            workspaceFolders=[{"uri": repository.path.as_uri(), "name": "x"}],
        )
        asked = client.hear(lambda said: said["method"] == "client/registerCapability")
        client.send({"id": asked["id"], "error": {"code": -32601, "message": "no"}})
        asked = client.hear(lambda said: said["method"] == "workspace/configuration")
        client.send({"id": asked["id"], "result": "nonsense"})
        assert client.request(1, "threadline/status", {})["id"] == 1


def test_every_method_is_a_command_too(start: Opener, repository: Repository) -> None:
    """H4."""
    repository.commit("one", at=NOON)
    editor = watched(start(repository.path), repository)
    run = "workspace/executeCommand"
    scanned = editor.request(1, run, {"command": "threadline.scan", "arguments": [{}]})
    assert scanned["result"]["imported"] == 1
    status = editor.request(2, run, {"command": "threadline.status"})
    assert status["result"]["events"] == 1
    wrong = {"command": "threadline.sessions.get", "arguments": [{"sessionId": 5}]}
    assert editor.request(3, run, wrong)["error"]["code"] == Code.INVALID_PARAMS
    paused = editor.request(4, run, {"command": "threadline.capture.pause"})
    assert paused["result"]["paused"]
    assert editor.change("capture") is not None


def progress(editor: Editor) -> list[Any]:
    return [said["params"] for said in editor.notices if said.get("method") == "$/progress"]


def test_long_work_tells_how_far_it_is(start: Opener, repository: Repository) -> None:
    repository.write_history(3000)
    editor = start(repository.path)
    params = {"workDoneToken": "mine"}
    assert editor.request(1, "threadline/scan", params)["result"]["imported"] == 3000
    told = progress(editor)
    kinds = [one["value"]["kind"] for one in told]
    assert {one["token"] for one in told} == {"mine"}
    assert (kinds[0], kinds[-1], "report" in kinds) == ("begin", "end", True)


def test_a_client_that_shows_progress_is_asked_for_a_place(
    start: Opener, repository: Repository
) -> None:
    repository.write_history(3000)
    editor = start(repository.path, capabilities={"window": {"workDoneProgress": True}})
    assert editor.request(1, "threadline/scan", {})["result"]["imported"] == 3000
    assert "window/workDoneProgress/create" in editor.asked
    assert [one["value"]["kind"] for one in progress(editor)][-1:] == ["end"]


@pytest.mark.parametrize("by_token", [True, False])
def test_long_work_can_be_cancelled_and_what_is_done_stays(
    start: Opener, repository: Repository, by_token: bool
) -> None:
    repository.write_history(12_000)
    editor = start(repository.path)
    params = {"workDoneToken": 7}
    editor.send({"jsonrpc": "2.0", "id": 1, "method": "threadline/scan", "params": params})
    editor.hear(
        lambda said: (
            said.get("method") == "$/progress" and said["params"]["value"]["kind"] == "report"
        )
    )
    if by_token:
        editor.notify("window/workDoneProgress/cancel", {"token": 7})
    else:
        editor.notify("$/cancelRequest", {"id": 1})
    answer = editor.receive()
    assert (answer["id"], answer["error"]["code"]) == (1, Code.CANCELLED)
    before = editor.request(2, "threadline/status", {})["result"]["events"]
    again = editor.request(3, "threadline/scan", {})["result"]
    assert again["alreadyKnown"] == before
    assert before + again["imported"] == 12_000


def test_capture_pauses_until_the_editor_restarts(start: Opener, repository: Repository) -> None:
    """B6."""
    editor = watched(start(repository.path), repository)
    answer = editor.request(1, "threadline/capture/pause", {"duration": "restart"})
    assert answer["result"]["paused"]
    assert editor.change("capture") is not None
    status = json.loads(threadline("status", "--json", cwd=repository.path).stdout)
    assert status["capture"]["paused"]
    editor.close()
    status = json.loads(threadline("status", "--json", cwd=repository.path).stdout)
    assert not status["capture"]["paused"]


def test_a_pause_that_runs_out_is_told(start: Opener, repository: Repository) -> None:
    editor = watched(start(repository.path), repository)
    assert threadline("pause", "1h", cwd=repository.path).returncode == 0
    assert editor.change("capture") is not None
    assert threadline("resume", cwd=repository.path).returncode == 0
    assert editor.change("capture") is not None


def test_what_another_process_records_is_told(start: Opener, repository: Repository) -> None:
    editor = watched(start(repository.path), repository)
    line = {
        "id": 1,
        "method": "threadline/ingest",
        "params": {"events": [{"kind": "capture", "text": "from the terminal"}]},
    }
    threadline("call", "-", cwd=repository.path, stdin=json.dumps(line).encode())
    assert editor.change() is not None
    assert [event["text"] for event in editor.events()] == ["from the terminal"]


def test_saves_that_were_noted_are_recorded_before_the_end(
    start: Opener, repository: Repository
) -> None:
    editor = start(repository.path)
    for number in range(200):
        editor.save(repository.path / f"{number}.py")
    editor.request(1, "threadline/status", {})
    editor.process.send_signal(signal.SIGTERM)
    assert editor.process.wait(10) == 0
    status = json.loads(threadline("status", "--json", cwd=repository.path).stdout)
    assert status["events"] == 200


def test_a_save_of_a_client_that_ends_before_it_told_its_settings_is_recorded(
    repository: Repository,
) -> None:
    with contextlib.closing(RawClient(repository.path)) as client:
        client.initialize(
            capabilities=CONFIGURABLE,
            workspaceFolders=[{"uri": repository.path.as_uri(), "name": "x"}],
        )
        uri = (repository.path / "quick.py").as_uri()
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        assert client.request(1, "shutdown")["id"] == 1
        client.notify("exit", None)
        assert client.process.wait(10) == 0
    status = json.loads(threadline("status", "--json", cwd=repository.path).stdout)
    assert status["events"] == 1


def test_the_log_is_a_private_file_and_names_no_content(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THREADLINE_LOG", str(tmp_path / "own.log"))
    with contextlib.closing(Editor(repository.path)) as editor:
        editor.open(repository.path, clientInfo={"name": "Helix"})
        said = editor.request(1, "threadline/nothing", {})
        assert said["error"]["code"] == Code.METHOD_NOT_FOUND
    log = tmp_path / "own.log"
    assert "serving Helix as lsp" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_two_servers_record_each_commit_once(start: Opener, repository: Repository) -> None:
    """B2."""
    first = watched(start(repository.path), repository)
    second = watched(start(repository.path), repository)
    for number in range(10):
        repository.commit(f"c{number}")
    repository.git("commit", "--quiet", "--amend", "-m", "c9, amended")
    wanted = [*(f"c{number}" for number in range(9)), "c9, amended"]
    first.until(lambda: first.subjects() == wanted)
    second.until(lambda: second.subjects() == wanted)


def test_a_users_git_is_never_disturbed(start: Opener, repository: Repository) -> None:
    """B7."""
    editor = watched(start(repository.path), repository)
    for number in range(500):
        repository.write("busy.txt", f"{number}\n")
        repository.git("add", "--all")
        repository.git("commit", "--quiet", "-m", f"c{number}")
    editor.until(lambda: len(editor.subjects()) == 500)
    assert editor.subjects() == [f"c{number}" for number in range(500)]
    assert not list((repository.path / ".git").glob("*.lock"))


def test_a_storm_loses_nothing_and_keeps_requests_answered(
    start: Opener, repository: Repository
) -> None:
    """B4."""
    for number in range(20_000):
        repository.write(f"many/{number % 200}/{number}.txt", "x\n")
    repository.commit("many")
    repository.git("checkout", "--quiet", "-b", "few")
    repository.git("rm", "--quiet", "-r", "many")
    repository.commit("few")
    editor = watched(start(repository.path), repository)
    stop = threading.Event()

    def storm() -> None:
        while not stop.is_set():
            repository.git("checkout", "--quiet", "main")
            repository.git("checkout", "--quiet", "few")

    storming = threading.Thread(target=storm)
    storming.start()
    try:
        for number in range(400):
            editor.save(repository.path / f"saved/{number}.py")
        waits = []
        for number in range(20):
            began = time.monotonic()
            assert editor.request(number, "threadline/status", {})["id"] == number
            waits.append(time.monotonic() - began)
        assert max(waits) < 5
    finally:
        stop.set()
        storming.join()
    repository.commit("after the storm")
    editor.until(lambda: editor.subjects() == ["after the storm"])
    saved = [event for event in editor.events() if event["kind"] == "save"]
    assert len({event["files"][0]["path"] for event in saved}) == len(saved) == 400


def children(process: int) -> set[str]:
    """Name the processes that a process has started, whichever of its threads did."""
    found: set[str] = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(task.read_text().split())
    return found


def test_no_child_is_left_when_the_server_is_killed(start: Opener, repository: Repository) -> None:
    repository.write_history(12_000)
    editor = watched(start(repository.path), repository)
    editor.send({"jsonrpc": "2.0", "id": 1, "method": "threadline/scan", "params": {}})
    limit = time.monotonic() + 20
    while not (born := children(editor.process.pid)):
        assert time.monotonic() < limit, "no git was ever started"
    editor.process.kill()
    editor.process.wait()
    while any(Path(f"/proc/{pid}").exists() for pid in born):
        assert time.monotonic() < limit, "git outlived the server"


def test_a_repository_of_a_stranger_gets_one_clear_notice(
    start: Opener, repository: Repository, tmp_path: Path
) -> None:
    """B7."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    strange = Repository.create(tmp_path / "strange")
    for path in [strange.path, *strange.path.rglob("*")]:
        os.chown(path, 12345, 12345)
    editor = start(strange.path, repository.path)
    said = editor.hear(
        lambda notice: (
            notice.get("method") == "window/logMessage"
            and "dubious ownership" in notice["params"]["message"]
        )
    )
    assert said["params"]["type"] == 2
    watched(editor, repository)
    repository.commit("still watched")
    editor.until(lambda: editor.subjects(repository.path) == ["still watched"])
