"""Compare texts by meaning, when the embedding model is installed."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sidecar.search.rules import snippets
from sidecar.search.rules.similarities import Similarities
from sidecar.storage import texts as storage_texts
from sidecar.storage.vault import Vault

_REMEMBERED = 8
AT_ONCE = 16
"""Texts that are embedded between two reports of progress."""


class Embedder(Protocol):
    """Turns texts into vectors of length one."""

    def embed(self, texts: Sequence[str]) -> Any:  # noqa: ANN401  # an array of numpy, which may be missing
        """Return one row for each text."""


class Meanings:
    """The model of this process, loaded when first asked for, and what it has learnt of memories."""

    def __init__(
        self, load: Callable[[], Embedder | str], missing: Callable[[], str | None] = lambda: None
    ) -> None:
        """Name who loads the model, or says why there is none; `missing` tells it at little cost."""
        self._load = load
        self._missing = missing
        self._loaded: Embedder | str | None = None
        self._questions: dict[str, Any] = {}

    @property
    def absence(self) -> str | None:
        """Return why there is no model; None where there seems to be one. Nothing is loaded for that."""
        if self._loaded is None:
            return self._missing()
        return self._loaded if isinstance(self._loaded, str) else None

    def learn(
        self, vault: Vault, texts: Mapping[str, str], tell: Callable[[int, int], None]
    ) -> int | None:
        """Take the meaning of texts into the cache; tell of how many, or None without a model."""
        missing = vault.vectors.lacking(texts)
        model = self._model() if missing else None
        if isinstance(model, str):
            return None
        if model is None:
            return 0
        for start in range(0, len(missing), AT_ONCE):
            tell(start, len(missing))
            part = {key: texts[key] for key in missing[start : start + AT_ONCE]}
            vault.vectors.add(part, model.embed(list(part.values())))
        tell(len(missing), len(missing))
        return len(missing)

    def learn_passages(self, vault: Vault, seconds: float) -> None:
        """Embed what can be found and is not embedded, the newest first, for so much of the processor's time."""
        model = self._model()
        first, last = vault.passages.reach()
        oldest, newest = place = storage_texts.bounds(vault.database)
        if isinstance(model, str) or (first, last) == place:
            return
        until = time.process_time() + seconds
        reached = newest + 1
        while reached > oldest and time.process_time() < until:
            if first < reached <= last + 1:
                reached = first
                continue
            rows = storage_texts.newest(vault.database, reached, AT_ONCE)
            parts = [part for _, row in rows for part in snippets.passages(row.title, row.text)]
            known = vault.passages.some(parts)
            missing = [part for part in dict.fromkeys(parts) if part not in known]
            if missing:
                vault.passages.add(missing, model.embed(missing))
            reached = rows[-1][0]
        vault.passages.note_reach(reached, newest)

    def embed(self, texts: Sequence[str]) -> Any:  # noqa: ANN401  # likewise
        """Return one vector for each text; None without a model."""
        model = self._model()
        return None if isinstance(model, str) else model.embed(list(texts))

    def embed_question(self, question: str) -> Any:  # noqa: ANN401  # likewise
        """Return the vector of a question; the latest are remembered, since several parts of an answer ask the same."""
        known = self._questions.get(question)
        if known is None:
            made = self.embed([question])
            known = None if made is None else made[0]
            self._questions = dict([*self._questions.items(), (question, known)][-_REMEMBERED:])
        return known

    def similarities(self, vault: Vault, text: str) -> Similarities | None:
        """Return how near memories are to a text in meaning; None without a model."""
        model = self._model()
        if isinstance(model, str) or not text.strip():
            return None
        near: Similarities = vault.vectors.matrix().compare(model.embed([text])[0])
        return near

    def nearness(self, vault: Vault, memory_id: str) -> Similarities | None:
        """Return how near memories are to one whose meaning was learnt."""
        if isinstance(self._model(), str):
            return None
        matrix = vault.vectors.matrix()
        row = matrix.rows.get(memory_id)
        return None if row is None else matrix.compare(matrix.vectors[row])

    def _model(self) -> Embedder | str:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded
