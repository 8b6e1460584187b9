"""What is kept without a model is what an experienced colleague would keep."""

from benchmarks.enrichment import labels
from benchmarks.enrichment.figures import count, ratio, rows
from benchmarks.enrichment.measuring import measure
from sidecar.memory.extract.compose import compose

LEAST_RECALL = 0.85
"""Raised with the rules; never lowered."""


SCORES = measure(labels.load(), compose)


def test_nine_of_ten_memories_are_worth_keeping_and_rightly_named() -> None:
    """C5."""
    assert [row for row in rows(SCORES) if row.is_missed] == []


def test_most_of_what_had_to_be_kept_is_kept() -> None:
    """Part of C5."""
    assert ratio(count(SCORES).recall) >= LEAST_RECALL


def test_every_memory_quotes_its_evidence_and_none_is_junk() -> None:
    """Part of C5."""
    assert [violation for score in SCORES for violation in score.violations] == []


def test_the_same_session_is_always_told_in_the_same_way() -> None:
    """Part of C5."""
    again = measure(labels.load(), compose)
    assert [score.drafts for score in again] == [score.drafts for score in SCORES]
