"""Turns over real processes: a method of the language server, and a server that is killed."""

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from protocol.errors import Code
from tests.e2e.test_conversations import AGENT, SAID, TOLD, Window, on_disk, open_window
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]


async def take(window: Window, content: str, role: str = "user", **more: Any) -> Any:
    given = AGENT | {"sessionKey": "run", "role": role, "content": content} | more
    return await window.ask("threadline/turns/ingest", **given)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
async def test_turns_are_taken_in_once_and_outlive_their_server(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of F4 and F5."""
    repository.commit("begin")
    async with open_window(repository) as window:
        told = [await take(window, text, idempotencyKey=text) for text in SAID]
        assert [one["extractionStatus"] for one in told] == ["queued"] * 3
        assert all(one["signalScore"] >= 0.5 and one["signalKeywords"] for one in told)
        assert (await take(window, "thanks!"))["extractionStatus"] == "skipped"
        assert (await take(window, "I'll look.", "assistant"))["signalScore"] == 0
        await window.end(signal.SIGKILL)
    assert len(on_disk(tmp_path, "entries")) == 5
    async with open_window(repository) as window:
        again = [await take(window, text, idempotencyKey=text) for text in SAID]
        assert [one["turnId"] for one in again] == [one["turnId"] for one in told]
        assert {one["extractionStatus"] for one in again} == {"duplicate"}
        job = await window.ask("threadline/enrichment/start")
        assert job["status"] == "completed"
        ended = await window.ask("threadline/context/end", sessionKey="run", **AGENT)
        assert all(part in ended["checkpoint"]["digest"] for part in (*TOLD, "user: thanks!"))
        with pytest.raises(JsonRpcException) as refused:
            await take(window, "x" * 100_001)
        assert refused.value.code == Code.INVALID_PARAMS
        assert "`content` has 100,001 characters" in refused.value.message
    assert on_disk(tmp_path, "entries") == {}
    said = " ".join(turn["text"] for turn in on_disk(tmp_path, "turns").values())
    assert [part for part in TOLD if part not in said] == []
