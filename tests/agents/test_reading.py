"""Real assistants read a session for us: one question, no tools, and nothing of it is recorded."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.clients import (
    NODE,
    PROGRAMS,
    THREADLINE,
    Bench,
    around_claude,
    around_copilot,
    around_opencode,
)
from tests.hooks import failures

pytestmark = [pytest.mark.slow, pytest.mark.agents]

SUBJECT = "feat: Keep the queue in SQLite because we run no Redis in production"
AROUND: dict[str, tuple[str, Callable[[Bench], dict[str, str]]]] = {
    "claude": ("claude-code", around_claude),
    "copilot": ("copilot", around_copilot),
    "opencode": ("opencode", around_opencode),
}


@pytest.mark.parametrize("name", AROUND)
def test_an_assistant_reads_a_session_and_is_not_recorded(bench: Bench, name: str) -> None:
    """C15."""
    agent, around = AROUND[name]
    bench.connect(agent)
    place = bench.folder / "bin"
    place.mkdir()
    (place / name).symlink_to(PROGRAMS[name])
    sha = bench.repository.commit(SUBJECT)
    bench.threadline("scan")
    [session] = bench.call("sessions/list")["sessions"]
    events = bench.call("sessions/events", sessionId=session["sessionId"])["events"]
    [event] = [one for one in events if (one.get("commit") or {}).get("sha") == sha]
    bench.model.words = _answer(event["eventId"])
    environment = around(bench) | {"PATH": f"{place}:{NODE}:/usr/local/bin:/usr/bin:/bin"}
    done = bench.run([THREADLINE, "enrich", "--provider", name], **environment)
    assert done.returncode == 0, done.stderr
    asked = [one for one in bench.model.asked if SUBJECT in one.text]
    assert [one.tools for one in asked] == [[]]
    [memory] = [one for one in bench.call("memories/list")["memories"] if one["byModel"]]
    assert memory["title"] == "Keep the queue in SQLite"
    assert bench.call("agents/list")["agents"] == []
    assert bench.call("sessions/list")["total"] == 1
    assert failures(bench.memory) == []
    assert not list(Path(bench.user).glob(".claude/projects/*/*.jsonl"))


def _answer(event_id: str) -> str:
    item = {
        "type": "decision",
        "title": "Keep the queue in SQLite",
        "content": "Keep the queue in SQLite because we run no Redis in production",
        "importance": 4,
        "confidence": 5,
        "evidence": [{"eventId": event_id, "quote": SUBJECT.partition(": ")[2]}],
    }
    return json.dumps({"items": [item]})
