"""What it costs to search many memories by everything at once, against numpy's search by vectors alone.

And what it costs to find anything in a process that has just begun, against opening the vault alone, and right after
a write, against finding again what was found before.

The embedding of the question is not counted: it costs the same on both sides. All else is: reading the words, adding
up the lexicon, the cosines, files, ages and grades, the order and the explanations.
"""

import contextlib
import gc
import itertools
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks import stores, vocabulary
from benchmarks.timing import Duel, Go, Row, judge, timed
from protocol.memories import Memory, MemoryType
from protocol.recall import SearchParams
from sidecar.search.meanings import Meanings
from sidecar.search.query import Inquiry, Recall
from sidecar.search.rules import ranking
from sidecar.search.rules.catalogues import Catalogue, Item
from sidecar.search.rules.indexes import Entry
from sidecar.search.rules.ranking import Group, Question
from sidecar.search.rules.similarities import DIMENSION
from sidecar.storage.cache import Cache, Vectors
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

MEMORIES = 10_000
_WORDS = 60
_ASKED = 6
_LIMIT = 10
_ROUNDS, _FEW_ROUNDS = 60, 9
_BATCH = 1_000
_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
_GROUPS = {
    "rules": Group(types=frozenset({"constraint", "preference", "correction"}), limit=10),
    "decisions": Group(types=frozenset({"decision"}), least_importance=3, limit=8),
    "tasks": Group(types=frozenset({"task"}), limit=5),
    "facts": Group(types=frozenset({"fact", "skill", "episodic"}), limit=8),
}
_SILENT = Meanings(lambda: "not measured", lambda: "not measured")
_NOW = datetime(2026, 1, 1, tzinfo=UTC)

Array = NDArray[np.float32]


def search(folder: Path) -> Iterator[Row]:
    """Time a hybrid search with and without files at hand against the best cosines of the same matrix."""
    chance = random.Random(1)
    catalogue = _catalogue(chance)
    vectors = _vectors(folder, tuple(catalogue.traits))
    questions = [_question(chance) for _ in range(20)]
    baseline = _top(vectors)
    for what, path in (("", None), (", with the open file", _path(chance))):
        asked = [Question(now=_NOW, text=text, open_file=path, limit=_LIMIT) for text in questions]
        ours = _hybrid(catalogue, vectors, asked)
        name = f"hybrid search of {MEMORIES:,} memories{what} vs numpy top-{_LIMIT}"
        yield judge(Duel(name, ours, baseline, _ROUNDS, 10.0))
    yield from _find(folder / "vault", chance, baseline)


def _find(folder: Path, chance: random.Random, nearest: Go) -> Iterator[Row]:
    with contextlib.closing(stores.open_store(folder)) as vault:
        _fill(vault, chance)
        finder = Recall(_SILENT)
        finder.keep(vault)
        picked, searched = _pick(finder, vault), _search(finder, vault, _question(chance))
        many = f"{MEMORIES:,} memories"
        yield judge(Duel(f"pick from {many} vs numpy top-{_LIMIT}", picked, nearest, _ROUNDS, 6.0))
        after = _after(lambda: _put_memory(vault, chance), picked)
        yield judge(Duel("pick after a memory was written vs before", after, picked, _ROUNDS, 3.0))
        after = _after(lambda: _put_session(vault), picked)
        yield judge(Duel("pick after a session was written vs before", after, picked, _ROUNDS, 1.5))
        after = _after(lambda: _put_memory(vault, chance), searched)
        what = "search after a memory was written vs before"
        yield judge(Duel(what, after, searched, _ROUNDS))
        finder.keep(vault)
    opened = _anew(folder, lambda _finder, _vault: 0.0)
    question = _question(chance)
    for what, ask, gate in (
        ("pick", lambda finder, vault: _pick(finder, vault)(), 2.5),
        ("search", lambda finder, vault: _search(finder, vault, question)(), 3.0),
    ):
        name = f"open {many} and first {what} vs open"
        yield judge(Duel(name, _anew(folder, ask), opened, _FEW_ROUNDS, gate))


def _pick(finder: Recall, vault: Vault) -> Go:
    inquiry = Inquiry(files_at_hand=(_path(random.Random(2)),), branch="main")
    return lambda: timed(lambda: finder.pick(vault, inquiry, _GROUPS))


def _search(finder: Recall, vault: Vault, question: str) -> Go:
    params = SearchParams(query=question)
    return lambda: timed(lambda: finder.search(vault, params, lambda _: ()))


def _after(write: Callable[[], None], ask: Go) -> Go:
    def go() -> float:
        write()
        return ask()

    return go


def _anew(folder: Path, ask: Callable[[Recall, Vault], float]) -> Go:
    """Open a vault as a new process does, and ask; what a process loads once is loaded."""

    def go() -> float:
        gc.collect()
        begun = time.perf_counter()
        with contextlib.closing(stores.open_store(folder)) as vault:
            ask(Recall(_SILENT), vault)
            return time.perf_counter() - begun

    return go


def _fill(vault: Vault, chance: random.Random) -> None:
    with vault.transaction():
        for first in range(0, MEMORIES, _BATCH):
            numbers = range(first, first + _BATCH)
            vault.write([_memory(vault, chance, number) for number in numbers])


def _put_memory(vault: Vault, chance: random.Random) -> None:
    with vault.transaction():
        vault.write([_memory(vault, chance, 0)])


def _put_session(vault: Vault) -> None:
    with vault.transaction():
        vault.write([stores.put_session(vault, 1, ago=timedelta(hours=5))])


def _memory(vault: Vault, chance: random.Random, number: int) -> Op:
    """Invent a memory of about a kilobyte, and say how to write it."""
    moment = vault.clock() - timedelta(hours=number)
    memory = Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type=chance.choice(_TYPES),
        title=vocabulary.text(chance, 8),
        content=vocabulary.text(chance, 2 * _WORDS),
        importance=chance.randint(1, 5),
        confidence=chance.randint(1, 5),
        files=tuple(_path(chance) for _ in range(3)),
        tags=(vocabulary.word(chance.randrange(100)),),
        branch="main",
        occurred_at=moment,
        created_at=moment,
        updated_at=moment,
    )
    return vault.memories.put(memory.memory_id, memory)


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
        words = vocabulary.text(chance, _WORDS).split()
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
    vectors = Vectors(Cache(folder / "cache.sqlite"))
    vectors.add(dict.fromkeys(memory_ids, ""), _directions(len(memory_ids)))
    return vectors


def _directions(count: int) -> Array:
    found = np.random.default_rng(1).standard_normal((count, DIMENSION), dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def _question(chance: random.Random) -> str:
    return vocabulary.text(chance, _ASKED)


def _path(chance: random.Random) -> str:
    return (
        f"src/{vocabulary.word(chance.randrange(30))}/{vocabulary.word(chance.randrange(200))}.py"
    )
