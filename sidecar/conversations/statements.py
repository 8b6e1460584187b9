"""Store what an agent asks to remember, each statement once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from protocol.checkpoints import CheckpointedMemory, CheckpointMemory, CheckpointOutcome
from protocol.memories import Memory
from sidecar.capture import timeline
from sidecar.conversations.rules import checkpoints, conversations
from sidecar.conversations.rules.conversations import Who
from sidecar.memory.compare import Comparison
from sidecar.memory.rules import memories
from sidecar.privacy import cleaning
from sidecar.search.meanings import Meanings
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

SUMMARY = "summary"
"""Stands where other memories of a checkpoint have their number."""
_TRIES = 3
"""How often memories are compared without holding up others."""
_NOTHING = "it says nothing that may be kept"


class Author(Struct, frozen=True, kw_only=True):
    """Who wants something remembered, and during which work."""

    agent_id: str
    run: str | None
    """The conversation, as it is known here."""
    session_id: str | None
    """The activity session that is under way."""
    now: datetime


def sign(vault: Vault, session_key: str | None, who: Who) -> Author:
    """Say on whose behalf, and during which work, something is kept."""
    session = timeline.find_active(vault)
    return Author(
        agent_id=who.agent_id,
        run=conversations.known_as(session_key) if session_key else None,
        session_id=session.session_id if session else None,
        now=vault.clock(),
    )


class Keeper:
    """Decides about memories one after the other, by those that are kept; see `is_current`."""

    def __init__(self, vault: Vault, author: Author, meanings: Meanings | None) -> None:
        """Look at what the same run has kept before; without meanings, all else is kept as it comes."""
        self._vault = vault
        self._comparison = Comparison(vault, meanings) if meanings else None
        self._plain: list[Memory] = []
        self._prefix = None if author.run is None else checkpoints.prefix(author.run)
        self._known: dict[str, str] = {}
        for one in vault.memories.all() if self._prefix else ():
            self._remember(one)

    def keep(self, memory: Memory | None) -> CheckpointedMemory:
        """Keep a memory, unless it is known."""
        if memory is None:
            return CheckpointedMemory(outcome="failed", reason=_NOTHING)
        known = self._known.get(self._name(memory.idempotency_key or ""))
        if known is not None:
            return CheckpointedMemory(outcome="skipped", memory_id=known)
        outcome, kept = self._add(memory)
        self._remember(memory, kept.memory_id)
        return CheckpointedMemory(outcome=outcome, memory_id=kept.memory_id)

    def ops(self) -> list[Op]:
        """Return how to write all of it."""
        plain = [self._vault.memories.put(one.memory_id, one) for one in self._plain]
        return [*(self._comparison.ops() if self._comparison else ()), *plain]

    def _add(self, memory: Memory) -> tuple[CheckpointOutcome, Memory]:
        if self._comparison is None:
            self._plain.append(memory)
            return "created", memory
        outcome, kept = self._comparison.add(memory)
        return ("skipped" if outcome == "duplicate" else outcome), kept

    def _remember(self, memory: Memory, memory_id: str | None = None) -> None:
        key = memory.idempotency_key
        if key is not None and self._prefix is not None and _is_of(key, self._prefix):
            self._known.setdefault(self._name(key), memory_id or memory.memory_id)

    def _name(self, key: str) -> str:
        """Return what a memory is known by; its place in a checkpoint counts only where all are kept."""
        return key.rsplit(":", 1)[-1] if self._comparison else key


def make(vault: Vault, wanted: CheckpointMemory, index: int | str, author: Author) -> Memory | None:
    """Make a memory of what was sent; None where nothing of it may be kept."""
    content = conversations.kept(wanted.content)
    if not content:
        return None
    memory = Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type=wanted.memory_type,
        title=conversations.kept(wanted.title or "") or checkpoints.headline(content),
        content=content,
        rationale=conversations.kept(wanted.rationale or "") or None,
        importance=wanted.importance,
        confidence=wanted.confidence,
        entities=wanted.entities,
        files=wanted.files,
        tags=wanted.tags,
        agent_id=author.agent_id,
        session_id=author.session_id,
        occurred_at=author.now,
        created_at=author.now,
        updated_at=author.now,
    )
    key = None if author.run is None else checkpoints.key(author.run, index, wanted)
    cleaned = memories.fitted(cleaning.clean_memory(memory))
    return msgspec.structs.replace(cleaned, idempotency_key=key)


def make_summary(vault: Vault, words: str | None, author: Author) -> Memory | None:
    """Make an episodic memory of what a conversation was about, with a headline of its own."""
    if not words:
        return None
    told = CheckpointMemory(content=words, memory_type="episodic")
    return make(vault, told, SUMMARY, author)


class Decision(Struct, frozen=True, kw_only=True):
    """What is to become of memories, as long as those that are kept stay what they are."""

    keeper: Keeper
    results: tuple[CheckpointedMemory, ...]
    known: Mapping[str, Memory]
    """The memories that it was decided by."""


def decide(
    vault: Vault, wanted: Iterable[Memory | None], author: Author, meanings: Meanings | None
) -> Decision:
    """Compare memories with what is kept and with each other; needs no lock, and takes its time."""
    known = vault.memories.by_id()
    keeper = Keeper(vault, author, meanings)
    return Decision(keeper=keeper, results=tuple(keeper.keep(one) for one in wanted), known=known)


def is_current(vault: Vault, decision: Decision) -> bool:
    """Return whether nobody has changed a memory since it was decided."""
    known, now = decision.known, vault.memories.by_id()
    return known is now or (
        len(known) == len(now) and all(now.get(key) is one for key, one in known.items())
    )


def write(
    vault: Vault,
    wanted: Sequence[Memory | None],
    author: Author,
    *,
    meanings: Meanings | None,
    along: Callable[[], Iterable[Op]],
) -> tuple[CheckpointedMemory, ...]:
    """Keep memories, each unless it is known, and what goes along with them, in one line of the journal.

    They are compared before the lock is taken, since that may take longer than others have patience, and once more
    with it where somebody else was faster again and again.
    """
    if meanings is not None:
        learn(vault, filter(None, wanted), meanings)
    for _ in range(_TRIES):
        decision = decide(vault, wanted, author, meanings)
        with vault.transaction():
            if is_current(vault, decision):
                return _land(vault, wanted, decision, along)
    with vault.transaction():
        return _land(vault, wanted, decide(vault, wanted, author, meanings), along)


def _land(
    vault: Vault,
    wanted: Iterable[Memory | None],
    decision: Decision,
    along: Callable[[], Iterable[Op]],
) -> tuple[CheckpointedMemory, ...]:
    if ops := [*decision.keeper.ops(), *along()]:
        vault.write(ops)
    unlearn(vault, filter(None, wanted))
    return decision.results


def learn(vault: Vault, new: Iterable[Memory], meanings: Meanings) -> None:
    """Take the meaning of memories that are to be compared; a retry's are known."""
    unknown = [one for one in new if not _is_known(vault, one.idempotency_key)]
    texts = {one.memory_id: memories.text(one) for one in unknown}
    meanings.learn(vault, texts, lambda *_: None)


def unlearn(vault: Vault, new: Iterable[Memory]) -> None:
    """Drop the meaning of those that were not kept; the caller holds the store's lock."""
    gone = [one.memory_id for one in new if one.memory_id not in vault.memories]
    if gone and vault.vectors.count():
        vault.cache.trying(lambda: vault.vectors.remove(gone), None)


def _is_of(key: str, prefix: str) -> bool:
    """Return whether a key is of a run, and not of one whose name only begins like it."""
    return key.startswith(prefix) and key.count(":", len(prefix)) == 1


def _is_known(vault: Vault, key: str | None) -> bool:
    return key is not None and bool(vault.memories.find("idempotencyKey", key))
