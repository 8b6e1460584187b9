"""The part of a text that answers a question best, and the passages it is embedded by."""

import re

from sidecar.search.rules import terms
from sidecar.text import wording

SHOWN = 600
"""Characters of a snippet."""
_PASSAGE, _PASSAGES = 400, 6
"""Characters of a passage, and passages of one text: embedding costs by the letter."""
_SENTENCE = re.compile(
    r"(?<=[.!?\u3002\uff01\uff1f])\s+(?=[\"'`(\[]?[A-Z0-9\u3040-\u9fff])|\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)"
)
_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|change-id|cc)\s*:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_SPACE = re.compile(r"\s+")
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_STEM = 3


def sentences(text: str) -> list[str]:
    """Split a text into sentences and list items, without trailers and blank ones."""
    parts = (_SPACE.sub(" ", part).strip() for part in _SENTENCE.split(_TRAILER.sub("", text)))
    return [part for part in parts if part]


def best(text: str, question: str, most: int = SHOWN) -> str:
    """Return the sentences that fit the question best, in their own order, as many as there is room for.

    Shared words decide; among equals the earlier sentence wins, because authors say first what matters most.
    """
    parts = sentences(text)
    if sum(map(len, parts)) + len(parts) <= most:
        return " ".join(parts)
    wanted = _stems(question)
    fits = [len(_stems(part) & wanted) for part in parts]
    chosen: list[int] = []
    room = most
    for number in sorted(range(len(parts)), key=lambda number: (-fits[number], number)):
        if not chosen or len(parts[number]) < room:
            chosen.append(number)
            room -= len(parts[number]) + 3
    return wording.clipped(_joined(parts, sorted(chosen)), most)


def passages(title: str, text: str) -> list[str]:
    """Split a text into passages of a few sentences, each under its title."""
    found: list[str] = []
    held = ""
    for part in sentences(text):
        if held and len(held) + len(part) > _PASSAGE:
            found.append(held)
            held = ""
        held = f"{held} {part}".strip()[: 2 * _PASSAGE]
    found.append(held)
    return list(dict.fromkeys(f"{title}\n{part}".strip() for part in found[:_PASSAGES]))


def nearest(parts: list[str], question: str) -> str:
    """Return the passage that shares most words with a question."""
    wanted = _stems(question)
    return max(parts, key=lambda part: len(_stems(part) & wanted))


def asks_the_same(text: str, question: str) -> bool:
    """Return whether a text is a question with no word beyond those of another: it cannot be the answer."""
    return text.rstrip().endswith(("?", "\uff1f")) and _stems(text) <= _stems(question)


def _stems(text: str) -> set[str]:
    return {_stem(term) for term in terms.of_query(text, most=1_000)}


def _stem(term: str) -> str:
    for ending in _ENDINGS:
        if len(term) > len(ending) + _STEM and term.endswith(ending):
            return term[: -len(ending)]
    return term


def _joined(parts: list[str], chosen: list[int]) -> str:
    shown = ""
    for position, number in enumerate(chosen):
        gap = "" if not position else " " if number == chosen[position - 1] + 1 else " … "
        shown += gap + parts[number]
    return shown
