"""Weights of the ranking's signals, each with the measurement or the reason behind it.

Measured by `benchmarks/retrieval.py`: on sessions of four real projects (recall@5 of the sessions that last wrote what
a commit changes, asked with its subject), and on questions in other words about an invented project. They were
chosen on these same sets, so other projects may give less. Half or double of one weight costs at most 0.02 of the mean
recall on the sessions, except `files` (half costs 0.04) and `named_meaning` (near one costs 0.03). What a
memory is by itself (its grades, a pin, its branch, feedback) is in none of these sets: those weights are judgement.
"""

from datetime import timedelta

from msgspec import Struct


class Weights(Struct, frozen=True, kw_only=True):
    """How much each signal counts; the defaults are the measured ones."""

    words: float = 1.0
    """The share of a question's words that a memory has: the measure of all others."""
    similarity: float = 2.0
    """Cosines of good answers are about 0.5 and lie close together, shares of words about 0.75: this makes them even."""
    least_meaning: float = 0.35
    """How much meaning counts beside words when keywords are given: commit subjects are found better by their
    words (0.21) than by their meaning (0.16)."""
    most_meaning: float = 0.95
    """The same for a question in whole sentences: other words are found by meaning (0.92), not by words (0.25)."""
    named_meaning: float = 0.5
    """The same for a question that names code, which embeddings hardly know: half and half."""
    keywords: float = 0.1
    """The share of small words up to which a text counts as keywords; subjects have 0.0 to 0.25."""
    steepness: float = 2.5
    """How fast meaning gains with the share of small words beyond that; questions have 0.3 to 0.6."""
    files: float = 1.6
    """A memory of the open file comes before all but the best matches: 0.27 becomes 0.40."""
    files_lost: float = 0.8
    """The part of this that meaning takes over: a whole question says itself what it is about."""
    changed_file: float = 0.7
    """A file of the current diff beside the open one: also at hand, but maybe of another errand."""
    company: float = 2.0
    """What shares files with the best answers often answers, too: 0.22 becomes 0.27."""
    company_with_files: float = 1.0
    """The same where files at hand say it better."""
    links: float = 0.5
    """What is linked with a good answer: where earlier commits were linked with what they built on, 0.25 becomes 0.26,
    with the open file 0.39 becomes 0.40; as many links drawn by lot cost 0.001. 0.8 gains twice that, and costs 0.008."""
    recency: float = 0.8
    """What is new gains this part of what meaning leaves over: about half for keywords, next to nothing for a whole
    question, whose answer may be of any age. More helps one project and harms another."""
    fading: timedelta = timedelta(days=180)
    """The age at which half of this is gone."""
    importance: float = 0.2
    """What the best grade adds and the worst takes away: it parts equals and outranks no answer."""
    confidence: float = 0.1
    pinned: float = 0.5
    """As much as being new: who pins a memory wants it to stay as near as on its first day."""
    branch: float = 0.1
    feedback: float = 0.3
    """What always being useful adds, and never being useful takes away."""
    nothing_asked: float = 0.3
    """What each memory has when no text is given, so that its standing decides."""


MEASURED = Weights()
