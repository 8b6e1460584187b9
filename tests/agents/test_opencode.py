"""OpenCode itself, with the plugin that `threadline connect` writes."""

import pytest

from tests.agents.clients import Bench, opencode
from tests.hooks import failures

pytestmark = [pytest.mark.slow, pytest.mark.agents]

MEMORY = "zeppelin"
LARGE = 31_000
"""Tokens that leave no room in the window it is told of."""


def say(bench: Bench, prompt: str, *words: str, **environment: str) -> None:
    done = opencode(bench, "run", *words, prompt, **environment)
    assert done.returncode == 0, done.stderr
    assert bench.model.words in done.stdout


def test_what_it_is_told_and_what_is_heard_of_it(bench: Bench) -> None:
    """Part of F2. It is told with every request, also where another process goes on."""
    bench.connect("opencode")
    bench.model.words = "I decided to use uuids for the rows because ids were guessed."
    say(bench, "PLEASE-WRITE it. We must never log customer names.")
    say(bench, "What is next?", "--continue")
    asked = bench.model.take()
    assert [(one.fences, one.text.count(MEMORY)) for one in asked] == [(1, 1)] * 3
    assert "never log customer names" not in asked[0].memory
    [session] = bench.call("sessions/list")["sessions"]
    assert (session["source"], session["filesModified"]) == ("opencode", ["hello.txt"])
    events = bench.call("sessions/events", sessionId=session["sessionId"])["events"]
    assert [one["kind"] for one in events][:2] == ["capture", "save"]
    [known] = bench.call("agents/list")["agents"]
    assert (known["agentId"], known["conversations"]) == ("opencode", 1)
    assert failures(bench.memory) == []


def test_a_compaction_of_its_own_accord_is_told_what_must_not_be_lost(bench: Bench) -> None:
    """Part of E8."""
    decision = "We decided to keep the ledger in postgres because of transactions."
    bench.connect("opencode")
    bench.model.sizes = [LARGE]
    say(bench, decision)
    say(bench, "Where were we?", "--continue")
    *_, summing = [one for one in bench.model.asked if not one.tools]
    first, *_, last = bench.model.take()
    assert decision in summing.memory
    assert (first.fences, first.memory.count(decision)) == (1, 0)
    assert (last.fences, last.memory.count(decision)) == (1, 1)
    assert MEMORY in last.memory


def test_a_plugin_that_fails_stops_nobody(bench: Bench) -> None:
    """Part of F2."""
    bench.connect("opencode")
    say(bench, "PLEASE-WRITE a greeting.", THREADLINE_HOME="/dev/null")
    assert [one.fences for one in bench.model.take()] == [0, 0]
    assert (bench.repository.path / "hello.txt").read_text() == "hello\n"
