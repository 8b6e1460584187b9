"""Alignments: which line of an older text a line of a newer one is, in time that grows with the texts alone.

Lines that occur once in both texts hold them together; what is equal beside such a line belongs to it. Where
nothing tells which of several equal lines is meant, a line is taken for a new one.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

Pair = tuple[int, int]
"""A line of the newer text, and the line of the older one that it is; counted from 0."""


def align(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, int]:
    """Tell for each line of the newer text which one of the older it is; new lines are left out."""
    found: dict[int, int] = {}
    first, last = (-1, -1), (len(new), len(old))
    before = first
    for after in [*_anchors(old, new), last]:
        _fill(found, (old, new), before, after)
        if after != last:
            found[after[0]] = after[1]
        before = after
    return found


def _fill(
    found: dict[int, int], texts: tuple[Sequence[bytes], Sequence[bytes]], before: Pair, after: Pair
) -> None:
    """Take what is equal between two pairs: downwards from the one, then upwards from the other."""
    old, new = texts
    here, there = before[0] + 1, before[1] + 1
    while here < after[0] and there < after[1] and new[here] == old[there]:
        found[here] = there
        here, there = here + 1, there + 1
    up, above = after[0] - 1, after[1] - 1
    while up >= here and above >= there and new[up] == old[above]:
        found[up] = above
        up, above = up - 1, above - 1


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[Pair]:
    """Pair the lines that occur once in both texts, as many as stand in the same order in both."""
    places = dict(_single(old))
    pairs = [(here, places[line]) for line, here in _single(new) if line in places]
    ends: list[int] = []
    tops: list[int] = []
    earlier: list[int] = []
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        earlier.append(tops[length - 1] if length else -1)
        ends[length : length + 1] = [there]
        tops[length : length + 1] = [number]
    chain: list[Pair] = []
    number = tops[-1] if tops else -1
    while number >= 0:
        chain.append(pairs[number])
        number = earlier[number]
    return chain[::-1]


def _single(lines: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    counts = Counter(lines)
    return ((line, place) for place, line in enumerate(lines) if counts[line] == 1)
