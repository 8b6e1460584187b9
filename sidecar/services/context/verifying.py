"""Verifying: whether memories still hold in the code as it is now, as cheaply as an injection can afford."""

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
from sidecar.services.drift import drifting, fates
from sidecar.services.drift.codebases import Code
from sidecar.store.vaults import Vault

_REMEMBERED = 20_000

_log = logging.getLogger(__name__)


class Verified(Struct, frozen=True):
    """What became of some memories."""

    verdicts: Mapping[str, Verdict | None]
    elsewhere: frozenset[str]
    """Those that belong to branches which are not part of the current one."""


_Key = tuple[str, str, datetime, datetime | None, object]
_Fact = tuple[Verdict | None, bool]


class Verifier:
    """Remembers for each HEAD what became of memories: they are looked at once.

    What comes from commits that HEAD lacks is looked at again when the main line has moved, or when it was
    recorded what became of commits.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: LRUCache[_Key, _Fact] = LRUCache(maxsize=_REMEMBERED)
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
        with code.mutex:
            return self._at_head(vault, memories, code)

    def _at_head(
        self, vault: Vault, memories: Collection[Memory], code: Code
    ) -> Mapping[str, _Fact]:
        head = code.head()
        if head is None:
            return _stored(memories)
        keys = _keys(head, vault, memories, code)
        unknown = [one for one in memories if keys[one.memory_id] not in self._known]
        found = _look(vault, unknown, code)
        known = {
            one.memory_id: found.get(one.memory_id) or self._known[keys[one.memory_id]]
            for one in memories
        }
        # Git goes its own way: what was found out while HEAD moved is not said of where it was.
        if code.at == head:
            self._known.update({keys[memory_id]: fact for memory_id, fact in found.items()})
        return known


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
    around = (code.main_line(), vault.sessions.stamp())
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


def _stored(memories: Collection[Memory]) -> dict[str, _Fact]:
    return {one.memory_id: (one.verdict, False) for one in memories}
