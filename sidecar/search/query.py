"""Search memories."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec
from msgspec import Struct, field

from protocol.errors import BusyError, StorageFailedError, StoreRefusedError
from protocol.links import Link
from protocol.memories import Memory
from protocol.recall import Found, ListMemoriesParams, MemoryPage, SearchParams, SearchResult
from sidecar.memory.rules import memories
from sidecar.privacy import cleaning
from sidecar.search.meanings import Meanings
from sidecar.search.rules import filters, ranking, words
from sidecar.search.rules.catalogues import Catalogue, Glossary, Item, Library, Standing, Volume
from sidecar.search.rules.indexes import NOTHING, Entry
from sidecar.search.rules.ranking import Group, Question, Ranked
from sidecar.search.rules.similarities import Similarities
from sidecar.sharing.rules import links
from sidecar.storage import cache
from sidecar.storage.collection import NEVER
from sidecar.storage.vault import Vault

_CAUGHT_UP = 16
"""Memories whose meaning is still unknown that a search waits for; the rest are found by their words."""
_WIDER = 2
"""How many more are ranked than are wanted, and again if too many of them belong to another branch."""
_FEW, _PART = 64, 100
"""So many memories, or such a part of all, a new process reads again sooner than we write them down for it."""
_UNREAD = 0.05
"""What a memory counts for there that says what it said, and only stands otherwise."""

_UNREAD_AT_MOST = 1_000
"""Memories whose words may wait until somebody asks for words."""
_SERVED = 500
"""Memories that are remembered as they were given."""

Standings = Counter[Standing]
Elsewhere = Callable[[list[Memory]], Collection[str]]

_SPEECHLESS = Glossary(stemming=0, living=NOTHING, retired=NOTHING)
"""The words of no memory, by no stemmer."""

_log = logging.getLogger(__name__)


class Inquiry(Struct, frozen=True, kw_only=True):
    """What is asked, and where."""

    query: str = ""
    """Nothing, where memories are to stand for themselves."""
    files_at_hand: tuple[str, ...] = ()
    """The file that is open, then those that were changed."""
    branch: str | None = None


class _Known(Struct):
    """A project's memories as they were when last looked at."""

    revision: int = NEVER
    fingerprints: dict[str, int] = field(default_factory=dict)
    """Of each memory, as it was when it was read."""
    living: Catalogue = field(default_factory=lambda: Catalogue(Volume()))
    """Those that are active."""
    retired: Catalogue = field(default_factory=lambda: Catalogue(Volume()))
    """Those that were superseded or are stale; few ask for them."""
    unlearnt: set[str] = field(default_factory=set)
    """Memories whose meaning may not be in the cache."""
    stamp: bytes | None = None
    """Of what another process has written down, if it has."""
    has_looked: bool = False
    """Whether what was written down was looked for."""
    unwritten: float = 0.0
    """How many memories have changed since."""
    served: dict[str, Memory] = field(default_factory=dict)
    """Memories as they were given lately."""
    links: Mapping[str, Link] = field(default_factory=dict)
    """All links as they were then."""
    linked: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Which memories they link with each other."""
    filed: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Which memories they link with a file."""
    mutex: threading.Lock = field(default_factory=threading.Lock)


class Recall:
    """Searches projects; what is derived for that is kept between searches, and written down for other processes."""

    def __init__(self, meanings: Meanings) -> None:
        """Know nothing yet."""
        self._meanings = meanings
        self._known: dict[str, _Known] = {}

    def search(self, vault: Vault, params: SearchParams, elsewhere: Elsewhere) -> SearchResult:
        """Find what helps most; `elsewhere` names those that belong to another branch."""
        known = self._of(vault)
        inquiry = Inquiry(
            query=params.query, files_at_hand=params.files_at_hand, branch=params.branch
        )
        with known.mutex:
            near = self._prepare(known, vault, params.query)
            question = _question(known, vault, inquiry, params.top_k)
            ranked, total = _best(_Search(known, vault, question, near, params, elsewhere))
            found = _found(known, vault, ranked)
            _keep(known, vault, max(_FEW, len(known.fingerprints) // _PART))
        return SearchResult(memories=tuple(found), total=total, semantic=near is not None)

    def list_memories(self, vault: Vault, params: ListMemoriesParams) -> MemoryPage:
        """Give what passes the filters, pinned ones first, then the latest."""
        known = self._of(vault)
        with known.mutex:
            _refresh(known, vault, has_words=False)
            shelves = (known.living, known.retired, _forgotten(vault, params))
            order = {
                key: (shelf.traits[key].pinned, shelf.traits[key].occurred, key)
                for shelf in shelves
                for key in filters.passing(shelf, params)
            }
        first = sorted(order, key=order.__getitem__, reverse=True)[: params.limit]
        some = vault.memories.some(first)
        shown = (cleaning.clean_memory(some[key]) for key in first if key in some)
        return MemoryPage(memories=tuple(shown), total=len(order))

    def pick(
        self, vault: Vault, inquiry: Inquiry, groups: Mapping[str, Group]
    ) -> dict[str, list[Found]]:
        """Give the best active memories of each group, best first, of whatever branch; none that was refused."""
        known = self._of(vault)
        with known.mutex:
            near = self._prepare(known, vault, inquiry.query)
            question = _question(known, vault, inquiry, 1)
            ranked = ranking.pick(known.living, question, near, groups)
            found = {name: _found(known, vault, some) for name, some in ranked.items()}
            _keep(known, vault, max(_FEW, len(known.fingerprints) // _PART))
        return found

    def keep(self, vault: Vault) -> None:
        """Write down for other processes what is known, if anything has changed; for a moment without haste."""
        known = self._of(vault)
        with known.mutex:
            _refresh(known, vault, has_words=True)
            _keep(known, vault, 0)

    def standings(self, vault: Vault) -> Standings:
        """Count the memories by their status and verdict, without reading them."""
        known = self._of(vault)
        with known.mutex:
            _refresh(known, vault, has_words=False)
            return known.living.standings() + known.retired.standings()

    def _of(self, vault: Vault) -> _Known:
        return self._known.setdefault(vault.project_id, _Known())

    def _prepare(self, known: _Known, vault: Vault, query: str) -> Similarities | None:
        is_asked = bool(query.strip())
        _refresh(known, vault, has_words=is_asked)
        if not is_asked or self._meanings.absence is not None:
            return None
        return self._similarities(known, vault, query)

    def _similarities(self, known: _Known, vault: Vault, query: str) -> Similarities | None:
        traits = {**known.retired.traits, **known.living.traits}
        meanings = {key: traits[key].meaning for key in known.unlearnt if key in traits}
        lacking = sorted(vault.vectors.unlike(meanings))
        some = vault.memories.some(lacking[:_CAUGHT_UP])
        texts = {key: memories.text(one) for key, one in some.items()}
        self._meanings.learn(vault, texts, lambda *_: None)
        known.unlearnt = set(lacking[_CAUGHT_UP:])
        return self._meanings.similarities(vault, query)


class _Search(Struct, frozen=True):
    """One search, in the memories as they are."""

    known: _Known
    vault: Vault
    question: Question
    near: Similarities | None
    params: SearchParams
    elsewhere: Elsewhere


def _forgotten(vault: Vault, params: ListMemoriesParams) -> Catalogue:
    gone = Catalogue(Volume())
    if not params.statuses or "forgotten" in params.statuses:
        for memory in vault.memories.find("status", "forgotten"):
            gone.put(_item(memory))
    return gone


def _best(search: _Search) -> tuple[list[Ranked], int]:
    """Rank what passes the filters, and tell how many that is."""
    known, params = search.known, search.params
    if params.statuses == ("active",) and not filters.is_narrow(params):
        return _here(search, known.living, None), len(known.living.traits)
    ranked: list[Ranked] = []
    total = 0
    for catalogue in (known.living, known.retired):
        wanted = filters.passing(catalogue, params)
        ranked += _here(search, catalogue, wanted)
        total += len(wanted)
    ranked.sort(key=lambda one: (-one.score, one.memory_id))
    return ranked[: params.top_k], total


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
    some = search.vault.memories.some(one.memory_id for one in ranked)
    away = search.elsewhere(list(some.values()))
    return [one for one in ranked if one.memory_id not in away]


def _found(known: _Known, vault: Vault, ranked: Collection[Ranked]) -> list[Found]:
    """Read what was ranked; what was forgotten in this very moment is not found."""
    served = _serve(known, vault, [one.memory_id for one in ranked])
    return [
        Found(memory=served[one.memory_id], score=one.score, why=one.signals)
        for one in ranked
        if one.memory_id in served
    ]


def _serve(known: _Known, vault: Vault, keys: Collection[str]) -> Mapping[str, Memory]:
    """Give memories as they may be shown; each is looked through once."""
    if len(known.served) > _SERVED:
        known.served.clear()
    missing = [key for key in keys if key not in known.served]
    for key, memory in vault.memories.some(missing).items():
        if memory.status != "forgotten":
            known.served[key] = cleaning.clean_memory(memory)
    return known.served


def _refresh(known: _Known, vault: Vault, *, has_words: bool) -> None:
    """Catch up with memories that were written, changed or removed; with `has_words` words will be compared."""
    now, changed = vault.memories.changes(known.revision)
    if now == known.revision and not has_words:
        return
    if not known.has_looked:
        _load(known, vault)
    # A memory's fingerprint is taken before it is read: what changes in between is read again.
    fingerprints = (
        vault.memories.fingerprints() if changed is None else vault.memories.fingerprints(changed)
    )
    if changed is None:
        different = _different(known.fingerprints, fingerprints)
    else:
        before = known.fingerprints
        different = {key for key in changed if before.get(key) != fingerprints.get(key)}
    _catch_up(known, vault, different, fingerprints)
    for catalogue in (known.living, known.retired):
        if catalogue.unread > _UNREAD_AT_MOST:
            catalogue.read_words()
    known.revision = now
    if has_words and not _has_words(known, vault):
        _begin_again(known, vault)
        _refresh(known, vault, has_words=True)


def _different(before: Mapping[str, int], now: Mapping[str, int]) -> set[str]:
    """Name the memories that came, went or changed; of thousands, so it is done without a look at each by itself."""
    pairs = zip(now, now.values(), map(before.get, now), strict=True)
    changed = {key for key, one, other in pairs if one != other}
    return changed if before.keys() <= now.keys() else changed | (before.keys() - now.keys())


def _load(known: _Known, vault: Vault) -> None:
    known.has_looked = True
    if (found := vault.catalogues.read()) is not None:
        library, known.stamp = found
        known.fingerprints = library.fingerprints
        known.living, known.retired = Catalogue(library.living), Catalogue(library.retired)
        known.unlearnt = {*library.living.ids, *library.retired.ids}


def _has_words(known: _Known, vault: Vault) -> bool:
    """Make sure that words are known, those that were written down or all anew; False where the former are of no use."""
    if known.living.has_words:
        return True
    if known.stamp is None:
        glossary: Glossary | None = _SPEECHLESS
        known.unwritten = max(known.unwritten, len(known.fingerprints))
    else:
        glossary = vault.catalogues.read_words(known.stamp)
    if glossary is None or glossary.stemming not in {0, words.stemming()}:
        return False
    known.living.learn_words(glossary.living)
    known.retired.learn_words(glossary.retired)
    return True


def _begin_again(known: _Known, vault: Vault) -> None:
    stamp = known.stamp
    _forget(known)
    _load(known, vault)
    if known.stamp == stamp:
        _forget(known)


def _forget(known: _Known) -> None:
    known.revision, known.fingerprints, known.stamp = NEVER, {}, None
    known.living, known.retired = Catalogue(Volume()), Catalogue(Volume())
    known.unlearnt = set()


def _catch_up(
    known: _Known, vault: Vault, different: Iterable[str], fingerprints: Mapping[str, int]
) -> None:
    some = vault.memories.some(different)
    for key in different:
        known.served.pop(key, None)
        if key in some:
            known.fingerprints[key] = fingerprints.get(key, 0)
        else:
            known.fingerprints.pop(key, None)
        known.unwritten += 1.0 if _learn(known, key, some.get(key)) else _UNREAD


def _learn(known: _Known, key: str, memory: Memory | None) -> bool:
    """Take in a memory as it is now; tell whether it says something else."""
    status = "forgotten" if memory is None else memory.status
    if status != "active":
        known.living.drop(key)
    if status in {"active", "forgotten"}:
        known.retired.drop(key)
    if memory is None or status == "forgotten":
        known.unlearnt.discard(key)
        return False
    known.unlearnt.add(key)
    return (known.living if status == "active" else known.retired).put(_item(memory))


def _keep(known: _Known, vault: Vault, bearable: int) -> None:
    """Write down what is known, if more than a bearable number has changed and nobody has to be waited for."""
    if known.unwritten <= bearable:
        return
    try:
        with vault.transaction():
            # What was forgotten meanwhile must not come back.
            # Words that are nowhere yet are left to whoever asks in words: to read them all takes long.
            _refresh(known, vault, has_words=known.stamp is not None)
            vault.catalogues.write(*_written(known))
    except (BusyError, StorageFailedError, StoreRefusedError) as error:
        _log.warning("%s; the catalogue of memories is written down later", error)
    known.unwritten = 0.0


def _written(known: _Known) -> tuple[Library, Glossary | None]:
    living, retired = known.living, known.retired
    library = Library(fingerprints=known.fingerprints, living=living.pack(), retired=retired.pack())
    if not living.has_words:
        return library, None
    return library, Glossary(
        stemming=words.stemming(), living=living.pack_words(), retired=retired.pack_words()
    )


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
        type=memory.type,
        status=memory.status,
        verdict=memory.verdict,
        importance=memory.importance,
        confidence=memory.confidence,
        pinned=memory.pinned,
        branch=memory.branch,
        feedback=memory.feedback,
        marks=filters.marks(memory),
        meaning=cache.meaning(memories.text(memory)),
    )


def _question(known: _Known, vault: Vault, inquiry: Inquiry, limit: int) -> Question:
    _read_links(known, vault)
    first, *others = inquiry.files_at_hand or (None,)
    return Question(
        now=vault.clock(),
        text=inquiry.query,
        open_file=first,
        changed_files=tuple(name for name in others if name),
        branch=inquiry.branch,
        limit=limit,
        linked=known.linked,
        filed=known.filed,
    )


def _read_links(known: _Known, vault: Vault) -> None:
    every = vault.links.by_id()
    if every is not known.links:
        known.links, known.linked = every, links.between_memories(every.values())
        known.filed = links.with_files(every.values())
