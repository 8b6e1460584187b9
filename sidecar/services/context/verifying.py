"""Verifying: whether memories still hold in the code as it is now, as cheaply as an injection can afford."""

import functools
import logging
import threading
from collections.abc import Collection, Mapping
from datetime import datetime

from cachetools import LRUCache
from msgspec import Struct

from protocol.errors import GitFailedError
from protocol.memories import Memory, Verdict
from sidecar.domain.drift import verdicts
from sidecar.domain.drift.verdicts import Fates
from sidecar.domain.recall import hashes
from sidecar.services.drift import drifting, fates
from sidecar.services.drift.codebases import Code
from sidecar.storage.vault import Vault

_REMEMBERED = 20_000

_log = logging.getLogger(__name__)


class Verified(Struct, frozen=True):
    """What became of some memories."""

    verdicts: Mapping[str, Verdict | None]
    elsewhere: frozenset[str]
    """Those that belong to branches which are not part of the current one."""


_Key = tuple[str, str, datetime, datetime | None, object]
_Fact = tuple[Verdict | None, bool]


class _Findings(Struct):
    """Verdicts at one HEAD, by what names memories as they were."""

    head: str
    verdicts: dict[int, Verdict | None]
    is_new: bool = False


class Verifier:
    """Remembers for each HEAD what became of memories: they are looked at once.

    What comes from commits that HEAD lacks is looked at again when the main line has moved, or when it was
    recorded what became of commits.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: LRUCache[_Key, _Fact] = LRUCache(maxsize=_REMEMBERED)
        self._findings: dict[str, _Findings] = {}
        """What is to be written down, by project."""
        self._mutex = threading.Lock()

    def verify(self, vault: Vault, memories: Collection[Memory], code: Code | None) -> Verified:
        """Hold memories against HEAD; where there is no code to ask, what was last found out holds."""
        with self._mutex:
            try:
                facts = _stored(memories) if code is None else self._facts(vault, memories, code)
            except GitFailedError as error:
                _log.warning("memories could not be held against the code: %s", error)
                facts = _stored(memories)
        return Verified(
            {key: verdict for key, (verdict, _) in facts.items()},
            frozenset(key for key, (_, is_elsewhere) in facts.items() if is_elsewhere),
        )

    def _facts(self, vault: Vault, memories: Collection[Memory], code: Code) -> Mapping[str, _Fact]:
        with code.held() as head:
            if head is None:
                return _stored(memories)
            known = self._remembered(vault, memories, head)
            unknown = [one for one in memories if one.memory_id not in known]
            return {**known, **self._find(vault, unknown, code, head)} if unknown else known

    def _remembered(
        self, vault: Vault, memories: Collection[Memory], head: str
    ) -> dict[str, _Fact]:
        """Give what is certain as long as HEAD is there, and known by us or written down."""
        findings = self._findings.get(vault.project_id)
        if findings is None or findings.head != head:
            findings = _Findings(head, dict(vault.findings.read(head)))
            self._findings[vault.project_id] = findings
        names = {one.memory_id: _name(one) for one in memories}
        return {
            key: (findings.verdicts[name], False)
            for key, name in names.items()
            if name in findings.verdicts
        }

    def _find(
        self, vault: Vault, memories: Collection[Memory], code: Code, head: str
    ) -> dict[str, _Fact]:
        """Find out what became of memories, and remember it."""
        keys = _keys(head, vault, memories, code)
        unknown = [one for one in memories if keys[one.memory_id] not in self._known]
        found = _look(vault, unknown, code)
        facts = {
            one.memory_id: found.get(one.memory_id) or self._known[keys[one.memory_id]]
            for one in memories
        }
        self._known.update({keys[memory_id]: fact for memory_id, fact in found.items()})
        self._settle(vault, memories, {key: facts[key] for key in keys if keys[key][-1] is None})
        return facts

    def _settle(
        self, vault: Vault, memories: Collection[Memory], facts: Mapping[str, _Fact]
    ) -> None:
        """Remember what depends on nothing but HEAD, so that it can be written down."""
        findings = self._findings[vault.project_id]
        new = {
            _name(one): verdict
            for one in memories
            for verdict, is_elsewhere in filter(None, [facts.get(one.memory_id)])
            if not is_elsewhere
        }
        findings.is_new |= not new.keys() <= findings.verdicts.keys()
        findings.verdicts |= new

    def keep(self, vault: Vault) -> None:
        """Write down what was found out, for other processes; the store's lock is held."""
        findings = self._findings.get(vault.project_id)
        if findings is not None and findings.is_new:
            findings.is_new = False
            vault.findings.write(findings.head, dict(findings.verdicts))

    def has_news(self, vault: Vault) -> bool:
        """Tell whether something was found out that is not written down."""
        findings = self._findings.get(vault.project_id)
        return findings is not None and findings.is_new


def _look(vault: Vault, memories: Collection[Memory], code: Code) -> dict[str, _Fact]:
    if not memories:
        return {}
    became = fates.find(vault, memories, code)
    away = drifting.elsewhere(memories, code, became)
    # What a session was about stays true, whatever became of the code.
    judged = [one for one in memories if one.type != "episodic"]
    found = drifting.check(judged, code, became)
    return {one.memory_id: (found.get(one.memory_id), one.memory_id in away) for one in memories}


def _keys(head: str, vault: Vault, memories: Collection[Memory], code: Code) -> dict[str, _Key]:
    """Name what the fact about each memory depends on."""
    shas = {one.memory_id: verdicts.commits(one, Fates()) for one in memories}
    here = code.ages({sha for found in shas.values() for sha in found})
    around = (code.main_line(), vault.sessions.records.revision)
    return {
        one.memory_id: (
            head,
            one.memory_id,
            one.updated_at,
            one.checked_at,
            None if here.keys() >= set(shas[one.memory_id]) else around,
        )
        for one in memories
    }


def _name(memory: Memory) -> int:
    return _hash(memory.memory_id, memory.updated_at, memory.checked_at)


@functools.lru_cache(maxsize=_REMEMBERED)
def _hash(memory_id: str, updated_at: datetime, checked_at: datetime | None) -> int:
    return hashes.of_all((memory_id, updated_at, checked_at))


def _stored(memories: Collection[Memory]) -> dict[str, _Fact]:
    return {one.memory_id: (one.verdict, False) for one in memories}
