"""Signals: whether a user's turn says something that must be remembered, and what shows it.

A turn is worth what its sentences are: each one that decides, forbids, wishes, corrects, leaves something open or
tells a fact adds to the score, as independent chances do, so that many never count for more than one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from protocol.conversations import Note
from protocol.memories import MemoryType
from sidecar.conversations.rules import cues, notes
from sidecar.conversations.rules.notes import Judged
from sidecar.conversations.rules.turns import Signal
from sidecar.text import wording

KEYWORDS = 12
WEIGHTS: Mapping[MemoryType, float] = {
    "decision": 0.75,
    "constraint": 0.75,
    "correction": 0.75,
    "preference": 0.7,
    "task": 0.6,
    "skill": 0.6,
    "fact": 0.56,
    "episodic": 0.0,
}
"""What one statement of each kind is worth, said by a user."""
_REASONED = 0.1
"""What a statement is worth more that says why."""
EXCERPT = 4_000
"""Letters of a turn that are read for memory."""
_CUE = 3
"""Words of a phrase that name it."""


def detect(text: str, at: datetime) -> Signal:
    """Return what a user's turn is worth; the same words always give the same signal."""
    judged = notes.judge(text, at)
    found = [one for one in judged if one.note is not None]
    if not found:
        return Signal()
    return Signal(
        score=score(found),
        keywords=tuple(dict.fromkeys(_keywords(found)))[:KEYWORDS],
        notes=notes.pick(found),
        excerpt=_excerpt(judged),
    )


def score(found: Iterable[Judged]) -> float:
    """Add up what statements are worth: each takes its part of what the others have left."""
    left = 1.0
    for weight in {one.note.text: _weigh(one, one.note) for one in found if one.note}.values():
        left *= 1.0 - weight
    return round(1.0 - left, 2)


def _weigh(one: Judged, note: Note) -> float:
    is_reasoned = wording.split(one.statement.text)[1] is not None
    return min(1.0, WEIGHTS[note.type] + _REASONED * is_reasoned)


def _keywords(found: Sequence[Judged]) -> Iterator[str]:
    yield from (one.note.type for one in found if one.note)
    for one in found:
        found_cues = (cue.search(one.statement.text) for _, cue in cues.CUES)
        yield from (_named(cue[0]) for cue in found_cues if cue)
        reason = wording.split(one.statement.text)[1]
        yield from [_named(reason.split()[0])] if reason else []


def _named(phrase: str) -> str:
    return " ".join(phrase.casefold().split()[:_CUE]).strip(" ,.;:!-")


def _excerpt(judged: Sequence[Judged]) -> str:
    parts: list[str] = []
    for _, block in groupby(judged, key=lambda one: (one.piece, one.statement.block)):
        sentences = list(block)
        if any(one.note for one in sentences):
            parts += _told(sentences, parts)
    return _bounded(parts)


def _told(sentences: Sequence[Judged], before: Sequence[str]) -> Iterator[str]:
    first = sentences[0].statement
    said = " ".join(one.statement.quote for one in sentences)
    if not first.is_item:
        yield said
        return
    heading = f"{first.heading}:"
    if first.heading and heading not in before:
        yield heading
    box = "[ ] " if first.is_open else "[x] " if first.is_done else ""
    yield f"- {box}{said}"


def _bounded(parts: Iterable[str]) -> str:
    """Join paragraphs and lists, as many as there is room for; the first always."""
    text = ""
    for part in parts:
        gap = "\n" if part.startswith("- ") else "\n\n"
        longer = f"{text}{gap}{part}" if text else part
        if text and len(longer) > EXCERPT:
            break
        text = longer
    return text
