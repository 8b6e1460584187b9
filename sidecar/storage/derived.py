"""What search and context have computed from memories and commits, kept in the cache for the next process."""

import time
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from protocol.errors import ThreadlineError
from protocol.memories import Verdict
from sidecar.storage import prepared
from sidecar.storage.cache import Cache

_FINDINGS, _ENDINGS = "findings", "endings"
_ENDINGS_EDITION = "1"
"""Raised whenever the rules change by which a commit has done a task."""
_FINDINGS_EDITION = "2"
"""Raised whenever the form of findings changes."""
_PLACES = 16
"""Folders and hosts for which contexts are prepared, those that asked last."""


Fact = tuple[Verdict | None, bool]
"""What became of a memory, and whether it belongs to a branch that is not part of the current one."""


class _Found(Struct, frozen=True, array_like=True):
    head: str
    facts: dict[int, Fact]


class Findings:
    """What was found out of memories at one HEAD, by hashes of the memories."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def read(self, head: str) -> Mapping[int, Fact]:
        """Return what was found out at a HEAD; nothing where it was at another."""
        kept = self._cache.get(_FINDINGS, _Found, _FINDINGS_EDITION)
        return kept.facts if kept is not None and kept.head == head else {}

    def write(self, head: str, facts: Mapping[int, Fact]) -> None:
        """Put findings in the place of those that are there."""
        self._cache.put(_FINDINGS, _Found(head, dict(facts)), _FINDINGS_EDITION)


class Endings:
    """Which commits have done which tasks, by hashes of both."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def read(self) -> dict[int, bool]:
        """Return of pairs whether the commit has done the task, as far as it was judged by the same rules."""
        return self._cache.get(_ENDINGS, dict[int, bool], _ENDINGS_EDITION) or {}

    def write(self, pairs: Mapping[int, bool]) -> None:
        """Put pairs in the place of those that are there."""
        self._cache.put(_ENDINGS, dict(pairs), _ENDINGS_EDITION)


class Preparation(Struct, frozen=True, kw_only=True):
    """A start context, ready to be told, and what it was made from."""

    standing: str
    head: str
    seq: int
    erasures: int
    is_whole: bool
    """False where something is left out that can be given only once, as messages are."""
    watched: str
    items: Mapping[str, list[str]]
    """The records that it quotes, by their collections."""
    text: str
    receipt: bytes


class Prepared:
    """Start contexts by folder and host; `prepared.read` is how hooks read them."""

    def __init__(self, cache: Cache, erasures: Callable[[], int]) -> None:
        self._cache = cache
        self._database = cache.database
        self._erasures = erasures

    def want(self, folder: str, host: str) -> None:
        """Remember that somebody starts here, so that the next time something is prepared."""
        now = time.time()
        self._cache.write(
            "INSERT INTO prepared VALUES (?, ?, ?, 0, '', '', 0, 0, 0, '', '', '', '')"
            " ON CONFLICT (folder, host) DO UPDATE SET asked = excluded.asked",
            [(folder, host, now)],
        )
        self._cache.write(
            "DELETE FROM prepared WHERE asked < ? OR (folder, host) NOT IN"
            " (SELECT folder, host FROM prepared ORDER BY asked DESC LIMIT ?)",
            [(now - prepared.ASKED_WITHIN, _PLACES)],
        )

    def wanted(self) -> list[tuple[str, str]]:
        """Return the folders and hosts for which contexts are prepared; nothing is made for that."""
        return prepared.wanted(str(self._database.path.parent))

    def forget(self, folder: str, host: str) -> None:
        """Prepare nothing any more for a folder that is gone."""
        self._cache.write("DELETE FROM prepared WHERE folder = ? AND host = ?", [(folder, host)])

    def put(self, folder: str, host: str, made: Preparation) -> None:
        """Keep a context in place of the one before, unless something was erased since it was begun."""
        values = (
            *(time.time(), made.standing, made.head, made.seq, made.erasures, made.is_whole),
            *(made.watched, msgspec.json.encode(made.items).decode(), made.text),
            *(made.receipt.decode(), folder, host),
        )

        def write() -> None:
            with self._database.transaction():
                # Whoever erases discards afterwards, and waits for this transaction: none of it stays.
                if self._erasures() == made.erasures:
                    self._database.execute(
                        "UPDATE prepared SET made = ?, standing = ?, head = ?, seq = ?, erasures = ?,"
                        " is_whole = ?, watched = ?, items = ?, text = ?, receipt = ?"
                        " WHERE folder = ? AND host = ?",
                        values,
                    )

        self._cache.trying(write, None)

    def discard(self) -> None:
        """Let no prepared context be told any more; a cache that does not obey is deleted."""
        if not self._database.path.exists():
            return
        emptied = "made = 0, text = '', receipt = '', items = '', watched = ''"
        try:
            self._cache.change(f"UPDATE prepared SET {emptied} WHERE made > 0", [()])  # noqa: S608
        except ThreadlineError:
            self._cache.discard()
