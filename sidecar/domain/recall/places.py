"""Places: which memories speak of which files, and how near a memory is to the files at hand."""

import math
from collections.abc import Iterable, Mapping

from sidecar.domain.recall import hashes, words
from sidecar.domain.recall.indexes import Index

SAME_STEM = 0.2
"""A module's tests beside the module itself, as a part of the very same file."""
SAME_FOLDER = 0.1
_CROWD = 200
"""A folder or a stem that more memories share says nothing about any of them."""
_FOLLOWED = 30
"""Files that are followed from one memory to others: the most telling ones of a few good answers."""


class Places:
    """Files, each with the memories that name it; also by folder and by stem. All names are hashed."""

    def __init__(self, files: Index | None = None, kin: Index | None = None) -> None:
        """Stand on indexes that were packed, or begin with nothing."""
        self.files = Index() if files is None else files
        self.kin = Index() if kin is None else kin

    def put(self, memory_id: str, files: Iterable[str]) -> None:
        """Learn a memory's files, in place of those known."""
        self.drop(memory_id)
        self.add(memory_id, files)

    def add(self, memory_id: str, files: Iterable[str]) -> None:
        """Learn the files of a memory that is not known."""
        known = tuple(dict.fromkeys(files))
        self.files.add(memory_id, dict.fromkeys(map(hashes.of, known), 1.0))
        self.kin.add(
            memory_id, dict.fromkeys((key for path in known for key, _ in _kin(path)), 1.0)
        )

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        self.files.drop(memory_id)
        self.kin.drop(memory_id)

    def near(self, files: Mapping[str, float]) -> dict[str, float]:
        """Tell how near memories are to weighted files: one for the same single file, less for its kin.

        Of several files a rare one tells more than one that every memory names. Half of the nearness is the best
        match, half the share of all: so a long list of files does not water down the one that matters.
        """
        rarities = {path: self._rarity(hashes.of(path)) for path in files}
        total = sum(weight * rarities[path] for path, weight in files.items()) or 1.0
        best: dict[str, float] = {}
        share: dict[str, float] = {}
        for path, weight in files.items():
            part = weight * rarities[path] / total
            for memory_id, kinship in self._near(path).items():
                best[memory_id] = max(best.get(memory_id, 0.0), weight * kinship)
                share[memory_id] = share.get(memory_id, 0.0) + part * kinship
        return {memory_id: (best[memory_id] + share[memory_id]) / 2 for memory_id in best}

    def company(self, good: Mapping[str, float]) -> dict[str, float]:
        """Follow the files of good answers to the memories that share them; the best has what the best of these has.

        Where the good answers name no files, the bad ones must not speak in their place.
        """
        telling: dict[int, float] = {}
        best = 0.0
        for memory_id, score in good.items():
            files = self.files.keys(memory_id)
            best = max(best, score) if files else best
            for key in files:
                telling[key] = telling.get(key, 0.0) + score / math.sqrt(len(files))
        weights = {key: score * self._rarity(key) for key, score in telling.items()}
        found: dict[str, float] = {}
        for key in sorted(weights, key=lambda key: (-weights[key], key))[:_FOLLOWED]:
            for memory_id in self.files.holders(key):
                found[memory_id] = found.get(memory_id, 0.0) + weights[key]
        most = max(found.values(), default=1.0)
        return {memory_id: best * score / most for memory_id, score in found.items()}

    def _near(self, path: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for key, kinship in _kin(path):
            if self.kin.count(key) <= _CROWD:
                found.update(dict.fromkeys(self.kin.holders(key), kinship))
        found.update(dict.fromkeys(self.files.holders(hashes.of(path)), 1.0))
        return found

    def _rarity(self, key: int) -> float:
        return math.log(1.0 + (1 + len(self.files)) / (1 + self.files.count(key)))


def _kin(path: str) -> tuple[tuple[int, float], tuple[int, float]]:
    """Give what a file shares with its kin, the weaker tie first."""
    return (
        (hashes.of_kind("folder", path.rpartition("/")[0]), SAME_FOLDER),
        (hashes.of_kind("stem", words.stem_of(path)), SAME_STEM),
    )
