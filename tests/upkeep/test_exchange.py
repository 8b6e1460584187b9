"""Messages, documents, links and agents as every transport serves them."""

import threading
from datetime import datetime
from typing import Any

import pytest

from protocol.errors import Code
from protocol.methods import METHODS
from tests.desks import Desk, titles
from tests.support import HOUR, MINUTE

pytestmark = pytest.mark.slow

DAY = 24 * HOUR


def send(
    desk: Desk, content: str, target: str = "cursor", sender: str = "claude-code", **more: Any
) -> str:
    """Send a message a minute later; give its id."""
    desk.clock.pass_(MINUTE)
    sent = desk.ask("messages/send", targetId=target, senderId=sender, content=content, **more)
    return str(sent["message"]["messageId"])


def read(desk: Desk, agent: str, **more: Any) -> list[str]:
    return contents(desk.ask("messages/read", agentId=agent, **more)["messages"])


def contents(messages: Any) -> list[str]:
    return [one["content"] for one in messages]


def thread(desk: Desk, message_id: str) -> list[str]:
    return contents(desk.ask("messages/thread", messageId=message_id)["messages"])


def checkpoint(desk: Desk, agent: str, run: str) -> Any:
    return desk.ask("context/checkpoint", agentRunId=run, agentId=agent, sessionSummary="Worked")


def test_a_message_has_all_that_was_said_of_it_and_the_most_urgent_comes_first(desk: Desk) -> None:
    """F7."""
    parent = send(desk, "May I?", "claude-code", "cursor", category="request")
    given = {
        "targetId": "cursor",
        "senderId": "claude-code",
        "content": "Yes, after ten",
        "category": "house rule",
        "priority": 4,
        "subject": "About the release",
        "parentMessageId": parent,
    }
    desk.clock.pass_(MINUTE)
    sent = desk.ask("messages/send", **given, expiresInDays=2)["message"]
    assert {name: sent[name] for name in given} == given
    assert (sent["status"], sent["handlings"]) == ("pending", {})
    for priority, content in ((1, "one"), (5, "five"), (4, "four"), (5, "five later")):
        send(desk, content, priority=priority)
    for category in ("info", "request", "alert", "error", "weather"):
        send(desk, category, "user", category=category)
        assert read(desk, "user", category=category, preview=True) == [category]
    send(desk, "for all", "*", "codex", priority=2)
    every = ["info", "request", "alert", "error", "weather"]
    assert read(desk, "user", preview=True) == [*every, "for all"]

    valid = {"targetId": "cursor", "content": "x"}
    wrong: list[dict[str, Any]] = [
        *({"priority": one} for one in (0, 6, -1, 2.5, "5")),
        *({"expiresInDays": one} for one in (0, -1, 3651)),
        *({"category": one} for one in ("", "x" * 51, 7)),
        *({"subject": "x" * 201}, {"targetId": ""}, {"content": ""}, {"senderId": ""}),
        {"parentMessageId": "May I?"},
    ]
    for one in wrong:
        refusal = desk.refused("messages/send", **(valid | one))
        assert (refusal["code"], refusal["data"]["field"]) == (Code.INVALID_PARAMS, *one)
    assert desk.ask("messages/send", **valid, subject="x" * 200)["outcome"] == "sent"

    whole = desk.ask("messages/read", agentId="cursor", preview=True)["messages"]
    wanted = ["five", "five later", "Yes, after ten", "four", "x", "for all", "one"]
    assert contents(whole) == wanted
    assert {name: whole[2][name] for name in given} == given
    assert [one["priority"] for one in whole] == [5, 5, 4, 4, 3, 2, 1]
    assert read(desk, "cursor", category="house rule", preview=True) == ["Yes, after ten"]
    assert read(desk, "claude-code", preview=True) == ["May I?", "for all"]
    assert read(desk, "windsurf") == ["for all"]

    moments = [datetime.fromisoformat(sent[name]) for name in ("createdAt", "expiresAt")]
    assert moments[1] - moments[0] == 2 * DAY
    desk.clock.now = moments[1] - MINUTE
    assert "Yes, after ten" in read(desk, "cursor", preview=True)
    desk.clock.now = moments[1]
    assert read(desk, "cursor", preview=True) == [one for one in wanted if one != given["content"]]
    assert thread(desk, parent) == ["May I?"]
    assert read(desk, "user") == [*every, "for all"]


def test_each_recipient_has_a_receipt_and_the_sender_sees_them(desk: Desk) -> None:
    """Part of F8."""
    key = send(desk, "We release", "*")
    assert read(desk, "claude-code") == []
    assert read(desk, "cursor", preview=True) == read(desk, "cursor") == ["We release"]
    assert read(desk, "cursor") == []
    assert read(desk, "cursor", status="delivered") == ["We release"]
    acked = desk.ask("messages/ack", messageId=key, agentId="cursor")
    assert acked["handlings"]["cursor"]["acknowledgedAt"] is not None
    assert read(desk, "cursor", status="acknowledged") == ["We release"]
    assert contents(desk.start("late", sessionKey="l1")["pendingMessages"]) == ["We release"]
    own = desk.ask("messages/read", agentId="claude-code", sent=True, status="all")["messages"]
    (told,) = own
    assert set(told["handlings"]) == {"cursor", "late"}
    assert told["handlings"]["late"]["acknowledgedAt"] is None
    assert told["status"] == "acknowledged"
    assert read(desk, "windsurf", includeBroadcast=False) == []
    assert read(desk, "windsurf") == ["We release"]


def test_threads_are_found_from_any_message_also_when_a_parent_has_expired(desk: Desk) -> None:
    """Part of F8."""
    first = send(desk, "May I?", expiresInDays=1)
    second = send(desk, "What?", "claude-code", "cursor", parentMessageId=first)
    third = send(desk, "Release", parentMessageId=second)
    aside = send(desk, "Me too", sender="windsurf", parentMessageId=first)
    every = ["May I?", "What?", "Release", "Me too"]
    for key in (first, second, third, aside):
        assert thread(desk, key) == every
    desk.clock.pass_(2 * DAY)
    assert read(desk, "cursor") == ["Release", "Me too"]
    for key in (first, second, third, aside):
        found = desk.ask("messages/thread", messageId=key)
        assert (contents(found["messages"]), found["missing"]) == (every[1:], [first])
    late = desk.ask(
        "messages/send", targetId="cursor", senderId="b", content="Still?", parentMessageId=first
    )
    assert not late["isParentKnown"]


def test_what_has_expired_is_given_to_nobody(desk: Desk) -> None:
    """Part of F7 and F8."""
    send(desk, "Lunch", "*", expiresInDays=0.1)
    assert read(desk, "cursor", preview=True) == ["Lunch"]
    desk.clock.pass_(3 * HOUR)
    assert read(desk, "cursor", status="all") == []
    assert desk.start("cursor", sessionKey="k1")["pendingMessages"] == []
    assert checkpoint(desk, "cursor", "k2")["pendingMessages"] == []
    assert read(desk, "claude-code", sent=True, status="all") == []


def test_a_start_brings_the_five_most_urgent_and_a_checkpoint_the_others(desk: Desk) -> None:
    """Part of F9."""
    for number in range(8):
        send(desk, f"Note {number}", "*" if number % 2 else "cursor", priority=1 + number % 5)
    order = ["Note 4", "Note 3", "Note 2", "Note 7", "Note 1", "Note 6", "Note 0", "Note 5"]
    assert contents(desk.look("cursor")["pendingMessages"]) == order[:5]
    assert contents(desk.start("cursor", sessionKey="k1")["pendingMessages"]) == order[:5]
    assert contents(checkpoint(desk, "cursor", "k1")["pendingMessages"]) == order[5:]
    assert checkpoint(desk, "cursor", "k1")["pendingMessages"] == []
    assert desk.start("cursor", sessionKey="k2")["pendingMessages"] == []
    assert len(desk.start("windsurf", sessionKey="w1")["pendingMessages"]) == 4


def test_a_checkpoint_that_begins_a_conversation_brings_five_messages_too(desk: Desk) -> None:
    """Part of F9: the context that comes with it has no others."""
    for number in range(12):
        send(desk, f"Note {number}")
    brought = [checkpoint(desk, "cursor", "k1") for _ in range(4)]
    counts = [len(one["pendingMessages"]) for one in brought]
    assert (counts, brought[0]["start"]["pendingMessages"]) == ([5, 5, 2, 0], [])
    assert [one["otherPendingMessageCount"] for one in brought] == [7, 2, 0, 0]
    told = [words for one in brought for words in contents(one["pendingMessages"])]
    assert told == [f"Note {number}" for number in range(12)]


def test_two_processes_that_read_at_once_deliver_each_message_once(desk: Desk) -> None:
    """Part of F8 and H1."""
    for number in range(12):
        send(desk, f"job {number}", "worker", "boss")
    other, got = desk.second(), list[str]()

    def take(one: Desk) -> None:
        for _ in range(6):
            got.extend(read(one, "worker", limit=2))

    threads = [threading.Thread(target=take, args=(one,)) for one in (desk, other)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    other.close()
    assert sorted(got) == sorted(f"job {number}" for number in range(12))


def test_a_document_keeps_its_history_and_refuses_who_has_read_an_older_one(desk: Desk) -> None:
    """Part of D10."""
    written = desk.ask("documents/write", name="house style", content="# One", expectedVersion=0)
    assert (written["outcome"], written["document"]["version"]) == ("created", 1)
    desk.ask("documents/write", name="house style", content="# Two", agentEditable=True)
    given = {"name": "house style", "content": "# Mine", "agentId": "cursor"}
    refusal = desk.refused("documents/write", **given, expectedVersion=1)
    assert refusal["data"] == {"field": "expectedVersion", "current": 2}
    assert desk.ask("documents/read", name="house style")["content"] == "# Two"
    desk.ask("documents/write", **given, expectedVersion=2)
    told = desk.ask("documents/read", name="house style")
    assert (told["content"], told["agentId"], told["versions"]) == ("# Mine", "cursor", [3, 2, 1])
    old = [desk.ask("documents/read", name="house style", version=one) for one in (1, 2)]
    assert contents(old) == ["# One", "# Two"]
    context = desk.look(includeDocuments=["house style"])
    assert contents(context["documents"])[1:] == ["# Mine"]
    closing = desk.refused("documents/write", **given, agentEditable=False)
    assert closing["data"]["field"] == "agentEditable"


def test_links_are_seen_from_every_end_help_to_find_and_never_dangle(desk: Desk) -> None:
    """F12."""
    answer = desk.remember("Uploads are signed")
    reason = desk.remember("The auditor wants it so")
    rumour = desk.remember("The minister wants it so")
    (task,) = desk.ask("tasks/create", tasks=[{"title": "Ask again"}])["tasks"]
    desk.ask("documents/write", name="skills", content="# How")
    ends = {
        "memory": {"kind": "memory", "id": answer},
        "task": {"kind": "task", "id": task["taskId"]},
        "document": {"kind": "document", "id": "skills"},
        "file": {"kind": "file", "id": "src/sign.py"},
    }

    def score(memory: str, query: str) -> float:
        asked = desk.ask("memories/search", query=query)["memories"]
        scores = {one["memory"]["memoryId"]: float(one["score"]) for one in asked}
        assert list(scores.values()) == sorted(scores.values(), reverse=True)
        return scores.get(memory, 0.0)

    queries = ("signed uploads", "who wants signed uploads")
    alone = [score(reason, query) for query in queries]
    assert alone[1] <= score(rumour, queries[1])
    cause = {"kind": "memory", "id": reason}
    made = desk.ask("memories/link", source=cause, target=ends["memory"], type="causes")["link"]
    for name in ("task", "document", "file"):
        desk.ask("memories/link", source=ends["memory"], target=ends[name], agentId="cursor")
    desk.ask("memories/link", source=cause, target=ends["file"])
    linked = [score(reason, query) for query in queries]
    assert all(more > less for more, less in zip(linked, alone, strict=True))
    assert linked[1] > score(rumour, queries[1])
    (shown,) = desk.ask("memories/read", memoryIds=[answer])["memories"]
    assert [(one["kind"], one["title"], one["isSource"]) for one in shown["links"]] == [
        ("memory", "The auditor wants it so", True),
        ("task", "Ask again", False),
        ("document", "skills", False),
        ("file", "src/sign.py", False),
    ]
    assert titles(desk.ask("tasks/list")["tasks"][0]["links"]) == ["Uploads are signed"]
    assert titles(desk.ask("documents/read", name="skills")["links"]) == ["Uploads are signed"]
    around = desk.ask("memories/graph", around=ends["file"])
    beside = ["Uploads are signed", "The auditor wants it so"]
    assert titles(around["nodes"]) == ["src/sign.py", *beside]
    assert {one["linkId"] for one in desk.ask("memories/graph")["links"]} >= {made["linkId"]}
    desk.ask("memories/unlink", linkId=made["linkId"])
    assert [score(reason, query) for query in queries] == alone
    desk.ask("memories/link", source=cause, target=ends["memory"], type="causes")

    desk.ask("memories/forget", memoryIds=[answer])
    (left,) = desk.ask("memories/graph")["links"]
    assert (left["source"], left["target"]) == (cause, ends["file"])
    assert len(desk.vault.links) == 1
    for name in ("task", "document"):
        assert desk.ask("memories/graph", around=ends[name])["links"] == []
    assert desk.ask("tasks/list")["tasks"][0]["links"] == []
    assert desk.ask("documents/read", name="skills")["links"] == []
    (other,) = desk.ask("memories/read", memoryIds=[reason])["memories"]
    assert titles(other["links"]) == ["src/sign.py"]
    gone = desk.refused("memories/link", source=cause, target=ends["memory"])
    assert (gone["code"], gone["data"]["field"]) == (Code.NOT_FOUND, "target.id")
    desk.ask("purge", path="src/sign.py")
    assert desk.ask("memories/graph")["links"] == []
    assert len(desk.vault.links) == 0


UNSIGNED = {
    "threadline/ingest": "each event names its own",
    "threadline/scan": "it reads what git says",
    "threadline/purge": "what is purged leaves no trace",
    "threadline/sessions/close": "upkeep, not content",
    "threadline/sessions/compact": "likewise",
    "threadline/enrichment/retry": "likewise",
    "threadline/enrichment/cancel": "likewise",
    "threadline/enrichment/startAll": "likewise",
    "threadline/review/decide": "only people review",
    **dict.fromkeys(
        (f"threadline/team/{name}" for name in ("init", "join", "leave", "push", "pull", "key")),
        "only people decide what a team shares",
    ),
    "threadline/capture/pause": "only people pause",
    "threadline/capture/resume": "likewise",
    "threadline/rules/write": "only people write files",
    "threadline/rules/refresh": "likewise",
    "threadline/rules/remove": "likewise",
    "threadline/projects/link": "only people link folders",
    "threadline/projects/unlink": "likewise",
}
"""What changes something and carries no name of an agent, and why."""
READING = {
    "about",
    "history",
    "preview",
    "explain",
    "list",
    "get",
    "events",
    "jobs",
    "read",
    "search",
    "thread",
    "graph",
    "receipts",
    "stats",
    "timeline",
    "why",
}
TELLING = {"status", "version", "complete", "didChange", "doctor", "worthKnowing", "check"}


def test_every_write_can_say_which_agent_it_is() -> None:
    """Part of F10."""
    writing = [one for one in METHODS if one.name.rpartition("/")[2] not in READING | TELLING]
    fields = {one.name: set(one.params.__struct_fields__) for one in writing}
    unsigned = {name for name, own in fields.items() if own.isdisjoint({"agent_id", "sender_id"})}
    assert unsigned == UNSIGNED.keys()


def test_every_write_carries_its_agent(desk: Desk) -> None:
    """Part of F10."""
    me = {"agentId": "cursor"}
    given = {"type": "fact", "title": "Herons are blue", "content": "Herons are blue"}
    memory = desk.ask("memories/write", **given, **me)["memory"]
    changed = desk.ask("memories/update", memoryId=memory["memoryId"], importance=5, agentId="b")
    assert (memory["agentId"], memory["updatedBy"]) == ("cursor", None)
    assert (changed["agentId"], changed["updatedBy"]) == ("cursor", "b")
    by_hand = desk.ask("memories/update", memoryId=memory["memoryId"], importance=4)
    assert by_hand["updatedBy"] is None
    (task,) = desk.ask("tasks/create", tasks=[{"title": "Count them"}], **me)["tasks"]
    (task,) = desk.ask("tasks/update", taskId=task["taskId"], note="Five", agentId="b")["tasks"]
    assert (task["createdBy"], task["updatedBy"]) == ("cursor", "b")
    assert task["notes"][0]["agentId"] == "b"
    document = desk.ask("documents/write", name="own", content="#", **me)["document"]
    assert document["agentId"] == "cursor"
    ends = {"source": {"kind": "file", "id": "a"}, "target": {"kind": "document", "id": "own"}}
    assert desk.ask("memories/link", **ends, **me)["link"]["agentId"] == "cursor"
    sent = desk.ask("messages/send", targetId="b", senderId="cursor", content="Hear")["message"]
    assert sent["senderId"] == "cursor"
    acked = desk.ask("messages/ack", messageId=sent["messageId"], agentId="b")
    assert list(acked["handlings"]) == ["b"]
    event = {"kind": "capture", "text": "We count herons", **me}
    session = desk.ask("ingest", events=[event])["events"][0]["sessionId"]
    (kept,) = desk.ask("sessions/events", sessionId=session)["events"]
    assert kept["agentId"] == "cursor"
    desk.ask("context/checkpoint", agentRunId="r", sessionSummary="Counted", **me)
    (point,) = desk.ask("checkpoints/list")["checkpoints"]
    assert point["agentId"] == "cursor"
    desk.ask("context/feedback", memoryId=memory["memoryId"], verdict="useful", agentId="critic")
    assert [one.agent_id for one in desk.vault.feedback.all()] == ["critic"]
    job = desk.ask("enrichment/start", agentId="reader")
    assert (job["agentId"], job["automatic"]) == ("reader", False)
    names = {one["agentId"] for one in desk.ask("agents/list")["agents"]}
    assert names == {"cursor", "b", "critic", "reader"}


def test_agents_are_listed_with_the_defaults_of_a_week_and_ten(desk: Desk) -> None:
    """Part of F10."""
    desk.start("old", sessionKey="o1")
    desk.clock.pass_(8 * DAY)
    for number in range(12):
        desk.clock.pass_(MINUTE)
        desk.start(f"agent-{number}", sessionKey=f"s{number}")
    checkpoint(desk, "agent-11", "s11")
    send(desk, "Hear", "agent-11", "agent-10")
    desk.app.flush()
    told = desk.ask("agents/list")
    assert (len(told["agents"]), told["total"]) == (10, 12)
    sender, target = told["agents"][:2]
    assert (sender["agentId"], sender["sentMessages"]) == ("agent-10", 1)
    assert (target["agentId"], target["pendingMessages"], target["lastSummary"]) == (
        "agent-11",
        1,
        "Worked",
    )
    assert (target["label"], target["harness"]) == ("agent-11", "vscode")
    assert sender["lastSeenAt"] > target["lastSeenAt"]
    every = desk.ask("agents/list", daysBack=30, limit=100)["agents"]
    assert [one["agentId"] for one in every][-1] == "old"


@pytest.mark.parametrize("field", ["daysBack", "limit"])
def test_no_list_of_agents_is_without_bounds(desk: Desk, field: str) -> None:
    """Part of F10."""
    assert desk.refused("agents/list", **{field: 0})["data"]["field"] == field
