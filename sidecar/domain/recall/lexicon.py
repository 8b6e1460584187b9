"""The lexicon: which memories hold which terms, and how well they answer a question (BM25 over weighted fields).

Lengths are held against fixed usual lengths instead of the collection's averages: so what a memory weighs for a
term is known when it is put in, a question only adds up, and the same memories give the same scores in
whatever order they came.
"""

import bisect
import math
from collections.abc import Mapping

from msgspec import Struct

from sidecar.domain.recall import hashes, words
from sidecar.domain.recall.indexes import Index, Posting
from sidecar.domain.recall.words import Terms

_SATURATION = 1.2
"""BM25's k1: how soon a term's further occurrences stop to count."""


_ENOUGH = 3_000
"""Postings after which only the best so far are followed; in smaller projects every term finds."""
_FEW = 300


class Field(Struct, frozen=True):
    """How much a field's terms count."""

    weight: float
    usual: float
    """The length at which a term counts as it is."""
    penalty: float
    """BM25's b: how much of a longer field's length is held against it."""


TITLE = Field(weight=2.0, usual=8.0, penalty=0.5)
CONTENT = Field(weight=1.0, usual=40.0, penalty=0.4)
NAMES = Field(weight=1.5, usual=6.0, penalty=0.5)
FILES = Field(weight=1.0, usual=20.0, penalty=0.2)
"""Content and files as measured on sessions of real projects (`benchmarks/retrieval.py`): a session that touched much
also matters for much, so length is held against it less than usual (0.75 finds 0.03 less). A title is
a memory's content said again by its author, a tag or an entity a word chosen with care: they count for more."""


def edition() -> int:
    """Give a number that is another one when the same memory would have other terms or weights."""
    return hashes.of(repr((words.EDITION, _SATURATION, TITLE, CONTENT, NAMES, FILES)))


class Entry(Struct, frozen=True, kw_only=True):
    """What the lexicon reads of a memory."""

    title: str = ""
    content: str = ""
    names: tuple[str, ...] = ()
    """Its tags and entities."""
    files: tuple[str, ...] = ()


class Lexicon:
    """An inverted index of hashed terms; whoever shares it between threads takes care of that."""

    def __init__(self, index: Index | None = None) -> None:
        """Stand on an index that was packed, or begin with nothing."""
        self.index = Index() if index is None else index

    def __len__(self) -> int:
        """Count the memories."""
        return len(self.index)

    def put(self, memory_id: str, entry: Entry) -> None:
        """Learn a memory, in place of what was known under its id."""
        weights = weigh(entry).items()
        self.index.put(memory_id, {hashes.of(term): weight for term, weight in weights})

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        self.index.drop(memory_id)

    def score(self, question: Terms) -> dict[str, float]:
        """Score the memories that hold terms of the question.

        Rare terms find memories. Once these have found many, the common terms that are left only add to the best of
        what was found: alone they say little, and in a large collection they stand everywhere.
        """
        known = self._known(question)
        rarities = self._rarities(question, known)
        scores: dict[int, float] = {}
        score_of, looked_at = scores.get, 0
        for term in sorted(rarities, key=lambda term: (-rarities[term], term)):
            posting = known[term]
            looked_at += len(posting[0])
            if scores and looked_at > _ENOUGH:
                scores = _best(scores)
                _add_common(scores, known, rarities)
                break
            rarity = rarities.pop(term)
            for number, weight in zip(*posting, strict=True):
                scores[number] = score_of(number, 0.0) + rarity * weight
        ids = self.index.names
        return {ids[number]: score for number, score in scores.items()}

    def best(self, question: Terms) -> float:
        """Tell what a memory would score that holds every known term of the question as usual."""
        return sum(self._rarities(question, self._known(question)).values())

    def _known(self, question: Terms) -> dict[str, Posting]:
        postings = ((term, self.index.posting(hashes.of(term))) for term in question)
        return {term: posting for term, posting in postings if posting is not None}

    def _rarities(self, question: Terms, known: Mapping[str, Posting]) -> dict[str, float]:
        """Tell how much each known term of a question counts."""
        return {
            term: min(question[term], 1.0) * self._rarity(len(posting[0]))
            for term, posting in known.items()
        }

    def _rarity(self, holders: int) -> float:
        return math.log(1.0 + (len(self.index) - holders + 0.5) / (holders + 0.5))


def _add_common(
    scores: dict[int, float], known: Mapping[str, Posting], rarities: Mapping[str, float]
) -> None:
    for term, rarity in rarities.items():
        numbers, weights = known[term]
        for number in scores:
            at = bisect.bisect_left(numbers, number)
            if at < len(numbers) and numbers[at] == number:
                scores[number] += rarity * weights[at]


def _best(scores: dict[int, float]) -> dict[int, float]:
    """Keep the highest, and all that equal the least of them, so that no order matters."""
    if len(scores) <= _FEW:
        return scores
    least = sorted(scores.values(), reverse=True)[_FEW - 1]
    return {number: score for number, score in scores.items() if score >= least}


def weigh(entry: Entry) -> dict[str, float]:
    """Tell what each term of a memory is worth, before its rarity is known."""
    found: dict[str, float] = {}
    for field, terms in (
        (TITLE, words.count(entry.title)),
        (CONTENT, words.count(entry.content)),
        (NAMES, words.count(" ".join(entry.names))),
        (FILES, words.count_paths(entry.files)),
    ):
        _add(found, field, terms)
    return {
        term: weight * (_SATURATION + 1) / (weight + _SATURATION) for term, weight in found.items()
    }


def _add(found: dict[str, float], field: Field, terms: Mapping[str, float]) -> None:
    excess = sum(terms.values()) / field.usual
    factor = field.weight / (1 - field.penalty + field.penalty * excess)
    for term, count in terms.items():
        found[term] = found.get(term, 0.0) + factor * count
