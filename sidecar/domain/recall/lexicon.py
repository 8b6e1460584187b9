"""The lexicon: which memories hold which terms, and how well they answer a question (BM25 over weighted fields).

Lengths are held against fixed usual lengths instead of the collection's averages: so what a memory weighs for a
term is known when it is put in, a question only adds up, and the same memories give the same scores in
whatever order they came.
"""

import bisect
import math
from array import array
from collections.abc import Mapping

from msgspec import Struct

from sidecar.domain.recall import words
from sidecar.domain.recall.words import Terms

_SATURATION = 1.2
"""BM25's k1: how soon a term's further occurrences stop to count."""


_ENOUGH = 3_000
"""Postings after which only the best so far are followed; in smaller projects every term finds."""
_FEW = 300


_Posting = tuple["array[int]", "array[float]"]
"""Numbers of memories, ascending, and what the term weighs in each."""


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


class Entry(Struct, frozen=True, kw_only=True):
    """What the lexicon reads of a memory."""

    title: str = ""
    content: str = ""
    names: tuple[str, ...] = ()
    """Its tags and entities."""
    files: tuple[str, ...] = ()


class Lexicon:
    """An inverted index in memory; whoever shares it between threads takes care of that."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._postings: dict[str, _Posting] = {}
        self._numbers: dict[str, int] = {}
        self._ids: dict[int, str] = {}
        self._terms: dict[str, tuple[str, ...]] = {}
        self._next = 0

    def __len__(self) -> int:
        """Count the memories."""
        return len(self._numbers)

    def put(self, memory_id: str, entry: Entry) -> None:
        """Learn a memory, in place of what was known under its id."""
        self.drop(memory_id)
        weights = weigh(entry)
        number, self._next = self._next, self._next + 1
        self._numbers[memory_id], self._ids[number] = number, memory_id
        self._terms[memory_id] = tuple(weights)
        for term, weight in weights.items():
            if (posting := self._postings.get(term)) is None:
                posting = self._postings[term] = (array("I"), array("f"))
            posting[0].append(number)
            posting[1].append(weight)

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        if (number := self._numbers.pop(memory_id, None)) is None:
            return
        del self._ids[number]
        for term in self._terms.pop(memory_id):
            numbers, weights = self._postings[term]
            at = bisect.bisect_left(numbers, number)
            del numbers[at], weights[at]
            if not numbers:
                del self._postings[term]

    def score(self, question: Terms) -> dict[str, float]:
        """Score the memories that hold terms of the question.

        Rare terms find memories. Once these have found many, the common terms that are left only add to the best of
        what was found: alone they say little, and in a large collection they stand everywhere.
        """
        rarities = self._rarities(question)
        scores: dict[int, float] = {}
        known, looked_at = scores.get, 0
        for term in sorted(rarities, key=lambda term: (-rarities[term], term)):
            posting = self._postings[term]
            looked_at += len(posting[0])
            if scores and looked_at > _ENOUGH:
                scores = _best(scores)
                self._add_common(scores, rarities)
                break
            rarity = rarities.pop(term)
            for number, weight in zip(*posting, strict=True):
                scores[number] = known(number, 0.0) + rarity * weight
        return {self._ids[number]: score for number, score in scores.items()}

    def best(self, question: Terms) -> float:
        """Tell what a memory would score that holds every known term of the question as usual."""
        return sum(self._rarities(question).values())

    def _rarities(self, question: Terms) -> dict[str, float]:
        """Tell how much each known term of a question counts."""
        return {
            term: min(count, 1.0) * self._rarity(len(self._postings[term][0]))
            for term, count in question.items()
            if term in self._postings
        }

    def _rarity(self, holders: int) -> float:
        return math.log(1.0 + (len(self._numbers) - holders + 0.5) / (holders + 0.5))

    def _add_common(self, scores: dict[int, float], rarities: Mapping[str, float]) -> None:
        for term, rarity in rarities.items():
            numbers, weights = self._postings[term]
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
