"""Quotations: sentences of a turn that we ourselves have told, word by word, outside of our marks.

What stands between our marks is known by them (`sidecar/domain/echoes.py`). A host or an agent may repeat single
lines of it, though, or what it was told by a tool; those are known by their words, also where several of them are
told again in one sentence.
"""

# ruff: noqa: RUF001 - other scripts have letters that look like ours

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from protocol.memories import Memory
from sidecar.domain.context import items
from sidecar.domain.continuity import clauses
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
    r"\b(?:no|not|never|wrong|false|incorrect|instead|longer|but|except|unless|stop|forget|ignore|outdated|nein|nicht|falsch|kein\w*|non|pas|faux"
    r"|jamais|incorrecto|falso|errado|não)\b|n['’]t\b|不|没|ない",
    re.IGNORECASE,
)
"""Words before a quotation that make it say something else."""
_POINTING = re.compile(
    r"(?:and |or )?(?:that|this|it|these|those|they|both|which|but|so|no|not|wrong|false|das|dies|es|aber|falsch|cela|ça|c['’]|mais"
    r"|esto|eso|pero)\b",
    re.IGNORECASE,
)
"""How a clause begins that speaks of the one before."""
_ENDS = ".!?…。！？"
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
    left = "".join(_kept(line, known) for line in text.splitlines(keepends=True))
    # What stood around a sentence of ours may become one; it only ever gets shorter.
    return left if left == text else without(left, known)


def _kept(line: str, known: Known) -> str:
    """Give what is left of a line."""
    if not line.strip():
        return line
    bare = line[_bare(line) :]
    if _is_ours(bare, known):
        return "\n"
    sentences = list(_sentences(bare))
    left = [_left(one, known) for one in sentences]
    if left == sentences:
        return line
    kept = " ".join(filter(None, left))
    return f"{line[: _bare(line)]}{kept}\n" if kept else "\n"


def _left(sentence: str, known: Known) -> str:
    """Give what is left of a sentence: all of it, nothing, or the clauses that are not ours."""
    if _is_ours(sentence, known):
        return ""
    parts = list(clauses.split(sentence))
    if len(parts) < 2 or _is_denied(sentence):  # noqa: PLR2004  # a sentence of mere `;` has none at all
        return sentence
    left = list(_others(parts, known))
    if len(left) == len(parts) or any(map(_POINTING.match, left)):
        return sentence
    return _ended("; ".join(left), sentence) if left else ""


def _others(parts: list[str], known: Known) -> Iterator[str]:
    """Give the clauses that are not ours, and those that are but may be denied by one before them."""
    is_reported, is_denied = clauses.said(parts[0]) != parts[0], False
    for part in parts:
        if is_denied or not _is_ours(part, known):
            yield part
            is_denied = is_denied or (not is_reported and bool(_DENIED.search(part)))


def _ended(text: str, sentence: str) -> str:
    """End what is left of a sentence as that did."""
    end = sentence[-1]
    return text if text.endswith(end) or end not in _ENDS else f"{text}{end}"


def _is_ours(sentence: str, known: Known) -> bool:
    return any(_is_known(_plain(one), known) for one in _said(sentence))


def _is_known(said: str, known: Known) -> bool:
    if not _is_long(said):
        return False
    is_cut = said.endswith("…") and _is_clipped(said.rstrip(" …"), known)
    return is_cut or said in known.sentences


def _said(sentence: str) -> Iterator[str]:
    """Give a sentence, and what it says without the words that tell whose it is."""
    yield sentence
    said = clauses.said(sentence)
    yield said
    introduced = _INTRODUCED.match(said)
    if introduced is not None and not _is_denied(said):
        yield introduced["rest"]


def _is_denied(sentence: str) -> bool:
    """Tell whether the words before a quotation deny it."""
    introduced = _INTRODUCED.match(sentence)
    return introduced is not None and bool(_DENIED.search(sentence[: introduced.start("rest")]))


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
    """Give a line of ours, each of its sentences, and each of their clauses."""
    bare = line[_bare(line) :]
    yield bare
    for sentence in _sentences(bare):
        yield sentence
        yield from clauses.split(sentence)


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
