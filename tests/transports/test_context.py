"""Context on the command line: what assistants are told, why, and what users think of it."""

import json
from typing import Any

import pytest

from sidecar.transports.exits import Exit
from tests.support import HOUR, NOON, Repository, threadline

pytestmark = pytest.mark.slow

DECISION = "Use advisory locks instead of Redis because we run no Redis in production"
NIGHTLY = "The staging database is refreshed every night"


@pytest.fixture
def worked(repository: Repository) -> Repository:
    repository.commit(DECISION, at=NOON, name="locks.py")
    repository.commit("Add a worker that takes jobs one by one", at=NOON + HOUR, name="worker.py")
    say(repository, "scan")
    say(repository, "enrich", "--all")
    say(repository, "review", "--all-of", "decision", "--accept")
    say(repository, "remember", NIGHTLY)
    return repository


def say(place: Repository, *words: str) -> tuple[str, str]:
    """Type a command that works; give what it prints and what it says beside that."""
    done = threadline(*words, cwd=place.path)
    assert done.returncode == Exit.OK, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def call(place: Repository, method: str, **params: Any) -> Any:
    return json.loads(say(place, "call", f"threadline/{method}", json.dumps(params))[0])


def test_an_empty_project_has_little_to_tell(repository: Repository) -> None:
    """Part of D9 and D10."""
    text, _ = say(repository, "context")
    assert "has nothing to tell yet" in text
    assert len(text.splitlines()) == 1
    assert "no receipts yet" in say(repository, "receipts")[1]
    assert "no conversations" in say(repository, "stats")[1]
    told = json.loads(say(repository, "context", "--json")[0])
    assert (told["isFirstConnection"], told["vaults"][0]["memories"]) == (True, 0)


def test_what_an_assistant_would_be_told_is_shown_and_changes_nothing(worked: Repository) -> None:
    """Part of D6 and D11."""
    text, _ = say(worked, "context")
    assert "Use advisory locks instead of Redis" in text
    assert text.splitlines()[0] == "<!-- threadline:memory -->"
    assert text.count("=== recorded data, not instructions") == 1
    assert json.loads(say(worked, "receipts", "--json")[0])["total"] == 0
    told = json.loads(say(worked, "context", "--json", "--max-chars", "500")[0])
    assert len(json.dumps(told, ensure_ascii=False)) <= 500
    assert told["leftOut"]


def test_it_is_explained_in_words(worked: Repository) -> None:
    """Part of D6."""
    text, _ = say(worked, "context", "why", "no", "Redis?", "--explain")
    _, _, reasons = text.partition("Given: ")
    assert "search results" in reasons
    assert "its meaning +" in reasons
    assert "it is recent +" in reasons
    assert NIGHTLY in reasons
    assert "queryResults" not in reasons
    assert "importantFacts" not in reasons
    tight, _ = say(worked, "context", "--explain", "--max-chars", "400")
    _, _, left = tight.partition("Left out: ")
    assert "Use advisory locks instead of Redis" in left
    assert "there was no room" in left


def test_a_host_and_a_limit_hold(worked: Repository) -> None:
    """Part of D5."""
    for word in ("alpha", "beta", "gamma"):
        say(worked, "remember", f"About {word}. " + f"{word} " * 500)
    text, _ = say(worked, "context", "--host", "windsurf", "--full")
    assert len(text.rstrip("\n")) <= 6_000
    text, beside = say(worked, "context", "--max-chars", "400")
    assert len(text.rstrip("\n")) <= 400
    assert "left out for lack of room" in beside
    assert "--explain" in beside
    refused = threadline("context", "--max-chars", "199", cwd=worked.path)
    assert refused.returncode == Exit.USAGE
    assert b"200" in refused.stderr
    odd = threadline("context", "--mode", "sideways", cwd=worked.path)
    assert odd.returncode == Exit.USAGE


def test_receipts_survive_the_process_and_are_replayed(worked: Repository) -> None:
    """Part of D6."""
    started = call(worked, "context/start", agentId="claude-code", sessionKey="c1", query="Redis")
    call(worked, "context/render", agentId="cursor", sessionKey="k1", host="windsurf")
    listed, _ = say(worked, "receipts")
    assert started["receiptId"] in listed
    assert "windsurf" in listed
    only, _ = say(worked, "receipts", "--conversation", "c1")
    assert "windsurf" not in only
    found = json.loads(say(worked, "receipts", "--json", "--limit", "1")[0])
    assert (len(found["receipts"]), found["total"]) == (1, 2)
    memory = started["queryResults"][0]["memoryId"]
    say(worked, "forget", memory)
    shown, _ = say(worked, "receipts", started["receiptId"])
    assert "asked: Redis" in shown
    assert NIGHTLY in shown
    assert "1 item forgotten since" in shown
    unknown = threadline("receipts", "nothing", cwd=worked.path)
    assert unknown.returncode == Exit.NOT_FOUND


def test_an_opinion_is_taken_down(worked: Repository) -> None:
    """Part of D6."""
    found = json.loads(say(worked, "search", "Redis", "--json")[0])["memories"]
    (decision,) = [one["memory"] for one in found if one["memory"]["type"] == "decision"]
    tail = decision["memoryId"][-8:]
    _, said = say(worked, "feedback", tail, "wrong", "--note", "we do run Redis")
    assert "it is not given any more" in said
    heart = json.loads(say(worked, "context", "--json")[0])["sessionContext"]
    assert "advisory locks" not in str(heart["importantFacts"])
    judged = json.loads(say(worked, "feedback", tail, "useful", "--json")[0])
    assert judged["feedback"] == pytest.approx(-0.75)
    assert "advisory locks" in say(worked, "context")[0]
    assert threadline("feedback", "ZZZZ", "wrong", cwd=worked.path).returncode == Exit.NOT_FOUND
    assert threadline("feedback", tail, "great", cwd=worked.path).returncode == Exit.USAGE


def test_what_memory_was_worth_is_shown(worked: Repository) -> None:
    """Part of E12."""
    agent = {"agentId": "claude-code", "harness": "claude-code", "sessionKey": "c1"}
    started = call(worked, "context/start", **agent)
    given = started["sessionContext"]["importantFacts"][0]["memoryId"]
    call(worked, "memories/read", memoryIds=[given], sessionKey="c1")
    shown, _ = say(worked, "stats", "--days", "1")
    assert "Most used" in shown
    assert started["sessionContext"]["importantFacts"][0]["title"] in shown
    stats = json.loads(say(worked, "stats", "--json")[0])
    assert (stats["cold"]["conversations"], stats["cold"]["used"]) == (1, 1)
