"""Whether an item repeats another."""

import functools
import re
from collections.abc import Iterable

from msgspec import Struct

from protocol.memories import Memory, MemoryType
from sidecar.memory.rules import duplicates
from sidecar.memory.rules.duplicates import Statement
from sidecar.text import clipping, words
from sidecar.text.words import Sketch

_READ = 2_000
"""Letters of a memory that are compared by their words; what follows must be the same to the letter."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=。)")
_ENDS = ".!?;。"
_COMPARED = 16_384
"""Pairs of which it is remembered whether one repeats the other."""
_Said = tuple[MemoryType, str, str]
"""Type, title and the content as far as it is compared."""


def is_said(memory: Memory, others: Iterable[Memory]) -> bool:
    """Return whether a memory says nothing that one of others does not say; only sessions repeat sessions.

    It is asked of hundreds of pairs before each answer.
    """
    is_session, rest, ours = memory.type == "episodic", memory.content[_READ:], _said(memory)
    for other in others:
        if memory.memory_id == other.memory_id:
            return True
        if is_session != (other.type == "episodic") or (rest and rest != other.content[_READ:]):
            continue
        if _is_repeated(ours, (other.type, other.title, other.content[:_READ])):
            return True
    return False


def likeness(memory: Memory, other: Memory) -> float:
    """Return how alike the terms are that tell what two memories are about."""
    return _likeness(_said(memory)[1:], _said(other)[1:])


@functools.lru_cache(maxsize=_COMPARED)
def _likeness(ours: tuple[str, str], theirs: tuple[str, str]) -> float:
    return duplicates.likeness(_reading(*ours).telling, _reading(*theirs).telling)


@functools.lru_cache(maxsize=_COMPARED)
def _is_repeated(memory: _Said, other: _Said) -> bool:
    """Compare what two memories say; the same are compared whenever one asks what matters."""
    if _is_far(_sketched(*memory[1:]), _sketched(*other[1:])):
        return False
    ours, theirs = _reading(*memory[1:]), _reading(*other[1:])
    return _is_same(memory, other, duplicates.likeness(ours.terms, theirs.terms)) or (
        ours.telling <= theirs.terms and _is_contained(ours, _showing(*other[1:]))
    )


def _is_far(ours: Sketch, theirs: Sketch) -> bool:
    """Return whether so many words of one are not in the other that nothing can be repeated.

    With half of its terms missing the likeness is below 0.71, and a sentence with a telling word that is missing is
    not contained.
    """
    missing = ours.plain - theirs.begun - _light()
    return 2 * len(missing) > ours.most


@functools.cache
def _light() -> frozenset[str]:
    """Return how the words may begin that change nothing in what is said."""
    return words.sketch(" ".join(duplicates.LIGHT)).begun


class _Reading(Struct, frozen=True):
    text: str
    terms: frozenset[str]
    telling: frozenset[str]


class _Showing(Struct, frozen=True):
    """What a reader sees in any case."""

    text: str
    terms: frozenset[str]


@functools.lru_cache(maxsize=2048)
def _sketched(title: str, content: str) -> Sketch:
    return words.sketch(f"{title}\n{content}")


@functools.lru_cache(maxsize=2048)
def _reading(title: str, content: str) -> _Reading:
    text = content if content.startswith(title) else f"{title}\n{content}"
    found = duplicates.terms(_flat(text))
    return _Reading(text, found, duplicates.telling(found))


@functools.lru_cache(maxsize=2048)
def _showing(title: str, content: str) -> _Showing:
    text = _shown(title, content)
    return _Showing(text, duplicates.terms(_flat(text)))


def _shown(title: str, content: str) -> str:
    text = content if content.startswith(title) else f"{title}\n{content}"
    most = (len(title) if content.startswith(title) else len(title) + 1) + clipping.LIMIT
    if len(text) <= most:
        return text
    if len(title) > clipping.LIMIT:
        return ""
    ends = [found.start() for found in _SENTENCE.finditer(text, 0, most)]
    return text[: ends[-1]] if ends else ""


def _is_same(memory: _Said, other: _Said, likeness: float) -> bool:
    if likeness <= duplicates.SAME:
        return False
    ours, theirs = _whole(memory), _whole(other)
    if duplicates.relate(ours, theirs, likeness) == "same":
        return True
    texts = _reading(*memory[1:]).text, _reading(*other[1:]).text
    has_same_marks = duplicates.marks(texts[0]) == duplicates.marks(texts[1])
    return has_same_marks and duplicates.relate(theirs, ours, likeness) == "same"


def _is_contained(ours: _Reading, theirs: _Showing) -> bool:
    if not ours.telling or not ours.telling <= theirs.terms:
        return False
    said = _sentences(theirs.text)
    return all(
        any(_is_one(sentence, other) for other in said) for sentence in _sentences(ours.text)
    )


def _is_one(sentence: str, other: str) -> bool:
    ours, theirs = _flat(sentence), _flat(other)
    likeness = duplicates.likeness(duplicates.terms(ours), duplicates.terms(theirs))
    return duplicates.relate(ours, theirs, likeness) == "same"


def _sentences(text: str) -> list[str]:
    found = (sentence.strip().rstrip(_ENDS) for sentence in _SENTENCE.split(text))
    return [sentence for sentence in found if sentence]


def _whole(said: _Said) -> Statement:
    return Statement(type=said[0], title=said[1], content=said[2])


def _said(memory: Memory) -> _Said:
    return memory.type, memory.title, memory.content[:_READ]


def _flat(text: str) -> Statement:
    return Statement(type="fact", title="", content=text)
