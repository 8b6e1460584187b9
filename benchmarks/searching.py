"""What it costs to search memories and records beside the bare FTS5 query, and to pick what a conversation is told.

The embedding of the question is not counted: no model is loaded. All else is: the query, links, files, ages, the order,
snippets and explanations.
"""

import contextlib
import gc
import random
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import get_args

from benchmarks import stores, vocabulary
from benchmarks.timing import Duel, Go, Row, judge, timed
from protocol.memories import Memory, MemoryType
from protocol.recall import SearchParams
from sidecar.search.meanings import Meanings
from sidecar.search.recall import Inquiry, Recall
from sidecar.search.rules.standing import Group
from sidecar.storage import texts
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

MEMORIES = 10_000
_RECORDS = 50_000
_WORDS = 60
_ASKED = 6
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
_BARE = """
SELECT bm25(words) AS score, texts.id FROM words JOIN texts ON texts.rowid = words.rowid
WHERE words MATCH ? ORDER BY score LIMIT 100
"""


def search(folder: Path) -> Iterator[Row]:
    """Time a search of everything against the bare query, and picking against a search."""
    chance = random.Random(1)
    with contextlib.closing(stores.open_store(folder / "vault")) as vault:
        _fill(vault, chance)
        finder, question = Recall(_SILENT), _question(chance)
        many = f"{MEMORIES:,} memories and {_RECORDS:,} records"
        searched, bare = _search(finder, vault, question), _bare(vault, question)
        yield judge(Duel(f"search {many} vs the bare FTS5 query", searched, bare, _ROUNDS, 3.0))
        picked = _pick(finder, vault)
        after = _after(lambda: _put_memory(vault, chance), picked)
        yield judge(Duel("pick after a memory was written vs before", after, picked, _ROUNDS, 3.0))
        after = _after(lambda: _put_memory(vault, chance), searched)
        what = "search after a memory was written vs before"
        yield judge(Duel(what, after, searched, _ROUNDS))
    opened = _anew(folder / "vault", lambda _finder, _vault: 0.0)
    name = f"open {MEMORIES:,} memories and first pick vs open (milliseconds count, not the ratio)"
    first = _anew(folder / "vault", lambda finder, vault: _pick(finder, vault)())
    yield judge(Duel(name, first, opened, _FEW_ROUNDS, 60.0))


def _bare(vault: Vault, question: str) -> Go:
    expression = " OR ".join(f'"{word}"' for word in question.split())
    return lambda: timed(lambda: vault.database.rows(_BARE, (expression,)))


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


def _record(chance: random.Random, number: int) -> texts.Text:
    said = vocabulary.text(chance, 8), vocabulary.text(chance, _WORDS)
    return texts.Text(
        f"record{number}", "commit", number, "Ada", f"{number:040x}", "", *said, _path(chance), ""
    )


def _fill(vault: Vault, chance: random.Random) -> None:
    with vault.transaction():
        for first in range(0, MEMORIES, _BATCH):
            numbers = range(first, first + _BATCH)
            vault.write([_memory(vault, chance, number) for number in numbers])
        texts.put(vault.database, (_record(chance, number) for number in range(_RECORDS)))


def _put_memory(vault: Vault, chance: random.Random) -> None:
    with vault.transaction():
        vault.write([_memory(vault, chance, 0)])


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


def _question(chance: random.Random) -> str:
    return vocabulary.text(chance, _ASKED)


def _path(chance: random.Random) -> str:
    return (
        f"src/{vocabulary.word(chance.randrange(30))}/{vocabulary.word(chance.randrange(200))}.py"
    )
