"""Caps: an answer is never longer than it may be, and says what is missing of it."""

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from sidecar.hosts import assistant
from tests.desks import SUBJECTS, Desk, fill
from tests.support import HOUR

pytestmark = pytest.mark.slow

AGENT = "claude-code"
LISTS = (
    "queryResults",
    "pendingMessages",
    "documents",
    "availableDocuments",
    "tasksAutoCompleted",
    "tasksSuggestedDone",
    "recentAgents",
    "vaults",
)
SINGLE = (
    "recovery",
    "introduction",
    "otherOpenTaskCount",
    "otherPendingMessageCount",
    "memoryHealth",
)


@pytest.fixture
def rich(desk: Desk) -> Desk:
    """Have something to tell in every section, in letters of many kinds."""
    fill(desk)
    odd = "Über “quotes”, \\ backslashes, \n lines, \u2028, 🎻 and </b> ☃ " * 9
    desk.remember("Wörter ☃", content=odd, importance=5)
    desk.document("soul", odd * 5)
    desk.document("日本語", odd)
    desk.start(sessionKey="c1")
    desk.ask("context/digest", sessionKey="c1", agentId=AGENT, digest=f"State: {odd}")
    desk.start("cursor", sessionKey="k1")
    desk.ask("context/checkpoint", agentRunId="k1", agentId="cursor", sessionSummary=odd)
    desk.clock.pass_(HOUR)
    for number in range(7):
        desk.message(f"{number} {odd}")
    desk.task("Paint it", assigned_agent_id="cursor")
    desk.task("Fix the login form")
    desk.task("Create the worker", done_when="path exists: worker.py")
    desk.repository.write("worker.py")
    desk.commit("Fix the login form")
    return desk


def ask(desk: Desk, cap: int, query: str = SUBJECTS[2]) -> Any:
    return desk.look(
        query=query,
        sessionKey="c2",
        includeDocuments=["日本語"],
        mode="full",
        maxResponseChars=cap,
    )


def counts(context: Any) -> dict[str, int]:
    """Count what is given of each section."""
    found = {name: len(items) for name, items in context.get("sessionContext", {}).items()}
    found |= {name: len(context.get(name, ())) for name in LISTS}
    found |= {name: int(context.get(name) is not None) for name in SINGLE}
    changes = context.get("changesSinceLastSession")
    found["changesSinceLastSession"] = 1 + len(changes["highlights"]) if changes else 0
    return found


def check(context: Any, cap: int, whole: dict[str, int]) -> None:
    """See that an answer fits, and that it and what it leaves out make up the whole."""
    written = json.dumps(context, ensure_ascii=False)
    compact = json.dumps(context, ensure_ascii=False, separators=(",", ":"))
    assert len(compact) <= len(written) <= cap
    given, left = counts(context), context["leftOut"]
    if "everything" in left:
        assert sum(given.values()) + left["everything"] == sum(whole.values())
    else:
        assert {name: given.get(name, 0) + left.get(name, 0) for name in whole} == whole


def sweep(desk: Desk, caps: Iterable[int], query: str = SUBJECTS[2]) -> None:
    everything = ask(desk, 1_000_000, query)
    assert everything["leftOut"] == {}
    whole = counts(everything)
    assert {name for name in whole if not whole[name]} <= ({"queryResults"} if not query else set())
    for cap in caps:
        check(ask(desk, cap, query), cap, whole)


def test_an_answer_fits_its_cap_and_names_what_is_missing(rich: Desk) -> None:
    """Part of D5."""
    sweep(rich, (*range(200, 4_001, 61), 200, 201, 16_000))


@pytest.mark.slow
def test_every_answer_fits_its_cap(rich: Desk) -> None:
    """D5."""
    chance = random.Random(7)
    sweep(rich, range(200, 4_001), "")
    sweep(rich, [chance.randint(200, 100_000) for _ in range(200)])
    usual = rich.look(query=SUBJECTS[2], summaryOnly=False, mode="full")
    assert len(json.dumps(usual, ensure_ascii=False)) <= 16_000
    for cap in (4_000, 5_000):
        left_in_order(ask(rich, cap))
    hosts_are_obeyed(
        rich, {**{host.name: host.limit for host in assistant.find_all()}, "nobody knows": 10_000}
    )


def left_in_order(tight: Any) -> None:
    """See that what matters least went first."""
    assert {"memoryHealth", "vaults", "recentAgents"} <= tight["leftOut"].keys()
    assert not {"constraints", "recovery"} & tight["leftOut"].keys()


def test_what_matters_least_goes_first(rich: Desk) -> None:
    """Part of D5."""
    before = -1
    for cap in (400, 1_000, 2_000, 3_000, 5_000, 9_000):
        binding = len(ask(rich, cap).get("sessionContext", {}).get("constraints", ()))
        assert binding >= before
        before = binding
    assert before == 10


def test_a_host_gets_no_more_than_it_takes(rich: Desk) -> None:
    """Part of D5."""
    hosts_are_obeyed(rich, {"claude-code": 10_000, "windsurf": 6_000})


def hosts_are_obeyed(desk: Desk, caps: Mapping[str, int]) -> None:
    """See that the text for a host is no longer than that host takes, and that it says what is missing."""
    for host, cap in caps.items():
        for wanted in (None, 200, 777, 3_000, 50_000):
            asked = {"host": host} | ({"maxChars": wanted} if wanted else {})
            told = desk.ask(
                "context/render",
                agentId=AGENT,
                query=SUBJECTS[2],
                preview=True,
                mode="full",
                summaryOnly=False,
                **asked,
            )
            assert told["cap"] == min(cap, wanted or cap)
            assert told["chars"] == len(told["text"]) <= told["cap"]
            if told["text"] and told["cap"] >= 2_500 and told["leftOut"]:
                assert "Left out for lack of room" in told["text"]
