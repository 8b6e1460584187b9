"""Claude Code itself, with the hooks that `threadline connect` writes: what it is told, and what is heard of it."""

import os
from pathlib import Path

import pytest

from tests.agents.clients import THREADLINE, Bench, claude
from tests.hooks import failures
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.agents]

MEMORY = "zeppelin"
PLUGIN = ROOT / "editors" / "claude-code"
EARLY = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "20"}
"""Makes it compact as soon as a request is said to be large."""
LARGE = 160_000


def say(bench: Bench, prompt: str, *words: str, **environment: str) -> None:
    done = claude(bench, "-p", prompt, "--allowedTools", "Write", *words, **environment)
    assert (done.returncode, done.stdout.strip()) == (0, bench.model.words), done.stderr


def test_what_it_is_told_reaches_the_model_once_however_it_goes_on(bench: Bench) -> None:
    """Part of F2. It keeps what it was told: neither a resumed conversation nor a fork is told again."""
    bench.connect("claude-code")
    say(bench, "PLEASE-WRITE a greeting.")
    say(bench, "What is next?", "--continue")
    say(bench, "And here?", "--continue", "--fork-session")
    say(bench, "And then?", "--continue")
    asked = bench.model.take()
    assert [(one.fences, one.text.count(MEMORY)) for one in asked] == [(1, 1)] * 5


def test_who_resumes_is_told_what_is_new_and_nothing_else(bench: Bench) -> None:
    """Part of F2."""
    bench.connect("claude-code")
    say(bench, "Hello.")
    bench.remember("Invoices are rounded down to whole guilders.")
    say(bench, "What is next?", "--continue")
    first, second = bench.model.take()
    assert (first.fences, first.text.count("guilders")) == (1, 0)
    assert (second.fences, second.text.count(MEMORY), second.text.count("guilders")) == (2, 1, 1)


def test_after_a_compaction_of_its_own_accord_it_is_told_what_it_knew(bench: Bench) -> None:
    """Part of E8. The summary that the model writes here says nothing at all."""
    decision = "We decided to keep the ledger in postgres because of transactions."
    bench.connect("claude-code")
    say(bench, decision)
    say(bench, "What else?", "--continue")
    say(bench, "And then?", "--continue")
    bench.model.sizes = [LARGE]
    say(bench, "And after that?", "--continue")
    *_, before = bench.model.take()
    say(bench, "Where were we?", "--continue", **EARLY)
    *summing, after = bench.model.take()
    assert (before.fences, before.text.count(decision), before.memory.count(decision)) == (1, 1, 0)
    assert summing
    assert all("summary" in one.latest for one in summing)
    assert (after.fences, after.text.count(decision), after.memory.count(decision)) == (1, 1, 1)
    assert MEMORY in after.memory
    [known] = bench.call("agents/list")["agents"]
    assert known["conversations"] == 1
    triggers = [one["trigger"] for one in bench.call("checkpoints/list")["checkpoints"]]
    assert "pre_compaction" in triggers


def test_what_is_said_and_done_is_in_the_memory(bench: Bench) -> None:
    """Part of F2."""
    bench.connect("claude-code")
    bench.model.words = "I decided to use uuids for the rows because ids were guessed."
    say(bench, "PLEASE-WRITE it. We must never log customer names.")
    [session] = bench.call("sessions/list")["sessions"]
    assert (session["source"], session["filesModified"]) == ("claude-code", ["hello.txt"])
    events = bench.call("sessions/events", sessionId=session["sessionId"])["events"]
    first, *others = [(one["kind"], one["agentId"], one["text"]) for one in events]
    assert first == ("capture", None, "PLEASE-WRITE it. We must never log customer names.")
    # An edit is told beside the conversation, and so maybe after the answer.
    assert others == [("save", "claude-code", None)]
    [saved] = bench.call("checkpoints/list")["checkpoints"]
    assert (saved["trigger"], saved["harness"], saved["promptCount"]) == (
        "session_end",
        "claude-code",
        1,
    )
    for part in ("never log customer names", "use uuids for the rows", "hello.txt"):
        assert part in saved["digest"]
    assert failures(bench.memory) == []


@pytest.mark.parametrize("home", ["/dev/null", "/proc/1/nowhere", "a file", "somebody else's"])
def test_hooks_that_fail_stop_nobody(home: str, bench: Bench) -> None:
    """Part of F2."""
    bench.connect("claude-code")
    broken = bench.folder / "broken"
    if home == "somebody else's":
        broken.mkdir(mode=0o700)
        _give_away(broken)
    elif home == "a file":
        broken.write_text("not a folder")
    place = home if home.startswith("/") else str(broken)
    say(bench, "PLEASE-WRITE a greeting.", THREADLINE_HOME=place)
    asked = bench.model.take()
    assert [one.fences for one in asked] == [0, 0]
    assert (bench.repository.path / "hello.txt").read_text() == "hello\n"


def _give_away(folder: Path) -> None:
    try:
        os.chown(folder, 12345, 12345)
    except OSError:
        pytest.skip("only root can give a folder away")


@pytest.mark.parametrize("folder", [PLUGIN, PLUGIN.with_name("claude-code-lsp"), ROOT])
def test_our_plugins_and_their_marketplace_are_valid(bench: Bench, folder: Path) -> None:
    """K2. Part of F3."""
    done = claude(bench, "plugin", "validate", str(folder), "--strict")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("is_connected", [False, True])
def test_our_plugin_tells_it_once_also_beside_its_own_hooks(
    is_connected: bool, bench: Bench
) -> None:
    """Part of F2."""
    if is_connected:
        bench.connect("claude-code")
    path = f"{THREADLINE.parent}:/usr/local/bin:/usr/bin:/bin"
    say(bench, "PLEASE-WRITE a greeting.", "--plugin-dir", str(PLUGIN), PATH=path)
    assert [one.fences for one in bench.model.take()] == [1, 1]
    [saved] = bench.call("checkpoints/list")["checkpoints"]
    assert saved["promptCount"] == 1
    [session] = bench.call("sessions/list")["sessions"]
    assert session["messageCount"] == 1
