"""A repository's code and history, cached."""

import contextlib
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from cachetools import LRUCache
from msgspec import Struct

from protocol.errors import GitFailedError
from sidecar.capture.rules.head_moves import NOWHERE
from sidecar.code import checkouts, contents, lineage
from sidecar.code.checkouts import Checkout, Heads
from sidecar.code.line_origins import Origin
from sidecar.memory.rules.drafts import FileDiff
from sidecar.memory.rules.drift import Departure, Revert, State, Symbol, Touched

_COMMITS = 5_000
_PARSED = 5_000
_ANSWERS = 100_000
"""Commits, parsed files and answers that are kept."""
_AGES = 100_000
"""Commits behind HEAD that are remembered, asked for or not."""
_BATCH = 200
"""Files that are held in memory at once while they are parsed."""
_SEARCHED = 1_000
"""Files that are looked into for a symbol that is no longer where it was."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Standing(Struct, frozen=True):
    """Where a history stands."""

    head: str | None
    branch: str | None
    """The branch that HEAD is on; None where it is on none."""
    main_line: object
    moves: int
    """How often HEAD was seen to have moved: it may be back where it was."""


class Codebase:
    """The code and history of one working tree."""

    def __init__(self, folder: Path, checkout: Checkout | None = None) -> None:
        """Open a working tree; passing its checkout saves two git calls."""
        self.folder = self._folder = folder
        self.real_folder = folder.resolve()
        self._mutex = threading.RLock()
        self._holds = 0
        self._checkout = checkout or _checkout(folder)
        self._heads = Heads(self._checkout) if self._checkout else None
        self._trunk: tuple[str | None, set[str]] = (None, set())
        self._head: str | None = None
        self._moves = 0
        self._touched: LRUCache[str, tuple[Touched, ...]] = LRUCache(_COMMITS)
        self._symbols: LRUCache[tuple[str, str], tuple[Symbol, ...]] = LRUCache(_PARSED)
        self.memo: LRUCache[Hashable, State] = LRUCache(_ANSWERS)
        self.by_blob: LRUCache[Hashable, Any] = LRUCache(_PARSED)
        self._forget()

    @property
    def checkout(self) -> Checkout | None:
        """Return its working tree."""
        return self._checkout

    @property
    def at(self) -> str | None:
        """Return the HEAD that was used last."""
        return self._head

    def _forget(self) -> None:
        self._ages: dict[str, int] = {}
        self._strangers: set[str] = set()
        self._newest = 0
        self._knows_all = False
        self._reverts: list[Revert] | None = None
        self._departures: dict[str, list[Departure]] = {}
        self._twins: dict[str, str | None] = {}
        self._leave()

    def _leave(self) -> None:
        self._blobs: dict[str, str | None] = {}
        self._holders: dict[str, str | None] = {}
        self._mentioning: dict[frozenset[str], list[str]] = {}
        self._names: dict[str, bool] = {}
        self._paths: dict[str, str] | None = None

    @contextlib.contextmanager
    def held(self) -> Iterator[str | None]:
        """Hold one HEAD for several questions, one thread at a time, wherever git moves meanwhile.

        Whoever holds it already is given the same.
        """
        with self._mutex:
            if not self._holds:
                self._stand()
            self._holds += 1
            try:
                yield self._head
            finally:
                self._holds -= 1

    def standing(self) -> Standing:
        """Return where HEAD and the main line are now; equal values mean that neither has moved."""
        with self._mutex:
            return Standing(*self._stand(), self.main_line(), self._moves)

    def _stand(self) -> tuple[str | None, str | None]:
        found, branch = self._look()
        if found != self._head:
            old, self._head = self._head, found
            self._moves += 1
            if old and found and lineage.is_ancestor(self._folder, old, found):
                self._go_on(f"{old}..{found}")
            else:
                self._forget()
        return found, branch

    def _look(self) -> tuple[str | None, str | None]:
        found, branch = self._heads.look() if self._heads else (NOWHERE, None)
        return found if found != NOWHERE else lineage.head(self._folder), branch

    def _go_on(self, span: str) -> None:
        """Add the commits that were made since."""
        new = list(lineage.walk(self._folder, span))
        self._newest -= len(new)
        self._ages |= {sha: self._newest + number for number, sha in enumerate(new)}
        self._strangers.difference_update(new)
        if self._reverts is not None:
            self._reverts = [*lineage.reverts(self._folder, span), *self._reverts]
        later = lineage.departures(self._folder, span, self._departures.keys())
        self._departures |= {
            path: [*steps, *self._departures[path]] for path, steps in later.items()
        }
        self._twins.clear()
        self._leave()

    def branch(self) -> str | None:
        """Return the branch that HEAD is on; None where it is on none."""
        with self._mutex:
            return self._heads.look()[1] if self._heads else None

    def diffs(self, shas: Collection[str]) -> dict[str, tuple[FileDiff, ...]]:
        """Return what commits changed; missing commits are left out."""
        return contents.diffs(self._folder, shas)

    def touched(self, shas: Collection[str]) -> dict[str, tuple[Touched, ...]]:
        """Return how commits left the files they changed; missing commits are left out."""
        known = {sha: found for sha in shas if (found := self._touched.get(sha)) is not None}
        new = contents.touched(self._folder, [sha for sha in shas if sha not in known])
        self._touched.update(islice(new.items(), _COMMITS))
        return known | new

    def ages(self, shas: Collection[str]) -> dict[str, int]:
        """Return the commits behind HEAD with their distance; newer ones are closer."""
        wanted = set(shas) - self._ages.keys() - self._strangers
        if wanted and self._head and not self._knows_all:
            age = self._newest
            for age, sha in enumerate(lineage.walk(self._folder, self._head), self._newest):
                if age < _AGES or sha in wanted:
                    self._ages[sha] = age
            self._knows_all = age < _AGES
            self._strangers |= wanted - self._ages.keys()
        return {sha: self._ages[sha] for sha in shas if sha in self._ages}

    def merged(self, shas: Collection[str]) -> set[str]:
        """Return the commits on the main line, wherever HEAD is."""
        tip = lineage.trunk(self._folder)
        if tip is None:
            return set()
        if self._trunk[0] != tip:
            self._trunk = (tip, set(islice(lineage.walk(self._folder, tip), _AGES)))
        return self._trunk[1].intersection(shas)

    def main_line(self) -> object:
        """Return a cheap stamp that changes when the main line moves."""
        return self._checkout.tips(lineage.TRUNKS) if self._checkout else None

    def present(self, shas: Collection[str]) -> set[str]:
        """Return the commits that git still has."""
        return lineage.present(self._folder, shas)

    def twins(self, shas: Collection[str]) -> dict[str, str]:
        """Return, for commits that are not behind HEAD, the same change that is."""
        head = self._head
        return _filled(
            self._twins, shas, lambda new: lineage.twins(self._folder, new, head) if head else {}
        )

    def reverts(self) -> Sequence[Revert]:
        """Return the reverts in HEAD's history, newest first."""
        if self._reverts is None:
            self._reverts = lineage.reverts(self._folder, self._head) if self._head else []
        return self._reverts

    def blobs(self, paths: Collection[str]) -> dict[str, str]:
        """Return the blobs HEAD holds at paths."""
        head = self._head
        return _filled(
            self._blobs, paths, lambda new: contents.blobs(self._folder, head, new) if head else {}
        )

    def earlier(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the blobs that commits hold at paths, by commit and path; missing ones are left out."""
        return contents.earlier(self._folder, list(wanted))

    def holders(self, blobs: Collection[str]) -> dict[str, str]:
        """Return the path at which HEAD holds each blob."""
        head = self._head
        return _filled(
            self._holders,
            blobs,
            lambda new: contents.holders(self._folder, head, new) if head else {},
        )

    def departures(self, paths: Collection[str]) -> dict[str, list[Departure]]:
        """Return the commits of HEAD's history that removed paths, newest first."""
        new = set(paths) - self._departures.keys()
        if new and self._head:
            found = lineage.departures(self._folder, self._head, new)
            self._departures |= {path: found.get(path, []) for path in new}
        return {path: self._departures.get(path, []) for path in paths}

    def read(self, blobs: Collection[str]) -> dict[str, bytes]:
        """Return blobs; missing and very large ones are left out."""
        return contents.read(self._folder, blobs)

    def symbols(
        self, places: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[Symbol, ...]]:
        """Return the symbols of files, by path and blob; unreadable files have none."""
        from sidecar.code import symbols  # noqa: PLC0415  # who asks for no code needs no parsers

        wanted = [place for place in dict.fromkeys(places) if symbols.is_known(place[0])]
        found = {place: got for place in wanted if (got := self._symbols.get(place)) is not None}
        missing = iter([place for place in wanted if place not in found])
        while batch := list(islice(missing, _BATCH)):
            sources = contents.read(self._folder, {blob for _, blob in batch})
            new = {
                (path, blob): symbols.find(path, sources.get(blob, b""), self._folder)
                for path, blob in batch
            }
            self._symbols.update(new)
            found |= new
        return found

    def mentioning(self, words: Collection[str]) -> list[str]:
        """Return the source files of HEAD in which one of these words stands; of many, the first."""
        from sidecar.code import symbols  # noqa: PLC0415  # likewise

        key = frozenset(words)
        if key not in self._mentioning and self._head:
            found = contents.mentioning(self._folder, self._head, sorted(key))
            self._mentioning[key] = [path for path in found if symbols.is_known(path)][:_SEARCHED]
        return self._mentioning.get(key, [])

    def holding(self, phrases: Collection[str]) -> list[str]:
        """Return the files of HEAD in which one of these phrases stands, in capitals or not."""
        return contents.holding(self._folder, self._head, phrases) if self._head else []

    def standing_names(self, names: Collection[str]) -> set[str]:
        """Pick the names that stand somewhere in HEAD's files."""
        new = set(names) - self._names.keys()
        if new and self._head:
            there = contents.standing(self._folder, self._head, new)
            self._names |= {name: name in there for name in new}
        return {name for name in names if self._names.get(name)}

    def paths(self) -> Mapping[str, str]:
        """Tell the blob of every file of HEAD, by its path."""
        if self._paths is None:
            self._paths = contents.tree(self._folder, self._head) if self._head else {}
        return self._paths

    def origin(self, path: str, line: int) -> Origin | None:
        """Find the commit of HEAD's history that wrote a line; None where git cannot tell in time."""
        from sidecar.code import blame  # noqa: PLC0415  # few ask for it

        try:
            return blame.origin(self._folder, self._head, path, line) if self._head else None
        except GitFailedError:
            return None


def _filled(
    known: dict[_Key, _Value | None],
    keys: Collection[_Key],
    ask: Callable[[Collection[_Key]], Mapping[_Key, _Value]],
) -> dict[_Key, _Value]:
    """Answer from a cache, after asking for what is missing; missing answers are cached too."""
    new = set(keys) - known.keys()
    if new:
        answers = ask(new)
        known |= {key: answers.get(key) for key in new}
    return {key: value for key in keys if (value := known[key]) is not None}


def _checkout(folder: Path) -> Checkout | None:
    try:
        return checkouts.enclosing(folder)
    except GitFailedError:
        return None
