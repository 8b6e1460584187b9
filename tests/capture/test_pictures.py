"""Picturing: what weeks of work looked like, in one cheap request."""

import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from protocol.events import Commit, NewEvent
from protocol.timelines import TimelineParams
from sidecar.capture import record
from sidecar.capture import timeline as capture_timeline
from sidecar.storage.vault import Vault
from tests.desks import Desk
from tests.support import HOUR, MINUTE, NOON, FixedClock, save

DAY = timedelta(days=1)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def timeline(desk: Desk, since: datetime, until: datetime | None = None) -> Any:
    span = {"since": since.isoformat()} | ({"until": until.isoformat()} if until else {})
    return desk.ask("timeline", **span)


def test_a_session_is_told_with_its_commits_and_its_saves(desk: Desk) -> None:
    """Part of G6."""
    desk.commit("Weave the hem")
    desk.clock.pass_(20 * MINUTE)
    desk.ask("ingest", events=[{"kind": "save", "files": [{"path": "hem.py"}]}])
    (mark,) = timeline(desk, NOON - DAY)["sessions"]
    assert [one["subject"] for one in mark["commits"]] == ["begin", "Weave the hem"]
    assert (mark["events"], mark["saves"], mark["commitCount"]) == (3, 1, 2)
    assert mark["activity"] == [2, 0, 1]
    assert mark["filesModified"] == ["a.txt", "hem.py"]
    assert (mark["startedAt"], mark["status"]) == ("2026-03-02T12:00:00Z", "active")


def test_what_comes_is_there_at_the_next_look(desk: Desk) -> None:
    desk.commit("One")
    assert timeline(desk, NOON)["sessions"][0]["commitCount"] == 2
    desk.commit("Two")
    assert timeline(desk, NOON)["sessions"][0]["commitCount"] == 3


def test_only_what_a_time_has_is_told_and_when_there_was_something_before(desk: Desk) -> None:
    desk.ask("scan")
    desk.clock.pass_(10 * DAY)
    desk.commit("Much later")
    later = timeline(desk, NOON + DAY)
    assert [one["subject"] for mark in later["sessions"] for one in mark["commits"]] == [
        "Much later"
    ]
    assert later["earlier"] == "2026-03-02T12:00:00Z"
    earlier = timeline(desk, NOON - DAY, NOON + DAY)
    assert [len(earlier["sessions"]), earlier["earlier"]] == [1, None]
    assert timeline(desk, NOON + DAY, NOON + 2 * DAY)["sessions"] == []


def test_a_session_that_goes_on_into_a_time_belongs_to_it(vault: Vault, clock: FixedClock) -> None:
    clock.pass_(DAY)
    begun = NOON + 11 * HOUR
    record.ingest(vault, [save(at=begun), save(at=begun + 3 * HOUR)], "vscode")
    midnight = NOON + 12 * HOUR
    for params in (TimelineParams(since=midnight), TimelineParams(since=NOON, until=midnight)):
        (mark,) = capture_timeline.picture(vault, params).sessions
        assert mark.started_at == begun


def test_memories_stand_where_what_they_tell_of_happened(desk: Desk) -> None:
    made = desk.remember("Herons are blue", occurredAt=(NOON + HOUR).isoformat())
    old = desk.remember("Herons were grey", occurredAt=(NOON - 9 * DAY).isoformat())
    gone = desk.remember("Herons are red")
    desk.change(gone, status="superseded")
    found = timeline(desk, NOON)["memories"]
    assert [(one["memoryId"], one["at"], one["type"]) for one in found] == [
        (made, "2026-03-02T13:00:00Z", "fact")
    ]
    before = timeline(desk, NOON - 10 * DAY, NOON)["memories"]
    assert [one["memoryId"] for one in before] == [old]


def test_secrets_and_long_words_do_not_get_into_the_picture(desk: Desk) -> None:
    key = desk.remember("Herons are blue")
    desk.change(key, title=f"The token is {SECRET} {'x' * 400}")
    (mark,) = timeline(desk, NOON - DAY)["memories"]
    assert SECRET not in mark["title"]
    assert len(mark["title"]) <= 200


def test_of_very_much_the_latest_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_timeline, "_SESSIONS", 1)
    monkeypatch.setattr(capture_timeline, "_MEMORIES", 1)
    desk.ask("scan")
    desk.clock.pass_(DAY)
    desk.commit("Later")
    for title in ("One", "Two", "Three"):
        desk.clock.pass_(MINUTE)
        desk.remember(title)
    told = timeline(desk, NOON - DAY)
    assert told["leftOut"] == {"sessions": 1, "memories": 2}
    assert [told["sessions"][0]["commits"][0]["subject"], told["memories"][0]["title"]] == [
        "Later",
        "Three",
    ]


@pytest.mark.parametrize(
    "params", [{}, {"since": "yesterday"}, {"since": "2026-03-02T12:00:00"}], ids=str
)
def test_a_time_must_be_said_exactly(desk: Desk, params: dict[str, str]) -> None:
    assert desk.refused("timeline", **params)["data"]["field"] == "since"


@pytest.mark.slow
def test_twelve_weeks_with_ten_thousand_events_are_told_at_once(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of G6."""
    clock.pass_(84 * DAY)
    starts = [NOON + 4 * HOUR * number for number in range(500)]
    for start in starts:
        record.ingest(vault, [_commit(start + MINUTE * step) for step in range(20)], "vscode")
    params = TimelineParams(since=NOON)
    assert sum(mark.events for mark in capture_timeline.picture(vault, params).sessions) == 10_000
    begun = time.perf_counter()
    capture_timeline.picture(vault, params)
    assert time.perf_counter() - begun < 20


def _commit(moment: datetime) -> NewEvent:
    made = Commit(sha=f"{int(moment.timestamp()):040x}", authored_at=moment, subject="Spin")
    return NewEvent(kind="commit", commit=made, occurred_at=moment)
