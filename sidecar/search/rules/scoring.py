"""Combine words, meaning, files, links and recency into one score, and cut off noise."""

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

FILES = 0.4
"""What a candidate gains that touches the open file; set by hand, not measured on data of its own yet."""
CHANGED = 0.15
"""The same for other changed files."""
LINKED = 0.3
"""What a memory gains that is linked with the best match by words, or with the open file."""
RECENT = 0.05
"""What the newest gains over the oldest: it decides among equals, no more."""
_HALF_LIFE = 90 * 86_400.0
_UNKNOWN = 0.8
"""The part of its words that stands for the meaning of a candidate that was not embedded."""
_CUT = 0.5
"""A hit below this part of the best one is noise."""


class Candidate(Struct, frozen=True):
    """A memory or a record that shares words with the question."""

    key: str
    words: float
    """Its BM25 score, higher is better."""
    at: datetime
    files: tuple[str, ...] = ()
    linked: float = 0.0
    """How well what it is linked with matches, from 0 to 1."""


class Scored(Struct, frozen=True):
    """A candidate's score, and what it consists of."""

    key: str
    score: float
    why: dict[str, float]


def rank(
    candidates: Collection[Candidate],
    meaning: Mapping[str, float],
    *,
    now: datetime,
    open_files: Collection[str] = (),
    changed_files: Collection[str] = (),
) -> list[Scored]:
    """Score candidates, best first. `meaning` holds cosines of those whose embedding is known.

    Words and meaning are each scaled to their best hit and added in equal parts. A candidate without an embedding
    gets the meaning that its words suggest, so that it is neither preferred nor lost.
    """
    best_words = max((candidate.words for candidate in candidates), default=0.0) or 1.0
    best_meaning = max(meaning.values(), default=0.0)
    scored = []
    for candidate in candidates:
        why = {"words": candidate.words / best_words}
        if best_meaning > 0:
            cosine = meaning.get(candidate.key)
            why["meaning"] = (
                max(cosine, 0.0) / best_meaning if cosine is not None else _UNKNOWN * why["words"]
            )
        if files := _files(candidate.files, open_files, changed_files):
            why["files"] = files
        if candidate.linked:
            why["links"] = LINKED * candidate.linked
        age = max((now - candidate.at).total_seconds(), 0.0)
        why["recency"] = RECENT * _HALF_LIFE / (_HALF_LIFE + age)
        scored.append(Scored(candidate.key, sum(why.values()), why))
    scored.sort(key=lambda item: (-item.score, item.key))
    return scored


def cut(scored: list[Scored], most: int) -> list[Scored]:
    """Keep the best, without the noise that only fills up."""
    if not scored:
        return []
    least = _CUT * scored[0].score
    # What somebody linked with the answer belongs to it, whatever its words are.
    return [
        item
        for item in scored[:most]
        if item.score >= least or item.why.get("links", 0.0) > LINKED / 2
    ]


def _files(files: Collection[str], opened: Collection[str], changed: Collection[str]) -> float:
    # A commit that touches hundreds of files says little about each.
    share = min(1.0, 8 / max(len(files), 1))
    if any(path in opened for path in files):
        return FILES * share
    return CHANGED * share if any(path in changed for path in files) else 0.0
