"""Judging: which commit seems to have done a task that nobody can check.

A suggestion that is wrong costs more than one that is missing: whoever reads it has to look. So a commit has to say
nearly all that a task asks for, in the same sense, and nothing by which it is about a part, a place or a beginning of
it. How well that works is measured on labelled pairs (`benchmarks/suggesting.py`).
"""

import functools
import re
from collections.abc import Sequence

from msgspec import Struct

from protocol.tasks import Task
from sidecar.domain.conditions import Change
from sidecar.domain.endings import claims, seeking, signs
from sidecar.domain.endings.claims import Claim, Term
from sidecar.domain.enrichment.patterns import Late
from sidecar.domain.recall import words

_FEWEST, _MANY = 2, 4
"""Words without which a title says too little, and with which one of them may be left unsaid."""
_PATHS = 100
"""Paths of a commit that are read."""
_EXTRAS = 2
"""Words that a commit may have beyond those of a task."""
_OPENING = 40
"""Letters of a first line where the number of an issue stands."""
_REFERENCE = re.compile(
    r"(?<!refs )(?<!ref )(?<!see )(?<!after )(?<! of )(?<! to )(?:#|\bGH-|\b[A-Z][A-Z0-9]+-)\d+\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"(?<!not )(?<!n't )(?<!partially )(?<!partly )\b(?:fix(?:es|ed)|clos(?:e|es|ed)|resolv(?:e|es|ed)|complet(?:e|es|ed)|fix(?= #))"
    r":?\s+(?:issue |task )?((?:#|GH-)\d+|[0-9A-HJKMNP-TV-Z]{26}|[A-Z][A-Z0-9]+-\d+(?=\W*(?:$|\n|and |[,;.)])))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}|\n(?=[^\S\n]*[-*•])")
_ITEM = re.compile(r"^[^\S\n]*[-*•][^\S\n]+(\S.*)$", re.MULTILINE)
_BEGINNING = re.compile(r"(?<![^\W_])[^\W_]{3}")
_WORD = re.compile(r"[^\W_]{3,}")
_TESTED = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_|[._-](?:test|spec)s?\.|Tests?\.\w+$"
)
_DESCRIBED = re.compile(
    r"(?:^|/)(?!requirements|constraints|CMakeLists)[^/]*\.(?:md|rst|txt|adoc)$|(?:^|/)docs?/",
    re.IGNORECASE,
)
_OPPOSITES = ((signs.RISING, signs.FALLING), (signs.ENTERING, signs.LEAVING))
_ORDERS = (signs.BEFORE, signs.AFTER)


class _Heard(Struct, frozen=True, kw_only=True):
    """What can be told of a title or a message at a glance."""

    text: str
    """As much of it as is read."""
    opening: frozenset[str]
    """The numbers of issues that its first line begins with."""
    named: frozenset[str]
    """The numbers of issues in it."""
    closed: frozenset[str]
    """The numbers of issues that it closes."""
    beginnings: frozenset[str]
    """How its words begin."""


def is_done_by(task: Task, commit: Change) -> bool:
    """Tell whether a commit says that it does what a task asks for."""
    asked, said = _hear(task.title), _hear(commit.message)
    if said.closed and _closes(asked, said, task.task_id):
        return True
    if asked.opening and said.opening and asked.opening.isdisjoint(said.opening):
        return False
    wanted = _beginnings(asked.text)
    if 2 * len(wanted & said.beginnings) < len(wanted):
        return False
    return _is_done((asked.text, task.description[: seeking.READ]), said.text, commit.paths)


@functools.lru_cache(maxsize=4096)
def _hear(text: str) -> _Heard:
    text = text[: seeking.READ]
    first = seeking.without_request(seeking.subject(text))
    return _Heard(
        text=text,
        opening=frozenset(map(_number, _REFERENCE.findall(first[:_OPENING]))),
        named=frozenset(map(_number, _REFERENCE.findall(text))),
        closed=frozenset(map(_number, _CLOSED.findall(text))),
        beginnings=frozenset(_BEGINNING.findall(words.unaccent(text).lower())),
    )


@functools.lru_cache(maxsize=1024)
def _beginnings(title: str) -> frozenset[str]:
    spoken = _WORD.findall(words.unaccent(title))
    return frozenset(word[:3].lower() for word in spoken if claims.root(word))


def _closes(asked: _Heard, said: _Heard, task_id: str) -> bool:
    is_it = task_id in said.closed or not asked.named.isdisjoint(said.closed)
    return is_it and not _is_held_back(seeking.subject(said.text), asked.text)


def _number(reference: str) -> str:
    return reference.upper().replace("GH-", "#")


@functools.lru_cache(maxsize=8192)
def _is_done(asked: tuple[str, str], message: str, paths: tuple[str, ...]) -> bool:
    subject, _, body = message.partition("\n")
    title = asked[0]
    if _is_held_back(subject, title) or _holds(signs.NOTHING_DONE, body, title):
        return False
    wanted, said = claims.read(title), claims.read(subject)
    if len(wanted.terms) < _FEWEST:
        return False
    if _agrees(wanted, said, paths) and _is_said(asked, said, (_told(body, title), paths)):
        return True
    return any(_is_named(wanted, claims.read(item)) for item in _items(body, title))


def _is_held_back(subject: str, title: str) -> bool:
    is_open = _holds(signs.UNFINISHED, subject, title) or subject.rstrip().endswith("?")
    return is_open or _holds(signs.UNDOING, subject, title)


def _holds(sign: Late, text: str, title: str) -> bool:
    expected = words.unaccent(title).lower()
    return any(one.group().lower() not in expected for one in sign.finditer(words.unaccent(text)))


def _agrees(wanted: Claim, said: Claim, paths: tuple[str, ...]) -> bool:
    """Tell whether a line is about the same kind of work, in the same direction, with the same numbers."""
    is_same_lead = wanted.lead == said.lead
    return (
        wanted.says(signs.REMOVING) == said.says(signs.REMOVING)
        and wanted.says(signs.DEPRECATING) == said.says(signs.DEPRECATING)
        and wanted.leads_with(signs.UPGRADING) == said.leads_with(signs.UPGRADING)
        and wanted.leads_with(signs.IMPROVING) == said.leads_with(signs.IMPROVING)
        and wanted.leads_with(signs.RENAMING) == said.leads_with(signs.RENAMING)
        and wanted.leads_with(signs.MEASURING) == said.leads_with(signs.MEASURING)
        and (is_same_lead or wanted.leads_with(signs.TIDYING) or not said.leads_with(signs.TIDYING))
        and not (wanted.leads_with(signs.MAKING) and said.leads_with(signs.USING))
        and _is_negated(wanted) >= _is_negated(said)
        and wanted.says(signs.TESTING) == _is_of(said, signs.TESTING, (paths, _TESTED))
        and wanted.says(signs.DOCUMENTING) == _is_of(said, signs.DOCUMENTING, (paths, _DESCRIBED))
        and wanted.turns.isdisjoint((new, old) for old, new in said.turns)
        and not _is_opposed(wanted, said)
        and _is_in_order(wanted, said)
    )


def _is_opposed(wanted: Claim, said: Claim) -> bool:
    is_turned = any(_way(wanted, pair) * _way(said, pair) < 0 for pair in _OPPOSITES)
    is_away = not (wanted.reached.isdisjoint(said.left) and wanted.left.isdisjoint(said.reached))
    return is_turned or (is_away and wanted.lead in said.roots)


def _way(claim: Claim, pair: tuple[Late, Late]) -> int:
    """Tell which of two opposites is said: the first (1) or the other (-1); 0 where it is neither or both."""
    first, other = pair
    return claim.says(first) - claim.says(other)


def _is_in_order(wanted: Claim, said: Claim) -> bool:
    asked, told = _way(wanted, _ORDERS), _way(said, _ORDERS)
    if not asked or not told:
        return True
    place = _ORDERS[told < 0].search(said.text)
    begin = said.text[: place.start()] if place else ""
    return claims.read(f"{said.type}: {begin}").has(wanted.terms[0]) == (asked == told)


def _is_negated(claim: Claim) -> bool:
    return claim.says(signs.NEGATING) or claim.says(signs.FIXING)


def _is_of(said: Claim, sign: Late, place: tuple[tuple[str, ...], re.Pattern[str]]) -> bool:
    """Tell whether a commit is all about tests, or documents: it says so, or touches nothing else."""
    paths, where = place
    text = signs.WITH_TESTS.sub("", f"{said.type}: {said.text}")
    return bool(sign.search(text)) or (bool(paths) and all(map(where.search, paths)))


def _is_said(asked: tuple[str, str], said: Claim, around: tuple[Claim, tuple[str, ...]]) -> bool:
    """Tell whether a commit says what is asked, and no more than that."""
    wanted, known, (body, paths) = claims.read(asked[0]), claims.join(asked), around
    extras = claims.extras(said, known)
    more = extras.count
    if extras.is_confined or more > _EXTRAS or (more and _is_mended(wanted, said)):
        return False
    if extras.is_head and body.lead != wanted.lead:
        return False
    if not (wanted.numbers <= said.numbers | body.numbers and said.numbers <= known.numbers):
        return False
    unsaid = [term for term in wanted.terms if not said.has(term)]
    if len(wanted.terms) == _FEWEST:
        return not unsaid and more < _EXTRAS
    if _is_another(wanted, unsaid, more) or (more and _does_another(wanted, unsaid, body)):
        return False
    where = claims.join(() if more else paths[:_PATHS])
    missing = [term for term in unsaid if not body.has(term) and not where.has(term)]
    return not missing or (not more and _is_terse(wanted, said, missing))


def _is_mended(wanted: Claim, said: Claim) -> bool:
    """Tell whether something is mended that is asked for anew: it was there before."""
    return said.leads_with(signs.FIXING) and not wanted.says(signs.FIXING)


def _is_another(wanted: Claim, unsaid: Sequence[Term], more: int) -> bool:
    things = [term for term in unsaid if term is not wanted.terms[0]]
    return 2 * len(unsaid) > len(wanted.terms) or (more > 1 and bool(things))


def _does_another(wanted: Claim, unsaid: Sequence[Term], body: Claim) -> bool:
    return wanted.terms[0] in unsaid and body.lead != wanted.lead


def _is_terse(wanted: Claim, said: Claim, missing: Sequence[Term]) -> bool:
    is_little = len(missing) == 1 and len(wanted.terms) >= _MANY and not wanted.says(signs.JOINING)
    return is_little and not claims.has_foreign_scope(said, wanted)


def _is_named(wanted: Claim, said: Claim) -> bool:
    extras = claims.extras(said, wanted)
    is_whole = len(wanted.terms) > _FEWEST and all(map(said.has, wanted.terms))
    is_whole &= wanted.numbers == said.numbers
    is_other = extras.is_confined or extras.is_head or extras.count >= _EXTRAS
    return is_whole and not is_other and _agrees(wanted, said, ())


def _items(body: str, title: str) -> list[str]:
    return [] if _holds(signs.LEFT_OPEN, body, title) else _ITEM.findall(body)


def _told(body: str, title: str) -> Claim:
    sentences = (one for one in _SENTENCE.split(body) if not _holds(signs.LEFT_OPEN, one, title))
    return claims.join(sentences)
