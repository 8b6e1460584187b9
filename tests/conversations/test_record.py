"""What was said in a conversation is found word for word, for as long as somebody wants it kept."""

from datetime import timedelta
from typing import Any

import pytest

from protocol.settings import Settings
from sidecar.conversations import finish, later
from sidecar.conversations.rules import turns as rules_turns
from sidecar.upkeep import export
from tests.desks import SUBJECTS, Desk

pytestmark = pytest.mark.slow

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test say when what waits is written."""
    monkeypatch.setattr(later, "_start", lambda _run: None)


def say(desk: Desk, content: str, role: str = "user", key: str = "run") -> None:
    desk.ask(
        "turns/ingest",
        sessionKey=key,
        role=role,
        content=content,
        agentId="claude-code",
        harness="claude-code",
    )


def search(desk: Desk, query: str, **more: Any) -> list[Any]:
    found: list[Any] = desk.ask("memories/search", query=query, **more)["hits"]
    return found


def test_a_turn_is_found_by_its_words_with_who_said_it_and_where(desk: Desk) -> None:
    """C13: user turns and the assistant's final message, verbatim, beside memories and commits."""
    say(desk, "Could the ledger round half-cents to even, as the bank does?")
    say(desk, "Done: `round_half_even` now stands in the ledger.", "assistant")
    (asked,) = [hit for hit in search(desk, "bank half-cents") if hit["author"] == "user"]
    assert (asked["kind"], asked["sessionKey"]) == ("turn", "run")
    assert asked["text"] == "Could the ledger round half-cents to even, as the bank does?"
    assert [hit["author"] for hit in search(desk, "round_half_even")][:1] == ["claude-code"]


def test_a_turn_is_kept_without_secrets(desk: Desk) -> None:
    """C13: redacted."""
    say(desk, f"The deploy job uses {TOKEN} for the registry")
    (hit,) = search(desk, "deploy registry")
    assert TOKEN not in str(hit)
    assert all(TOKEN not in turn.text for turn in desk.vault.turns.all())


def test_each_part_of_a_long_turn_is_found(desk: Desk) -> None:
    """C13: long texts are indexed in chunks, none of their words is lost."""
    filler = "nothing of interest happens in this sentence. " * 60
    said = f"{filler}\n\nThe scheduler wakes at dawn.\n\n{filler}"
    say(desk, said)
    parts = sorted(desk.vault.turns.all(), key=lambda turn: turn.part)
    assert len(parts) > 2
    assert " ".join(" ".join(turn.text for turn in parts).split()) == " ".join(said.split())
    (hit, *_) = search(desk, "scheduler dawn")
    assert "The scheduler wakes at dawn." in hit["text"]


def test_the_answer_beside_a_matching_turn_is_found(desk: Desk) -> None:
    """C13: neighbours of a turn get a third of its score."""
    for subject in SUBJECTS:
        say(desk, subject, key=subject)
    say(desk, "A queue of customers stood at the bakery", key="other")
    say(desk, "Which queue should carry invoices?")
    say(desk, "I recommend RabbitMQ, since such a queue survives", "assistant")
    found = search(desk, "which queue carries invoices")
    assert [hit["text"].split()[0] for hit in found][:2] == ["Which", "I"]


def test_turns_survive_the_checkpoint_and_go_when_their_time_is_over(desk: Desk) -> None:
    """C13: retention is a setting; by default everything stays."""
    say(desk, "Bananas are yellow in the mock data")
    desk.clock.pass_(timedelta(days=400))
    finish.flush(desk.vault, Settings())
    finish.prune(desk.vault, Settings())
    finish.prune(desk.vault, Settings(turn_retention_days=500))
    assert search(desk, "bananas")
    finish.prune(desk.vault, Settings(turn_retention_days=300))
    assert search(desk, "bananas") == []
    assert desk.vault.verify() == []


def test_purging_words_reaches_turns_and_exports_hold_the_rest(desk: Desk) -> None:
    """C13: purge and export cover what was said."""
    say(desk, "Call Mrs Featherstonehaugh about the contract")
    assert desk.ask("purge", phrase="Featherstonehaugh")["verified"]
    assert search(desk, "Featherstonehaugh") == []
    lines = b"".join(export.export(desk.vault, desk.app.project(None)))
    assert b"Featherstonehaugh" not in lines
    assert b"about the contract" in lines


def test_parts_are_cut_between_words() -> None:
    """Part of C13."""
    words = [f"word{number}" for number in range(2_000)]
    cut = rules_turns.chunks(" ".join(words))
    assert [word for part in cut for word in part.split()] == words
    assert max(map(len, cut)) <= 2_000
    assert rules_turns.chunks("x" * 4_500) == ["x" * 2_000, "x" * 2_000, "x" * 500]
    assert rules_turns.chunks("  ") == []
