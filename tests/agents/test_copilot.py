"""Copilot CLI itself, with the hooks that `threadline connect` writes, and with those of Claude Code."""

import pytest

from tests.agents.clients import Bench, copilot
from tests.hooks import failures

pytestmark = [pytest.mark.slow, pytest.mark.agents]

MEMORY = "zeppelin"


def say(bench: Bench, prompt: str, *words: str, **environment: str) -> None:
    done = copilot(bench, "-p", prompt, *words, **environment)
    assert done.returncode == 0, done.stderr
    assert bench.model.words in done.stdout


@pytest.mark.parametrize("agents", [["copilot"], ["claude-code"], ["copilot", "claude-code"]])
def test_what_it_is_told_reaches_the_model_once_also_when_it_goes_on(
    agents: list[str], bench: Bench
) -> None:
    """Part of F2. It forgets what it was told when it is resumed, and reads the hooks of Claude Code, too."""
    for agent in agents:
        bench.threadline("connect", agent, "--project")
    say(bench, "PLEASE-WRITE it. We must never log customer names.")
    say(bench, "What is next?", "--continue")
    asked = bench.model.take()
    assert [(one.fences, one.text.count(MEMORY)) for one in asked] == [(1, 1)] * 3
    assert "never log customer names" not in asked[0].memory


def test_after_a_compaction_it_is_told_what_it_knew(bench: Bench) -> None:
    """Part of E8."""
    decision = "We decided to keep the ledger in postgres because of transactions."
    bench.connect("copilot")
    say(bench, decision)
    done = copilot(bench, "-p", "/compact", "--continue")
    assert done.returncode == 0, done.stderr
    bench.model.take()
    say(bench, "Where were we?", "--continue")
    [after] = bench.model.take()
    assert (after.fences, after.memory.count(decision)) == (1, 1)
    assert MEMORY in after.memory


def test_what_is_said_and_done_is_in_the_memory(bench: Bench) -> None:
    """Part of F2."""
    bench.connect("copilot")
    bench.model.words = "I decided to use uuids for the rows because ids were guessed."
    say(bench, "PLEASE-WRITE it. We must never log customer names.")
    [session] = bench.call("sessions/list")["sessions"]
    assert (session["source"], session["filesModified"]) == ("copilot", ["hello.txt"])
    events = bench.call("sessions/events", sessionId=session["sessionId"])["events"]
    assert [one["kind"] for one in events] == ["capture", "save"]
    [saved] = bench.call("checkpoints/list")["checkpoints"]
    assert (saved["harness"], saved["promptCount"]) == ("copilot", 1)
    for part in ("never log customer names", "use uuids for the rows", "hello.txt"):
        assert part in saved["digest"]
    assert failures(bench.memory) == []


def test_hooks_that_fail_stop_nobody(bench: Bench) -> None:
    """Part of F2."""
    bench.connect("copilot")
    say(bench, "PLEASE-WRITE a greeting.", THREADLINE_HOME="/dev/null")
    assert [one.fences for one in bench.model.take()] == [0, 0]
    assert (bench.repository.path / "hello.txt").read_text() == "hello\n"
