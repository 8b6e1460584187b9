"""Memories for a request: those that answer its question, or those that stand best where nothing is asked."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field

from protocol.memories import Memory
from protocol.recall import Found, ListMemoriesParams, MemoryPage, SearchParams, SearchResult
from sidecar.privacy import cleaning
from sidecar.search.meanings import Meanings
from sidecar.search.rules import filters, standing
from sidecar.search.rules.standing import REFUSED, Group, Place, Traits
from sidecar.sharing.rules import links
from sidecar.storage.collection import NEVER
from sidecar.storage.vault import Vault

Standings = Counter[tuple[str, str | None]]
"""How many memories there are by status and verdict."""
Elsewhere = Callable[[list[Memory]], Collection[str]]
"""Names the memories that belong to branches which are not part of the current one."""
Ranked = tuple[str, dict[str, float]]
"""A memory's id, and what each signal adds to its score."""
_FIELDS = ("status", "type", "importance", "occurredAt", "pinned", "feedback", "branch", "files")


class Inquiry(Struct, frozen=True, kw_only=True):
    """What is asked, and where."""

    query: str = ""
    """Nothing, where memories are to stand for themselves."""
    files_at_hand: tuple[str, ...] = ()
    """The file that is open, then those that were changed."""
    branch: str | None = None


class _Known(Struct):
    """The traits of a project's active memories; whatever is written to memories is looked at again."""

    revision: int = NEVER
    traits: dict[str, Traits] = field(default_factory=dict)
    mutex: threading.Lock = field(default_factory=threading.Lock)


class Recall:
    """Picks memories; what decides how they stand is kept between requests."""

    def __init__(self, meanings: Meanings) -> None:
        """Know nothing yet."""
        self._meanings = meanings
        self._known: dict[str, _Known] = {}

    def search(self, vault: Vault, params: SearchParams, elsewhere: Elsewhere) -> SearchResult:
        """Find what answers a question; without one, the memories that stand best at this moment."""
        if params.query.strip():
            return self._answer(vault, params, elsewhere)
        passing = [memory for memory in vault.memories.all() if filters.passes(memory, params)]
        place = _place(vault, params.files_at_hand, params.branch)
        traits = {memory.memory_id: _traits_of(memory) for memory in passing}
        away = () if params.all_branches else elsewhere(passing)
        ranked = [row for row in _rank(traits, place) if row[0] not in away]
        return SearchResult(
            memories=tuple(_found(vault, ranked[: params.top_k])),
            total=len(passing),
            semantic=False,
        )

    def list_memories(self, vault: Vault, params: ListMemoriesParams) -> MemoryPage:
        """Return what passes the filters, pinned ones first, then the latest."""
        passing = [memory for memory in vault.memories.all() if filters.passes(memory, params)]
        passing.sort(key=lambda memory: (memory.pinned, memory.occurred_at, memory.memory_id))
        shown = passing[: -params.limit - 1 : -1]
        return MemoryPage(memories=tuple(map(cleaning.clean_memory, shown)), total=len(passing))

    def pick(
        self, vault: Vault, inquiry: Inquiry, groups: Mapping[str, Group]
    ) -> dict[str, list[Found]]:
        """Return the best active memories of each group, best first, of whatever branch; none that was refused."""
        traits = self._traits(vault)
        if inquiry.query.strip():
            from sidecar.search import find  # noqa: PLC0415  # a start event asks nothing

            params = SearchParams(query=inquiry.query, files_at_hand=inquiry.files_at_hand)
            ranked = find.rank_memories(vault, params, self._meanings)
        else:
            place = _place(vault, inquiry.files_at_hand, inquiry.branch)
            ranked = _rank(traits, place)
        return {name: _found(vault, _own(ranked, traits, group)) for name, group in groups.items()}

    def standings(self, vault: Vault) -> Standings:
        """Count the memories by their status and verdict, without reading them."""
        return Counter(vault.memories.tally("status", "verdict"))

    def _answer(self, vault: Vault, params: SearchParams, elsewhere: Elsewhere) -> SearchResult:
        from sidecar.search import find  # noqa: PLC0415  # a start event asks nothing

        hits, found, is_semantic = find.search(vault, params, self._meanings, elsewhere)
        counts = vault.memories.tally("status")
        total = sum(count for (status,), count in counts.items() if status in params.statuses)
        return SearchResult(
            memories=tuple(found), total=total, semantic=is_semantic, hits=tuple(hits)
        )

    def _traits(self, vault: Vault) -> Mapping[str, Traits]:
        known = self._known.setdefault(vault.project_id, _Known())
        with known.mutex:
            now, changed = vault.memories.changes(known.revision)
            if changed is None:
                known.traits.clear()
                changed = set(vault.memories.ids())
            rows = vault.memories.glimpses(changed, *_FIELDS) if changed else {}
            for key in changed:
                known.traits.pop(key, None)
            for key, (status, *values) in rows.items():
                if status == "active":
                    known.traits[key] = _traits(*values)
            known.revision = now
            return dict(known.traits)


def _traits(*values: object) -> Traits:
    kind, importance, occurred_at, pinned, feedback, branch, files = values
    return Traits(
        type=kind,  # type: ignore[arg-type]  # as it was written
        importance=importance,  # type: ignore[arg-type]
        occurred_at=datetime.fromisoformat(str(occurred_at)),
        pinned=bool(pinned),
        feedback=feedback or 0.0,  # type: ignore[arg-type]
        branch=branch,  # type: ignore[arg-type]
        files=frozenset(files or ()),  # type: ignore[call-overload]
    )


def _traits_of(memory: Memory) -> Traits:
    return Traits(
        type=memory.type,
        importance=memory.importance,
        occurred_at=memory.occurred_at,
        pinned=memory.pinned,
        feedback=memory.feedback,
        branch=memory.branch,
        files=frozenset(memory.files),
    )


def _place(vault: Vault, files: tuple[str, ...], branch: str | None) -> Place:
    filed = links.with_files(vault.links.by_id().values()) if files else {}
    return Place(now=vault.clock(), opened=files[:1], changed=files[1:], branch=branch, filed=filed)


def _rank(traits: Mapping[str, Traits], place: Place) -> list[Ranked]:
    """Order memories by how they stand, what was refused last; among equals the newest first."""
    rows = [(key, standing.score(key, one, place)) for key, one in traits.items()]
    rows.sort(
        key=lambda row: (traits[row[0]].feedback > REFUSED, sum(row[1].values()), row[0]),
        reverse=True,
    )
    return rows


def _own(ranked: Iterable[Ranked], traits: Mapping[str, Traits], group: Group) -> list[Ranked]:
    own = [row for row in ranked if row[0] in traits and group.takes(traits[row[0]])]
    return own[: group.limit]


def _found(vault: Vault, ranked: Collection[Ranked]) -> list[Found]:
    """Read what was ranked; what was forgotten in this very moment is not found."""
    memories = vault.memories.some(key for key, _ in ranked)
    return [
        Found(memory=cleaning.clean_memory(memories[key]), score=sum(why.values()), why=why)
        for key, why in ranked
        if key in memories and memories[key].status != "forgotten"
    ]
