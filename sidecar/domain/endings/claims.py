"""Claims: what a task's title asks for and what a line of a commit says, in a form in which they can be compared."""

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from sidecar.domain.endings import signs
from sidecar.domain.enrichment import patterns
from sidecar.domain.enrichment.patterns import Late
from sidecar.domain.recall import words

_PREFIX = re.compile(r"\W*(?P<type>[\w/. -]{1,30}?)(?:\((?P<scope>[^)]{1,40})\))?!?:\s+")
_NUMBERED = re.compile(r"\(?(?:\b[Gg][Hh]-|#)\d+\)?|^\W*[A-Z][A-Z0-9]+-\d+\b")
_CHUNK = re.compile(r"\w+(?:[-_./'+]\w+)*")
_PART = re.compile(r"\d+(?:\.\d+)+|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SUFFIX = re.compile(r"(?<=\w{4})(?:li|ung|en|er|em|es|os|as|e|n|s|o|a|i)$")
_PARTICIPLE = re.compile(r"^ge(\w{5,})t$")
"""German: gespeichert, speichern."""
_EXTENSIONS = patterns.words("js ts py rb go rs md json yml yaml css html")
_TYPES = patterns.words(
    "feat feature fix bugfix hotfix docs doc test tests refactor perf chore ci build style i18n a11y ui web"
)
_ASIDE = re.compile(
    r"[,;(\u2013\u2014].*|\b(?:with|by|using|via|through|because|since|after|thanks to|mit|durch|avec|mediante|instead of|rather than"
    r"|statt|au lieu|en lugar)\b.*",
    re.IGNORECASE,
)
"""Where a line goes on with how or why, not with what."""
_PLACE = re.compile(
    r"\b(?:in|for|of|on|at|within|inside|under|to|from|im|in der|bei|fur|dans|pour|sur|en|para|de|del)\s+"
    r"(?:(?:the|a|an|all|our|der|die|das|den|le|la|les|el|los|las)\s+)?([\w.-]+)(?:\s+([\w.-]+))?",
    re.IGNORECASE,
)
_THING = r"\s+(?:(?:the|a|an|our|der|die|das|den|dem|le|la|les|el|los|las)\s+)?([\w.-]+)(?:\s+([\w.-]+))?"
_REACHED = re.compile(
    rf"\b(?:to|into|onto|with|nach|mit|vers|avec|hacia|con){_THING}", re.IGNORECASE
)
_LEFT = re.compile(
    rf"\b(?:from|off(?:\s+of)?|out\s+of|without|von|vom|aus|ohne|depuis|sans|desde|sin){_THING}",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"(?<![\w.-])([\w.-]+)\s+(?:back\s+)?(?:to|auf|into|nach|vers|->|→)\s+(?:the\s+|in\s+)?([\w.-]+)",
    re.IGNORECASE,
)
_SWAPPED = re.compile(
    r"(?<![\w.-])([\w.-]+)(?:\s+\w+)?\s+(?:instead of|rather than|statt|anstelle von|au lieu de|en lugar de)\s+"
    r"(?:in\s+|mit\s+|the\s+)?([\w.-]+)",
    re.IGNORECASE,
)
_REPLACED = re.compile(r"replac\w+\s+([\w.-]+)\s+(?:with|by)\s+([\w.-]+)", re.IGNORECASE)

_EMOJI = re.compile(r":\w+:")
_GENERAL = (
    *(signs.ADDING, signs.FIXING, signs.REMOVING, signs.UPGRADING),
    *(signs.TESTING, signs.DOCUMENTING, signs.IMPROVING),
)


class Term(Struct, frozen=True):
    """A word that counts, however it is written."""

    parts: tuple[str, ...]
    """The roots of its parts: `e-mail` has two."""
    forms: frozenset[str]
    """Itself and its neighbours as one word, for those who write it so."""


class Claim(Struct, frozen=True, kw_only=True):
    """What a line asks for or says."""

    text: str
    """The line in plain letters, without what stands before its colon."""
    type: str
    """What stands before its colon."""
    lead: str
    """The root of its first word."""
    terms: tuple[Term, ...]
    """The words that count, those before the colon too."""
    roots: frozenset[str]
    """The roots of all its words."""
    forms: frozenset[str]
    """All its words, and each with the next as one."""
    numbers: frozenset[str]
    turns: frozenset[tuple[str, str]]
    """What becomes what."""
    reached: frozenset[str]
    """What something is brought to, or given."""
    left: frozenset[str]
    """What something is taken away from, or has not."""

    def has(self, term: Term) -> bool:
        """Tell whether a word is said here."""
        return self.roots.issuperset(term.parts) or not self.forms.isdisjoint(term.forms)

    def says(self, sign: Late) -> bool:
        """Tell whether a sign stands anywhere."""
        return sign.search(f"{self.type}: {self.text}") is not None

    def leads_with(self, sign: Late) -> bool:
        """Tell whether it begins with a sign, or is of that type."""
        return any(sign.match(one) is not None for one in (self.type, self.text))


@functools.lru_cache(maxsize=4096)
def read(line: str) -> Claim:
    """Read a line."""
    plain = _NUMBERED.sub(" ", _EMOJI.sub(" ", words.unaccent(line))).strip()
    prefix = _PREFIX.match(plain)
    before = " ".join(filter(None, prefix.group("type", "scope"))) if prefix else ""
    text = plain[prefix.end() :] if prefix else plain
    spoken = list(_spoken(f"{before} {text}"))
    parts = [part for chunk in spoken for part in chunk]
    reached, left = _things(_REACHED, text), _things(_LEFT, text)
    return Claim(
        text=text,
        type=before,
        lead=next((root(chunk[0]) for chunk in _spoken(text)), ""),
        terms=tuple({term.parts: term for term in _terms(spoken)}.values()),
        roots=frozenset(filter(None, map(root, parts))),
        forms=_forms(spoken),
        numbers=frozenset(_NUMBER.findall(text)),
        turns=frozenset(_turns(text)),
        reached=reached - left,
        left=left - reached,
    )


class Extras(Struct, frozen=True):
    """What a line has beyond what is known."""

    count: int
    """How many words."""
    is_confined: bool
    """They confine it to a place."""
    is_head: bool
    """It begins with them: it is about something else, and what is known only tells more of that."""


def extras(said: Claim, known: Claim) -> Extras:
    """Tell what a line has beyond what is known, up to where it goes on with how or why."""
    text = _ASIDE.sub("", said.text)
    terms = list(_terms(list(_spoken(text))))
    new = [term for term in terms if not known.has(term)]
    parts = {part for term in new for part in term.parts}
    places = _things(_PLACE, text)
    is_head = bool(new) and new[0] is terms[0]
    return Extras(len(parts), not parts.isdisjoint(places), is_head)


def has_foreign_scope(said: Claim, known: Claim) -> bool:
    """Tell whether a line names a part of the work that the other does not know."""
    chunks = [chunk for chunk in _spoken(said.type) if "".join(chunk).lower() not in _TYPES]
    return any(not known.has(term) for term in _terms(chunks))


def join(lines: Iterable[str]) -> Claim:
    """Read several lines as one."""
    return read("\n".join(lines))


@functools.lru_cache(maxsize=16_384)
def root(word: str) -> str:
    """Give what the forms of a word have in common, in English and nearly so in its neighbours; small words have none."""
    if word.lower() in signs.SMALL:
        return ""
    word = _PARTICIPLE.sub(r"\1", word)
    return _SUFFIX.sub("", _SUFFIX.sub("", next(iter(words.count(word)), "")))


def _spoken(text: str) -> Iterator[list[str]]:
    for chunk in _CHUNK.findall(text):
        parts = _PART.findall(chunk)
        kept = [part for part in parts if part.lower() not in _EXTENSIONS] if parts[1:] else parts
        if kept:
            yield kept


def _terms(spoken: list[list[str]]) -> Iterator[Term]:
    joined = ["".join(chunk).lower() for chunk in spoken]
    for at, chunk in enumerate(spoken):
        roots = tuple(filter(None, map(root, chunk)))
        if roots and not _is_general("".join(chunk)):
            around = joined[max(at - 1, 0) : at + 2]
            pairs = {first + second for first, second in pairwise(around)}
            yield Term(roots, frozenset({joined[at], *pairs} if len(joined[at]) > 1 else pairs))


def _forms(spoken: list[list[str]]) -> frozenset[str]:
    flat = [part.lower() for chunk in spoken for part in chunk]
    joined = ["".join(chunk).lower() for chunk in spoken]
    pairs = (first + second for first, second in pairwise(flat))
    return frozenset((*joined, *pairs))


def _is_general(word: str) -> bool:
    return any(sign.pattern.fullmatch(word) for sign in _GENERAL)


def _things(pattern: "re.Pattern[str]", text: str) -> frozenset[str]:
    found = (word for pair in pattern.findall(text) for word in pair if word)
    return frozenset(filter(None, map(root, found)))


def _turns(text: str) -> Iterator[tuple[str, str]]:
    for pattern in (_TURNED, _REPLACED):
        yield from ((root(old), root(new)) for old, new in pattern.findall(text))
    yield from ((root(old), root(new)) for new, old in _SWAPPED.findall(text))
