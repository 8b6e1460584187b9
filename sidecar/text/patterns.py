"""Regular expressions compiled on first use and tried only where their words occur."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Any

_WORD = re.compile(r"[a-z]+")
_SIGNS: dict[str, list[tuple[str, int]]] = {}
"""By their first two letters: parts of words, and the row of some table that may be found there, as a bit."""
_ROWS: list[str] = []
_KNOWN_WORDS = 20_000
_KNOWN_TEXTS = 1_000


class Late:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, source: str, flags: int = 0) -> None:
        """Take what `re.compile` takes."""
        self.source = source
        self.flags = flags

    @cached_property
    def pattern(self) -> "re.Pattern[str]":
        """The compiled expression."""
        return re.compile(self.source, self.flags)

    @cached_property
    def search(self) -> "Callable[..., re.Match[str] | None]":
        """Search anywhere, as `re` does."""
        return self.pattern.search

    @cached_property
    def match(self) -> "Callable[..., re.Match[str] | None]":
        """Match at the beginning, as `re` does."""
        return self.pattern.match

    @cached_property
    def fullmatch(self) -> "Callable[..., re.Match[str] | None]":
        """Match the whole, as `re` does."""
        return self.pattern.fullmatch

    @cached_property
    def finditer(self) -> "Callable[..., Iterator[re.Match[str]]]":
        """Find all, as `re` does."""
        return self.pattern.finditer

    @cached_property
    def findall(self) -> Callable[..., list[Any]]:
        """List all, as `re` does."""
        return self.pattern.findall

    @cached_property
    def split(self) -> Callable[..., list[str]]:
        """Split at all, as `re` does."""
        return self.pattern.split

    @cached_property
    def sub(self) -> Callable[..., str]:
        """Replace all, as `re` does."""
        return self.pattern.sub


def late(source: str, flags: int = 0) -> Late:
    """Make a pattern that is compiled when it is first used."""
    return Late(source, flags)


def compiled(*rows: str) -> Late:
    """Make one such pattern of several rows, for letters of any case."""
    return Late("|".join(f"(?:{row})" for row in rows), re.IGNORECASE)


def words(line: str) -> frozenset[str]:
    """Make a set of the words of a line."""
    return frozenset(line.split())


_OTHER_LETTER = late(r"[\u00c0-\u02ff\u0370-\u1fff\u2e80-\ud7ff\uf900-\uffdc]")


class Table:
    """Rows of patterns, each with its signs: parts of words, one of which stands wherever it is found."""

    def __init__(self, rows: tuple[tuple[str, str], ...]) -> None:
        """Take each row's signs between bars, and its pattern; a row without signs is always tried."""
        self.rows = tuple((_bit(signs), Late(row, re.IGNORECASE)) for signs, row in rows)
        self.bits = sum(bit for bit, _ in self.rows)

    def search(self, text: str) -> "re.Match[str] | None":
        """Find the first phrase anywhere."""
        bits = self.bits & _signs_in(text)
        if not bits:
            return None
        found = [mark for bit, row in self.rows if bit & bits and (mark := row.search(text))]
        return min(found, key=_start) if found else None

    def match(self, text: str) -> "re.Match[str] | None":
        """Find a phrase at the beginning."""
        bits = self.bits & _signs_in(text)
        if not bits:
            return None
        found = (row.match(text) for bit, row in self.rows if bit & bits)
        return next(filter(None, found), None)

    def finditer(self, text: str, start: int) -> "Iterator[re.Match[str]]":
        """Find every phrase from some letter on, in their order."""
        bits = self.bits & _signs_in(text)
        likely = [row for bit, row in self.rows if bit & bits] if bits else []
        found = [mark for row in likely for mark in row.finditer(text, start)]
        return iter(sorted(found, key=_start))


def table(*rows: tuple[str, str]) -> Table:
    """Make a table of rows, each with its signs between bars; a space in a sign is a word's edge."""
    return Table(rows)


def _bit(signs: str) -> int:
    """Return a row a bit of its own, and note where it may be found; words seen before are looked at anew."""
    bit = 1 << len(_ROWS)
    _ROWS.append(signs)
    for sign in signs.split("|"):
        _SIGNS.setdefault(sign[:2], []).append((sign, bit))
    _signs_in.cache_clear()
    _signs_of.cache_clear()
    return bit


@lru_cache(maxsize=_KNOWN_TEXTS)
def _signs_in(text: str) -> int:
    """Return which rows a text has signs of; with letters beyond ours, all of them."""
    if not text.isascii() and _OTHER_LETTER.search(text):
        return -1
    bits = sum(bit for _, bit in _SIGNS.get("", ()))
    for word in _WORD.findall(text.lower()):
        bits |= _signs_of(word)
    return bits


@lru_cache(maxsize=_KNOWN_WORDS)
def _signs_of(word: str) -> int:
    whole = f" {word} "
    bits = 0
    for start in range(len(word)):
        for sign, rows in _SIGNS.get(whole[start : start + 2], ()):
            if whole.startswith(sign, start):
                bits |= rows
    return bits


def _start(mark: "re.Match[str]") -> int:
    return mark.start()
