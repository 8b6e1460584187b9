"""Authors: who made the commits that memories come from, as their sessions recorded it."""

from collections.abc import Iterable

from cachetools import LRUCache

from protocol.memories import Memory
from sidecar.storage.vault import Vault

_KNOWN = 20_000
_NOBODY = ""


class Authors:
    """Knows authors by commit; a commit's author never changes, so each session is read once."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self._known: LRUCache[str, str] = LRUCache(maxsize=_KNOWN)

    def of(self, vault: Vault, memories: Iterable[Memory]) -> dict[str, str]:
        """Tell by memory who made the commit it comes from, where that was recorded."""
        found = {one.memory_id: self._author(vault, one) for one in memories}
        return {memory_id: name for memory_id, name in found.items() if name}

    def _author(self, vault: Vault, memory: Memory) -> str:
        sha = next((one.commit_sha for one in memory.evidence if one.commit_sha), None)
        if sha is None:
            return _NOBODY
        known = self._known.get(sha)
        if known is None and memory.session_id is not None:
            for commit in vault.commits.of(memory.session_id):
                self._known[commit.sha] = commit.author_name
            known = self._known.setdefault(sha, _NOBODY)
        return known or _NOBODY
