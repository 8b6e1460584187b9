"""Places in the code: symbols and what commits wrote where; read from git when needed, never kept."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

Span = tuple[int, int]
"""First and last line, counted from 1; one that ends before it begins stands between two lines."""


class Symbol(Struct, frozen=True, kw_only=True):
    """A function, class or other name that a file defines."""

    name: str
    """Qualified by what it stands in (`Store.open`)."""
    first: int
    last: int
    digest: str
    """A hash of its source without layout and comments; of a class, without its members."""
    shape: str
    """The same without its own name: what stays when it is renamed."""

    @property
    def short(self) -> str:
        """Give the name without what it stands in."""
        return short(self.name)


class Touched(Struct, frozen=True, kw_only=True):
    """One file as a commit left it."""

    path: str
    previous_path: str | None = None
    blob: str | None = None
    """What git calls its contents; None where the commit deleted it."""
    spans: tuple[Span, ...] = ()
    """Where the commit wrote or took lines away."""


class Departure(Struct, frozen=True, kw_only=True):
    """A commit after which a path was no longer there."""

    sha: str
    to: str | None = None
    """Where the file went; None where it was deleted."""


class Revert(Struct, frozen=True, kw_only=True):
    """A commit that says which others it takes back."""

    sha: str
    of: tuple[str, ...]


def short(name: str) -> str:
    """Give a symbol's name without what it stands in."""
    return name.rpartition(".")[2]


def written(symbols: Sequence[Symbol], spans: Iterable[Span]) -> list[int]:
    """Count, for each symbol, the lines in spans that are its own and no inner symbol's.

    Symbols come outermost first. A gap counts as one line of what is on both sides of it.
    """
    ends = [(first, last) if first <= last else (last, first) for first, last in spans]
    lines = sorted({line for first, last in ends for line in range(first, last + 1)})
    owners: dict[int, int] = {}
    for number, symbol in enumerate(symbols):
        inside = lines[bisect_left(lines, symbol.first) : bisect_right(lines, symbol.last)]
        owners |= dict.fromkeys(inside, number)
    counts = [0] * len(symbols)
    for owner, amount in _claims(owners, spans):
        counts[owner] += amount
    return counts


def _claims(owners: Mapping[int, int], spans: Iterable[Span]) -> Iterator[tuple[int, int]]:
    for first, last in spans:
        if first <= last:
            yield from ((owners[line], 1) for line in range(first, last + 1) if line in owners)
        elif last in owners and owners[last] == owners.get(first):
            yield owners[last], 1
