"""Histories with a known end: memories are made of commits, and then the code goes on in one of many ways."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.cases import BEGIN, Case, Repository
from benchmarks.fates import FATES, Truth
from benchmarks.sources import LANGUAGES, Function
from protocol.memories import Memory
from sidecar.memory.rules.drafts import Draft
from sidecar.memory.rules.drift import Fates


@dataclass(frozen=True)
class Told:
    """A draft of memory, what becomes of its code, and the truth in the end."""

    draft: Draft
    fate: str
    truth: Truth


@dataclass(frozen=True)
class History:
    """A repository, and what is known about it."""

    folder: Path
    told: tuple[Told, ...]
    fates: Fates


def evolve(folder: Path, rounds: int, seed: int) -> History:
    """Let every fate happen in every round, in a random order, in one repository."""
    chance = random.Random(seed)
    repository = _create(folder)
    told: list[Told] = []
    became: dict[str, str] = {}
    dropped: set[str] = set()
    fates = [fate for _ in range(rounds) for fate in FATES]
    chance.shuffle(fates)
    for number, fate in enumerate(fates):
        case = _case(repository, chance, number)
        fate(case)
        told.append(Told(case.draft, fate.__name__.strip("_"), FATES[fate]))
        became |= case.became
        dropped |= case.dropped
    return History(folder, tuple(told), Fates(became=became, dropped=frozenset(dropped)))


def memory(draft: Draft, number: int) -> Memory:
    """Make a memory of a draft."""
    now = datetime.fromtimestamp(BEGIN, UTC)
    return Memory(
        memory_id=f"{number:026d}",
        project_id="project",
        type=draft.type,
        title=draft.title,
        content=draft.content,
        files=draft.files,
        evidence=draft.evidence,
        anchors=draft.anchors,
        occurred_at=now,
        created_at=now,
        updated_at=now,
    )


def _create(folder: Path) -> Repository:
    folder.mkdir(parents=True)
    repository = Repository(folder)
    repository.git("init", "--quiet", "-b", "main")
    (folder / "readme.txt").write_text("Invented.\n")
    repository.commit("Begin")
    return repository


def _case(repository: Repository, chance: random.Random, number: int) -> Case:
    language = chance.choice(LANGUAGES)
    functions = [
        Function(f"{word}Part{number}", chance.randrange(10, 10_000)) for word in _words(chance)
    ]
    path = f"part{number}/{chance.choice(('core', 'main', 'work'))}.{language.ending}"
    return Case(
        repository, chance, number, language, functions, path, is_named=chance.random() < 1 / 2
    )


def _words(chance: random.Random) -> Iterator[str]:
    yield from chance.sample(["load", "cap", "send", "merge", "count", "clean", "split"], 5)
