"""Ranking: which memories answer a question best, and why.

What was asked decides, by four signals: the words (BM25), the meaning (cosines of embeddings, where there are any),
the files at hand, and the company of good answers (memories that share their files). What a memory is by itself, its
age, its grades, a pin, only raises or lowers that by a part, so that no prior drowns an answer.

The weights and what was measured about them are in `sidecar/domain/weights.py`.
"""

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from sidecar.domain.recall import words
from sidecar.domain.recall.catalogues import Catalogue
from sidecar.domain.recall.similarities import Filter, Similarities
from sidecar.domain.recall.weights import MEASURED, Weights

GOOD = 15
"""Answers whose company is looked for; their scores are cubed, so that the first few decide."""
_MIDDLE, _SPAN = 3, 2
_SPARE = 10
"""Candidates per wanted answer that are looked at closely, after the signals of the question."""

_NEAREST, _LIKELIEST = 150, 300
"""Memories that come into question by their meaning and by their words."""

Signals = dict[str, float]


class Question(Struct, frozen=True, kw_only=True):
    """What is wanted, and where."""

    now: datetime
    text: str = ""
    open_file: str | None = None
    changed_files: tuple[str, ...] = ()
    """The files of the current diff."""
    branch: str | None = None
    limit: int = 10


class Ranked(Struct, frozen=True, kw_only=True):
    """A memory with its score, and what each signal gave to it; the signals add up to the score."""

    memory_id: str
    score: float
    signals: Signals


def rank(
    catalogue: Catalogue,
    question: Question,
    similarities: Similarities | None = None,
    *,
    is_wanted: Filter | None = None,
    weights: Weights = MEASURED,
) -> list[Ranked]:
    """Give the best memories, best first; equals are ordered by id, the latest first."""
    share = meaning(question.text, weights) if question.text.strip() else 0.0
    search = _Search(catalogue, question, similarities, is_wanted, weights, share)
    signals = _asked(search) if question.text.strip() else _unasked(search)
    totals = _totals(signals)
    count = max(_SPARE * question.limit, _NEAREST) if question.text.strip() else len(totals)
    lifted = [
        (score * (1.0 + sum(_standing(key, search).values())), key)
        for score, key in _best(totals, count, search)
    ]
    lifted.sort(reverse=True)
    return [_explain(key, search, signals) for _, key in lifted[: question.limit]]


def meaning(text: str, weights: Weights = MEASURED) -> float:
    """Tell how much the meaning of a question counts beside its words."""
    most = weights.named_meaning if words.names_code(text) else weights.most_meaning
    if words.is_question(text):
        return most
    beyond = words.wordiness(text) - weights.keywords
    wanted = weights.least_meaning + weights.steepness * beyond
    return min(max(wanted, weights.least_meaning), most)


class _Search(NamedTuple):
    catalogue: Catalogue
    question: Question
    similarities: Similarities | None
    is_wanted: Filter | None
    weights: Weights
    share: float
    """How much meaning counts beside words."""


def _asked(search: _Search) -> dict[str, Signals]:
    """Give what each signal of the question gives to each memory it speaks for."""
    similarities, factor = search.similarities, search.weights.similarity * search.share
    found: dict[str, Signals] = {"words": _words(search), "meaning": {}}
    if similarities:
        near = similarities.best(_NEAREST, search.is_wanted) | similarities.of(found["words"])
        found["meaning"] = _positive(near, factor)
    found["company"] = _company(search, found)
    found["files"] = _files(search)
    if similarities:
        late = (found["company"].keys() | found["files"].keys()) - found["meaning"].keys()
        found["meaning"] |= _positive(similarities.of(late), factor)
    return found


def _unasked(search: _Search) -> dict[str, Signals]:
    """Let memories stand for themselves where nothing is asked, beside those of the files at hand."""
    newest = search.catalogue.newest(search.question.limit, search.is_wanted)
    near = _files(search)
    equal = dict.fromkeys((*newest, *near), search.weights.nothing_asked)
    return {"files": near, "standing": equal}


def _words(search: _Search) -> Signals:
    """Give each memory the share of the question's words that it has, by their rarity."""
    lexicon, terms = search.catalogue.lexicon, words.count(search.question.text)
    share = 1.0 - search.share if search.similarities else 1.0
    factor = search.weights.words * share / (lexicon.best(terms) or 1.0)
    best = _best(lexicon.score(terms), _LIKELIEST, search)
    return {key: factor * score for score, key in best}


def _company(search: _Search, found: dict[str, Signals]) -> Signals:
    best = _best(_totals(found), GOOD, search)
    most = best[0][0] if best else 0.0
    good = {key: (score / most) ** 3 for score, key in best if score > 0}
    is_at_hand = bool(_at_hand(search))
    weight = search.weights.company_with_files if is_at_hand else search.weights.company
    return _scale(search.catalogue.places.company(good), weight * (1.0 - search.share) * most)


def _files(search: _Search) -> Signals:
    near = search.catalogue.places.near(_at_hand(search))
    return _scale(near, search.weights.files * (1.0 - search.weights.files_lost * search.share))


def _at_hand(search: _Search) -> dict[str, float]:
    question = search.question
    found = dict.fromkeys(question.changed_files, search.weights.changed_file)
    return found | ({question.open_file: 1.0} if question.open_file else {})


def _standing(key: str, search: _Search) -> Signals:
    """Tell by what part each trait of a memory raises or lowers what it has from the question."""
    item, weights = search.catalogue.items[key], search.weights
    age = max((search.question.now - item.occurred_at) / weights.fading, 0.0)
    found = {"recency": weights.recency * (1.0 - search.share) / (1.0 + age)}
    if item.importance != _MIDDLE:
        found["importance"] = weights.importance * (item.importance - _MIDDLE) / _SPAN
    if item.confidence != _MIDDLE:
        found["confidence"] = weights.confidence * (item.confidence - _MIDDLE) / _SPAN
    if item.pinned:
        found["pinned"] = weights.pinned
    if item.branch is not None and item.branch == search.question.branch:
        found["branch"] = weights.branch
    if item.feedback:
        found["feedback"] = weights.feedback * item.feedback
    return found


def _scale(signal: Signals, factor: float) -> Signals:
    for key in signal:
        signal[key] *= factor
    return signal


def _positive(cosines: Signals, factor: float) -> Signals:
    return {key: factor * cosine for key, cosine in cosines.items() if cosine > 0}


def _totals(signals: dict[str, Signals]) -> Signals:
    """Add up what the signals give to each memory."""
    first, *others = signals.values()
    totals = dict(first)
    known = totals.get
    for signal in others:
        for key, value in signal.items():
            totals[key] = known(key, 0.0) + value
    return totals


def _best(scores: Signals, count: int, search: _Search) -> list[tuple[float, str]]:
    """Give the highest of the wanted, the highest first; equals by id, the latest first."""
    known, is_wanted = search.catalogue.items, search.is_wanted
    wanted = [(score, key) for key, score in scores.items() if score > 0 and key in known]
    if is_wanted is not None:
        wanted = [row for row in wanted if is_wanted(row[1])]
    wanted.sort(reverse=True)
    return wanted[:count]


def _explain(key: str, search: _Search, signals: dict[str, Signals]) -> Ranked:
    given = {name: signal.get(key, 0.0) for name, signal in signals.items()}
    total = sum(given.values())
    lifts = {name: total * part for name, part in _standing(key, search).items()}
    explained = {name: value for name, value in (given | lifts).items() if value}
    return Ranked(memory_id=key, score=sum(explained.values()), signals=explained)
