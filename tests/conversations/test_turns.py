"""Turns come in by one way, wait on the disk, and leave a checkpoint or nothing."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from protocol.errors import Code
from protocol.events import Event
from sidecar.conversations import finish, later
from sidecar.conversations.finish import Idling
from sidecar.conversations.rules.turns import FLAGGED
from sidecar.storage.vault import Vault
from tests.desks import Desk
from tests.support import HOUR, MINUTE, reopen

pytestmark = pytest.mark.slow

CLAUDE = {"agentId": "claude-code", "harness": "claude-code"}
DECISION = "We decided to keep the queue in SQLite instead of Redis because it runs on one machine."
RULE = "You must never log customer names, legal was clear about that."
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
IDLE = 10 * MINUTE


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test say when what waits is written."""
    monkeypatch.setattr(later, "_start", lambda _run: None)


def take(desk: Desk, content: str, role: str = "user", **more: Any) -> Any:
    given = CLAUDE | {"sessionKey": "run", "role": role, "content": content} | more
    return desk.ask("turns/ingest", **given)


def status(desk: Desk, content: str, role: str = "user", **more: Any) -> str:
    return str(take(desk, content, role, **more)["extractionStatus"])


def track(desk: Desk, key: str = "run", **seen: Any) -> Any:
    return desk.ask("context/track", sessionKey=key, **CLAUDE, **seen)


def captured(vault: Vault) -> list[Event]:
    return [
        event
        for session in vault.sessions.timeline()
        for event in vault.sessions.events(session.session_id)
        if event.kind == "capture"
    ]


def waiting(desk: Desk) -> tuple[list[str], list[str]]:
    vault = desk.vault
    said = sorted(vault.entries.all(), key=lambda one: one.at)
    done = sorted(vault.activities.all(), key=lambda one: one.at)
    return [one.text for one in said], [one.tool for one in done]


def saved(desk: Desk, key: str | None = None) -> list[Any]:
    return list(desk.ask("checkpoints/list", sessionKey=key, limit=100)["checkpoints"])


def fall_silent(desk: Desk) -> Desk:
    """Let time pass, and look at the same memory as the next process does."""
    desk.app.flush()
    desk.clock.pass_(IDLE)
    other = desk.second()
    other.ask("status")
    return other


def test_a_turn_that_matters_is_an_event_and_becomes_memory(desk: Desk) -> None:
    """Part of F4."""
    told = take(desk, DECISION)
    assert told == {
        "turnId": told["turnId"],
        "signalScore": 0.85,
        "signalKeywords": ["decision", "we decided", "because"],
        "extractionStatus": "queued",
    }
    (event,) = captured(desk.vault)
    assert (event.source, event.agent_id, event.text) == ("claude-code", None, DECISION)
    desk.enrich()
    (memory,) = [one for one in desk.vault.memories.all() if one.type == "decision"]
    assert "SQLite" in memory.title
    assert memory.evidence[0].quote == DECISION


def test_turns_are_weighed_and_only_those_that_matter_are_read(desk: Desk) -> None:
    """F4."""
    worth = {
        "We decided to use SQLite because we run no server.": "we decided",
        "Correction: the timeout is 30 milliseconds, not 30 seconds.": "correction",
        "TODO: document the limits in docs/limits.md before the release.": "todo",
    }
    idle = ["Good morning! I'll look at it now.", "x" * 100_000, "Thanks, that looks good to me."]
    said = [text for pair in zip(worth, idle, strict=True) for text in pair]
    told = {}
    for content in said:
        desk.clock.pass_(MINUTE)
        told[content] = desk.ask("turns/ingest", sessionKey="run", role="user", content=content)
    assert all(
        set(one) == {"turnId", "signalScore", "signalKeywords", "extractionStatus"}
        for one in told.values()
    )
    assert len({one["turnId"] for one in told.values()}) == len(said)
    assert [told[text]["extractionStatus"] for text in said] == ["queued", "skipped"] * 3
    for text, sign in worth.items():
        assert FLAGGED <= told[text]["signalScore"] <= 1
        assert sign in told[text]["signalKeywords"]
    assert all(0 <= told[text]["signalScore"] < FLAGGED for text in idle)
    assert len({told[text]["signalScore"] for text in worth}) > 1
    for wrong in ({"role": "system", "content": "x"}, {"role": "user", "content": "x" * 100_001}):
        assert (
            desk.refused("turns/ingest", sessionKey="run", **wrong)["code"] == Code.INVALID_PARAMS
        )
    for content in worth:
        desk.clock.pass_(5 * MINUTE)
        said_again = {"sessionKey": "run", "role": "assistant", "content": content}
        answer = desk.ask("turns/ingest", **said_again)
        assert (answer["signalScore"], answer["extractionStatus"]) == (0, "skipped")
    assert [one.text for one in captured(desk.vault)] == list(worth)
    desk.enrich()
    made = [one for one in desk.vault.memories.all() if one.type != "episodic"]
    quoted = {quote.quote for one in made for quote in one.evidence}
    # What a rule is not sure of stays a record that search finds.
    assert {one.type for one in made} == {"decision"}
    assert quoted < set(worth)


def test_only_flagged_turns_go_to_extraction(desk: Desk) -> None:
    """Part of F4."""
    assert status(desk, "Good morning! Ready when you are.") == "skipped"
    assert status(desk, "I'll run the tests now.", "assistant") == "skipped"
    assert status(desk, DECISION, "assistant") == "skipped"
    assert captured(desk.vault) == []
    assert desk.vault.conversations.get("run").prompt_count == 1  # type: ignore[union-attr]  # it is there
    assert len(waiting(desk)[0]) == 3


@pytest.mark.parametrize(
    "more", [{"idempotencyKey": "p1"}, {}, {"occurredAt": "2026-03-02T11:59:00Z"}]
)
def test_a_retry_makes_nothing_new(desk: Desk, more: dict[str, Any]) -> None:
    """Part of F4."""
    first = take(desk, DECISION, **more)
    for _ in range(3):
        desk.clock.pass_(MINUTE)
        assert take(desk, DECISION, **more) == first | {"extractionStatus": "duplicate"}
    again = desk.second()
    assert status(again, DECISION, **more) == "duplicate"
    again.close()
    talk = desk.vault.conversations.get("run")
    assert talk is not None
    assert (talk.prompt_count, len(talk.notes), len(captured(desk.vault))) == (1, 1, 1)
    assert waiting(desk)[0] == [DECISION]


def test_the_same_words_said_later_are_a_turn_of_their_own(desk: Desk) -> None:
    for number in range(3):
        assert status(desk, "yes") == "skipped"
        assert status(desk, "yes") == "duplicate"
        assert status(desk, f"Fine, number {number}.", "assistant") == "skipped"
    talk = desk.vault.conversations.get("run")
    assert talk is not None
    assert talk.prompt_count == 3
    assert status(desk, DECISION) == "queued"
    assert status(desk, "ok") == "skipped"
    desk.clock.pass_(5 * MINUTE)
    assert status(desk, DECISION) == "queued"
    assert len(captured(desk.vault)) == 1


def test_a_conversation_is_known_by_either_name(desk: Desk) -> None:
    """Part of F4."""
    take(desk, DECISION)
    told = desk.ask("turns/ingest", agentRunId="run", role="user", content=DECISION)
    assert told["extractionStatus"] == "duplicate"


def test_a_turn_that_is_too_long_is_refused_with_its_length(desk: Desk) -> None:
    """Part of F4."""
    take(desk, "x" * 100_000)
    before = desk.vault.database.sequence()
    refused = desk.refused(
        "turns/ingest", sessionKey="run", role="user", content=f"{DECISION} {'x' * 100_000}"
    )
    assert (refused["code"], refused["data"]["field"]) == (Code.INVALID_PARAMS, "content")
    length = len(DECISION) + 100_001
    said = f"`content` has {length:,} characters, and 100,000 is the most"
    assert said in refused["message"]
    assert desk.vault.database.sequence() == before


def test_nothing_private_or_secret_is_kept(desk: Desk) -> None:
    """Part of F4 and F5."""
    assert status(desk, "<private>We decided to fire Bob.</private>") == "dropped"
    assert desk.vault.conversations.get("run") is None
    assert (
        status(desk, f"{DECISION} <private>Bob said so.</private> The token is {TOKEN}") == "queued"
    )
    assert status(desk, f"The key is {TOKEN}", "assistant") == "skipped"
    track(desk, activities=[{"tool": "Bash", "inputSummary": f"login {TOKEN}"}])
    desk.ask("context/end", sessionKey="run", **CLAUDE)
    disk = b"".join(one.read_bytes() for one in desk.home.folder.rglob("*") if one.is_file())
    assert TOKEN.encode() not in disk
    assert b"Bob" not in disk


def test_nothing_is_kept_while_capture_is_paused(desk: Desk) -> None:
    """Part of F4 and F5."""
    desk.ask("capture/pause")
    moment = desk.clock.now.isoformat()
    assert status(desk, DECISION) == "dropped"
    desk.clock.pass_(MINUTE)
    desk.ask("capture/resume")
    desk.clock.pass_(MINUTE)
    assert status(desk, DECISION, occurredAt=moment) == "dropped"
    assert (captured(desk.vault), waiting(desk), len(desk.vault.conversations)) == ([], ([], []), 0)
    desk.app.configure(user={"continuityEnabled": False})
    assert status(desk, DECISION) == "dropped"
    assert len(desk.vault.conversations) == 0


def test_every_way_in_gives_the_same(desk: Desk) -> None:
    """Part of F4 and F5: a turn that is tracked is a turn that is ingested."""
    track(desk, "one", prompt=DECISION, idempotencyKey="a")
    track(desk, "one", response=f"As agreed, {RULE}", idempotencyKey="b")
    take(desk, DECISION, sessionKey="two", idempotencyKey="a")
    take(desk, f"As agreed, {RULE}", "assistant", sessionKey="two", idempotencyKey="b")
    one, two = (desk.vault.conversations.get(key) for key in ("one", "two"))
    assert one is not None
    assert two is not None
    assert (one.notes, one.prompt_count) == (two.notes, two.prompt_count)
    entries = [
        {
            (row.said_by, row.text, row.signal_score)
            for row in desk.vault.entries.find("sessionKey", key)
        }
        for key in ("one", "two")
    ]
    assert entries[0] == entries[1]
    texts = [(event.agent_id, event.text) for event in captured(desk.vault)]
    assert texts == [(None, DECISION)] * 2


def test_a_turn_that_a_hook_and_an_agent_report_is_one(desk: Desk) -> None:
    """Part of F4 and F5."""
    track(desk, prompt=DECISION, idempotencyKey="claude-code:run:prompt:1")
    desk.clock.pass_(MINUTE)
    assert status(desk, DECISION, idempotencyKey="turn 1") == "duplicate"
    talk = desk.vault.conversations.get("run")
    assert talk is not None
    assert (talk.prompt_count, len(captured(desk.vault)), len(waiting(desk)[0])) == (1, 1, 1)
    assert status(desk, DECISION, "assistant", idempotencyKey="turn 1") == "skipped"
    desk.clock.pass_(5 * MINUTE)
    assert status(desk, DECISION, idempotencyKey="turn 2") == "queued"


def test_what_is_said_and_done_waits_on_the_disk(desk: Desk) -> None:
    """Part of F5."""
    take(desk, f"{'long ' * 300}")
    done = {"tool": "Edit", "category": "write", "inputSummary": "queue.py", "outputSummary": "ok"}
    for _ in range(2):
        track(desk, activities=[done | {"at": desk.clock.now.isoformat()}])
    desk.ask("memories/search", query="queue", sessionKey="run")
    desk.ask(
        "memories/write", content="Queues are fair", title="Fair", sessionKey="run", type="fact"
    )
    desk.app.flush()
    other = reopen(desk.vault)
    (entry,) = other.entries.all()
    assert 480 < len(entry.text) <= 500
    kept = {(one.tool, one.category, one.input_summary) for one in other.activities.all()}
    assert kept == {
        ("Edit", "write", "queue.py"),
        ("search_memories", "search", "queue"),
        ("write_memory", "write", "Fair"),
    }
    other.close()


def test_what_waits_stays_little_however_long_a_conversation_lasts(desk: Desk) -> None:
    """Part of F5."""
    desk.app.configure(user={"promptInterval": 1000})
    for number in range(130):
        desk.clock.pass_(MINUTE / 60)
        take(desk, f"turn {number}", "assistant")
        track(desk, activities=[{"tool": f"tool {number} {one}"} for one in range(2)])
    said, done = waiting(desk)
    assert (len(said), len(done)) == (100, 200)
    assert said[-1] == "turn 129"
    assert "turn 29" not in said


def test_a_silent_conversation_is_saved_once(desk: Desk) -> None:
    """Part of F5."""
    take(desk, DECISION)
    track(desk, activities=[{"tool": "Edit", "category": "write"}])
    desk.clock.pass_(IDLE - MINUTE)
    early = desk.second()
    early.ask("status")
    early.close()
    assert (saved(desk), len(waiting(desk)[0])) == ([], 1)
    fall_silent(desk).close()
    (made,) = saved(desk)
    assert (made["trigger"], made["promptCount"]) == ("periodic", 1)
    assert made["createdAt"] == "2026-03-02T12:00:00Z"
    assert "### Activities\n- write: Edit 1\n### Last Turns\n- user: We decided" in made["digest"]
    assert waiting(desk) == ([], [])
    fall_silent(desk).close()
    assert len(saved(desk)) == 1
    assert len(captured(desk.vault)) == 1
    take(desk, "And what about the tests of the queue?")
    assert len(waiting(desk)[0]) == 1


def test_a_conversation_that_was_left_behind_long_ago_is_not_taken_for_a_new_one(
    desk: Desk,
) -> None:
    """Part of F5: its checkpoint is of the moment in which it fell silent."""
    take(desk, DECISION)
    desk.app.flush()
    desk.clock.pass_(5 * HOUR)
    other = desk.second()
    assert other.look(sessionKey="next")["recovery"] is None
    assert len(saved(other)) == 1
    take(other, RULE)
    other.app.flush()
    desk.clock.pass_(8 * 24 * HOUR)
    late = desk.second()
    assert (saved(late), waiting(late)) == ([], ([], []))
    late.close()
    other.close()


def test_the_idle_time_is_the_users(desk: Desk) -> None:
    """Part of F5."""
    take(desk, DECISION)
    desk.app.flush()
    desk.clock.pass_(2 * MINUTE)
    other = desk.second()
    other.app.configure(user={"idleFlushMs": 60_000})
    assert len(saved(other)) == 1
    other.close()


@pytest.mark.parametrize(
    "ending", ["silence", "end"], ids=["a trivial one that falls silent", "a trivial one that ends"]
)
def test_a_trivial_conversation_leaves_nothing(desk: Desk, ending: str) -> None:
    """Part of F5."""
    desk.remember("The queue is fair")
    before = len(desk.vault.memories), len(desk.vault.sessions.timeline())
    take(desk, "Hi there!")
    take(desk, "Hello! How can I help?", "assistant")
    take(desk, "ok, thank you")
    desk.ask("memories/search", query="queue", sessionKey="run")
    looks = [
        {"tool": tool, "category": kind} for tool, kind in (("Read", "read"), ("Grep", "search"))
    ]
    track(desk, activities=looks * 5)
    if ending == "silence":
        fall_silent(desk).close()
    else:
        assert desk.ask("context/end", sessionKey="run", **CLAUDE)["checkpoint"] is None
    assert (saved(desk), waiting(desk)) == ([], ([], []))
    assert (len(desk.vault.memories), len(desk.vault.sessions.timeline())) == before


def test_an_end_tells_what_waits_and_empties_it(desk: Desk) -> None:
    """Part of F5."""
    take(desk, RULE)
    track(desk, activities=[{"tool": "Write", "category": "write", "inputSummary": "log.py"}])
    digest = desk.ask("context/end", sessionKey="run", **CLAUDE)["checkpoint"]["digest"]
    assert "- write: Write 1" in digest
    assert f"- user: {RULE}" in digest
    assert waiting(desk) == ([], [])
    fall_silent(desk).close()
    assert len(saved(desk)) == 1


def test_forgotten_words_leave_what_waits(desk: Desk) -> None:
    take(desk, "The code word is four blue herons, my friend.")
    track(desk, activities=[{"tool": "Bash", "inputSummary": "echo four blue herons"}])
    assert desk.ask("purge", phrase="four blue herons")["verified"]
    said, _ = waiting(desk)
    assert said == ["The code word is [FORGOTTEN], my friend."]
    fall_silent(desk).close()
    assert waiting(desk) == ([], [])


def test_our_own_words_come_back_ten_times_and_make_nothing_new(desk: Desk) -> None:
    """Part of F4: inject, come back in a prompt with our marks or in any form from an assistant, enrich."""
    desk.remember(
        "Invoices are numbered per year without gaps, because the tax office wants it", "decision"
    )
    desk.remember(
        "Never block a request",
        "constraint",
        content="The limiter must fail open. We decided that after the outage in May.",
        rationale="a request is worth more than a limit",
    )
    desk.task("Document the new limits", description="TODO: they must be in docs/limits.md.")
    desk.document(
        "conventions", "Always write the test first.\nNever push to main.", agent_editable=True
    )
    take(desk, RULE, sessionKey="before")
    desk.ask(
        "context/digest", sessionKey="before", **CLAUDE, digest="Next: we must rotate the keys."
    )
    desk.ask("context/end", sessionKey="before", **CLAUDE)
    desk.enrich()

    def counted() -> tuple[int, ...]:
        vault = desk.vault
        talks = [one for one in vault.conversations.all() if one.session_key != "before"]
        notes = sum(len(one.notes) for one in talks)
        shelves = (vault.memories, vault.tasks, vault.documents, vault.messages)
        return (*(len(one) for one in shelves), len(captured(vault)), notes)

    before = counted()
    for number in range(10):
        desk.clock.pass_(MINUTE)
        key = f"run {number}"
        given = {"sessionKey": key, "host": "claude-code", **CLAUDE}
        told = desk.ask("context/render", occasion="startup", **given)["text"]
        assert "tax office" in told
        assert "fail open" in told
        desk.app.flush()
        assert status(desk, told, sessionKey=key) == "dropped"
        bare = "\n".join(line for line in told.splitlines() if not line.startswith(("<!--", "===")))
        quoted = "\n".join(line.removeprefix("| ").removeprefix("- ") for line in bare.splitlines())
        plain = " ".join(one.content for one in desk.vault.memories.all() if one.type != "episodic")
        assert status(desk, f"I was told:\n{told}\nGood.", sessionKey=key) == "skipped"
        for text in (f"I was told:\n{told}\nGood.", bare, quoted, plain, f"As I know: {plain}"):
            assert status(desk, text, "assistant", sessionKey=key) == "skipped", text
        desk.ask("context/end", sessionKey=key, **CLAUDE)
        desk.enrich()
        assert counted() == before


def test_a_process_that_lives_on_saves_what_falls_silent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F5."""
    alarms: list[tuple[float, Callable[[], None]]] = []

    def set_(seconds: float, act: Callable[[], None]) -> threading.Timer:
        alarms.append((seconds, act))
        return threading.Timer(seconds, act)

    monkeypatch.setattr(finish, "_set", set_)
    take(desk, DECISION)
    take(desk, "And then?")
    (first,) = alarms
    assert first[0] == 601.0
    desk.clock.pass_(5 * MINUTE)
    first[1]()
    assert (saved(desk), len(alarms)) == ([], 2)
    desk.clock.pass_(6 * MINUTE)
    alarms[1][1]()
    assert (len(saved(desk)), len(alarms)) == (1, 2)


def test_an_alarm_that_fails_is_set_again_and_one_that_was_called_off_does_nothing(
    vault: Vault,
) -> None:
    looked: list[Vault] = []

    def fail(one: Vault) -> bool:
        looked.append(one)
        raise OSError("the disk is full")

    waiting_ = Idling(fail)
    waiting_.expect(vault, 3600)
    (first,) = waiting_._alarms.values()
    waiting_._look(vault, 3600)
    first.cancel()
    (second,) = waiting_._alarms.values()
    assert second is not first
    waiting_.cancel()
    waiting_._look(vault, 3600)
    assert looked == [vault]
    for one in (first, second):
        one.join()
