"""Compare drafts with stored memories: add, update, replace or drop."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct, field

from protocol.memories import Memory, Review
from protocol.recall import WriteOutcome
from sidecar.memory.rules import duplicates, memories
from sidecar.memory.rules.duplicates import Statement
from sidecar.search.meanings import Meanings
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

_LOOKED_AT = 20
"""The memories most like a new one that it is compared with."""
_PLAUSIBLE = 0.5
"""Cosine below which two texts share no statement, whatever their words."""


class Counts(Struct):
    """What became of the memories that were added."""

    created: int = 0
    skipped: int = 0
    superseded: int = 0


class Comparison(Struct):
    """What is to be written.

    The store's lock is held from the first `add` until it is, or no memory has changed meanwhile.
    """

    vault: Vault
    meanings: Meanings
    counts: Counts = field(default_factory=Counts)
    added: list[Memory] = field(default_factory=list)
    _changed: dict[str, Memory] = field(default_factory=dict)
    _counted: dict[str, frozenset[str]] = field(default_factory=dict)
    _living: dict[str, Memory] = field(default_factory=dict)
    """What a new memory may repeat or bring up to date."""
    _shapes: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    """Those that name values, by what they say with the values left out."""

    def __post_init__(self) -> None:
        """Look at what is there."""
        known = self.vault.memories.by_id()
        living = {"active", "proposed"}
        self._living = {key: one for key, one in known.items() if one.status in living}

    def add(self, memory: Memory) -> tuple[WriteOutcome, Memory]:
        """Decide about one memory: it is new, known already, or takes an older one's place."""
        now = self.vault.clock()
        relation, known = ("new", None) if memory.holds else self._closest(memory)
        # What nobody has agreed to takes nobody's place.
        is_proposal = memory.status == "proposed" and relation == "update"
        if known is None or relation == "new" or is_proposal:
            self.counts.created += 1
            return "created", self._keep(memory)
        if relation == "same":
            self.counts.skipped += 1
            supported = memories.support(known, memory.evidence, now)
            if known.status == "proposed" and _confirms(memory, known):
                supported = memories.confirmed(supported, now)
            self._changed[known.memory_id] = self._living[known.memory_id] = supported
            return "skipped", supported
        self.counts.created += 1
        self.counts.superseded += 1
        old, new = memories.supersede(known, memory, now)
        if known.status == "proposed":
            old = msgspec.structs.replace(old, review=Review(verdict="confirmed", at=now))
        self._changed[old.memory_id] = old
        self._living.pop(old.memory_id, None)
        return "superseded", self._keep(new)

    def ops(self) -> list[Op]:
        """Return how to write all of it."""
        return [self.vault.memories.put(key, one) for key, one in self._changed.items()]

    def _keep(self, memory: Memory) -> Memory:
        self._changed[memory.memory_id] = memory
        self._living[memory.memory_id] = memory
        if self._shapes:
            self._shape(memory)
        self.added.append(memory)
        return memory

    def _closest(self, memory: Memory) -> tuple[duplicates.Relation, Memory | None]:
        """Find what a memory repeats, or else what it brings up to date."""
        candidates = {
            one.memory_id: one for one in self._living.values() if _may_repeat(memory, one)
        }
        new = _statement(memory)
        likeness = self._likeness(memory, candidates)
        nearest = sorted(likeness, key=lambda key: (-likeness[key], key))[:_LOOKED_AT]
        nearest += [key for key in self._of_same_shape(new) if key in candidates]
        found = {
            key: duplicates.relate(new, _statement(candidates[key]), likeness.get(key, 0.0))
            for key in nearest
        }
        for key, relation in found.items():
            if relation == "same":
                return relation, candidates[key]
        for key, relation in found.items():
            # What happened earlier brings nothing up to date, however late it is read.
            if relation == "update" and candidates[key].occurred_at <= memory.occurred_at:
                return relation, candidates[key]
        return "new", None

    def _of_same_shape(self, statement: Statement) -> list[str]:
        wanted = {shape for shape, _ in duplicates.frames(statement)}
        if wanted and not self._shapes:
            for one in list(self._living.values()):
                self._shape(one)
        return [key for shape in wanted for key in self._shapes.get(shape, ())]

    def _shape(self, memory: Memory) -> None:
        for shape, _ in duplicates.frames(_statement(memory)):
            self._shapes.setdefault(shape, []).append(memory.memory_id)

    def _likeness(self, memory: Memory, others: Mapping[str, Memory]) -> dict[str, float]:
        near = self.meanings.nearness(self.vault, memory.memory_id)
        by_meaning = near.of(others) if near is not None else {}
        terms = self._terms(memory)
        return {
            key: max(by_meaning.get(key, 0.0), duplicates.likeness(terms, self._terms(other)))
            for key, other in others.items()
            if by_meaning.get(key, 1.0) > _PLAUSIBLE
        }

    def _terms(self, memory: Memory) -> frozenset[str]:
        known = self._counted.get(memory.memory_id)
        if known is None:
            known = self._counted[memory.memory_id] = duplicates.terms(_statement(memory))
        return known


def _confirms(memory: Memory, proposal: Memory) -> bool:
    """Return whether somebody else says what was proposed: an agent, a person, or a later commit in its own words."""
    if memory.status == "active":
        return True
    told = {" ".join(one.quote.split()).casefold() for one in proposal.evidence}
    said = {" ".join(one.quote.split()).casefold() for one in memory.evidence}
    # The same message again is the same commit, picked or rebased.
    return told.isdisjoint(said) and memory.occurred_at > proposal.occurred_at


def _statement(memory: Memory) -> Statement:
    names = (*memory.entities, *memory.files)
    is_read = memory.job_id is not None and memory.evidence and memory.type != "episodic"
    content = memory.evidence[0].quote if is_read else memory.content
    return Statement(type=memory.type, title=memory.title, content=content, names=names)


def _may_repeat(memory: Memory, other: Memory) -> bool:
    """Return whether two memories can say the same; each session's summary stands for itself."""
    if memory.memory_id == other.memory_id:
        return False
    if "episodic" in {memory.type, other.type}:
        return memory.type == other.type and memory.session_id == other.session_id
    return True
