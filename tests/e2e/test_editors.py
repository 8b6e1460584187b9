"""A working day through the eyes of real clients' capabilities, over a real process."""

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from tests.editors import SOURCES, Day, wait_until_watched

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]


async def test_a_day_in_an_editor(day: Day) -> None:
    """G7."""
    sync: Any = day.offered.text_document_sync
    assert (sync.open_close, sync.save.include_text) == (False, False)
    await wait_until_watched(day)
    told = asyncio.create_task(day.changed())
    await asyncio.sleep(0)
    day.save("src/a.py")
    await told
    told = asyncio.create_task(day.changed())
    await asyncio.sleep(0)
    sha = day.repository.commit("feat: work")
    await told
    (session,) = (await day.ask("threadline/sessions/list"))["sessions"]
    assert (session["status"], session["source"]) == ("active", SOURCES[day.name])
    assert (session["messageCount"], session["headCommitSha"]) == (2, sha)
    assert set(session["filesModified"]) == {"src/a.py", "a.txt"}
    told = asyncio.create_task(day.changed())
    await asyncio.sleep(0)
    closed = await day.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="threadline.sessions.close", arguments=[{}])
    )
    assert closed is not None
    assert closed["status"] == "closed"
    await told


async def test_progress_is_shown_where_the_client_shows_it(day: Day) -> None:
    for number in range(20):
        day.repository.commit(f"c{number}")
    found = await day.ask("threadline/scan")
    assert found["found"] == 21
    window = day.client.capabilities and day.client.capabilities.window
    shown: list[list[Any]] = [*day.client.progress_reports.values()]
    kinds = [[report.kind for report in reports] for reports in shown]
    if window and window.work_done_progress:
        # Work that is over before the client has made room for it is not shown.
        assert [(told[0], told[-1]) for told in kinds if told] in ([], [("begin", "end")])
    else:
        assert kinds == []
