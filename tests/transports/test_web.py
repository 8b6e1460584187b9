"""`threadline dashboard` as a process: who comes in, what is told, and how it ends."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError

from sidecar.transports.web import page_files
from tests.support import ROOT, Repository, threadline
from tests.webs import BRIEF, COMMAND, Dashboard, Tab, Visitor, complaints, see_it_serves, start

pytestmark = pytest.mark.slow


def cannot_reach(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 2).close()
    except OSError:
        return True
    return False


def test_only_this_machine_can_reach_it(dashboard: Dashboard) -> None:
    """Part of G6."""
    listening = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{dashboard.process.pid}/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{dashboard.port:04X}")
    ]
    assert listening == [f"0100007F:{dashboard.port:04X}"]
    assert cannot_reach("127.0.0.2", dashboard.port)
    assert cannot_reach("::1", dashboard.port)


def test_an_address_lets_one_tab_in_once(dashboard: Dashboard) -> None:
    """Part of G6."""
    token = dashboard.told["url"].removeprefix(f"{dashboard.address}/enter#")
    assert len(token) == 43
    visitor = Visitor(f"127.0.0.1:{dashboard.port}", dashboard.address)
    answer = visitor.show(token)
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    visitor.secret = answer.json()["secret"]
    assert len(visitor.secret) == 43
    with visitor.open_tab() as tab:
        see_it_serves(tab)
    assert visitor.show(token).status_code == 401
    with visitor.open_tab() as tab:
        see_it_serves(tab)


def test_each_tab_has_a_secret_of_its_own(dashboard: Dashboard) -> None:
    """Part of G6."""
    first, second = dashboard.visit(), dashboard.visit("localhost")
    assert first.secret != second.secret
    with first.open_tab() as one, second.open_tab() as another:
        see_it_serves(one)
        see_it_serves(another)


def test_too_many_knocks_have_to_wait(dashboard: Dashboard) -> None:
    """Part of G6."""
    visitor = Visitor(f"127.0.0.1:{dashboard.port}", dashboard.address)
    answers = [visitor.show("guess") for _ in range(11)]
    assert [one.status_code for one in answers] == [401] * 10 + [429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 5
    assert dashboard.is_serving()


def test_every_page_is_served_and_may_load_nothing_but_ours(visitor: Visitor) -> None:
    """Part of G6."""
    pages = {**page_files.load(page_files.PAGES), **page_files.load(page_files.DOOR)}
    assert {"/", "/enter", "/enter.js"} <= set(pages)
    for path, file in pages.items():
        answer = visitor.get(path)
        assert (answer.status_code, answer.content) == (200, file.content)
        assert answer.headers["content-type"] == file.kind
        policy = answer.headers["content-security-policy"].split("; ")
        assert policy[:3] == ["default-src 'none'", "script-src 'self'", "style-src 'self'"]
        assert {"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} <= set(policy)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "server" not in answer.headers


def test_pages_hold_no_script_or_style_in_line() -> None:
    """Part of G6."""
    written = [*page_files.PAGES.rglob("*.html"), *page_files.DOOR.rglob("*.html")]
    assert len(written) >= 2
    for page in written:
        text = page.read_text()
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|https?://", text)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


def test_checkpoints_are_listed_by_project_and_by_conversation(
    dashboard: Dashboard, visitor: Visitor, tab: Tab, tmp_path: Path
) -> None:
    """E10."""
    elsewhere = save_elsewhere(tmp_path / "other")
    for number in range(12):
        told = {"digest": f"state {number}", "harness": "claude-code"}
        tab.request("threadline/context/digest", sessionKey="main", **told)
    tab.request("threadline/context/digest", sessionKey="a/b c", digest="elsewhere")
    by_request = tab.request("threadline/checkpoints/list")
    by_key = tab.request("threadline/checkpoints/list", sessionKey="a/b c")
    assert (len(by_request["checkpoints"]), by_request["total"]) == (10, 13)
    assert [one["digest"] for one in by_key["checkpoints"]] == ["elsewhere"]

    stranger = Visitor(f"127.0.0.1:{dashboard.port}", dashboard.address)
    bearer = {"authorization": f"Bearer {dashboard.bearer}"}
    ask = httpx.Client(base_url=dashboard.address, headers=bearer)
    with ask, httpx.Client(base_url=dashboard.address) as nobody:
        for path in ("/api/checkpoints", "/api/checkpoints/main", "/api/checkpoints?limit=1"):
            assert nobody.get(path).status_code == 401, path
            assert stranger.get(path).status_code == 401, path
            for wrong in ("Bearer", "Bearer x", f"Basic {dashboard.bearer}", dashboard.bearer):
                assert nobody.get(path, headers={"authorization": wrong}).status_code == 401
        assert nobody.get(f"/api/checkpoints?token={dashboard.bearer}").status_code == 401
        there = ask.get(f"/api/checkpoints?project={elsewhere}").json()
        assert [one["digest"] for one in there["checkpoints"]] == ["of another project"]
        assert ask.get(f"/api/checkpoints/main?project={elsewhere}").json() == there
        assert ask.get("/api/checkpoints").json() == by_request
        assert visitor.get("/api/checkpoints").status_code == 401
        assert len(ask.get("/api/checkpoints?limit=13").json()["checkpoints"]) == 13
        assert ask.get("/api/checkpoints/a%2Fb%20c").json() == by_key
        assert ask.get("/api/checkpoints/a/b%20c").json() == by_key
        assert ask.get("/api/checkpoints/nobody").json() == {"checkpoints": [], "total": 0}
        for wrong in ("limit=0", "limit=101", "limit=ten", "limit=1&limit=2", "colour=red"):
            assert ask.get(f"/api/checkpoints?{wrong}").status_code == 400, wrong
        assert ask.get(f"/api/checkpoints?limit={'9' * 4000}").status_code == 400
        assert ask.get("/api/checkpoints?project=/etc").status_code == 400
        assert ask.get("/api/checkpoints", headers={"authorization": "Bearer x"}).status_code == 401
        many = [ask.get("/api/checkpoints") for _ in range(40)]
    assert {one.status_code for one in many} == {200, 429}
    assert many[0].status_code == 200
    assert all("retry-after" in one.headers for one in many if one.status_code == 429)
    assert visitor.get("/").status_code == 200


def save_elsewhere(folder: Path) -> str:
    """Save a conversation of the same name in another project; give that project's id."""
    Repository.create(folder).commit("begin elsewhere")
    saved = json.dumps({"sessionKey": "main", "digest": "of another project"})
    done = threadline("call", "threadline/context/digest", saved, cwd=folder)
    assert done.returncode == 0, done.stderr
    status = threadline("call", "threadline/status", cwd=folder)
    return str(json.loads(status.stdout)["projectId"])


def test_the_token_of_programs_is_for_this_user_alone(dashboard: Dashboard) -> None:
    """Part of E10."""
    path = Path(dashboard.told["tokenFile"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    dashboard.process.send_signal(signal.SIGTERM)
    assert dashboard.process.wait(BRIEF) == 0
    assert not path.exists()


def test_what_a_killed_dashboard_left_is_tidied(repository: Repository) -> None:
    """Part of E10."""
    with Dashboard(repository.path) as killed:
        left = Path(killed.told["tokenFile"])
        killed.process.kill()
        killed.process.wait()
        assert left.exists()
    with Dashboard(repository.path) as next_one:
        assert not left.exists()
        assert Path(next_one.told["tokenFile"]).exists()


def test_nobody_holds_it_up(dashboard: Dashboard, visitor: Visitor) -> None:
    """Part of G6."""
    idle = [socket.create_connection(("127.0.0.1", dashboard.port)) for _ in range(80)]
    began = time.monotonic()
    for one in idle[::2]:
        with contextlib.suppress(OSError):
            one.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
    for one in idle:
        one.settimeout(BRIEF)
        with contextlib.suppress(ConnectionResetError):
            assert one.recv(100) == b""
        one.close()
    assert time.monotonic() - began < 15
    assert visitor.get("/").status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_when_it_is_asked_to(dashboard: Dashboard, tab: Tab, number: int) -> None:
    """Part of G6."""
    see_it_serves(tab)
    dashboard.process.send_signal(number)
    assert dashboard.process.wait(BRIEF) == 0
    with pytest.raises(ConnectionClosedError):
        tab.receive()
    assert complaints(dashboard.process) == []


@pytest.mark.parametrize("options", [(), ("--json",)], ids=str)
def test_for_a_script_it_ends_with_its_input(
    repository: Repository, options: tuple[str, ...]
) -> None:
    """Part of G6."""
    process = start(repository.path, "--until-eof", *options)
    assert process.stdin is not None
    assert process.stdout is not None
    assert b"http://127.0.0.1:" in process.stdout.readline()
    process.stdin.close()
    assert process.wait(BRIEF) == 0
    assert complaints(process) == []
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def test_without_a_word_to_the_contrary_it_outlives_its_input(dashboard: Dashboard) -> None:
    assert dashboard.process.stdin is not None
    dashboard.process.stdin.close()
    assert dashboard.is_serving()


def test_what_comes_in_for_the_script_that_starts_it_is_left_there(repository: Repository) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"echo later\n")
    os.close(writer)
    process = start(repository.path, "--no-open", stdin=reader)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline()
    process.terminate()
    assert process.wait(BRIEF) == 0
    with os.fdopen(reader, "rb") as left:
        assert left.read() == b"echo later\n"
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def test_pages_that_are_not_built_are_missed_aloud(repository: Repository, tmp_path: Path) -> None:
    """Part of G6."""
    script = (
        "from pathlib import Path\n"
        "from sidecar.transports.web import page_files, main\n"
        f"page_files.PAGES = Path({str(tmp_path)!r})\n"
        "main.main(['--until-eof'])\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    (line,) = told.stderr.decode().splitlines()
    assert line.startswith("threadline: the pages are not built")
    assert "`make pages`" in line


def test_it_ends_with_whoever_started_it(repository: Repository) -> None:
    """Part of G6."""
    script = (
        "import subprocess, sys\n"
        f"one = subprocess.Popen([sys.executable, *{COMMAND!r}, '--json'], stdout=subprocess.PIPE)\n"
        "print(one.pid, flush=True)\n"
        "print(one.stdout.readline().decode(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert json.loads(parent.stdout.readline())["address"]
    parent.kill()
    parent.wait()
    began = time.monotonic()
    while is_running(child) and time.monotonic() - began < 10:
        select.select([], [], [], 0.1)
    for pipe in (parent.stdin, parent.stdout):
        assert pipe is not None
        pipe.close()
    assert not is_running(child)


def is_running(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_terminal_is_told_another_address_at_enter_and_ends_it(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of G6."""
    ours, theirs = pty.openpty()
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o700)
    process = start(
        repository.path,
        environment={"BROWSER": f"{browser} %s"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    first = read_until(ours, b"It opens in your browser now")
    assert b"press Enter" in first
    os.write(ours, b"\n")
    again = read_until(ours, b"Another: ", b"\r\n")
    tokens = re.findall(rb"/enter#([\w-]{43})", first + again)
    assert len(set(tokens)) == 2
    port = int(re.findall(rb"127\.0\.0\.1:(\d+)/enter", first)[0])
    visitor = Visitor(f"127.0.0.1:{port}", f"http://127.0.0.1:{port}")
    assert [visitor.show(one.decode()).status_code for one in tokens] == [200, 200]
    limit = time.monotonic() + BRIEF
    while not opened.exists() and time.monotonic() < limit:
        select.select([], [], [], 0.05)
    assert opened.read_bytes().endswith(b"/enter#" + tokens[0])
    process.send_signal(signal.SIGINT)
    assert process.wait(BRIEF) == 0
    os.close(ours)


def read_until(terminal: int, *wanted: bytes) -> bytes:
    """Read from a terminal until all of these came, in their order."""
    seen = b""
    while not re.search(b".*".join(map(re.escape, wanted)), seen, re.DOTALL):
        ready, _, _ = select.select([terminal], [], [], BRIEF)
        assert ready, seen
        seen += os.read(terminal, 4096)
    return seen


def test_a_port_that_is_taken_is_named(dashboard: Dashboard, repository: Repository) -> None:
    """Part of G6."""
    done = threadline("dashboard", "--port", str(dashboard.port), cwd=repository.path)
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.decode().startswith(f"threadline: port {dashboard.port} is taken;")
    assert dashboard.is_serving()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--port", "65536"), 2),
        (("--port", "-1"), 2),
        (("--port", "http"), 2),
        (("--host", "0.0.0.0"), 2),
        (("--project", "/nowhere/at/all"), 3),
    ],
)
def test_what_cannot_be_served_is_said(
    repository: Repository, arguments: tuple[str, ...], code: int
) -> None:
    """Part of G6."""
    done = threadline("dashboard", *arguments, cwd=repository.path)
    assert (done.returncode, done.stdout) == (code, b"")
    assert b"Traceback" not in done.stderr


def test_a_port_can_be_chosen_and_another_project_named(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of G6."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ("--port", str(port), "--project", str(repository.path))
    with Dashboard(tmp_path, *arguments) as dashboard, dashboard.visit().open_tab() as tab:
        assert dashboard.port == port
        assert tab.request("threadline/status")["name"] == "repository"


def test_nobody_else_loads_a_server() -> None:
    """Part of G6."""
    code = (
        "import sys, sidecar.transports.cli.main, sidecar.transports.entry\n"
        "print([name for name in ('uvicorn', 'starlette', 'websockets') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"[]\n"
