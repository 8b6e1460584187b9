"""Context over an editor's connection to a real process: start, render, receipts, feedback, stats, refusals."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from pygls.exceptions import JsonRpcException

from protocol.errors import Code
from tests.editors import Day, open_editor, wait_until_watched
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

AGENT = {"agentId": "claude-code", "harness": "claude-code", "sessionKey": "c1"}
RULE = "Never log a customer's name"
FACT = "Currency amounts are integers of cents"


@pytest_asyncio.fixture
async def editor(repository: Repository) -> AsyncIterator[Day]:
    repository.commit("before")
    async with open_editor(Day, repository) as editor:
        await wait_until_watched(editor)
        for kind, title in (("constraint", RULE), ("fact", FACT)):
            await editor.ask("threadline/memories/write", type=kind, title=title, content=title)
        yield editor


async def start(editor: Day, **params: Any) -> Any:
    return await editor.ask("threadline/context/start", **AGENT, **params)


async def test_context_is_given_explained_and_judged(editor: Day) -> None:
    """Part of D1, D2, D5, D6 and D9."""
    context = await start(editor, query="money in cents")
    assert context["isFirstConnection"]
    (rule,) = context["sessionContext"]["constraints"]
    (fact,) = context["queryResults"]
    assert (rule["title"], fact["title"]) == (RULE, FACT)
    rendered = await editor.ask("threadline/context/render", **AGENT, host="windsurf")
    assert RULE in rendered["text"]
    assert rendered["chars"] == len(rendered["text"]) <= rendered["cap"] == 6_000
    page = await written(editor)
    given = {receipt["receiptId"]: receipt for receipt in page["receipts"]}
    assert given.keys() == {context["receiptId"], rendered["receiptId"]}
    why = next(
        one["why"] for one in given[context["receiptId"]]["items"] if one["id"] == fact["memoryId"]
    )
    assert why["meaning"] > 0
    judged = await editor.ask(
        "threadline/context/feedback", memoryId=rule["memoryId"], verdict="wrong", note="we may"
    )
    assert judged["feedback"] == -1
    assert (await start(editor))["sessionContext"]["constraints"] == []
    await editor.ask("threadline/memories/read", memoryIds=[fact["memoryId"]], sessionKey="c1")
    stats = await editor.ask("threadline/context/stats")
    assert stats["cold"]["conversations"] == 1


async def written(editor: Day) -> Any:
    """Wait until what is kept a little later is on the disk."""
    for _ in range(100):
        page = await editor.ask("threadline/context/receipts", sessionKey="c1", replay=True)
        if page["total"] == 2:
            return page
        await asyncio.sleep(0.1)
    return pytest.fail("no receipts were written")


async def test_every_cap_holds_over_the_wire(editor: Day) -> None:
    """Part of D5."""
    for cap in (200, 333, 1_000, 2_000, 5_000):
        context = await start(editor, maxResponseChars=cap)
        assert len(json.dumps(context, ensure_ascii=False)) <= cap
    whole = await start(editor, maxResponseChars=1_000_000)
    assert whole["leftOut"] == {}


REFUSED: list[tuple[str, dict[str, Any], Code, str]] = [
    ("start", {"mode": "sideways"}, Code.INVALID_PARAMS, "mode"),
    ("start", {"maxResponseChars": 199}, Code.INVALID_PARAMS, "maxResponseChars"),
    ("start", {"maxResponseChars": "many"}, Code.INVALID_PARAMS, "maxResponseChars"),
    ("start", {"vaultId": "0" * 20}, Code.NOT_FOUND, "vaultId"),
    ("start", {"vaultId": "nothing"}, Code.INVALID_PARAMS, "vaultId"),
    ("start", {"summaryOnly": "yes"}, Code.INVALID_PARAMS, "summaryOnly"),
    ("start", {"includeDocuments": "soul"}, Code.INVALID_PARAMS, "includeDocuments"),
    ("start", {"maxFacts": 51}, Code.INVALID_PARAMS, "maxFacts"),
    ("start", {"maxTasks": -1}, Code.INVALID_PARAMS, "maxTasks"),
    ("start", {"occasion": "boredom"}, Code.INVALID_PARAMS, "occasion"),
    ("start", {"agentId": ""}, Code.INVALID_PARAMS, "agentId"),
    ("start", {"unknown": 1}, Code.INVALID_PARAMS, "unknown"),
    ("render", {"maxChars": 199}, Code.INVALID_PARAMS, "maxChars"),
    ("receipts", {"limit": 0}, Code.INVALID_PARAMS, "limit"),
    ("feedback", {"verdict": "wrong"}, Code.INVALID_PARAMS, "memoryId"),
    ("feedback", {"memoryId": "x", "verdict": "wrong"}, Code.INVALID_PARAMS, "memoryId"),
    ("stats", {"days": 0}, Code.INVALID_PARAMS, "days"),
    ("track", {"prompt": "Hi"}, Code.INVALID_PARAMS, "sessionKey"),
]


async def test_what_is_wrong_with_a_request_is_said(editor: Day) -> None:
    """Part of D1."""
    for method, params, code, field in REFUSED:
        with pytest.raises(JsonRpcException) as refusal:
            await editor.ask(f"threadline/context/{method}", **params)
        error: Any = refusal.value
        assert (error.code, error.data["field"]) == (code, field), (method, params, error)
