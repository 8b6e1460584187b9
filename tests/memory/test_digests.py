"""Daily digests: one note for each past day on which something happened, made once."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from protocol.conversations import ListAgentsParams
from protocol.events import Commit, NewEvent
from protocol.memories import Memory
from protocol.settings import Settings
from sidecar.capture import record
from sidecar.memory import digests as memory_digests
from sidecar.memory import pipeline
from sidecar.memory.rules import digests
from sidecar.sharing import agents
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance
from tests.memory.test_pipeline import silent, tools
from tests.support import HOUR, NOON, FixedClock

UTC = ZoneInfo("UTC")


def commit(vault: Vault, subject: str, at: datetime, body: str = "") -> str:
    sha = f"{abs(hash(subject)):040x}"[:40]
    event = NewEvent(
        kind="commit",
        occurred_at=at,
        commit=Commit(sha=sha, authored_at=at, subject=subject, body=body),
    )
    (placed,) = record.ingest(vault, [event], "test")
    return str(placed.session_id)


def written(vault: Vault) -> list[Memory]:
    return [one for one in vault.memories.all() if one.agent_id == digests.AGENT]


def test_each_past_day_gets_one_digest_after_three(vault: Vault, clock: FixedClock) -> None:
    """C11."""
    why = "Workers need it because nothing else tells them apart."
    first = commit(vault, "Lock jobs in the database", NOON, why)
    clock.now = NOON + 6 * HOUR
    commit(vault, "Add a worker for jobs", clock.now)
    pipeline.start(vault, first, tools(), silent)
    clock.now = NOON + 14 * HOUR
    assert memory_digests.digest(vault, UTC, 3) == []
    clock.now = NOON + 15 * HOUR
    (digest,) = memory_digests.digest(vault, UTC, 3)
    assert (digest.type, digest.agent_id, digest.tags) == ("episodic", "daily-digest", ("digest",))
    assert digest.title.startswith("2026-03-02: ")
    assert "Lock jobs in the database" in digest.content
    assert "Add a worker for jobs" in digest.content
    (summary,) = [one for one in vault.memories.all() if one.type == "episodic" and one != digest]
    assert digest.covers == (summary.memory_id,)
    assert digest.evidence
    assert memory_digests.digest(vault, UTC, 3) == []
    assert written(vault) == [digest]


def test_a_digest_is_named_by_headlines_alone_and_makes_nobody_an_agent(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of C11."""
    commit(
        vault, "Lock jobs in the database", NOON, "It is needed because two workers share a queue."
    )
    commit(vault, "Add a test for jobs", NOON + HOUR)
    commit(vault, "Retry jobs that fail", NOON + 2 * HOUR)
    clock.now = NOON + 15 * HOUR
    (digest,) = memory_digests.digest(vault, UTC, 3)
    assert "because" in digest.content
    assert "because" not in digest.title
    assert agents.list_agents(vault, ListAgentsParams()).total == 0


def test_missed_days_are_caught_up_with(vault: Vault, clock: FixedClock) -> None:
    """Part of C11."""
    for day in (0, 1, 3, 40):
        commit(vault, f"Work on day {day} of the parser", NOON - day * 24 * HOUR)
    clock.now = NOON + 24 * HOUR
    maintenance.maintain(vault, Settings())
    assert [one.title[:10] for one in sorted(written(vault), key=lambda one: one.title)] == [
        "2026-02-27",
        "2026-03-01",
        "2026-03-02",
    ]


def test_it_can_be_turned_off(vault: Vault, clock: FixedClock) -> None:
    """Part of C11."""
    commit(vault, "Work on the parser", NOON)
    clock.now = NOON + 24 * HOUR
    maintenance.maintain(vault, Settings(daily_digest=False))
    assert written(vault) == []


def test_a_day_without_work_has_none(vault: Vault, clock: FixedClock) -> None:
    """Part of C11."""
    commit(vault, "wip", NOON)
    clock.now = NOON + 24 * HOUR
    assert memory_digests.digest(vault, UTC, 3) == []
    assert vault.silent_days == {NOON.date()}


@pytest.mark.parametrize(
    ("now", "zone", "hour", "last"),
    [
        ("2026-03-02T02:59:00+00:00", "UTC", 3, "2026-02-28"),
        ("2026-03-02T03:00:00+00:00", "UTC", 3, "2026-03-01"),
        ("2026-03-02T02:00:00+00:00", "Europe/Vienna", 3, "2026-03-01"),
        ("2026-03-02T02:00:00+00:00", "America/New_York", 3, "2026-02-28"),
        ("2026-03-02T00:00:00+00:00", "UTC", 0, "2026-03-01"),
    ],
)
def test_which_days_are_due(now: str, zone: str, hour: int, last: str) -> None:
    """Part of C11."""
    days = digests.due(datetime.fromisoformat(now), ZoneInfo(zone), hour)
    assert days[-1] == date.fromisoformat(last)
    assert days[0] == days[-1] - timedelta(days=29)
