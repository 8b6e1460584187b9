"""Which memories a search may return."""

from collections.abc import Iterable, Iterator

from protocol.memories import Memory
from protocol.recall import MemoryFilters
from sidecar.search.rules import catalogues, words
from sidecar.search.rules.catalogues import Catalogue, Traits


def marks(memory: Memory) -> tuple[int, ...]:
    """Give the hashes of all that a memory is looked up by: its tags, files, folders, agent and session."""
    found = [words.of_kind("tag", tag) for tag in memory.tags]
    found += [words.of_kind("file", name) for name in memory.files]
    found += [words.of_kind("in", folder) for name in memory.files for folder in _folders(name)]
    found += _marks("agent", memory.agent_id) + _marks("session", memory.session_id)
    return tuple(dict.fromkeys(found))


def is_narrow(params: MemoryFilters) -> bool:
    """Tell whether a search leaves out any memory in the states it asks for."""
    narrowing = (params.types, params.tags, params.paths, params.agent_id, params.session_id)
    ranges = (params.since, params.until, params.pinned)
    return any(narrowing) or any(one is not None for one in ranges)


def passing(catalogue: Catalogue, params: MemoryFilters) -> set[str]:
    """Name the memories that pass the filters."""
    known, fits = catalogue.traits, _Range(params)
    found: Iterable[str] = known
    for marks_of_one in _demands(params):
        found = catalogue.marked(marks_of_one).intersection(found)
    return {key for key in found if fits(known[key])}


class _Range:
    """What a search demands of a memory's traits."""

    def __init__(self, params: MemoryFilters) -> None:
        self._types = frozenset(params.types)
        self._statuses = frozenset(params.statuses)
        self._pinned = params.pinned
        self._since = None if params.since is None else catalogues.microseconds(params.since)
        self._until = None if params.until is None else catalogues.microseconds(params.until)

    def __call__(self, traits: Traits) -> bool:
        return (
            (not self._statuses or traits.status in self._statuses)
            and (not self._types or traits.type in self._types)
            and (self._pinned is None or traits.pinned == self._pinned)
            and (self._since is None or traits.occurred >= self._since)
            and (self._until is None or traits.occurred < self._until)
        )


def _demands(params: MemoryFilters) -> Iterator[list[int]]:
    """Give the marks of which a memory must have one, for each filter that is used."""
    if params.tags:
        yield [words.of_kind("tag", tag) for tag in params.tags]
    if params.paths:
        exact = [words.of_kind("file", path) for path in params.paths]
        yield exact + [words.of_kind("in", path.rstrip("/")) for path in params.paths]
    if params.agent_id is not None:
        yield _marks("agent", params.agent_id)
    if params.session_id is not None:
        yield _marks("session", params.session_id)


def _marks(kind: str, name: str | None) -> list[int]:
    return [] if name is None else [words.of_kind(kind, name)]


def _folders(name: str) -> Iterator[str]:
    """Give every folder that a file is in, the nearest first."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name
