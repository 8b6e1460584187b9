"""A long conversation is cut by a compaction, and the next start knows what mattered; over a real process."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.editors import Day, open_editor, wait_until_watched
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

KEY = "3f0c1a52-7f0e-4d0e-9b51-0a4f6f1a7c11"
AGENT = {"sessionKey": KEY, "agentId": "claude-code", "harness": "claude-code"}

TURNS = (
    ("Hi! Hope you had a good weekend. Let's get going.", "Good morning! Ready when you are."),
    (
        "I want rate limiting on the public API. Have a look at how requests come in.",
        "I read through the middleware. Requests pass through three layers before they reach a handler.",
    ),
    (
        "Let's use a token bucket instead of a sliding window because bursts are normal for our clients.",
        "Understood. I'll sketch it now.",
    ),
    ("How long does the test suite take these days?", "About two minutes on this machine."),
    (
        "Never block a request because the limiter itself is down; it must fail open.",
        "Makes sense, a limiter must not become an outage.",
    ),
    ("Could you show me the diff so far?", "Here it is. Three files, about eighty lines."),
    (
        "We decided to keep the counters in Postgres instead of Redis since we run no Redis in production.",
        "Okay, one table with an unlogged index should do.",
    ),
    ("lol nice", "Glad you like it!"),
    (
        "Limits must be configurable per customer, not per endpoint.",
        "Noted. I'll read them from the customers table.",
    ),
    ("Running late, back in ten minutes.", "No problem, I'll keep going with the tests."),
    ("I'm back. Where are we?", "The bucket works. Two tests are still red, I'm looking at them."),
    (
        "Return 429 with a Retry-After header instead of 503, because clients already handle 429.",
        "Done, and the header is in whole seconds.",
    ),
    ("Hmm, is that the right status code?", "Yes, it is the one for too many requests."),
    (
        "TODO: document the new limits in docs/limits.md before the release.",
        "I'll leave that for the end.",
    ),
    ("Looks good to me!", "Thanks! Tests are green now."),
    (
        "We must not log customer names in the limiter, only their ids.",
        "I checked the log lines: only ids.",
    ),
    ("Commit that please.", "Committed."),
    (
        "Still open: the load test with 500 clients has not been run yet.",
        "I can prepare a script for it.",
    ),
    ("Great weather today, by the way.", "Enjoy it!"),
    ("Ok, carry on with the cleanup then.", "On it."),
)
DECISIONS = ("token bucket instead of a sliding window", "Postgres instead of Redis", "429")
CONSTRAINTS = ("fail open", "per customer", "customer names")
TASKS = ("docs/limits.md", "load test with 500 clients")
FILES = ("limiter/bucket.py", "limiter/store.py", "tests/test_limiter.py")
COMMITS = ("feat: limit requests by a token bucket", "fix: answer 429 with a Retry-After header")


@pytest_asyncio.fixture
async def editor(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Day]:
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    repository.commit("before")
    async with open_editor(Day, repository) as editor:
        await wait_until_watched(editor)
        yield editor


async def converse(editor: Day) -> None:
    """Lead the whole conversation: forty turns, three files, two commits."""
    began = await editor.ask("threadline/context/start", **AGENT)
    assert began["recovery"] is None
    for number, (prompt, response) in enumerate(TURNS):
        await editor.ask("threadline/context/track", **AGENT, prompt=prompt)
        await editor.ask("threadline/context/track", **AGENT, response=response)
        if number in {2, 6, 10}:
            editor.save(FILES[(2, 6, 10).index(number)])
        if number in {11, 16}:
            editor.repository.commit(
                COMMITS[(11, 16).index(number)], name=FILES[(11, 16).index(number)]
            )
    for _ in range(200):
        events = await recorded(editor)
        if [event["kind"] for event in events].count("commit") == len(COMMITS):
            return
    pytest.fail("the commits were not recorded")


async def recorded(editor: Day) -> list[Any]:
    (session, *_) = (await editor.ask("threadline/sessions/list"))["sessions"]
    page = await editor.ask("threadline/sessions/events", sessionId=session["sessionId"])
    return list(page["events"])


def told(context: Any) -> str:
    """Give everything that a start says of the work."""
    return json.dumps([context["recovery"], context["sessionContext"]], ensure_ascii=False)


async def test_a_start_after_a_compaction_knows_all_that_mattered(editor: Day) -> None:
    """Part of E6 and E8."""
    await converse(editor)
    saved = await editor.ask(
        "threadline/context/digest", **AGENT, trigger="pre_compaction", digest="Auto-compaction."
    )
    assert saved["checkpoint"]["trigger"] == "pre_compaction"
    again = await editor.ask("threadline/context/start", **AGENT, occasion="compact")
    recovery = again["recovery"]
    assert (recovery["sessionKey"], recovery["lineage"]) == (KEY, "conversation")
    assert len(recovery["text"]) <= 4000
    missing = [one for one in (*DECISIONS, *CONSTRAINTS, *TASKS) if one not in told(again)]
    assert missing == []
    assert [name for name in (*FILES, *COMMITS) if name not in told(again)] == []
    # Ordinary words are recovered, too; mere nods are not.
    assert [prompt for prompt, _ in TURNS if prompt not in recovery["text"]] == ["lol nice"]


async def test_a_host_that_skips_the_hook_loses_nothing(editor: Day) -> None:
    """Part of E8."""
    await converse(editor)
    again = await editor.ask("threadline/context/start", **AGENT, occasion="compact")
    missing = [one for one in (*DECISIONS, *CONSTRAINTS, *TASKS) if one not in told(again)]
    assert missing == []


async def test_only_what_the_summary_dropped_is_given_again(editor: Day, tmp_path: Path) -> None:
    """Part of E8."""
    await converse(editor)
    summary = (
        f"The user wants rate limiting on the public API. They said: {TURNS[2][0]} "
        f"Then they said: {TURNS[6][0]}"
    )
    transcript = tmp_path / "user" / ".claude" / "projects" / "repository" / f"{KEY}.jsonl"
    transcript.parent.mkdir(parents=True)
    lines = [
        {"type": "user", "message": {"role": "user", "content": TURNS[0][0]}},
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": summary}},
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = await editor.ask(
        "threadline/context/start", **AGENT, occasion="compact", transcriptPath=str(transcript)
    )
    text = again["recovery"]["text"]
    assert again["recovery"]["droppedOnly"]
    assert [one for one in (*CONSTRAINTS, *TASKS, "429") if one not in text] == []
    assert [one for one in ("sliding window", "Postgres") if one in text] == []


async def test_the_rendered_context_fits_the_host(editor: Day) -> None:
    """Part of D5 and D11."""
    await converse(editor)
    rendered = await editor.ask(
        "threadline/context/render", **AGENT, occasion="compact", host="claude-code"
    )
    assert rendered["chars"] == len(rendered["text"]) <= rendered["cap"] == 10_000
    assert "Session Recovery Context" in rendered["text"]
    for one in (*DECISIONS, *CONSTRAINTS, *TASKS):
        assert one in rendered["text"]
