"""Recall: the memories that help most with a question, asked here and now."""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import msgspec

from protocol.memories import Memory
from protocol.recall import Found, SearchParams, SearchResult
from sidecar.domain import memories, privacy
from sidecar.domain.recall import ranking
from sidecar.domain.recall.catalogues import Catalogue, Item
from sidecar.domain.recall.lexicon import Entry
from sidecar.domain.recall.ranking import Question, Ranked
from sidecar.domain.recall.similarities import Similarities
from sidecar.services.meanings import Meanings
from sidecar.store.vaults import Vault

_CAUGHT_UP = 16
"""Memories whose meaning is still unknown that a search waits for; the rest are found by their words."""
_WIDER = 2
"""How many more are ranked than are wanted, and again if too many of them belong to another branch."""

Elsewhere = Callable[[list[Memory]], Collection[str]]


@dataclass
class _Known:
    """A project's memories as they were when last looked at."""

    memories: Mapping[str, Memory] = field(default_factory=dict)
    living: Catalogue = field(default_factory=Catalogue)
    """Those that are active."""
    retired: Catalogue = field(default_factory=Catalogue)
    """Those that were superseded or are stale; few ask for them."""
    unlearnt: set[str] = field(default_factory=set)
    """Memories whose meaning may not be in the cache."""
    mutex: threading.Lock = field(default_factory=threading.Lock)


class Recall:
    """Searches projects; what is derived for that is kept between searches."""

    def __init__(self, meanings: Meanings) -> None:
        """Know nothing yet."""
        self._meanings = meanings
        self._known: dict[str, _Known] = {}

    def search(self, vault: Vault, params: SearchParams, elsewhere: Elsewhere) -> SearchResult:
        """Find what helps most; `elsewhere` names those that belong to another branch."""
        known = self._known.setdefault(vault.project_id, _Known())
        with known.mutex:
            _refresh(known, vault)
            near = self._similarities(vault, params.query, known)
            search = _Search(known, _question(vault, params), near, params, elsewhere)
            ranked, total = _best(search)
        found = [
            Found(
                memory=privacy.clean_memory(known.memories[one.memory_id]),
                score=one.score,
                why=one.signals,
            )
            for one in ranked
        ]
        return SearchResult(memories=tuple(found), total=total, semantic=near is not None)

    def _similarities(self, vault: Vault, query: str, known: _Known) -> Similarities | None:
        if not query.strip():
            return None
        texts = {key: memories.text(known.memories[key]) for key in known.unlearnt}
        lacking = vault.vectors.lacking(texts)
        some = {key: texts[key] for key in lacking[:_CAUGHT_UP]}
        self._meanings.learn(vault, some, lambda *_: None)
        known.unlearnt = set(lacking) - some.keys()
        return self._meanings.similarities(vault, query)


@dataclass(frozen=True)
class _Search:
    """One search, in the memories as they are."""

    known: _Known
    question: Question
    near: Similarities | None
    params: SearchParams
    elsewhere: Elsewhere


def _best(search: _Search) -> tuple[list[Ranked], int]:
    """Rank what passes the filters, and tell how many that is."""
    known, params = search.known, search.params
    if params.statuses == ("active",) and not _is_filtered(params):
        return _here(search, known.living, None), len(known.living.items)
    wanted = {key for key, one in known.memories.items() if _fits(one, params)}
    ranked = [
        one
        for catalogue in (known.living, known.retired)
        for one in _here(search, catalogue, wanted)
    ]
    ranked.sort(key=lambda one: (-one.score, one.memory_id))
    return ranked[: params.top_k], len(wanted)


def _here(search: _Search, catalogue: Catalogue, wanted: set[str] | None) -> list[Ranked]:
    """Rank until enough of the best are found that do not belong to another branch."""
    most = limit = search.params.top_k
    is_wanted = None if wanted is None else wanted.__contains__
    while True:
        limit *= _WIDER
        question = msgspec.structs.replace(search.question, limit=limit)
        ranked = ranking.rank(catalogue, question, search.near, is_wanted=is_wanted)
        here = _without_others(search, ranked)
        if len(here) >= most or len(ranked) < limit:
            return here[:most]


def _without_others(search: _Search, ranked: list[Ranked]) -> list[Ranked]:
    if search.params.all_branches:
        return ranked
    away = search.elsewhere([search.known.memories[one.memory_id] for one in ranked])
    return [one for one in ranked if one.memory_id not in away]


def _refresh(known: _Known, vault: Vault) -> None:
    """Catch up with memories that were written, changed or removed."""
    before, known.memories = known.memories, vault.memories.by_id()
    if before is known.memories:
        return
    for key in before.keys() - known.memories.keys():
        known.living.drop(key)
        known.retired.drop(key)
        known.unlearnt.discard(key)
    for key, memory in known.memories.items():
        if before.get(key) is not memory:
            _learn(known, key, memory)


def _learn(known: _Known, key: str, memory: Memory) -> None:
    known.living.drop(key)
    known.retired.drop(key)
    known.unlearnt.add(key)
    if memory.status != "forgotten":
        (known.living if memory.status == "active" else known.retired).put(_item(memory))


def _item(memory: Memory) -> Item:
    return Item(
        memory_id=memory.memory_id,
        entry=Entry(
            title=memory.title,
            content=memory.content,
            names=(*memory.tags, *memory.entities),
            files=memory.files,
        ),
        occurred_at=memory.occurred_at,
        importance=memory.importance,
        confidence=memory.confidence,
        pinned=memory.pinned,
        branch=memory.branch,
    )


def _question(vault: Vault, params: SearchParams) -> Question:
    first, *others = params.files_at_hand or (None,)
    return Question(
        now=vault.clock(),
        text=params.query,
        open_file=first,
        changed_files=tuple(name for name in others if name),
        branch=params.branch,
        limit=params.top_k,
    )


def _is_filtered(params: SearchParams) -> bool:
    narrowing = (params.types, params.tags, params.paths, params.agent_id, params.session_id)
    return any(narrowing) or params.since is not None or params.until is not None


def _fits(memory: Memory, params: SearchParams) -> bool:
    """Tell whether a memory passes the filters; what is forgotten never does."""
    return (
        memory.status != "forgotten"
        and (not params.statuses or memory.status in params.statuses)
        and (not params.types or memory.type in params.types)
        and (params.agent_id is None or memory.agent_id == params.agent_id)
        and (params.session_id is None or memory.session_id == params.session_id)
        and (params.since is None or memory.occurred_at >= params.since)
        and (params.until is None or memory.occurred_at < params.until)
        and (not params.tags or bool(set(params.tags) & set(memory.tags)))
        and (not params.paths or any(_is_in(name, params.paths) for name in memory.files))
    )


def _is_in(name: str, paths: Collection[str]) -> bool:
    return any(name == path or name.startswith(path.rstrip("/") + "/") for path in paths)
