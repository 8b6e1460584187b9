"""What search and context have computed from memories and commits, kept in the cache for the next process."""

import os
from collections.abc import Collection, Mapping

from msgspec import Struct

from protocol.memories import Verdict
from sidecar.domain.recall import catalogues
from sidecar.domain.recall.catalogues import Glossary, Library
from sidecar.storage.cache import Cache

_CATALOGUE, _WORDS, _FINDINGS, _ENDINGS = "catalogue", "words", "findings", "endings"
_ENDINGS_EDITION = "1"
"""Raised whenever the rules change by which a commit has done a task."""


class _Stamped(Struct, frozen=True, array_like=True):
    stamp: bytes
    library: Library | None = None
    glossary: Glossary | None = None


class _Found(Struct, frozen=True, array_like=True):
    head: str
    verdicts: dict[int, Verdict | None]


class Catalogues:
    """By which memories are found; it holds hashes and numbers, no words."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def read(self) -> tuple[Library, bytes] | None:
        """Return what was written and its stamp, or None."""
        kept = self._cache.get(_CATALOGUE, _Stamped, _edition())
        return None if kept is None or kept.library is None else (kept.library, kept.stamp)

    def read_words(self, stamp: bytes) -> Glossary | None:
        """Return the words that belong to a catalogue; None where they cannot be used."""
        kept = self._cache.get(_WORDS, _Stamped, _edition())
        return kept.glossary if kept is not None and kept.stamp == stamp else None

    def write(self, library: Library, glossary: Glossary | None) -> None:
        """Put a catalogue in place of the one that is there."""
        stamp = os.urandom(16)
        self._cache.put(_CATALOGUE, _Stamped(stamp, library), _edition())
        self._cache.put(_WORDS, _Stamped(stamp, None, glossary), _edition())

    def remove(self, memory_ids: Collection[str]) -> None:
        """Forget memories for good: the catalogue is made anew without them."""
        if memory_ids:
            self._cache.drop(_CATALOGUE, _WORDS)


class Findings:
    """What was found out of memories at one HEAD, by hashes of the memories."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def read(self, head: str) -> Mapping[int, Verdict | None]:
        """Return what was found out at a HEAD; nothing where it was at another."""
        kept = self._cache.get(_FINDINGS, _Found)
        return kept.verdicts if kept is not None and kept.head == head else {}

    def write(self, head: str, verdicts: Mapping[int, Verdict | None]) -> None:
        """Put findings in the place of those that are there."""
        self._cache.put(_FINDINGS, _Found(head, dict(verdicts)))


class Endings:
    """Which commits have done which tasks, by hashes of both."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def read(self) -> dict[int, bool]:
        """Return of pairs whether the commit has done the task, as far as it was judged by the same rules."""
        return self._cache.get(_ENDINGS, dict[int, bool], _ENDINGS_EDITION) or {}

    def write(self, pairs: Mapping[int, bool]) -> None:
        """Put pairs in the place of those that are there."""
        self._cache.put(_ENDINGS, dict(pairs), _ENDINGS_EDITION)


def _edition() -> str:
    return f"{catalogues.edition():016x}"
