"""What it costs to search many memories by everything at once, against numpy's search by vectors alone.

The embedding of the question is not counted: it costs the same on both sides. All else is: reading the words, adding
up the lexicon, the cosines, files, ages and grades, the order and the explanations.
"""

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Duel, Go, Row, judge, timed
from sidecar.domain.recall import ranking
from sidecar.domain.recall.catalogues import Catalogue, Item
from sidecar.domain.recall.lexicon import Entry
from sidecar.domain.recall.ranking import Question
from sidecar.store.locks import Lock
from sidecar.store.vectors import Vectors

MEMORIES = 10_000
_WORDS, _VOCABULARY = 60, 8_000
_ASKED = 6
_DIMENSION, _LIMIT = 384, 10
_ROUNDS = 60
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SYLLABLES = tuple(a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ar", "el"))

Array = NDArray[np.float32]


def search(folder: Path) -> Iterator[Row]:
    """Time a hybrid search with and without files at hand against the best cosines of the same matrix."""
    chance = random.Random(1)
    catalogue = _catalogue(chance)
    vectors = _vectors(folder, tuple(catalogue.items))
    questions = [_question(chance) for _ in range(20)]
    baseline = _top(vectors)
    for what, path in (("", None), (", with the open file", _path(chance))):
        asked = [Question(now=_NOW, text=text, open_file=path, limit=_LIMIT) for text in questions]
        ours = _hybrid(catalogue, vectors, asked)
        name = f"hybrid search of {MEMORIES:,} memories{what} vs numpy top-{_LIMIT}"
        yield judge(Duel(name, ours, baseline, _ROUNDS, 10.0))


def _hybrid(catalogue: Catalogue, vectors: Vectors, questions: list[Question]) -> Go:
    rounds = itertools.cycle(zip(questions, _directions(len(questions)), strict=True))

    def go() -> float:
        question, vector = next(rounds)
        return timed(lambda: ranking.rank(catalogue, question, vectors.matrix().compare(vector)))

    return go


def _top(vectors: Vectors) -> Go:
    matrix = vectors.matrix().vectors
    rounds = itertools.cycle(_directions(20))

    def go() -> float:
        vector = next(rounds)

        def best() -> None:
            cosines = matrix @ vector
            nearest = np.argpartition(-cosines, _LIMIT)[:_LIMIT]
            nearest[np.argsort(-cosines[nearest])].tolist()

        return timed(best)

    return go


def _catalogue(chance: random.Random) -> Catalogue:
    catalogue = Catalogue()
    for number in range(MEMORIES):
        words = _text(chance, _WORDS).split()
        entry = Entry(
            title=" ".join(words[:8]),
            content=" ".join(words[8:]),
            files=tuple(_path(chance) for _ in range(3)),
        )
        occurred_at = _NOW - timedelta(hours=number)
        item = Item(
            memory_id=f"{number:026}",
            entry=entry,
            occurred_at=occurred_at,
            importance=chance.randint(1, 5),
        )
        catalogue.put(item)
    return catalogue


def _vectors(folder: Path, memory_ids: tuple[str, ...]) -> Vectors:
    vectors = Vectors(folder / "vectors", Lock(folder / "lock"), "invented", _DIMENSION)
    vectors.add(dict.fromkeys(memory_ids, ""), _directions(len(memory_ids)))
    return vectors


def _directions(count: int) -> Array:
    found = np.random.default_rng(1).standard_normal((count, _DIMENSION), dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def _question(chance: random.Random) -> str:
    return _text(chance, _ASKED)


def _text(chance: random.Random, count: int) -> str:
    """Invent words, each as frequent as in real texts: the n-th has about 1/n of the first's share."""
    ranks = (min(int(_VOCABULARY ** chance.random()), _VOCABULARY - 1) for _ in range(count))
    return " ".join(map(_word, ranks))


def _word(rank: int) -> str:
    size = len(_SYLLABLES)
    first, second = divmod(rank * 7919 % size**2, size)
    return _SYLLABLES[first] + _SYLLABLES[second] + _SYLLABLES[rank % size]


def _path(chance: random.Random) -> str:
    return f"src/{_word(chance.randrange(30))}/{_word(chance.randrange(200))}.py"
