"""Memory is made, watched, stopped and found through an editor's connection, over a real process."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from tests.editors import Day, open_editor, wait_until_watched
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

DECISION = "Use advisory locks instead of Redis because we run no Redis in production"
Answering = Callable[[Any], Awaitable[Any]]


class Editor(Day):
    """A client whose own model answers as a test wants it."""

    answering: Answering

    def prepare(self) -> None:
        async def complete(params: Any) -> Any:
            return await self.answering(params)

        self.changed_things: set[str] = set()
        self.client.feature("threadline/model/complete")(complete)
        hear = self.client.feature("threadline/didChange")
        hear(lambda change: self.changed_things.add(change["what"]))


@pytest_asyncio.fixture
async def editor(repository: Repository) -> AsyncIterator[Editor]:
    repository.commit("before")
    async with open_editor(Editor, repository, model=True) as editor:
        await wait_until_watched(editor)
        yield editor


async def work(editor: Editor) -> list[Any]:
    """Make two commits and wait until they are recorded."""
    editor.repository.commit(DECISION, name="locks.py")
    editor.repository.commit("Add a worker that takes jobs", name="worker.py")
    for _ in range(200):
        page = await editor.ask("threadline/sessions/list")
        if page["sessions"] and page["sessions"][0]["messageCount"] == 2:
            session_id = page["sessions"][0]["sessionId"]
            events = await editor.ask("threadline/sessions/events", sessionId=session_id)
            return list(events["events"])
        await asyncio.sleep(0.05)
    raise AssertionError("the commits were not recorded")


async def test_memory_is_made_told_and_found(editor: Editor) -> None:
    """Part of C1, C2 and D7."""
    await work(editor)
    job = await editor.ask("threadline/enrichment/start")
    assert job["status"] == "completed"
    assert all(stage["durationMs"] is not None for stage in job["stages"])
    await wait_for(editor, "jobs")
    await wait_for(editor, "memories")
    await editor.ask("threadline/review/decide", kind="decision", verdict="accept")
    found = await editor.ask("threadline/memories/search", query="why is there no Redis?")
    memory = found["memories"][0]["memory"]
    assert memory["type"] == "decision"
    assert memory["evidence"][0]["quote"] in DECISION
    assert memory["anchors"][0]["path"] == "locks.py"
    assert memory["verdict"] == "fresh"
    (session,) = (await editor.ask("threadline/sessions/list"))["sessions"]
    assert (session["status"], session["enrichmentStatus"]) == ("closed", "completed")
    status = await editor.ask("threadline/status")
    assert status["memoryHealth"]["semantic"] is True


async def wait_for(editor: Editor, what: str) -> None:
    for _ in range(400):
        if what in editor.changed_things:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"nobody told that {what} changed")


async def test_the_editors_own_model_reads_the_events(editor: Editor) -> None:
    """Part of C6."""
    events = await work(editor)
    asked: list[Any] = []

    async def answer(params: Any) -> Any:
        asked.append(params)
        item = {
            "type": "decision",
            "title": "Jobs are guarded by advisory locks",
            "content": "Advisory locks guard the jobs; Redis is not used.",
            "evidence": [{"eventId": events[0]["eventId"], "quote": "Use advisory locks"}],
        }
        invented = item | {"evidence": [{"eventId": events[0]["eventId"], "quote": "so said Ada"}]}
        return {"text": json.dumps({"items": [item, invented]})}

    editor.answering = answer
    job = await editor.ask("threadline/enrichment/start", provider="editor")
    assert (job["status"], job["provider"], job["created"]) == ("completed", "editor", 1)
    assert job["tokens"] > 0
    assert len(asked) == 1
    found = await editor.ask("threadline/memories/search", query="advisory locks")
    assert [one["memory"]["title"] for one in found["memories"]] == [
        "Jobs are guarded by advisory locks"
    ]


async def test_a_model_that_fails_fails_the_job_and_can_be_retried(editor: Editor) -> None:
    """Part of C3 and C6."""
    await work(editor)

    async def answer(_params: Any) -> Any:
        return {"text": "Certainly! Here is what I think about your code."}

    editor.answering = answer
    job = await editor.ask("threadline/enrichment/start", provider="editor")
    assert (job["status"], job["stages"][0]["status"]) == ("failed", "failed")
    assert "prose" in job["error"]

    async def better(_params: Any) -> Any:
        return {"text": '{"items": []}'}

    editor.answering = better
    job = await editor.ask("threadline/enrichment/retry", jobId=job["jobId"])
    assert (job["status"], job["attempts"]) == ("completed", 2)


async def test_a_job_that_waits_for_a_model_can_be_cancelled(editor: Editor) -> None:
    """Part of C2 and C6."""
    await work(editor)
    asked, released = asyncio.Event(), asyncio.Event()

    async def never(_params: Any) -> Any:
        asked.set()
        await released.wait()
        return {"text": "too late"}

    editor.answering = never
    running = asyncio.create_task(editor.ask("threadline/enrichment/start", provider="editor"))
    await asyncio.wait_for(asked.wait(), timeout=20)
    (job,) = (await editor.ask("threadline/enrichment/jobs"))["jobs"]
    assert job["status"] == "processing"
    await editor.ask("threadline/enrichment/cancel", jobId=job["jobId"])
    job = await asyncio.wait_for(running, timeout=10)
    released.set()
    assert job["status"] == "cancelled"
    job = await editor.ask("threadline/enrichment/start")
    assert job["status"] == "completed"
