"""Usage: which memories a turn of a conversation quotes or names."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from protocol.memories import Memory

RUN = 6
"""Words in a row that are a quotation."""
_READ = 64_000
"""Letters of a turn and of a memory that are looked at."""
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^\\W_{_IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_ID = re.compile(r"(?<![0-9A-Za-z])[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}(?![0-9A-Za-z])")
_LONG = 12
"""Letters of a title of fewer words than a quotation has; a shorter one stands in many texts by chance."""
_FEW = 2
"""Words of a title; one alone is no title that anybody quotes."""


def quoted(text: str, memories: Iterable[Memory]) -> tuple[str, ...]:
    """Give the ids of the memories that a text names by id or title, or quotes with six words in a row."""
    turn = _words(text)
    known = frozenset(turn)
    runs = frozenset(_runs(turn, known))
    ids = {found.upper() for found in _ID.findall(text[:_READ])}
    flat = f" {' '.join(turn)} "
    return tuple(
        memory.memory_id
        for memory in memories
        if memory.memory_id.upper() in ids
        or _is_named(memory, flat)
        or _is_quoted(memory, runs, known)
    )


def _is_named(memory: Memory, flat: str) -> bool:
    title = _words(memory.title)
    return _is_telling(title) and f" {' '.join(title)} " in flat


def _is_quoted(memory: Memory, runs: frozenset[tuple[str, ...]], known: frozenset[str]) -> bool:
    if not runs:
        return False
    texts = (memory.title, memory.content)
    return any(run in runs for text in texts for run in _runs(_words(text), known))


def _is_telling(title: Sequence[str]) -> bool:
    """Tell whether a title is long enough to be known again."""
    letters = sum(2 if _IDEOGRAPH.match(word) else len(word) for word in title)
    return len(title) >= _FEW and letters >= _LONG


def _runs(said: Sequence[str], known: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Give all known words in a row that would be a quotation; two ideographs count as a word."""
    streak = 0
    for end, word in enumerate(said, 1):
        streak = streak + 1 if word in known else 0
        if streak < RUN:
            continue
        run = tuple(said[end - RUN : end])
        if any(map(_IDEOGRAPH.match, run)):
            if streak >= 2 * RUN:
                yield tuple(said[end - 2 * RUN : end])
        else:
            yield run


def _words(text: str) -> list[str]:
    """Give the words of a text without case, accents and marks."""
    plain = text[:_READ]
    if not plain.isascii():
        letters = unicodedata.normalize("NFKD", plain)
        plain = "".join(one for one in letters if not unicodedata.combining(one))
    return _WORD.findall(plain.casefold())
