"""Gaps: what a summary does not hold is found, and nothing is believed to be held that is not."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.conversations import Note
from sidecar.domain.continuity import gaps
from tests import summaries
from tests.summaries import Pair

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
EVERY = (*summaries.PAIRS, *summaries.LATER)
AROUND = """1. Primary request: the user asked for an importer of orders.
2. Files read: src/app.py, src/importer.py.

## Work
{}

All 214 tests pass. The linter is clean."""


def note(pair: Pair) -> Note:
    return Note(type=pair.type, text=pair.note, at=AT)


def is_held(pair: Pair, *, around: bool = False) -> bool:
    summary = AROUND.format(pair.summary) if around else pair.summary
    return gaps.missing([note(pair)], summary) == ()


def test_the_pairs_are_many() -> None:
    assert len(EVERY) >= 60


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize(
    "pair", [one for one in EVERY if one.case in ("contradicted", "other", "absent")]
)
def test_what_is_contradicted_or_absent_or_has_another_number_is_missing(
    pair: Pair, around: bool
) -> None:
    """Part of E8."""
    assert not is_held(pair, around=around)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("pair", [one for one in EVERY if one.case == "held"])
def test_what_a_summary_says_in_the_same_words_is_held(pair: Pair, around: bool) -> None:
    """Part of E8."""
    assert is_held(pair, around=around)


@pytest.mark.parametrize("around", [False, True])
def test_most_of_what_a_summary_says_in_other_words_is_held(around: bool) -> None:
    """Part of E8."""
    said = [one for one in EVERY if one.case == "paraphrased"]
    held = [one for one in said if is_held(one, around=around)]
    assert len(held) >= 0.8 * len(said)


def test_what_is_missing_comes_in_its_order() -> None:
    said = [note(one) for one in summaries.PAIRS[:4]]
    assert gaps.missing(said, said[1].text) == (said[0], *said[2:])


def test_an_empty_summary_holds_nothing() -> None:
    said = [note(one) for one in EVERY]
    assert gaps.missing(said, "") == tuple(said)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(EVERY), st.sampled_from(["never", "not", "no longer"]))
def test_a_statement_is_not_held_by_its_negation(pair: Pair, negation: str) -> None:
    text = "The importer keeps empty lines of the file"
    turned = text.replace("keeps", f"{negation} keeps")
    given_note = Note(type="decision", text=text, at=AT)
    assert gaps.missing([given_note], f"{pair.note}\n{turned}.") == (given_note,)
    assert gaps.missing([given_note], f"{pair.note}\n{text}.") == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_is_too_strange(text: str, summary: str) -> None:
    said = (Note(type="fact", text=text, at=AT),)
    assert gaps.missing(said, summary) in ((), said)


def test_a_hundred_notes_and_a_long_summary_are_compared_at_once() -> None:
    said = [note(one) for one in EVERY][:100]
    summary = "\n".join(f"{number}. {one.summary}" for number, one in enumerate(EVERY * 4))
    start = time.process_time()
    gaps.missing(said, summary)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("summary", ["a" * 120_000, "?\n" * 60_000, "not " * 30_000, ". " * 60_000])
def test_a_summary_of_any_shape_is_read_at_once(summary: str) -> None:
    said = [note(one) for one in summaries.PAIRS[:20]]
    start = time.process_time()
    gaps.missing(said, summary)
    assert time.process_time() - start < 2
