"""The parts of a dashboard that decide by themselves: keys, limits, what waits, which files are pages."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.methods import Change
from sidecar.transports import http_gates
from sidecar.transports.http_gates import Limit, retry_after
from sidecar.transports.web import dashboards, invitations, page_files
from sidecar.transports.web.dashboards import Dashboard
from sidecar.transports.web.keys import VALID_FOR, Keys
from sidecar.transports.web.routes import House
from sidecar.transports.web.tabs import News, Office
from tests.desks import Desk

HERE = "127.0.0.1:8123"


@dataclass
class Seconds:
    """A clock that moves only when it is told to."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


def test_a_token_opens_the_door_once(seconds: Seconds) -> None:
    """Part of G6."""
    keys = Keys(seconds)
    token = keys.issue()
    secret = keys.exchange(token)
    assert secret is not None
    assert keys.exchange(token) is None
    assert keys.knows(secret)
    assert not keys.knows(token)
    assert not keys.knows("")
    assert not keys.knows(keys.bearer)
    assert not keys.is_bearer(secret)
    assert keys.is_bearer(keys.bearer)


@pytest.mark.parametrize(("waited", "is_good"), [(VALID_FOR, True), (VALID_FOR + 0.1, False)])
def test_a_token_is_good_for_a_short_time(
    desk: Desk, seconds: Seconds, waited: float, is_good: bool
) -> None:
    """Part of G6."""
    keys = Keys(seconds)
    token = keys.issue()
    seconds.now += waited
    house = House(Office(desk.app), keys, 8123)

    async def show() -> httpx.Response:
        inside = httpx.ASGITransport(house.application())
        async with httpx.AsyncClient(transport=inside, base_url=f"http://{HERE}") as client:
            return await client.post(
                "/session", json={"token": token}, headers={"origin": f"http://{HERE}"}
            )

    answer = asyncio.run(show())
    assert answer.status_code == (200 if is_good else 401)
    assert ("secret" in answer.text) is is_good
    assert "set-cookie" not in answer.headers


@settings(max_examples=30)
@given(st.text())
def test_what_is_no_token_opens_nothing(guess: str) -> None:
    """Part of G6."""
    keys = Keys(Seconds())
    token = keys.issue()
    assert keys.exchange(guess) is None
    assert not keys.knows(guess)
    assert not keys.is_bearer(guess)
    assert keys.exchange(token) is not None


def test_old_tokens_make_room_for_new_ones(seconds: Seconds) -> None:
    """Part of G6."""
    keys = Keys(seconds)
    tokens = [keys.issue() for _ in range(17)]
    assert keys.exchange(tokens[0]) is None
    assert all(keys.exchange(one) for one in tokens[1:])


def test_a_limit_lets_through_a_burst_and_then_so_many_a_second(seconds: Seconds) -> None:
    """Part of G6."""
    limit = Limit(3, 0.5, seconds)
    assert [limit.take() for _ in range(4)] == [0.0, 0.0, 0.0, 2.0]
    seconds.now += 1.0
    assert limit.take() == 1.0
    seconds.now += 1.0
    assert [limit.take(), limit.take()] == [0.0, 2.0]
    seconds.now += 100.0
    assert [limit.take() for _ in range(4)] == [0.0, 0.0, 0.0, 2.0]
    assert [retry_after(0.1), retry_after(1.0), retry_after(1.2)] == ["1", "1", "2"]


def change(*ids: str, what: str = "memories", project: str = "p") -> Change:
    return Change(what=what, project_id=project, ids=ids)  # type: ignore[arg-type]  # a subject


def test_changes_that_wait_become_one_for_each_subject() -> None:
    """Part of G6."""
    news = News()
    for one in (
        change("a"),
        change("b", "a"),
        change("c", project="q"),
        change("d", what="jobs"),
        change(what="capture"),
    ):
        news.add_change(one)
    assert news.take() == [
        ("threadline/didChange", change("a", "b")),
        ("threadline/didChange", change("c", project="q")),
        ("threadline/didChange", change("d", what="jobs")),
        ("threadline/didChange", change(what="capture")),
    ]
    assert news.take() == []


def test_too_many_ids_mean_that_any_may_have_changed() -> None:
    """Part of G6."""
    news = News()
    news.add_change(change(*map(str, range(600))))
    news.add_change(change(*map(str, range(500, 1200))))
    news.add_change(change("z"))
    assert news.take() == [("threadline/didChange", change())]


def test_only_the_latest_progress_waits() -> None:
    """Part of G6."""
    news = News()
    told = [{"token": 1, "value": {"kind": kind, "n": n}} for n, kind in enumerate(PROGRESS)]
    for one in told:
        news.add_progress(one)
    assert news.take() == [("$/progress", told[0]), ("$/progress", told[4])]


PROGRESS = ("begin", "report", "report", "report", "end")


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        (8123, {"127.0.0.1:8123", "localhost:8123"}),
        (80, {"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"}),
    ],
)
def test_we_have_two_names_and_no_other(port: int, expected: set[str]) -> None:
    """Part of G6."""
    assert http_gates.hosts(port) == expected


def test_only_plain_files_of_known_kinds_are_pages(tmp_path: Path) -> None:
    """Part of G6."""
    for name in ("index.html", "about.html", "a/b.js", "a/index.html", "run.py", "notes", ".env"):
        path = tmp_path / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "secret.js").write_text("secret")
    (tmp_path / "pages" / "link.js").symlink_to(tmp_path / "secret.js")
    found = page_files.load(tmp_path / "pages")
    assert {path: file.content.decode() for path, file in found.items()} == {
        "/": "index.html",
        "/about": "about.html",
        "/a/b.js": "a/b.js",
        "/a/index": "a/index.html",
    }


def test_a_dashboard_that_is_gone_is_tidied_away(tmp_path: Path) -> None:
    """Part of E10."""
    for port, process in ((1, "gone"), (2, "here")):
        running = Dashboard(address="a", token="t", process=process)
        dashboards.announce(tmp_path, port, running)
    (tmp_path / "dashboards" / "3.json").write_text("nonsense")
    dashboards.tidy(tmp_path, lambda name: name == "here")
    names = sorted(path.name for path in (tmp_path / "dashboards").iterdir())
    assert names == ["2.json", "3.json"]


def test_no_browser_is_opened_where_nothing_can_be_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Part of G6."""
    monkeypatch.setattr("sys.platform", "linux")
    assert not invitations.show("http://127.0.0.1:1/", {"TERM": "xterm"})
