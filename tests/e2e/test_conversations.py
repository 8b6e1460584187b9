"""Conversations over real processes that are stopped, killed, and let loose on one another."""

import asyncio
import os
import signal
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from protocol.errors import Code
from tests.editors import Day, open_editor
from tests.support import Repository, documents

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

AGENT = {"agentId": "claude-code", "harness": "claude-code"}
SAID = (
    "We decided to use a token bucket instead of a sliding window.",
    "Never block a request because the limiter is down; it must fail open.",
    "TODO: document the new limits in docs/limits.md before the release.",
)
TOLD = ("token bucket instead of a sliding window", "must fail open", "docs/limits.md")

WRONG: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("track", {"prompt": "x"}, "sessionKey"),
    ("track", {"sessionKey": ""}, "sessionKey"),
    ("track", {"sessionKey": "k" * 513}, "sessionKey"),
    ("track", {"sessionKey": 7}, "sessionKey"),
    ("track", {"sessionKey": "run", "prompt": "x" * 100_001}, "prompt"),
    ("track", {"sessionKey": "run", "prompt": ["x"]}, "prompt"),
    ("track", {"sessionKey": "run", "queries": ["q"] * 51}, "queries"),
    ("track", {"sessionKey": "run", "memoryIds": ["../x"]}, "memoryIds[0]"),
    ("track", {"sessionKey": "run", "occurredAt": "yesterday"}, "occurredAt"),
    ("track", {"sessionKey": "run", "mood": "good"}, "mood"),
    ("checkpoint", {"memories": [{"content": "x"}] * 51}, "memories"),
    ("checkpoint", {"memories": [{"content": ""}]}, "memories[0].content"),
    ("checkpoint", {"memories": [{"content": "x", "importance": 9}]}, "memories[0].importance"),
    ("checkpoint", {"vaultId": "nope"}, "vaultId"),
    ("digest", {"sessionKey": "run", "trigger": "periodic"}, "trigger"),
    ("end", {}, "sessionKey"),
    ("start", {"sessionKey": "run", "occasion": "party"}, "occasion"),
    ("start", {"maxResponseChars": 199}, "maxResponseChars"),
    ("stats", {"days": 0}, "days"),
)


class Window(Day):
    """An editor's window with an assistant in it."""

    async def track(self, key: str, **seen: Any) -> Any:
        return await self.ask("threadline/context/track", sessionKey=key, **(AGENT | seen))

    async def saved(self, key: str | None = None) -> list[Any]:
        page = await self.ask("threadline/checkpoints/list", sessionKey=key, limit=100)
        return list(page["checkpoints"])

    async def end(self, number: signal.Signals) -> None:
        """End the server from outside, and wait until it is gone."""
        process = (await self.ask("threadline/version"))["process"]
        server: Any = self.client._server
        os.kill(process, number)
        await asyncio.wait_for(server.wait(), timeout=20)


def open_window(repository: Repository) -> AbstractAsyncContextManager[Window]:
    return open_editor(Window, repository)


@pytest.fixture
def worked(repository: Repository) -> Repository:
    repository.commit("before")
    return repository


def on_disk(tmp_path: Path, table: str) -> dict[str, Any]:
    """Read a table's records from the disk, as anybody could."""
    found: dict[str, Any] = {}
    for path in (tmp_path / "home").rglob("vault.sqlite"):
        # A store that was only looked into has no tables yet.
        if path.stat().st_size:
            found |= documents(path.parent, table)
    return found


async def test_a_conversation_is_led_over_a_real_process(worked: Repository) -> None:
    """Part of E1, E4, E5, E7 and E10."""
    async with open_window(worked) as window:
        first = await window.track("run", prompt=SAID[0])
        assert (first["promptCount"], first["start"]["agentLabel"]) == (1, "Claude Code")
        for prompt in SAID[1:]:
            assert (await window.track("run", prompt=prompt))["start"] is None
        who = {"sessionKey": "run", **AGENT}
        told = await window.ask("threadline/context/digest", **who, digest="State: it works.\n")
        assert told["checkpoint"]["digest"] == "State: it works.\n"
        kept = await window.ask(
            "threadline/context/checkpoint",
            agentRunId="run",
            **AGENT,
            memories=[{"content": "The limiter lives in limiter/bucket.py"}],
            sessionSummary="The limiter works. Docs are next.",
        )
        assert (kept["created"], kept["failed"], kept["pendingMessages"]) == (1, 0, [])
        ended = await window.ask("threadline/context/end", **who)
        assert all(part in ended["checkpoint"]["digest"] for part in TOLD)
        assert [one["trigger"] for one in await window.saved("run")] == [
            "session_end",
            "explicit",
            "agent",
        ]
        assert await window.saved("other") == []


async def test_the_tenth_prompts_state_survives_the_end_of_the_server(
    worked: Repository, tmp_path: Path
) -> None:
    """Part of E5."""
    async with open_window(worked) as window:
        for number in range(9):
            await window.track("run", prompt=f"prompt {number}")
        tenth = await window.track("run", prompt=SAID[0])
        assert tenth["isCheckpointDue"]
        await window.end(signal.SIGTERM)
    (saved,) = on_disk(tmp_path, "checkpoints").values()
    assert (saved["trigger"], saved["promptCount"]) == ("periodic", 10)
    assert TOLD[0] in saved["digest"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
async def test_what_was_acknowledged_before_a_kill_is_recovered(worked: Repository) -> None:
    """Part of E5, E6 and E8."""
    async with open_window(worked) as window:
        await window.ask("threadline/context/start", sessionKey="run", **AGENT)
        for prompt in SAID:
            await window.track("run", prompt=prompt, files=["limiter/bucket.py"])
        await window.end(signal.SIGKILL)
    async with open_window(worked) as window:
        again = await window.ask(
            "threadline/context/start", sessionKey="run", **AGENT, occasion="compact"
        )
        recovery = again["recovery"]
        assert (recovery["sessionKey"], recovery["lineage"]) == ("run", "conversation")
        assert [part for part in (*TOLD, "bucket.py") if part not in recovery["text"]] == []
        beside = await window.ask("threadline/context/start", sessionKey="next", **AGENT)
        assert [part for part in TOLD if part not in beside["recovery"]["text"]] == []


async def test_two_windows_follow_one_conversation_and_lose_nothing(
    worked: Repository, tmp_path: Path
) -> None:
    """Part of E5."""
    async with open_window(worked) as one, open_window(worked) as other:
        await one.ask("threadline/context/start", sessionKey="run", **AGENT)

        async def talk(window: Window, name: str) -> None:
            for number in range(20):
                await window.track(
                    "run",
                    prompt=f"We decided to use {name} {number} instead of nothing.",
                    files=[f"{name}{number}.py"],
                    idempotencyKey=f"{name}/{number}",
                )

        # Some of it is reported twice, as a hook does that was not answered in time.
        await asyncio.gather(talk(one, "tool"), talk(other, "rule"), talk(other, "tool"))
        assert (await one.track("run"))["promptCount"] == 40
        assert (await other.track("run"))["promptCount"] == 40
    talk_ = on_disk(tmp_path, "conversations")["run"]
    assert talk_["promptCount"] == 40
    assert {note["text"] for note in talk_["notes"]} == {
        f"We decided to use {name} {number} instead of nothing."
        for name in ("tool", "rule")
        for number in range(20)
    }
    assert len(talk_["files"]) == 40
    counts = [one["promptCount"] for one in on_disk(tmp_path, "checkpoints").values()]
    assert max(counts) > 30


async def test_what_is_wrong_is_named_and_nothing_is_stored(
    worked: Repository, tmp_path: Path
) -> None:
    """Part of E1 and E5."""
    async with open_window(worked) as window:
        for method, params, field in WRONG:
            with pytest.raises(JsonRpcException) as refused:
                await window.ask(f"threadline/context/{method}", **params)
            assert (refused.value.code, refused.value.data) == (
                Code.INVALID_PARAMS,
                {"field": field},
            )
    tables = ("conversations", "checkpoints", "memories", "agents", "receipts")
    assert [on_disk(tmp_path, table) for table in tables] == [{}] * len(tables)
