"""Quotations: sentences of a turn that we ourselves have told, word by word, outside of our marks.

What stands between our marks is known by them (`sidecar/domain/echoes.py`). A host or an agent may repeat single
lines of it, though, or what it was told by a tool; those are known by their words.
"""

# ruff: noqa: RUF001 - other scripts have letters that look like ours

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from protocol.memories import Memory
from sidecar.domain.context import items
from sidecar.domain.continuity.conversations import same

_ITEM = re.compile(
    r"`[0-7][0-9A-HJKMNP-TV-Z]{25}` (?:\([^()\n]{0,300}\) )?|agent \(last seen [^()\n]{0,40}\) [^\n]{1,80}? - "
)
"""How a line goes on in which we tell a memory, a task, a message or an agent."""
_BEGINNING = re.compile(r"[ \t]*(?:(?:[>|]|[-*+•–]|\d{1,3}[.)]|\[[ xX]\]|#{1,6})[ \t]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”»)*_`]*\s+|(?<=[。！？])")
_INTRODUCED = re.compile(r"[^\"“«:]{0,80}(?::\s+|[\"“«])(?P<rest>\S.*)")
"""Words that say whose the following are."""
_DENIED = re.compile(
    r"\b(?:no|not|never|wrong|false|incorrect|instead|longer|but|except|unless|stop|nein|nicht|falsch|kein\w*|non|pas|faux"
    r"|jamais|incorrecto|falso|errado|não)\b|n['’]t\b|不|没|ない",
    re.IGNORECASE,
)
"""Words before a quotation that make it say something else."""
_NOTED = re.compile(r"\s\((?:files|done when): [^()]{0,900}\)\s*$")
_MARKS = str.maketrans("", "", "*_`")
_CUT = 20
"""Letters that at least are left of a sentence that was clipped."""
_REMEMBERED = 4_000
_LEAST = 8
"""Letters below which a sentence is anybody's."""


class Known(Struct, frozen=True, kw_only=True):
    """Sentences of ours, as they are known again."""

    sentences: frozenset[str] = frozenset()
    ordered: tuple[str, ...] = ()


def spoken(texts: Iterable[str]) -> Known:
    """Give all sentences of some texts of ours."""
    said = frozenset(one for text in texts for one in _spoken(text))
    return Known(sentences=said, ordered=tuple(sorted(said)))


def of_memory(memory: Memory) -> Iterator[str]:
    """Give what a memory says, in all the ways in which we tell it."""
    yield from (memory.content, memory.rationale or "")
    yield from of_item(memory.title, items.says(memory))


def of_item(title: str, more: str) -> Iterator[str]:
    """Give what a task or a message says, in all the ways in which we tell it."""
    first = next(_sentences(more), "")
    yield from (title, more, f"{title} - {more}", f"{title} - {first}")


def without(text: str, known: Known) -> str:
    """Take out of a text the sentences that are ours; who adds words of their own keeps those."""
    return "".join(_kept(line, known) for line in text.splitlines(keepends=True))


def _kept(line: str, known: Known) -> str:
    """Give what is left of a line."""
    if not line.strip():
        return line
    bare = line[_bare(line) :]
    if _is_ours(bare, known):
        return "\n"
    sentences = list(_sentences(bare))
    left = [one for one in sentences if not _is_ours(one, known)]
    if len(left) == len(sentences):
        return line
    beginning = line[: _bare(line)] if left else ""
    return f"{beginning}{' '.join(left)}\n"


def _is_ours(sentence: str, known: Known) -> bool:
    said = _plain(sentence)
    if not _is_long(said):
        return False
    if said in known.sentences or (said.endswith("…") and _is_clipped(said.rstrip(" …"), known)):
        return True
    introduced = _INTRODUCED.match(sentence)
    if introduced is None or _DENIED.search(sentence[: introduced.start("rest")]):
        return False
    return _plain(introduced["rest"]) in known.sentences


def _is_clipped(said: str, known: Known) -> bool:
    place = bisect_left(known.ordered, said)
    return len(said) >= _CUT and _begins(known.ordered[place : place + 1], said)


def _begins(found: tuple[str, ...], said: str) -> bool:
    return bool(found) and found[0].startswith(said)


@lru_cache(maxsize=_REMEMBERED)
def _spoken(text: str) -> tuple[str, ...]:
    """Give the sentences of one text; what is told again and again is looked at once."""
    said = (part for line in text.splitlines() for part in _parts(line))
    return tuple(filter(_is_long, map(_plain, said)))


def _parts(line: str) -> Iterator[str]:
    """Give a line of ours, and each of its sentences."""
    bare = line[_bare(line) :]
    yield bare
    yield from _sentences(bare)


def _sentences(line: str) -> Iterator[str]:
    return (one.strip() for one in _SENTENCE.split(line) if one.strip())


def _bare(line: str) -> int:
    """Tell where the words of a line begin."""
    beginning = _BEGINNING.match(line)
    start = beginning.end() if beginning else 0
    item = _ITEM.match(line, start)
    return item.end() if item else start


def _plain(sentence: str) -> str:
    """Write a sentence without what writing it down may add."""
    return same(_NOTED.sub("", sentence).translate(_MARKS)).strip(" \"'“”«»()")


def _is_long(said: str) -> bool:
    return len(said) >= _LEAST
