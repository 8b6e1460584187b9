"""Tabs of a dashboard: one answer for each request, and every change as it happens."""

import contextlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError

from protocol.errors import Code
from tests.support import NOON, Repository, documents, threadline
from tests.webs import BRIEF, Dashboard, Tab, Visitor, see_it_serves

pytestmark = pytest.mark.slow


def wait_until_watched(tab: Tab) -> None:
    """Wait until the repository is looked at: what is committed from then on is told."""
    folder = Path(tab.request("threadline/status")["folder"])
    limit = time.monotonic() + BRIEF
    while not documents(folder, "marks"):
        assert time.monotonic() < limit
        see_it_serves(tab)


@pytest.mark.parametrize(
    ("message", "code", "identifier"),
    [
        ("nonsense", Code.PARSE_ERROR, None),
        ("", Code.PARSE_ERROR, None),
        (b"\xff\xfe", Code.PARSE_ERROR, None),
        ("[" * 5000 + "]" * 5000, Code.PARSE_ERROR, None),
        ([], Code.INVALID_REQUEST, None),
        (7, Code.INVALID_REQUEST, None),
        ({}, Code.INVALID_REQUEST, None),
        ({"id": None, "method": "threadline/version"}, Code.INVALID_REQUEST, None),
        ({"id": True, "method": "threadline/version"}, Code.INVALID_REQUEST, None),
        ({"id": {}, "method": "threadline/version"}, Code.INVALID_REQUEST, None),
        ({"id": 1}, Code.INVALID_REQUEST, 1),
        ({"id": "a", "method": 7}, Code.INVALID_REQUEST, "a"),
        ({"id": 2, "method": "threadline/nothing"}, Code.METHOD_NOT_FOUND, 2),
        ({"id": 3, "method": "initialize"}, Code.METHOD_NOT_FOUND, 3),
        ({"id": 4, "method": "threadline/status", "params": [1]}, Code.INVALID_PARAMS, 4),
        ({"id": 5, "method": "threadline/status", "params": {"a": 1}}, Code.INVALID_PARAMS, 5),
        (
            {"id": 6, "method": "threadline/status", "params": {"project": 7}},
            Code.INVALID_PARAMS,
            6,
        ),
    ],
)
def test_every_message_gets_exactly_one_answer(
    shared: Tab, message: Any, code: int, identifier: object
) -> None:
    """Part of G6."""
    shared.send(message if isinstance(message, str | bytes) else json.dumps(message))
    answer = shared.receive()
    assert (answer["id"], answer["error"]["code"]) == (identifier, code)
    see_it_serves(shared)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    folder = tmp_path_factory.mktemp("shared")
    home = {"THREADLINE_HOME": str(folder / "home")}
    with (
        Dashboard(folder, environment=home) as dashboard,
        dashboard.visit().open_tab() as tab,
    ):
        yield tab


def test_notifications_get_no_answer(shared: Tab) -> None:
    """Part of G6."""
    shared.send({"method": "$/cancelRequest"})
    shared.send({"method": "$/cancelRequest", "params": {"id": 77}})
    shared.send({"method": "window/workDoneProgress/cancel", "params": {"token": "none"}})
    shared.send({"method": "anything"})
    see_it_serves(shared)


@pytest.mark.parametrize("place", ["/etc", "~", ".", "../..", "0" * 20, "é", "x" * 600])
def test_a_page_reaches_nothing_but_the_users_projects(shared: Tab, place: str) -> None:
    """Part of G6."""
    for method in ("threadline/status", "threadline/scan", "threadline/purge"):
        shared.ask(1, method, project=place)
        assert shared.receive()["error"]["code"] == Code.INVALID_PARAMS


def test_all_tabs_see_a_commit_at_once(visitor: Visitor, tab: Tab, repository: Repository) -> None:
    """Part of G6."""
    with visitor.open_tab() as second:
        project = second.request("threadline/projects/list")["projects"][0]["projectId"]
        wait_until_watched(tab)
        repository.commit("a change that everyone sees")
        for each in (tab, second):
            change = each.hear("sessions")
            assert change["projectId"] == project
        (session,) = change["ids"]
        events = second.request("threadline/sessions/events", sessionId=session)["events"]
        assert events[-1]["commit"]["subject"] == "a change that everyone sees"


def test_a_tab_hears_what_another_process_writes(tab: Tab, repository: Repository) -> None:
    """Part of G6."""
    tab.request("threadline/memories/search")
    threadline("remember", "we sail on Friday", cwd=repository.path)
    change = tab.hear("memories")
    found = tab.request("threadline/memories/read", memoryIds=change["ids"])
    assert found["memories"][0]["content"] == "we sail on Friday"


PLAN: list[dict[str, Any]] = [
    {"title": "Cut the cloth", "assignedAgentId": "claude-code", "priority": 5},
    {"title": "Sew the coat", "dependsOn": [0], "doneWhen": "path exists: coat.py"},
    {"title": "Sign uploads with SHA-256", "status": "in_progress"},
]


def test_a_tab_has_all_that_a_board_shows_and_hears_what_changes(
    tab: Tab, repository: Repository
) -> None:
    """Part of F11 and G6: what others write and what completes by itself."""
    wait_until_watched(tab)
    assert tab.request("threadline/tasks/list")["tasks"] == []
    threadline("call", "threadline/tasks/create", json.dumps({"tasks": PLAN}), cwd=repository.path)
    made = tab.hear("tasks")["ids"]
    repository.commit("Sign uploads with SHA-256", name="src/sign.py")
    tab.hear("sessions")
    page = tab.request("threadline/tasks/list", suggest=True, limit=200)
    known = {one["title"]: one for one in page["tasks"]}
    assert (page["total"], {one["taskId"] for one in page["tasks"]}) == (3, set(made))
    cut, sew, sign = (known[one["title"]] for one in PLAN)
    assert (cut["assignedLabel"], cut["priority"], cut["status"]) == ("Claude Code", 5, "todo")
    need = {"taskId": cut["taskId"], "title": "Cut the cloth", "status": "todo"}
    assert (sew["needs"], sew["doneWhen"]) == ([need], "path exists: coat.py")
    assert (sew["assignedLabel"], sew["suggestion"]) == ("", None)
    assert "says “Sign uploads with SHA-256”" in sign["suggestion"]
    repository.commit("Make a coat", name="coat.py")
    assert tab.hear("tasks")["ids"] == [sew["taskId"]]
    (done,) = tab.request("threadline/tasks/list", statuses=["done"])["tasks"]
    assert (done["evidence"], done["autoCompleted"]) == ("coat.py exists", True)
    assert done["updatedAt"] == done["completedAt"] > sew["updatedAt"]
    threadline("send", "claude-code", "Go on", cwd=repository.path)
    (sent,) = tab.hear("messages")["ids"]
    thread = tab.request("threadline/messages/thread", messageId=sent)["messages"]
    assert [one["content"] for one in thread] == ["Go on"]


def test_a_tab_hears_of_another_project_once_it_has_looked_at_it(tab: Tab, tmp_path: Path) -> None:
    """Part of G6."""
    other = Repository.create(tmp_path / "other")
    other.commit("elsewhere", at=NOON)
    threadline("scan", "--all-authors", cwd=other.path)
    projects = tab.request("threadline/projects/list", everywhere=True)["projects"]
    assert [one["name"] for one in projects] == ["repository", "other"]
    project = projects[1]["projectId"]
    assert tab.request("threadline/sessions/list", project=project)["total"] == 1
    threadline("remember", "the other one sails on Monday", cwd=other.path)
    assert tab.hear("memories")["projectId"] == project


def test_a_tab_looks_first_at_the_project_that_the_dashboard_was_started_in(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of G6."""
    for name in ("first", "second"):
        other = Repository.create(tmp_path / name)
        other.commit(name, at=NOON)
        threadline("scan", "--all-authors", cwd=other.path)
    with Dashboard(repository.path) as dashboard, dashboard.visit().open_tab() as tab:
        projects = tab.request("threadline/projects/list", everywhere=True)["projects"]
    assert [one["name"] for one in projects] == ["repository", "first", "second"]


def test_what_takes_long_tells_how_far_it_is_and_can_be_cancelled(
    tab: Tab, repository: Repository
) -> None:
    """Part of G6."""
    repository.write_history(4000)
    tab.ask(1, "threadline/scan", allAuthors=True, workDoneToken="t")
    kinds = [tab.hear_progress()["kind"], tab.hear_progress()["kind"]]
    assert kinds == ["begin", "report"]
    tab.send({"method": "window/workDoneProgress/cancel", "params": {"token": "t"}})
    assert tab.receive()["error"]["code"] == Code.CANCELLED
    kinds = [one["params"]["value"]["kind"] for one in tab.notices if one["method"] == "$/progress"]
    assert kinds[-1] == "end"
    see_it_serves(tab)


def test_a_request_that_waits_can_be_cancelled_and_a_doubled_id_is_refused(tab: Tab) -> None:
    """Part of G6."""
    for number in range(20):
        tab.ask(number, "threadline/scan")
    tab.ask(19, "threadline/scan")
    tab.send({"method": "$/cancelRequest", "params": {"id": 19}})
    answers = [tab.receive() for _ in range(21)]
    codes = sorted(one["error"]["code"] for one in answers if one["id"] == 19)
    assert codes == sorted([Code.CANCELLED, Code.INVALID_REQUEST])
    assert sorted(one["id"] for one in answers) == [*range(19), 19, 19]
    see_it_serves(tab)


def test_memory_is_made_and_forgotten_from_a_page(tab: Tab, repository: Repository) -> None:
    """Part of G6."""
    wait_until_watched(tab)
    repository.commit("Decide to use SQLite because it needs no server")
    session = tab.hear("sessions")["ids"][0]
    job = tab.request("threadline/enrichment/start", sessionId=session, workDoneToken=7)
    assert job["status"] == "completed"
    told = [one["params"] for one in tab.notices if one["method"] == "$/progress"]
    assert [told[0]["value"]["kind"], told[-1]["value"]["kind"]] == ["begin", "end"]
    written = tab.request("threadline/memories/write", type="fact", title="a", content="harbour")
    memory = written["memory"]["memoryId"]
    assert tab.confirm("threadline/memories/forget", memoryIds=[memory])["verified"]


def test_a_tab_that_does_not_read_is_answered_later_and_keeps_nobody_waiting(
    visitor: Visitor, tab: Tab
) -> None:
    """Part of G6."""
    text = "x" * 50_000
    tab.request("threadline/memories/write", type="fact", title="long", content=text)
    with visitor.open_tab(max_queue=1) as lazy:
        for number in range(400):
            lazy.ask(number, "threadline/memories/search")
        see_it_serves(tab)
        assert sorted(lazy.receive()["id"] for _ in range(400)) == [*range(400)]


def test_a_message_that_is_too_long_ends_its_tab_alone(visitor: Visitor, tab: Tab) -> None:
    """Part of G6."""
    with visitor.open_tab() as greedy:
        with contextlib.suppress(ConnectionClosedError):
            greedy.send("x" * (5 * 1024 * 1024))
        with pytest.raises(ConnectionClosedError):
            greedy.receive()
    see_it_serves(tab)


def test_work_goes_on_when_its_tab_is_closed_and_is_cancelled_at_the_end(
    dashboard: Dashboard, visitor: Visitor, tab: Tab, repository: Repository
) -> None:
    """Part of G6."""
    repository.write_history(1500)
    with visitor.open_tab() as closed:
        closed.ask(1, "threadline/scan", allAuthors=True, workDoneToken="t")
        closed.socket.recv(BRIEF)
    limit = time.monotonic() + BRIEF
    while tab.request("threadline/status")["events"] < 1500:
        assert time.monotonic() < limit
    repository.write_history(6000)
    tab.ask(2, "threadline/scan", allAuthors=True, workDoneToken="t")
    tab.socket.recv(BRIEF)
    dashboard.process.send_signal(signal.SIGTERM)
    assert dashboard.process.wait(10) == 0
