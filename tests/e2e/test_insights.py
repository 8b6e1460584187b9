"""Every LSP editor has memory in its own words: hover, lens and commands, over a real process."""

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from protocol.methods import METHODS
from tests.editors import Day, wait_until_watched

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

DECISION = "Use advisory locks instead of Redis because we run no Redis in production"
LATER = "Use milliseconds instead of seconds for timeouts because the kernel counts in them"
CODE = "import fcntl\n\n\ndef lock(file):\n    fcntl.flock(file, fcntl.LOCK_EX)\n"


async def test_memory_is_behind_every_line_file_and_command(day: Day) -> None:
    """D13."""
    await wait_until_watched(day)
    capabilities = day.client.capabilities
    assert capabilities is not None
    assert day.offered.hover_provider
    assert day.offered.code_lens_provider
    provider = day.offered.execute_command_provider
    actions = {one.name.replace("/", ".") for one in METHODS}
    assert provider is not None
    assert set(provider.commands) == {"threadline.showFile", *actions}
    assert await lens(day) == []
    assert await hover(day, 4) is None
    await commit(day, DECISION, CODE)

    # All that people do with memory can be done by commands alone.
    job = await run(day, "enrichment.start")
    assert job["status"] == "completed"
    await run(day, "review.decide", kind="decision", verdict="accept")
    found = await run(day, "memories.search", query="why no Redis?")
    memory = found["memories"][0]["memory"]
    assert memory["type"] == "decision"

    told = await hover(day, 4)
    assert told is not None
    assert isinstance(told.contents, types.MarkupContent)
    wanted = capabilities.text_document and capabilities.text_document.hover
    formats = (wanted and wanted.content_format) or [types.MarkupKind.PlainText]
    assert told.contents.kind == formats[0]
    text = told.contents.value
    assert memory["title"] in text
    assert DECISION.split(" because ", maxsplit=1)[0] in text
    assert day.repository.git("rev-parse", "HEAD")[:10] in text
    assert "session of " in text

    (above,) = await lens(day)
    assert above.command is not None
    assert above.command.title == await title(day)
    story = await day.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command=above.command.command, arguments=above.command.arguments)
    )
    assert isinstance(story, dict)
    assert memory["memoryId"] in [one["memoryId"] for one in story["memories"]]
    assert any(above.command.title in one.message for one in day.client.messages)

    await look_at_another_line(day, memory["title"])

    explained = await run(day, "lines.explain", path="locks.py", line=6)
    assert explained["memories"][0]["memory"]["memoryId"] == memory["memoryId"]
    await run(day, "context.feedback", memoryId=memory["memoryId"], verdict="wrong")
    again = await hover(day, 5)
    assert "(decision, " in text
    assert "(decision, " not in str(again)
    await run(day, "memories.forget", memoryIds=[memory["memoryId"]])
    assert (await run(day, "capture.pause", duration="15m"))["paused"] is True
    assert (await run(day, "capture.resume"))["paused"] is False
    assert (await run(day, "status"))["memories"] >= 0


async def look_at_another_line(day: Day, title_of_first: str) -> None:
    """See that another line, which comes from another commit, has a memory of its own behind it."""
    await commit(day, LATER, CODE + "\n\nTIMEOUT = 30\n")
    assert "(decision, " not in str(await hover(day, 7))
    assert await behind(day, 8) == []
    await run(day, "enrichment.start")
    await run(day, "review.decide", kind="decision", verdict="accept")
    told, later = await hover(day, 4), str(await hover(day, 7))
    assert await behind(day, 5) == [title_of_first]
    (other,) = await behind(day, 8)
    assert "milliseconds" in other
    assert f"{other} (decision, " in later.replace("*", "")
    assert day.repository.git("rev-parse", "HEAD")[:10] in later
    assert f"{title_of_first} (decision, " in str(told).replace("*", "")
    assert (str(told).count("(decision, "), later.count("(decision, ")) == (1, 1)
    assert day.repository.git("rev-parse", "HEAD~")[:10] in str(told)
    (above,) = await lens(day)
    assert above.command is not None
    assert above.command.title == await title(day)

    # The same lines, after others came above them and nobody has committed those.
    day.repository.write("locks.py", f"# new\n{CODE}\n\nTIMEOUT = 30\n")
    assert await hover(day, 0) is None
    assert await hover(day, 5) == told
    assert str(await hover(day, 8)) == later


async def commit(day: Day, subject: str, content: str) -> None:
    """Commit a file, and wait until that is recorded."""
    day.repository.write("locks.py", content)
    day.repository.git("add", "--all")
    day.repository.git("commit", "--quiet", "--message", subject)
    sha = day.repository.git("rev-parse", "HEAD")
    for _ in range(400):
        listed = await run(day, "sessions.list", limit=1)
        if any(one["headCommitSha"] == sha for one in listed["sessions"]):
            return
        await asyncio.sleep(0.05)
    pytest.fail("the commit is not recorded")


async def run(day: Day, command: str, **params: Any) -> Any:
    wanted = types.ExecuteCommandParams(command=f"threadline.{command}", arguments=[params])
    return await asyncio.wait_for(day.client.workspace_execute_command_async(wanted), timeout=60)


async def hover(day: Day, line: int) -> types.Hover | None:
    return await day.client.text_document_hover_async(
        types.HoverParams(
            text_document=document(day), position=types.Position(line=line, character=2)
        )
    )


async def behind(day: Day, line: int) -> list[str]:
    """Give the memories that were made from the commit of a line, other than those of whole sessions."""
    told = await run(day, "lines.explain", path="locks.py", line=line)
    memories = [one["memory"] for one in told["memories"] if one["why"] == "commit"]
    return [one["title"] for one in memories if one["type"] != "episodic"]


async def lens(day: Day) -> list[types.CodeLens]:
    params = types.CodeLensParams(text_document=document(day))
    return list(await day.client.text_document_code_lens_async(params) or [])


async def title(day: Day) -> str:
    story = await run(day, "files.about", path="locks.py")
    memories, sessions = story["memoryCount"], story["sessionCount"]
    # A commit in the second in which its session was closed still belongs to that one.
    assert sessions in {1, 2}
    many = "1 memory" if memories == 1 else f"{memories} memories"
    return f"{many} · 1 session" if sessions == 1 else f"{many} · 2 sessions"


def document(day: Day) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri=(day.repository.path / "locks.py").as_uri())
