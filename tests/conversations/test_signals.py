"""Signals: which turns say something that must be remembered, and what shows it."""

import json
import time
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.conversations.rules import signals
from sidecar.conversations.rules.turns import FLAGGED, Signal
from tests.support import ROOT

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
SETTLED = "We decided to keep the queue in SQLite because it runs on one machine."


class Labelled(NamedTuple):
    """A turn, and whether it says something that outlasts it."""

    text: str
    is_worth: bool


def labelled() -> list[Labelled]:
    lines = (ROOT / "tests" / "signals.jsonl").read_text("utf-8").splitlines()
    read = map(json.loads, lines)
    return [Labelled(one["text"], one["isWorth"]) for one in read]


def detect(text: str) -> Signal:
    return signals.detect(text, AT)


def test_flagged_turns_are_the_ones_that_matter() -> None:
    """Part of F4.

    Of the 103 turns all that are flagged were worth it, and 83 % of those that were worth it are flagged.
    """
    turns = labelled()
    flagged = [one for one in turns if detect(one.text).is_flagged]
    hits = sum(one.is_worth for one in flagged)
    assert hits / len(flagged) >= 0.92
    assert hits / sum(one.is_worth for one in turns) >= 0.8


def test_the_labelled_turns_are_many_and_of_both_kinds() -> None:
    turns = labelled()
    assert len(turns) >= 100
    assert len({one.text for one in turns}) == len(turns)
    assert sum(not one.is_worth for one in turns) >= 40


@pytest.mark.parametrize(
    ("text", "score", "keywords"),
    [
        (SETTLED, 0.85, ("decision", "we decided", "because")),
        ("TODO: document the limits.", 0.6, ("task", "todo")),
        ("You must not touch vendor/.", 0.75, ("constraint", "must not")),
        ("Good morning! Ready when you are.", 0.0, ()),
        ("Could we use Redis here?", 0.0, ()),
        ("", 0.0, ()),
    ],
)
def test_a_score_says_what_it_is_made_of(
    text: str, score: float, keywords: tuple[str, ...]
) -> None:
    """Part of F4."""
    found = detect(text)
    assert (found.score, found.keywords) == (score, keywords)


def test_more_that_matters_counts_for_more_but_never_beyond_one() -> None:
    rules = [f"You must not touch module{number}/." for number in range(40)]
    scores = [detect("\n\n".join(rules[:count])).score for count in (1, 2, 5, 40)]
    assert scores == sorted(scores)
    assert scores[0] < scores[1]
    assert scores[-1] == 1.0
    assert detect("\n\n".join(rules[:1] * 5)).score == scores[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Hi!\n\nThe tests are red again.\n\nWe decided to drop Python 3.9. It is too slow.\n\nThanks!",
            "We decided to drop Python 3.9. It is too slow.",
        ),
        (
            "I moved the files.\n\n## Decided\n- Amounts are integers of cents\n- Rounding happens once",
            "Decided:\n- Amounts are integers of cents\n- Rounding happens once",
        ),
        (
            "- [ ] migrate the cron jobs\n- [x] move the secrets",
            "- [ ] migrate the cron jobs",
        ),
    ],
)
def test_only_what_matters_is_read_for_memory(text: str, expected: str) -> None:
    """Part of F4."""
    assert detect(text).excerpt == expected


@pytest.mark.slow
@given(st.text(max_size=400))
def test_any_turn_has_a_score_and_a_score_has_reasons(text: str) -> None:
    found = detect(text)
    assert 0.0 <= found.score <= 1.0
    assert bool(found.score) == bool(found.keywords) == bool(found.notes) == bool(found.excerpt)
    assert found == detect(text)
    assert found.is_flagged is (found.score >= FLAGGED)


@pytest.mark.slow
@given(st.lists(st.sampled_from([one.text for one in labelled()]), min_size=1, max_size=30))
def test_an_excerpt_is_short_and_in_the_words_of_the_turn(texts: list[str]) -> None:
    turn = "\n\n".join(texts)
    excerpt = detect(turn).excerpt
    assert len(excerpt) <= signals.EXCERPT
    assert {word for line in excerpt.splitlines() for word in line.rstrip(":").split()} <= {
        *turn.replace("**", "").replace(":", " ").split(),
        *turn.split(),
        "-",
    }


@pytest.mark.parametrize("letter", ["a", " ", "- ", "<", "`", "。", "never "])
def test_a_turn_of_the_longest_kind_is_judged_at_once(letter: str) -> None:
    text = (letter * 100_000)[:100_000]
    started = time.perf_counter()
    detect(text)
    assert time.perf_counter() - started < 2.0
