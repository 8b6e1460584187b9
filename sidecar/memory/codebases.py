"""What drift checks ask of the code."""

from collections.abc import Collection, Hashable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sidecar.code.line_origins import Origin
from sidecar.memory.rules.drift import Departure, Revert, State, Symbol, Touched


class Code(Protocol):
    """A repository's code and history; what is said of HEAD holds for the one that was held last."""

    def held(self) -> AbstractContextManager[str | None]:
        """Let one at a time ask several things of the same HEAD: where it is, or None, is looked at once."""

    @property
    def at(self) -> str | None:
        """Return which HEAD was held last."""

    def standing(self) -> object:
        """Look at once where HEAD and the main line of development are now; equal, where neither has moved."""

    @property
    def memo(self) -> MutableMapping[Hashable, State]:
        """Keep what was found out and cannot become otherwise; what does not fit is forgotten."""

    def touched(self, shas: Collection[str]) -> Mapping[str, Sequence[Touched]]:
        """Return how commits left the files they changed."""

    def ages(self, shas: Collection[str]) -> Mapping[str, int]:
        """Pick the commits that are behind HEAD, each with how far; what is newer is less far."""

    def merged(self, shas: Collection[str]) -> set[str]:
        """Pick the commits that are part of the main line of development, wherever HEAD is."""

    def main_line(self) -> object:
        """Return something cheap that is different after the main line of development has moved."""

    def present(self, shas: Collection[str]) -> set[str]:
        """Pick the commits that git still has."""

    def twins(self, shas: Collection[str]) -> Mapping[str, str]:
        """Find the same change behind HEAD for commits that are not."""

    def reverts(self) -> Sequence[Revert]:
        """List what was taken back in HEAD's history, newest first."""

    def blobs(self, paths: Collection[str]) -> Mapping[str, str]:
        """Return what HEAD holds at paths."""

    def earlier(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        """Return what commits hold at paths, by both; what git has not is left out."""

    def holders(self, blobs: Collection[str]) -> Mapping[str, str]:
        """Tell at which path HEAD holds blobs."""

    def departures(self, paths: Collection[str]) -> Mapping[str, Sequence[Departure]]:
        """Find what took paths away in HEAD's history, newest first."""

    def read(self, blobs: Collection[str]) -> Mapping[str, bytes]:
        """Read blobs, as far as they are there and not too large."""

    def symbols(
        self, places: Iterable[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Sequence[Symbol]]:
        """Find what files define, by path and blob."""

    def mentioning(self, words: Collection[str]) -> Sequence[str]:
        """Name the source files of HEAD in which one of these words stands."""

    @property
    def by_blob(self) -> MutableMapping[Hashable, Any]:
        """Keep what was read out of blobs; what does not fit is forgotten."""

    def holding(self, phrases: Collection[str]) -> Sequence[str]:
        """Return the files of HEAD in which one of these phrases stands, in capitals or not."""

    def standing_names(self, names: Collection[str]) -> Collection[str]:
        """Pick the names that stand somewhere in HEAD's files."""

    def paths(self) -> Mapping[str, str]:
        """Tell the blob of every file of HEAD, by its path."""

    def origin(self, path: str, line: int) -> Origin | None:
        """Find the commit of HEAD's history that wrote a line; None where git cannot tell in time."""
