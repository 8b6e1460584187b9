"""Receipts: what was given, why and how large, and what was not; and what an answer that is kept depends on."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.desks import SUBJECTS, Desk, fill, memory, titles
from tests.support import HOUR, MINUTE

pytestmark = pytest.mark.slow

AGENT = "claude-code"


def receipt(desk: Desk, receipt_id: str, **params: Any) -> Any:
    """Read one receipt as another process does, once this one has gone."""
    desk.app.flush()
    found = desk.second().ask("context/receipts", receiptId=receipt_id, **params)
    (one,) = found["receipts"]
    return one


def test_every_injection_leaves_a_receipt_that_can_be_replayed(desk: Desk) -> None:
    """D6."""
    prepare(desk)
    given = desk.start(sessionKey="c1", query="passwords", maxResponseChars=3_000)
    told = receipt(desk, given["receiptId"])
    assert (told["agentId"], told["sessionKey"], told["host"]) == (AGENT, "c1", None)
    assert (told["mode"], told["query"], told["occasion"]) == ("default", "passwords", "startup")
    check(told, given)
    assert (told["cap"], told["chars"] <= 3_000) == (3_000, True)
    assert abs(told["chars"] - len(json.dumps(given, ensure_ascii=False))) <= 0
    desk.clock.pass_(MINUTE)
    rendered = desk.ask("context/render", agentId=AGENT, sessionKey="c1", host="windsurf")
    shown = receipt(desk, rendered["receiptId"])
    assert (shown["host"], shown["chars"], shown["cap"]) == ("windsurf", rendered["chars"], 6_000)
    assert sum(one["chars"] for one in shown["items"]) < shown["chars"]
    for one in shown["items"]:
        assert one["id"] in rendered["text"]
    replayed(desk, told)
    lowered(desk)


def prepare(desk: Desk) -> None:
    fill(desk)
    desk.document("instructions", "Run the tests first.")
    desk.message("Hello")
    desk.task("Create the worker", done_when="path exists: worker.py")
    desk.repository.write("worker.py")


def check(told: Any, given: Any) -> None:
    """See that a receipt names what an answer holds, and why."""
    sections: dict[str, list[str]] = {}
    for one in told["items"]:
        sections.setdefault(one["section"], []).append(one["id"])
        assert one["chars"] > 0
    heart = given["sessionContext"]
    for name in ("constraints", "importantFacts", "recentSessions"):
        assert sections.get(name, []) == [item["memoryId"] for item in heart[name]]
    assert sections.get("queryResults", []) == [item["memoryId"] for item in given["queryResults"]]
    assert sections["pendingMessages"] == [one["messageId"] for one in given["pendingMessages"]]
    assert sections["activeTasks"] == [one["taskId"] for one in heart["activeTasks"]]
    assert sections.get("documents", []) == [one["name"] for one in given.get("documents", [])]
    for one in told["items"]:
        if one["section"] in {"constraints", "importantFacts", "queryResults"}:
            assert one["score"] == pytest.approx(sum(one["why"].values()))
    reasons = {one["reason"] for one in told["leftOut"]}
    assert {"cap", "limit"} <= reasons
    for one in told["leftOut"]:
        if one["reason"] == "cap":
            assert one["id"] not in sections.get(one["section"], [])


def replayed(desk: Desk, told: Any) -> None:
    """Change and forget some of what was given, and see it again."""
    first, second, third = [
        one["id"] for one in told["items"] if one["section"] in {"constraints", "queryResults"}
    ][:3]
    desk.clock.pass_(MINUTE)
    desk.ask("memories/update", memoryId=first, title="Now in other words")
    desk.ask("memories/forget", memoryIds=[second])
    desk.ask("context/feedback", memoryId=third, verdict="useful")
    found = desk.ask("context/receipts", receiptId=told["receiptId"], replay=True)
    (again,) = found["replays"]
    assert (again["changed"], again["forgotten"]) == ([first], [second])
    shown = {item["memoryId"]: item["title"] for item in again["items"]}
    assert shown[first] == "Now in other words"
    assert second not in shown


def lowered(desk: Desk) -> None:
    """Say of what was given that it is stale, and then wrong."""

    def facts() -> list[str]:
        return [item["memoryId"] for item in desk.look()["sessionContext"]["importantFacts"]]

    first, *others = facts()
    desk.ask("context/feedback", memoryId=first, verdict="stale")
    assert facts()[0] == others[0]
    desk.ask("context/feedback", memoryId=first, verdict="wrong")
    assert first not in facts()


def test_the_same_again_is_the_same_receipt_and_counts(desk: Desk) -> None:
    """Part of D6."""
    desk.remember(SUBJECTS[0])
    desk.start(sessionKey="c1")
    first = desk.start(sessionKey="c1")["receiptId"]
    before = receipt(desk, first)
    desk.clock.pass_(MINUTE)
    assert desk.start(sessionKey="c1")["receiptId"] == first
    after = receipt(desk, first)
    assert (before["times"], after["times"]) == (2, 3)
    assert before["givenAt"] == after["givenAt"] < after["lastGivenAt"]
    assert desk.start(sessionKey="c1", query="nothing like it")["receiptId"] != first


def test_looking_leaves_no_trace(desk: Desk) -> None:
    """Part of D6."""
    prepare(desk)
    before = desk.vault.database.sequence()
    assert "receiptId" not in desk.look(sessionKey="c1")
    shown = desk.ask("context/render", agentId=AGENT, sessionKey="c1", preview=True)
    assert (shown["receiptId"], shown["text"] != "") == (None, True)
    desk.app.flush()
    assert desk.vault.database.sequence() == before
    assert len(desk.look()["pendingMessages"]) == 1


def test_nothing_to_say_leaves_no_receipt(desk: Desk) -> None:
    """Part of D6."""
    desk.start()
    desk.app.flush()
    before = desk.ask("context/receipts")["total"]
    desk.clock.pass_(HOUR)
    silent = desk.ask("context/render", agentId=AGENT, host="claude-code")
    desk.app.flush()
    assert (silent["text"], silent["receiptId"]) == ("", None)
    assert desk.ask("context/receipts")["total"] == before


def test_receipts_are_found_by_whom_they_concern(desk: Desk) -> None:
    """Part of D6."""
    for agent, key in (("claude-code", "c1"), ("cursor", "k1"), ("cursor", "k2")):
        desk.clock.pass_(MINUTE)
        desk.start(agent, sessionKey=key)
    desk.app.flush()

    def found(**params: Any) -> list[str]:
        return [one["sessionKey"] for one in desk.ask("context/receipts", **params)["receipts"]]

    assert found() == ["k2", "k1", "c1"]
    assert found(agentId="cursor") == ["k2", "k1"]
    assert found(sessionKey="c1") == ["c1"]
    assert found(limit=1) == ["k2"]
    assert desk.ask("context/receipts", limit=1)["total"] == 3


def test_a_memory_that_went_with_its_file_is_told_as_forgotten(desk: Desk) -> None:
    """Part of D6 and H3."""
    key = desk.remember("The secret is in that file", files=["hidden.py"])
    given = desk.start()["receiptId"]
    desk.app.flush()
    desk.ask("purge", path="hidden.py")
    (again,) = desk.ask("context/receipts", receiptId=given, replay=True)["replays"]
    assert again["forgotten"] == [key]


Unasked = Callable[[Desk, str], Any]
CALLS: dict[str, Unasked] = {
    "track": lambda desk, key: desk.ask(
        "context/track", sessionKey=key, agentId=AGENT, prompt="Hi"
    ),
    "checkpoint": lambda desk, key: desk.ask("context/checkpoint", agentRunId=key, agentId=AGENT),
    "digest": lambda desk, key: desk.ask(
        "context/digest", sessionKey=key, agentId=AGENT, digest="State: begun."
    ),
}


@pytest.mark.parametrize("first", CALLS)
def test_an_agent_that_never_asked_gets_its_context_once(desk: Desk, first: str) -> None:
    """D8."""
    desk.remember(SUBJECTS[0])
    started = CALLS[first](desk, "c1")["start"]
    assert titles(started["sessionContext"]["importantFacts"]) == [SUBJECTS[0]]
    assert started["isFirstConnection"]
    assert receipt(desk, started["receiptId"])["sessionKey"] == "c1"
    other = desk.second()
    for place in (desk, other, desk):
        assert [call(place, "c1")["start"] for call in CALLS.values()] == [None] * 3
    assert CALLS[first](desk, "c2")["start"] is not None
    desk.start(sessionKey="c3")
    assert CALLS[first](desk, "c3")["start"] is None
    cut = {"sessionKey": "c4", "agentId": AGENT, "trigger": "pre_compaction"}
    assert desk.ask("context/digest", **cut)["start"] is None
    assert CALLS[first](desk, "c4")["start"] is not None


def test_of_many_first_calls_at_once_one_gets_the_context(desk: Desk) -> None:
    """Part of D8."""
    desk.remember(SUBJECTS[0])
    desks = [desk, *(desk.second() for _ in range(3))]
    for number in range(5):
        gate = threading.Barrier(len(desks))
        started: list[Any] = []

        def call(place: Desk, key: str, gate: threading.Barrier, started: list[Any]) -> None:
            gate.wait()
            started.append(CALLS["track"](place, key)["start"])

        threads = [
            threading.Thread(target=call, args=(place, f"c{number}", gate, started))
            for place in desks
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one is not None for one in started].count(True) == 1


def test_a_start_that_was_never_asked_for_tells_of_earlier_work(desk: Desk) -> None:
    """Part of D8."""
    desk.start(sessionKey="c1")
    desk.ask("context/digest", sessionKey="c1", digest="State: half of it is done.")
    started = CALLS["track"](desk, "c2")["start"]
    assert "half of it is done" in started["recovery"]["text"]
    talk = desk.vault.conversations.get("c2")
    assert talk is not None
    assert talk.began == "recovered"


def test_the_same_memory_at_the_same_time_gives_the_same_answer(desk: Desk) -> None:
    fill(desk)
    desk.commit("feat: something")
    asked = {"agentId": AGENT, "query": "passwords", "mode": "full", "preview": True}
    answers = {
        bytes(place.app.answer(1, f"threadline/context/{method}", asked).result)  # type: ignore[arg-type]
        for method in ("start",)
        for place in (desk, desk.second(), desk, desk.second())
    }
    assert len(answers) == 1
    texts = {
        place.ask("context/render", host="cursor", **asked)["text"]
        for place in (desk, desk.second())
    }
    assert len(texts) == 1


def test_an_answer_is_kept_while_nothing_changes(desk: Desk) -> None:
    fill(desk)
    asked = {"agentId": AGENT, "sessionKey": "c1"}
    for _ in range(2):
        desk.app.call("threadline/context/start", asked)
        desk.app.flush()
    first = desk.app.call("threadline/context/start", asked)
    assert desk.app.call("threadline/context/start", asked) is first


def leave_branch(desk: Desk) -> None:
    desk.repository.git("checkout", "--quiet", "main")


WRITES: dict[str, tuple[Callable[[Desk], object], Callable[[Any], bool]]] = {
    "memory": (
        lambda desk: desk.remember("Brand new", "constraint"),
        lambda told: "Brand new" in str(told),
    ),
    "task": (lambda desk: desk.task("Brand new"), lambda told: "Brand new" in str(told)),
    "message": (lambda desk: desk.message("Brand new"), lambda told: "Brand new" in str(told)),
    "document": (
        lambda desk: desk.document("soul", "Brand new"),
        lambda told: told["documents"][0]["content"] == "Brand new",
    ),
    "event": (
        lambda desk: desk.ask("ingest", events=[{"kind": "save", "files": [{"path": "z.py"}]}]),
        lambda told: titles(told["sessionContext"]["importantFacts"]) == ["About z"],
    ),
    "agent": (
        lambda desk: desk.start("cursor", sessionKey="k9"),
        lambda told: "Cursor" in str(told["recentAgents"]),
    ),
    "checkpoint": (
        lambda desk: desk.ask("context/digest", sessionKey="c9", digest="State: brand new."),
        lambda told: "brand new" in str(told["recovery"]),
    ),
    "feedback": (
        lambda desk: desk.ask("context/feedback", memoryId=newest(desk), verdict="wrong"),
        lambda told: titles(told["sessionContext"]["importantFacts"]) == ["About z"],
    ),
    "file": (
        lambda desk: desk.repository.write("worker.py"),
        lambda told: "Create the worker" in str(told["tasksAutoCompleted"]),
    ),
    "branch": (leave_branch, lambda told: "About locks" not in str(told)),
}


def newest(desk: Desk) -> str:
    (item,) = desk.look(maxFacts=1)["sessionContext"]["importantFacts"]
    return str(item["memoryId"])


@pytest.mark.parametrize("what", WRITES)
def test_whatever_another_process_changes_is_told_at_once(desk: Desk, what: str) -> None:
    desk.repository.git("checkout", "--quiet", "-b", "feature")
    sha = desk.commit("Add locks", "locks.py")
    desk.remember("About z", files=["z.py"])
    quote = [{"quote": "Add locks", "commitSha": sha}]
    desk.remember("About locks", "constraint", evidence=quote)
    desk.clock.pass_(HOUR)
    desk.remember("About y", files=["y.py"])
    desk.task("Create the worker", done_when="path exists: worker.py")
    write, is_told = WRITES[what]
    for _ in range(2):
        assert not is_told(desk.look(maxFacts=1))
    desk.clock.pass_(timedelta(seconds=1))
    write(desk.second())
    assert is_told(desk.look(maxFacts=1))


def test_a_judged_memory_keeps_the_time_of_its_words(desk: Desk) -> None:
    """Part of D6."""
    key = desk.remember(SUBJECTS[0])
    before = memory(desk, key).updated_at
    desk.clock.pass_(HOUR)
    judged = desk.ask("context/feedback", memoryId=key, verdict="useful", note="it helped")
    assert judged["feedback"] == pytest.approx(0.25)
    assert memory(desk, key).updated_at == before


def test_an_account_says_why_and_what_not_and_notes_nothing(desk: Desk) -> None:
    """Part of D6."""
    prepare(desk)
    told = desk.ask("context/explain", agentId=AGENT, host="windsurf", maxChars=3_000)
    rendered, shown, words = told["rendered"], told["receipt"], told["words"]
    assert (rendered["receiptId"], len(rendered["text"])) == (None, rendered["chars"])
    assert (shown["host"], shown["chars"], shown["cap"]) == ("windsurf", rendered["chars"], 3_000)
    assert {"cap", "limit"} <= {one["reason"] for one in shown["leftOut"]}
    for one in (*shown["items"], *shown["leftOut"]):
        assert words[one["id"]]["title"]
    facts = [one for one in shown["items"] if one["section"] == "importantFacts"]
    assert facts
    for one in facts:
        assert words[one["id"]]["type"] == "fact"
        assert one["score"] == pytest.approx(sum(one["why"].values()))
    assert desk.ask("context/receipts")["total"] == 0
    assert desk.ask("messages/read", agentId=AGENT)["messages"]


def test_what_was_said_of_a_memory_can_be_taken_back(desk: Desk) -> None:
    """Part of D6."""
    key = desk.remember("Herons are blue")

    def say(verdict: str, **more: Any) -> float:
        told = desk.ask("context/feedback", memoryId=key, verdict=verdict, **more)
        return float(told["feedback"])

    def take_back(**more: Any) -> float:
        return float(desk.ask("context/retract", memoryId=key, **more)["feedback"])

    steps = [say("useful"), say("stale", agentId="cursor"), say("wrong")]
    assert steps == [0.25, -0.25, -1.0]
    assert take_back() == -0.25
    assert take_back(agentId="cursor") == 0.25
    assert take_back() == 0.0
    assert desk.refused("context/retract", memoryId=key)["code"] == -33006
    assert len(desk.vault.feedback) == 0


def test_taking_back_brings_back_nothing_that_was_said_of_other_words(desk: Desk) -> None:
    """Part of D6."""
    key = desk.remember("Herons are blue")
    desk.ask("context/feedback", memoryId=key, verdict="wrong")
    desk.ask("memories/update", memoryId=key, title="Herons are grey", content="Herons are grey")
    desk.ask("context/feedback", memoryId=key, verdict="useful", agentId="user")
    assert desk.ask("context/retract", memoryId=key, agentId="user")["feedback"] == 0.0
    assert desk.ask("context/retract", memoryId=key)["feedback"] == 0.0


def test_what_was_called_wrong_is_named_as_left_out_until_that_is_taken_back(desk: Desk) -> None:
    """Part of D6: whoever was too quick finds it again."""
    wrong = desk.remember("Ships are numbered from one", type="fact")
    desk.remember("Quays are named by letters", type="fact")
    desk.ask("context/feedback", memoryId=wrong, verdict="wrong")

    def left_out() -> list[tuple[str, str, str]]:
        told = desk.ask("context/explain", host="claude-code")
        assert all(one["id"] in told["words"] for one in told["receipt"]["leftOut"])
        return [(one["id"], one["section"], one["reason"]) for one in told["receipt"]["leftOut"]]

    assert left_out() == [(wrong, "importantFacts", "wrong")]
    desk.ask("context/retract", memoryId=wrong)
    assert left_out() == []
