"""After a compaction a conversation knows all that its user said, with hooks alone and no server running."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hooks import Hooks, failures
from tests.support import NOON, Repository, holding

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

KEY = "3f0c1a52-7f0e-4d0e-9b51-0a4f6f1a7c11"
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PARTS = ("parser", "queue", "cache", "limiter", "router", "index", "mailer")
WANTED = tuple(
    f"{verb} the {part}, but leave case {number} of it as it is."
    for number, (verb, part) in enumerate(
        (verb, part) for verb in ("Test", "Rename", "Document", "Split") for part in PARTS
    )
)
LOG = "\n".join(f"2026-03-02 12:00:00 INFO worker: job {number} done" for number in range(2_000))
ODD = (
    ";",
    ";;;;",
    "continue",
    f"The nightly run broke, please look.\n{LOG}\nIt worked on Monday.",
    f"{LOG}\n2026-03-02 12:01:00 ERROR worker: cannot reach the ledger\n{LOG}",
    f"The token is {SECRET}, use it for the upload.",
    "Paint the door green. <private>my salary is 4711</private>",
)
SPOKEN = (
    "The nightly run broke, please look.",
    "It worked on Monday.",
    "ERROR worker: cannot reach the ledger",
    "The token is [REDACTED], use it for the upload.",
    "Paint the door green.",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    monkeypatch.setenv("THREADLINE_HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    yield home
    assert failures(home) == []


def block_draining(home: Path) -> int:
    """Keep everybody from placing what waits, as a process does that is at it and slow; give what to close."""
    import fcntl  # noqa: PLC0415  # not on every system

    (home / "inbox").mkdir(parents=True, exist_ok=True)
    lock = os.open(home / "inbox" / "draining", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


async def test_every_prompt_is_known_after_a_compaction_with_hooks_alone(
    repository: Repository, home: Path
) -> None:
    """E6."""
    repository.commit("begin", at=NOON)
    talk = Hooks("claude-code", repository.path, KEY)
    await talk.hear("SessionStart.startup")
    # Nor is the agent asked to write something down, which would be an answer.
    (home / "settings.json").write_text('{"rememberAfterTurns": 0}')
    # Whoever looks after the inbox is busy: nothing of this conversation is ever placed.
    lock = block_draining(home)
    try:
        assert len(WANTED) + len(ODD) == 35
        for number, prompt in enumerate((*WANTED[:14], *ODD, *WANTED[14:])):
            await talk.say("UserPromptSubmit", prompt=prompt, prompt_id=f"p{number}")
        await talk.say("PreCompact.auto")
        before = sorted((home / "inbox").glob("*.jsonl"))
        held = [path.read_bytes() for path in before]
        told = await talk.hear("SessionStart.compact")
        # It was only read.
        assert [path.read_bytes() for path in before] == held
    finally:
        os.close(lock)
    assert [prompt for prompt in (*WANTED, *SPOKEN) if prompt not in told] == []
    places = [told.index(prompt) for prompt in WANTED]
    assert places == sorted(places, reverse=True)
    recovered = told[told.index("### Session Recovery Context") :].split("\n### ")[0]
    assert len(recovered) <= 4_200
    assert [
        one for one in ("INFO worker", "4711", SECRET, "| - ;", "continue") if one in told
    ] == []
    assert holding(home, SECRET.encode(), b"4711") == []


async def test_what_waits_of_the_last_conversation_is_known_to_the_next_in_its_folder(
    repository: Repository, home: Path, tmp_path: Path
) -> None:
    """Part of E6."""
    repository.commit("begin", at=NOON)
    elsewhere = Repository.create(tmp_path / "elsewhere")
    elsewhere.commit("begin", at=NOON)
    first = Hooks("claude-code", repository.path, "first")
    other = Hooks("claude-code", elsewhere.path, "other")
    await first.hear("SessionStart.startup")
    await other.hear("SessionStart.startup")
    lock = block_draining(home)
    try:
        await first.say("UserPromptSubmit", prompt="Count the apples in the cellar.")
        await other.say("UserPromptSubmit", prompt="Tell nobody about the bridges.")
        told = await Hooks("claude-code", repository.path, "next").hear("SessionStart.startup")
    finally:
        os.close(lock)
    assert "Count the apples in the cellar." in told
    assert "bridges" not in told


async def test_only_what_the_summary_dropped_is_told_though_nothing_is_placed(
    repository: Repository, home: Path
) -> None:
    """Part of E8."""
    repository.commit("begin", at=NOON)
    talk = Hooks("claude-code", repository.path, KEY)
    await talk.hear("SessionStart.startup")
    lock = block_draining(home)
    try:
        await talk.say("UserPromptSubmit", prompt="Count the apples in the cellar.")
        await talk.say("UserPromptSubmit", prompt="Paint the door green. Then lock it.")
        await talk.say("PreCompact.auto")
        await talk.say(
            "PostCompact.auto", compact_summary="They said: paint the door green. It is being done."
        )
        told = await talk.hear("SessionStart.compact")
    finally:
        os.close(lock)
    assert "Count the apples" in told
    assert "Then lock it." in told
    assert "door green" not in told


async def test_a_line_that_is_placed_while_it_is_read_is_told_once(
    repository: Repository, home: Path
) -> None:
    """Part of E6."""
    repository.commit("begin", at=NOON)
    talk = Hooks("claude-code", repository.path, KEY)
    await talk.hear("SessionStart.startup")
    for number in range(3):
        await talk.say("UserPromptSubmit", prompt=f"Count the apples of tree {number}.")
    waiting = next((home / "inbox").glob("*.jsonl"), None)
    again = waiting.read_bytes() if waiting else b""
    await Hooks("claude-code", repository.path, "next").hear("SessionStart.startup")
    # What was placed lies there again, as after a crash between placing and noting it.
    (home / "inbox" / "current.jsonl").write_bytes(again)
    told = await talk.hear("SessionStart.compact")
    assert [told.count(f"tree {number}.") for number in range(3)] == [1, 1, 1]
