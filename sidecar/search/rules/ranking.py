"""Rank memories for a question, and explain the score."""

import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from protocol.memories import MemoryType
from sidecar.search.rules import catalogues, words
from sidecar.search.rules.catalogues import REFUSED, Catalogue, Moment
from sidecar.search.rules.similarities import Filter, Similarities


class Weights(Struct, frozen=True, kw_only=True):
    """How much each signal counts; the defaults are the measured ones."""

    words: float = 1.0
    """The share of a question's words that a memory has: the measure of all others."""
    similarity: float = 2.0
    """Cosines of good answers are about 0.5 and lie close together, shares of words about 0.75: this makes them even."""
    least_meaning: float = 0.35
    """How much meaning counts beside words when keywords are given: commit subjects are found better by their
    words (0.21) than by their meaning (0.16)."""
    most_meaning: float = 0.95
    """The same for a question in whole sentences: other words are found by meaning (0.92), not by words (0.25)."""
    named_meaning: float = 0.5
    """The same for a question that names code, which embeddings hardly know: half and half."""
    keywords: float = 0.1
    """The share of small words up to which a text counts as keywords; subjects have 0.0 to 0.25."""
    steepness: float = 2.5
    """How fast meaning gains with the share of small words beyond that; questions have 0.3 to 0.6."""
    files: float = 1.6
    """A memory of the open file comes before all but the best matches: 0.27 becomes 0.40."""
    files_lost: float = 0.8
    """The part of this that meaning takes over: a whole question says itself what it is about."""
    changed_file: float = 0.7
    """A file of the current diff beside the open one: also at hand, but maybe of another errand."""
    company: float = 2.0
    """What shares files with the best answers often answers, too: 0.22 becomes 0.27."""
    company_with_files: float = 1.0
    """The same where files at hand say it better."""
    links: float = 0.5
    """What is linked with a good answer: where earlier commits were linked with what they built on, 0.25 becomes 0.26,
    with the open file 0.39 becomes 0.40; as many links drawn by lot cost 0.001. 0.8 gains twice that, and costs 0.008."""
    recency: float = 0.8
    """What is new gains this part of what meaning leaves over: about half for keywords, next to nothing for a whole
    question, whose answer may be of any age. More helps one project and harms another."""
    fading: timedelta = timedelta(days=180)
    """The age at which half of this is gone."""
    importance: float = 0.2
    """What the best grade adds and the worst takes away: it parts equals and outranks no answer."""
    confidence: float = 0.1
    pinned: float = 0.5
    """As much as being new: who pins a memory wants it to stay as near as on its first day."""
    branch: float = 0.1
    feedback: float = 0.3
    """What always being useful adds, and never being useful takes away."""
    nothing_asked: float = 0.3
    """What each memory has when no text is given, so that its standing decides."""


MEASURED = Weights()


GOOD = 15
"""Answers whose company is looked for; their scores are cubed, so that the first few decide."""
_MIDDLE, _SPAN = 3, 2
_SPARE = 10
"""Candidates per wanted answer that are looked at closely, after the signals of the question."""

_NEAREST, _LIKELIEST = 150, 300
"""Memories that come into question by their meaning and by their words."""
_UNRELATED = 0.15
"""The cosine up to which texts have nothing to do with each other: nonsense reaches that, one right answer in thirty
that has no word of its question stays below."""

_REST = 1e-6
"""What is left of the score of a memory that was refused: it is found, after all others."""
_MICROSECOND = timedelta(microseconds=1)

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
    linked: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Which memories somebody has linked with each other."""
    filed: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Which memories somebody has linked with a file."""


class Ranked(Struct, frozen=True, kw_only=True):
    """A memory with its score, and what each signal gave to it; the signals add up to the score."""

    memory_id: str
    score: float
    signals: Signals


class Group(Struct, frozen=True, kw_only=True):
    """Memories of some types of which the best are wanted."""

    types: frozenset[MemoryType]
    least_importance: int = 1
    limit: int

    def takes(self, kind: MemoryType, importance: int, feedback: float) -> bool:
        """Tell whether memories like this belong to it; what was refused does not."""
        return kind in self.types and importance >= self.least_importance and feedback > REFUSED


def rank(
    catalogue: Catalogue,
    question: Question,
    similarities: Similarities | None = None,
    *,
    is_wanted: Filter | None = None,
    weights: Weights = MEASURED,
) -> list[Ranked]:
    """Give the best memories, best first; equals are ordered by id, the latest first."""
    search = _search(catalogue, question, similarities, weights)._replace(is_wanted=is_wanted)
    signals = _asked(search) if search.is_asked else _unasked(search, _newest(search))
    totals = _totals(signals)
    count = max(_SPARE * question.limit, _NEAREST) if search.is_asked else len(totals)
    keys = _lifted(_best(totals, count, search), search)
    return [_explain(key, search, signals) for key in keys[: question.limit]]


def pick(
    catalogue: Catalogue,
    question: Question,
    similarities: Similarities | None,
    groups: Mapping[str, Group],
) -> dict[str, list[Ranked]]:
    """Give the best memories of each group, ranked at one go; the question's own limit does not count."""
    search = _search(catalogue, question, similarities, MEASURED)
    if search.is_asked:
        signals = _asked(search)
    else:
        kinds = _kinds(catalogue)
        newest = (key for group in groups.values() for key in _newest_of(search, group, kinds))
        signals = _unasked(search, newest)
    totals = _totals(signals)
    best = _best(totals, len(totals), search._replace(is_wanted=_any_takes(catalogue, groups)))
    own = _divided(catalogue, groups, _lifted(best, search))
    return {name: _share(search, group, own[name], signals) for name, group in groups.items()}


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
    weights: Weights
    is_asked: bool
    share: float
    """How much meaning counts beside words."""
    now: int
    fading: float
    branch: int
    is_wanted: Filter | None = None


def _search(
    catalogue: Catalogue, question: Question, similarities: Similarities | None, weights: Weights
) -> _Search:
    is_asked = bool(question.text.strip())
    return _Search(
        catalogue=catalogue,
        question=question,
        similarities=similarities,
        weights=weights,
        is_asked=is_asked,
        share=meaning(question.text, weights) if is_asked else 0.0,
        now=catalogues.microseconds(question.now),
        fading=weights.fading / _MICROSECOND,
        branch=catalogues.branch_key(question.branch),
    )


_Kind = tuple[MemoryType, int, float]
"""All of a memory that decides to which groups it belongs."""


def _takers(catalogue: Catalogue, groups: Mapping[str, Group]) -> Callable[[str], tuple[str, ...]]:
    """Make what names the groups of a memory; of each kind it is asked once."""
    known = catalogue.traits
    takers: dict[_Kind, tuple[str, ...]] = {}

    def find(key: str) -> tuple[str, ...]:
        one = known.get(key)
        if one is None:
            return ()
        kind = (one.type, one.importance, one.feedback)
        found = takers.get(kind)
        if found is None:
            found = tuple(name for name, group in groups.items() if group.takes(*kind))
            takers[kind] = found
        return found

    return find


def _any_takes(catalogue: Catalogue, groups: Mapping[str, Group]) -> Filter:
    find = _takers(catalogue, groups)
    return lambda key: bool(find(key))


def _divided(
    catalogue: Catalogue, groups: Mapping[str, Group], keys: Iterable[str]
) -> dict[str, list[str]]:
    """Give each group its own of all that was ranked, as many as it wants."""
    find = _takers(catalogue, groups)
    own: dict[str, list[str]] = {name: [] for name in groups}
    for key in keys:
        for name in find(key):
            if len(own[name]) < groups[name].limit:
                own[name].append(key)
    return own


def _kinds(catalogue: Catalogue) -> dict[_Kind, list[list[Moment]]]:
    """Put together the grades of each kind."""
    kinds: dict[_Kind, list[list[Moment]]] = {}
    for grade, moments in catalogue.grades().items():
        kinds.setdefault((grade[0], grade[1], grade[-1]), []).append(moments)
    return kinds


def _share(
    search: _Search, group: Group, own: Sequence[str], signals: dict[str, Signals]
) -> list[Ranked]:
    """Explain a group's own of all that was ranked."""
    if search.is_asked and len(own) < group.limit and len(search.catalogue.traits) > _NEAREST:
        # Others matched so much better that not all of this group's matches were looked at.
        question = msgspec.structs.replace(search.question, limit=group.limit)
        is_own = _any_takes(search.catalogue, {"": group})
        return rank(search.catalogue, question, search.similarities, is_wanted=is_own)
    return [_explain(key, search, signals) for key in own]


def _asked(search: _Search) -> dict[str, Signals]:
    """Give what each signal of the question gives to each memory it speaks for."""
    similarities, factor = search.similarities, search.weights.similarity * search.share
    found: dict[str, Signals] = {"words": _words(search), "meaning": {}}
    if similarities:
        near = similarities.best(_NEAREST, search.is_wanted) | similarities.of(found["words"])
        found["meaning"] = _positive(near, factor)
    beside = {"company": _company(search, found), "links": _linked(search, found)}
    found |= beside | {"files": _files(search)}
    if similarities:
        late = {key for name in (*beside, "files") for key in found[name]} - found["meaning"].keys()
        found["meaning"] |= _positive(similarities.of(late), factor)
    return found


def _unasked(search: _Search, newest: Iterable[str]) -> dict[str, Signals]:
    """Let memories stand for themselves where nothing is asked, beside those of the files at hand."""
    near = _files(search)
    equal = dict.fromkeys((*newest, *near), search.weights.nothing_asked)
    return {"files": near, "standing": equal}


def _newest(search: _Search) -> Iterator[str]:
    """Name the wanted memories that stand best by themselves."""
    grades = search.catalogue.grades()
    if search.is_wanted is None:
        return _merge(search, grades.values(), search.question.limit)
    wanted = (
        [moment for moment in moments if search.is_wanted(moment[1])] for moments in grades.values()
    )
    return _merge(search, wanted, search.question.limit)


def _newest_of(
    search: _Search, group: Group, kinds: Mapping[_Kind, list[list[Moment]]]
) -> Iterator[str]:
    """Name the memories of a group that stand best by themselves."""
    own = (moments for kind, some in kinds.items() if group.takes(*kind) for moments in some)
    return _merge(search, own, group.limit)


def _merge(search: _Search, grades: Iterable[list[Moment]], count: int) -> Iterator[str]:
    """Name the best of all grades: within one the newest is the best, so only the newest are held against each other."""
    rows = [
        (_factor(moments[-1][1], search), moments[-1][1], len(moments) - 1, moments)
        for moments in grades
        if moments
    ]
    rows.sort()
    while rows and count:
        _, key, place, moments = rows.pop()
        count -= 1
        yield key
        if place:
            following = moments[place - 1][1]
            bisect.insort(rows, (_factor(following, search), following, place - 1, moments))


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


def _linked(search: _Search, found: dict[str, Signals]) -> Signals:
    """Give what is linked with good answers a part of what these have, the more the better they are."""
    linked = search.question.linked
    best = _best(_totals(found), GOOD, search) if linked else []
    gained: Signals = {}
    for score, key in best:
        part = search.weights.links * score**3 / best[0][0] ** 2
        for near in linked.get(key, ()):
            gained[near] = max(gained.get(near, 0.0), part)
    return gained


def _files(search: _Search) -> Signals:
    near = search.catalogue.places.near(_at_hand(search))
    for path, weight in _at_hand(search).items():
        # Whoever links a memory with a file says that it speaks of that file.
        linked = search.catalogue.traits.keys() & search.question.filed.get(path, ())
        near |= {key: max(near.get(key, 0.0), weight) for key in linked}
    return _scale(near, search.weights.files * (1.0 - search.weights.files_lost * search.share))


def _at_hand(search: _Search) -> dict[str, float]:
    question = search.question
    found = dict.fromkeys(question.changed_files, search.weights.changed_file)
    return found | ({question.open_file: 1.0} if question.open_file else {})


def _factor(key: str, search: _Search) -> float:
    """Tell by how much a memory's standing multiplies what it has from the question.

    It adds up what `_standing` gives, in the same order, without naming it: this is asked of hundreds.
    """
    traits, weights = search.catalogue.traits[key], search.weights
    age = max((search.now - traits.occurred) / search.fading, 0.0)
    lift = weights.recency * (1.0 - search.share) / (1.0 + age)
    if traits.importance != _MIDDLE:
        lift += weights.importance * (traits.importance - _MIDDLE) / _SPAN
    if traits.confidence != _MIDDLE:
        lift += weights.confidence * (traits.confidence - _MIDDLE) / _SPAN
    if traits.pinned:
        lift += weights.pinned
    if traits.branch and traits.branch == search.branch:
        lift += weights.branch
    if traits.feedback <= REFUSED:
        lift -= (1.0 + lift) * (1.0 - _REST)
    elif traits.feedback:
        lift += weights.feedback * traits.feedback
    return 1.0 + lift


def _standing(key: str, search: _Search) -> Signals:
    """Tell by what part each trait of a memory raises or lowers what it has from the question."""
    traits, weights = search.catalogue.traits[key], search.weights
    age = max((search.now - traits.occurred) / search.fading, 0.0)
    found = {"recency": weights.recency * (1.0 - search.share) / (1.0 + age)}
    if traits.importance != _MIDDLE:
        found["importance"] = weights.importance * (traits.importance - _MIDDLE) / _SPAN
    if traits.confidence != _MIDDLE:
        found["confidence"] = weights.confidence * (traits.confidence - _MIDDLE) / _SPAN
    if traits.pinned:
        found["pinned"] = weights.pinned
    if traits.branch and traits.branch == search.branch:
        found["branch"] = weights.branch
    if traits.feedback <= REFUSED:
        found["feedback"] = -(1.0 + sum(found.values())) * (1.0 - _REST)
    elif traits.feedback:
        found["feedback"] = weights.feedback * traits.feedback
    return found


def _lifted(best: Iterable[tuple[float, str]], search: _Search) -> list[str]:
    """Order by score and standing together, the best first; what was refused comes last."""
    known = search.catalogue.traits
    rows = [
        (known[key].feedback > REFUSED, score * _factor(key, search), key) for score, key in best
    ]
    rows.sort(reverse=True)
    return [key for _, _, key in rows]


def _scale(signal: Signals, factor: float) -> Signals:
    for key in signal:
        signal[key] *= factor
    return signal


def _positive(cosines: Signals, factor: float) -> Signals:
    return {key: factor * cosine for key, cosine in cosines.items() if cosine > _UNRELATED}


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
    known, is_wanted = search.catalogue.traits, search.is_wanted
    wanted = [(score, key) for key, score in scores.items() if score > 0 and key in known]
    if is_wanted is not None:
        wanted = [row for row in wanted if is_wanted(row[1])]
    wanted.sort(reverse=True)
    return wanted[:count]


def _explain(key: str, search: _Search, signals: dict[str, Signals]) -> Ranked:
    explained = {name: value for name, signal in signals.items() if (value := signal.get(key))}
    total = sum(explained.values())
    for name, part in _standing(key, search).items():
        if lift := total * part:
            explained[name] = lift
    return Ranked(memory_id=key, score=sum(explained.values()), signals=explained)
