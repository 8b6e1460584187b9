"""Conversations on the command line: as a hook reports them, and as their user reads them."""

import json
import subprocess
from typing import Any

import pytest

from sidecar.transports.exits import Exit
from tests.support import Repository, threadline

pytestmark = pytest.mark.slow

AGENT = {"agentId": "claude-code", "harness": "claude-code"}
SAID = (
    "We decided to use a token bucket instead of a sliding window.",
    "Never block a request because the limiter is down; it must fail open.",
    "TODO: document the new limits in docs/limits.md before the release.",
)
TOLD = ("token bucket instead of a sliding window", "must fail open", "docs/limits.md")
FACT = "Uploads are signed by the gateway before they reach the store"
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def converse(repository: Repository, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Send a conversation as JSON Lines; give the results."""
    lines = (
        json.dumps({"id": place, "method": f"threadline/{method}", "params": params})
        for place, (method, params) in enumerate(calls)
    )
    done = threadline("call", "-", cwd=repository.path, stdin="\n".join(lines).encode())
    assert done.returncode == Exit.OK, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in answers] == list(range(len(calls)))
    return [one["result"] for one in answers]


def turns(key: str, *prompts: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("context/track", {"sessionKey": key, "prompt": prompt, "files": ["bucket.py"]} | AGENT)
        for prompt in prompts
    ]


def text(done: "subprocess.CompletedProcess[bytes]") -> str:
    assert done.returncode == Exit.OK, done.stderr
    return done.stdout.decode()


@pytest.fixture
def worked(repository: Repository) -> Repository:
    repository.commit("before")
    return repository


def test_a_whole_conversation_is_piped_in_and_known_by_the_next_command(worked: Repository) -> None:
    """Part of E5, E6, E7 and E10."""
    assert b"no checkpoints yet" in threadline("checkpoints", cwd=worked.path).stderr
    small = [f"prompt {number}" for number in range(7)]
    *_, tenth, narrated = converse(
        worked,
        ("context/start", {"sessionKey": "run"} | AGENT),
        *turns("run", *SAID, *small),
        (
            "context/digest",
            {"sessionKey": "run", "digest": "## State\nIt works.\n\n## Blockers\nCI is red."}
            | AGENT,
        ),
    )
    assert (tenth["promptCount"], tenth["isCheckpointDue"]) == (10, True)
    assert narrated["checkpoint"]["trigger"] == "agent"
    # The process has ended: what waited is on the disk.
    listed = text(threadline("checkpoints", cwd=worked.path)).splitlines()
    assert [line[17:] for line in listed if not line.startswith(" ")] == [
        "in its agent's words, 10 prompts, claude-code run",
        "in passing, 10 prompts, claude-code run",
    ]
    assert listed[1] == "  State: It works. Blockers: CI is red."
    assert listed[3].startswith("  Never block a request")
    whole = text(threadline("checkpoints", "run", cwd=worked.path))
    for part in (*TOLD, "  ## State\n  It works.\n\n  ## Blockers\n  CI is red.\n", "bucket.py"):
        assert part in whole
    context = text(threadline("context", "--conversation", "run", cwd=worked.path))
    assert "- from this conversation, saved " in context
    assert all(f"| - {part}" in context or part in context for part in (*TOLD, "CI is red."))
    assert "may still be running" not in context
    beside = text(threadline("context", "--conversation", "other", cwd=worked.path))
    assert "- from another conversation in this folder, saved " in beside
    assert "may still be running" in beside
    page = json.loads(threadline("checkpoints", "--limit", "1", "--json", cwd=worked.path).stdout)
    assert (page["total"], [one["trigger"] for one in page["checkpoints"]]) == (2, ["agent"])
    short = text(threadline("checkpoints", "--limit", "1", cwd=worked.path))
    assert "1 of 2; --limit shows more" in short
    unknown = threadline("checkpoints", "nobody", cwd=worked.path)
    assert (unknown.returncode, unknown.stdout) == (Exit.OK, b"")
    assert b"no checkpoints of nobody; `threadline checkpoints` lists all" in unknown.stderr


def test_one_report_is_made_by_one_call(worked: Repository) -> None:
    """Part of E5."""
    params = json.dumps({"sessionKey": "run", "prompt": SAID[0]} | AGENT)
    first = json.loads(
        threadline("call", "threadline/context/track", params, cwd=worked.path).stdout
    )
    assert (first["promptCount"], first["isKept"]) == (1, True)
    assert first["start"]["agentLabel"] == "Claude Code"
    again = json.loads(
        threadline("call", "threadline/context/track", params, cwd=worked.path).stdout
    )
    assert (again["promptCount"], again["start"]) == (2, None)
    wrong = threadline("call", "threadline/context/track", '{"prompt": "x"}', cwd=worked.path)
    assert wrong.returncode == Exit.USAGE
    assert b"sessionKey" in wrong.stderr
    threadline("pause", cwd=worked.path)
    paused = json.loads(
        threadline("call", "threadline/context/track", params, cwd=worked.path).stdout
    )
    assert (paused["promptCount"], paused["isKept"]) == (2, False)


def test_the_figures_tell_what_memory_was_worth(worked: Repository) -> None:
    """E12."""
    assert b"no conversations since" in threadline("stats", cwd=worked.path).stderr
    written = [
        {"type": "fact", "title": title, "content": title, "importance": 5}
        for title in (
            FACT,
            "Backups of the ledger are kept for seven years",
            "Deploys happen on Friday mornings and never later",
            "The mobile client retries every request three times",
        )
    ]
    kept = converse(worked, *(("memories/write", one) for one in written))
    ids = [one["memory"]["memoryId"] for one in kept]
    converse(worked, ("context/start", {"sessionKey": "cold"} | AGENT))
    converse(
        worked,
        *turns("cold", *SAID),
        ("context/track", {"sessionKey": "cold", "response": f"I read: {FACT}."} | AGENT),
        ("memories/search", {"query": "ledger backups", "topK": 1, "sessionKey": "cold"}),
        ("memories/read", {"memoryIds": [ids[2]], "sessionKey": "cold"}),
    )
    converse(worked, ("context/start", {"sessionKey": "warm"} | AGENT))
    converse(worked, ("context/start", {"sessionKey": "new", "agentId": "cursor"}))
    figures = json.loads(threadline("stats", "--json", cwd=worked.path).stdout)
    assert figures["cold"] == {"conversations": 1, "given": 4, "used": 3, "news": 4, "prompts": 3}
    assert figures["recovered"] == {
        "conversations": 2,
        "given": 8,
        "used": 0,
        "news": 4,
        "prompts": 0,
    }
    assert {one["memoryId"] for one in figures["mostUsed"]} == set(ids[:3])
    shown = [line.split() for line in text(threadline("stats", cwd=worked.path)).splitlines()]
    assert shown[:3] == [
        ["began", "conversations", "prompts", "given", "new", "to", "it", "used", "of", "given"],
        ["cold", "1", "3", "4", "4", "3", "75%"],
        ["recovered", "2", "0", "8", "4", "0", "0%"],
    ]
    assert shown[5] == ["Most", "used"]
    assert len(shown[6:]) == 3


def test_what_anybody_may_write_moves_no_cursor_and_shows_no_secret(worked: Repository) -> None:
    """Part of E10 and E11."""
    key = "\x1b[2J[bold]run[/]\n🦊"
    who = {"sessionKey": key, "harness": "\x1b]0;title\x07cli"}
    digest = f"\x1b[31mred[/red] {SECRET} \u202e<private>hidden</private>"
    converse(
        worked,
        ("context/track", who | {"prompt": SAID[1]}),
        ("context/digest", who | {"digest": digest}),
        ("context/track", {"sessionKey": SECRET, "prompt": SAID[0]}),
        ("context/end", {"sessionKey": SECRET}),
    )
    for command in (["checkpoints"], ["checkpoints", key], ["context", "--conversation", key]):
        shown = text(threadline(*command, cwd=worked.path))
        assert not any(mark in shown for mark in ("\x1b", "\x07", "\u202e", SECRET, "hidden"))
        assert "[REDACTED]" in shown
    assert "red[/red]" in text(threadline("checkpoints", key, cwd=worked.path))
    mine = json.loads(threadline("checkpoints", SECRET, "--json", cwd=worked.path).stdout)
    assert [one["trigger"] for one in mine["checkpoints"]] == ["session_end"]
