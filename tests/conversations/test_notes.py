"""Notes: what one turn says that must not be lost, and nothing else."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.conversations import Note
from sidecar.conversations.rules import notes
from sidecar.text import patterns
from tests import turns, wordings
from tests.support import enclose
from tests.turns import Turn

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
EVERY = (*turns.UNSEEN, *turns.LATER, *turns.FRESH, *turns.LAST)


class Figures(NamedTuple):
    """How well a set of turns was heard."""

    precision: float
    recall: float
    typed: float


class Keep(NamedTuple):
    """One thing that is to be kept of a turn."""

    types: tuple[str, ...]
    words: tuple[str, ...]
    is_optional: bool


def written(text: str, at: datetime) -> tuple[Note, ...]:
    return notes.pick(notes.judge(text, at))


def hear(text: str) -> list[tuple[str, str]]:
    return [(note.type, note.text) for note in written(text, AT)]


def read(keep: str) -> Keep:
    types, _, words = keep.lstrip("?").partition(": ")
    return Keep(tuple(types.split("|")), tuple(words.casefold().split("|")), keep.startswith("?"))


def pair(turn: Turn) -> tuple[list[tuple[Note, Keep]], int, list[Keep]]:
    """Hold the notes of a turn against its keeps: pairs, how many notes there are, what was missed."""
    left = [read(keep) for keep in turn.keep]
    found = written(turn.text, AT)
    pairs = []
    for note in found:
        said = note.text.casefold()
        hit = next((keep for keep in left if any(word in said for word in keep.words)), None)
        if hit is not None:
            left.remove(hit)
            pairs.append((note, hit))
    return pairs, len(found), [keep for keep in left if not keep.is_optional]


def measure(some: Sequence[Turn]) -> Figures:
    judged = [pair(turn) for turn in some]
    pairs = [one for found, _, _ in judged for one in found]
    heard = sum(count for _, count, _ in judged)
    missed = sum(len(left) for _, _, left in judged)
    needed = sum(not keep.is_optional for _, keep in pairs)
    return Figures(
        precision=len(pairs) / heard,
        recall=needed / (needed + missed),
        typed=sum(note.type in keep.types for note, keep in pairs) / len(pairs),
    )


def test_the_turns_are_many_and_half_of_them_say_nothing_that_lasts() -> None:
    assert len(EVERY) >= 120
    assert sum(not turn.keep for turn in EVERY) >= 50


@pytest.mark.parametrize("some", [turns.UNSEEN, turns.LATER, turns.FRESH, turns.LAST, EVERY])
def test_what_matters_is_heard_and_little_else(some: Sequence[Turn]) -> None:
    """Part of E8."""
    figures = measure(some)
    assert figures.precision >= 0.95
    assert figures.recall >= 0.6
    assert figures.typed >= 0.9


def test_what_nobody_says_for_later_is_not_heard() -> None:
    assert [text for text in wordings.UNSAID if hear(text)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "hey, quick one: never push directly to main, always open a PR",
            [("constraint", "Never push directly to main, always open a PR.")],
        ),
        (
            "Decision: the cache stays in memory.",
            [("decision", "The cache stays in memory.")],
        ),
        (
            "No, that's wrong. The limit is 50 requests per minute, not 500.",
            [("correction", "The limit is 50 requests per minute, not 500.")],
        ),
        (
            "Done.\n\n**Remaining**\n- port the Windows installer\n- [x] write the docs",
            [("task", "Port the Windows installer.")],
        ),
        (
            "Fine, SQLite then. It only ever runs on one machine.",
            [("decision", "SQLite then. It only ever runs on one machine.")],
        ),
    ],
)
def test_a_note_is_one_sentence_in_its_speakers_words(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert hear(text) == expected


def test_a_sentence_that_points_back_is_told_with_what_it_points_at() -> None:
    told = hear("The limiter keys by IP. That is the root cause of the ticket.")
    assert ("fact", "The limiter keys by IP. That is the root cause of the ticket.") in told


def test_a_note_knows_who_said_it_and_when() -> None:
    text = "We decided to drop Python 3.9."
    note = Note(type="decision", text=text, said_by="user", at=AT)
    assert written(text, AT) == (note,)


@pytest.mark.parametrize(
    "hidden",
    [
        enclose("We decided to use Kafka."),
        "<system-reminder>\nWe decided to use Kafka.\n</system-reminder>",
        "```\nWe decided to use Kafka.\n```",
        "2026-03-01 12:00:01 INFO We decided to use Kafka.",
        "~~~text\nWe decided to use Kafka.",
        "> We decided to use Kafka.",
    ],
)
def test_what_the_speaker_did_not_say_is_not_heard(hidden: str) -> None:
    """Part of E8."""
    assert hear(f"Thanks!\n\n{hidden}\n") == []


def test_the_same_thing_said_twice_is_one_note() -> None:
    assert len(hear("Never use eval here.\n\nnever use eval here")) == 1


def test_of_a_very_long_turn_the_beginning_and_the_end_are_heard() -> None:
    filler = "The weather was nice and the coffee was warm. " * 3_000
    text = f"We decided to use Kafka.\n\n{filler}\n\nWe decided to keep Redis."
    assert [said for _, said in hear(text)] == [
        "We decided to use Kafka.",
        "We decided to keep Redis.",
    ]


def test_a_fence_that_was_opened_in_the_middle_hides_its_end_only() -> None:
    dump = "\n".join(f"line {number}" for number in range(5_000))
    assert hear(f"We decided to use Kafka.\n\n```\n{dump}\nWe decided to use Redis.\n```\n") == [
        ("decision", "We decided to use Kafka.")
    ]


def test_a_document_gives_no_more_than_a_handful_from_its_ends() -> None:
    text = "\n".join(
        f"- Decision: topic {number} is kept for {number} days." for number in range(90)
    )
    told = [said for _, said in hear(text)]
    assert len(told) == notes.MOST
    assert "topic 0 " in told[0].lower()
    assert "topic 89" in told[-1].lower()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *(word for turn in EVERY[:60] for word in turn.text.split()[:6]),
                "\n",
                "\n\n",
                "```",
                "- ",
                "<system-reminder>",
                "**",
                "1) ",
                "2) ",
                "\x00",
                "\ud800",
                "?",
                ": ",
            ]
        ),
        max_size=60,
    )
)
def test_every_note_of_anything_is_short_whole_and_can_be_written(
    words: list[str],
) -> None:
    for note in written(" ".join(words), AT):
        assert 0 < len(note.text) <= notes.LONGEST
        assert note.text.isprintable()
        note.text.encode()


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_no_text_is_too_strange(text: str) -> None:
    assert all(note.said_by == "user" for note in written(text, AT))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 64_000,
        "\n" * 64_000,
        "ok, " * 16_000,
        "<system-reminder>" * 4_000,
        "```\n" * 16_000,
        "1) 2) " * 10_000,
        "the " * 16_000 + ", not x",
        "we have to " * 6_000,
        ", never " * 8_000,
        " bitte" * 10_000,
        "<!-- threadline:memory -->" * 2_500,
        ("\n\n".join(turn.text for turn in EVERY) * 6)[:64_000],
    ],
)
def test_a_turn_of_any_size_is_heard_at_once(text: str) -> None:
    written(text, AT)
    spent = []
    for number in range(3):
        start = time.process_time()
        written(f"{text} {number}", AT)
        spent.append(time.process_time() - start)
    assert min(spent) < 4


def test_a_row_that_is_added_after_its_words_were_seen_is_found() -> None:
    said = "The marmalade must never be logged."
    hear(said)
    assert patterns.table(("marmalade", "marmalade")).search(said) is not None
