"""Places: which memories speak of which files, and how near a memory is to the files at hand."""

import math
from collections.abc import Iterable, Mapping

from sidecar.domain.recall import words

SAME_STEM = 0.2
"""A module's tests beside the module itself, as a part of the very same file."""
SAME_FOLDER = 0.1
_CROWD = 200
"""A folder or a stem that more memories share says nothing about any of them."""
_FOLLOWED = 30
"""Files that are followed from one memory to others: the most telling ones of a few good answers."""


class Places:
    """Files, each with the memories that name it; also by folder and by stem."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._holders: dict[str, set[str]] = {}
        self._stems: dict[str, set[str]] = {}
        self._folders: dict[str, set[str]] = {}
        self._files: dict[str, tuple[str, ...]] = {}

    def put(self, memory_id: str, files: Iterable[str]) -> None:
        """Learn a memory's files, in place of those known."""
        self.drop(memory_id)
        self._files[memory_id] = known = tuple(dict.fromkeys(files))
        for index, key in self._keys(known):
            index.setdefault(key, set()).add(memory_id)

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        for index, key in self._keys(self._files.pop(memory_id, ())):
            if holders := index.get(key):
                holders.discard(memory_id)
                if not holders:
                    del index[key]

    def near(self, files: Mapping[str, float]) -> dict[str, float]:
        """Tell how near memories are to weighted files: one for the same single file, less for its kin.

        Of several files a rare one tells more than one that every memory names. Half of the nearness is the best
        match, half the share of all: so a long list of files does not water down the one that matters.
        """
        total = sum(weight * self._rarity(path) for path, weight in files.items()) or 1.0
        best: dict[str, float] = {}
        share: dict[str, float] = {}
        for path, weight in files.items():
            part = weight * self._rarity(path) / total
            for memory_id, kinship in self._kin(path).items():
                best[memory_id] = max(best.get(memory_id, 0.0), weight * kinship)
                share[memory_id] = share.get(memory_id, 0.0) + part * kinship
        return {memory_id: (best[memory_id] + share[memory_id]) / 2 for memory_id in best}

    def company(self, good: Mapping[str, float]) -> dict[str, float]:
        """Follow the files of good answers to the memories that share them; the best has one."""
        telling: dict[str, float] = {}
        for memory_id, score in good.items():
            files = self._files.get(memory_id, ())
            for path in files:
                telling[path] = telling.get(path, 0.0) + score / math.sqrt(len(files))
        weights = {path: score * self._rarity(path) for path, score in telling.items()}
        found: dict[str, float] = {}
        for path in sorted(weights, key=lambda path: (-weights[path], path))[:_FOLLOWED]:
            for memory_id in self._holders[path]:
                found[memory_id] = found.get(memory_id, 0.0) + weights[path]
        most = max(found.values(), default=1.0)
        return {memory_id: score / most for memory_id, score in found.items()}

    def _kin(self, path: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for kin, kinship in (
            (self._folders.get(path.rpartition("/")[0], ()), SAME_FOLDER),
            (self._stems.get(words.stem_of(path), ()), SAME_STEM),
        ):
            if len(kin) <= _CROWD:
                found.update(dict.fromkeys(kin, kinship))
        found.update(dict.fromkeys(self._holders.get(path, ()), 1.0))
        return found

    def _rarity(self, path: str) -> float:
        return math.log(1.0 + (1 + len(self._files)) / (1 + len(self._holders.get(path, ()))))

    def _keys(self, files: Iterable[str]) -> Iterable[tuple[dict[str, set[str]], str]]:
        for path in files:
            yield self._holders, path
            yield self._stems, words.stem_of(path)
            yield self._folders, path.rpartition("/")[0]
