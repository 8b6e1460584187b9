"""Headlines: a session named in one phrase, and what was done told in a few."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sidecar.domain.enrichment import wording
from sidecar.domain.enrichment.messages import Kind
from sidecar.domain.enrichment.patterns import late, words
from sidecar.domain.enrichment.works import SUBSTANCE, Work

_TITLE = 110
_MOST = 5
_FEW = 3
_LONGEST = 140
_DETAIL = 220
_PREFIX = 3
"""Words with which commits of one kind begin."""
_SIMILAR = 2
_TELLING = 3
"""Words of a headline that says something."""
_VERBS = words(
    "accept add adjust adopt align allow annotate apply ask avoid backport bind blink block build bundle cache call cap catch change check choose clarify clean clear close collect compare compress configure connect convert copy correct count cover create cut decode decorate deduplicate defer define delay delete deploy deprecate derive detect disable display document download draw drop dump embed emit enable encode encrypt enforce ensure escape evict exclude expand expire explain export expose extend extract fail fetch filter find fix flush fold follow forbid force format freeze fuzz generate give group guard handle hide highlight host ignore implement import improve include increase index inherit initialise initialize inject inline insert install introduce invalidate isolate join jump keep kill launch let lift limit link list load lock log lower mail make map mark match measure merge migrate mock monitor move name normalise normalize notify omit open optimise optimize order overwrite paginate parse pass patch pick pin poll port prefer prefetch prepare preserve prevent print process profile prompt propagate protect provide prune publish pull push put queue quote raise rank read rebuild record redact redirect reduce refactor refresh refuse register reject release reload relax remember remind remove rename render reorder repair replace report request require reset resolve respect restart restore restrict retire retry return reuse revert rewrite rework ring rotate round route run save scan schedule scroll search select send separate serialise serialize serve set share ship show sign silence simplify skip sort speed spell split stop store stream strip style subscribe support suppress surface survive switch sync tag take teach test throttle tidy tighten time tolerate trace track translate treat trim truncate try turn unify unpin unwrap update upgrade upload use validate vendor verify warn watch wire wrap write"
)
_ENDING = re.compile(r"(?:(?P<twin>[bdglmnprt])(?P=twin)ed|ied|ed|d|es|s)$")
_PREPOSITION = late(
    r"(?:of|to|for|in|on|with|when|if|by|from|as|at|and|or|while|after|before|without|that|than|into|is|are|not)\b",
    re.IGNORECASE,
)
_REST: dict[Kind, str] = {
    "docs": "documentation",
    "tests": "tests",
    "upkeep": "upkeep",
    "fix": "small fixes",
}


def named(told: Sequence[Work], works: Sequence[Work]) -> str:
    """Name a session by its main work, and by what goes along with it if there is room."""
    first = wording.title(told[0].headline)
    similar = _similar(told[0], works)
    if similar >= _SIMILAR:
        return f"{wording.clipped(first, _TITLE - 25)} and {similar} similar changes"
    weighty = [work for work in told[1:] if work.weight >= SUBSTANCE]
    both = _both(first, weighty[0].headline) if weighty and " and " not in first else None
    return both if both and len(both) <= _TITLE else first


def shown(told: Sequence[Work]) -> list[Work]:
    """Choose the works that are told by name: those of substance, if there are any."""
    telling = [work for work in told if len(work.headline.split()) >= _TELLING or work is told[0]]
    weighty = [work for work in telling if work.weight >= SUBSTANCE]
    return telling[: min(_MOST, max(_FEW, len(weighty)))]


def done(shown: Sequence[Work], works: Sequence[Work]) -> Iterator[str]:
    """Tell the main work first, then what else was done, and what the rest was about."""
    first, *others = (wording.clipped(wording.capital(work.headline), _LONGEST) for work in shown)
    yield wording.sentence(first)
    if len(works) == 1 and shown[0].detail:
        yield wording.sentence(wording.clipped(shown[0].detail, _DETAIL))
    if others:
        yield f"Also: {'; '.join(other.rstrip(' .') for other in others)}."
    rest = [work for work in works if work not in shown]
    if len(rest) > 1:
        kinds = Counter(_kind(work) for work in rest)
        yield f"{len(rest)} more commits: {', '.join(name for name, _ in kinds.most_common(3))}."


def _kind(work: Work) -> str:
    return _REST.get(work.kind, "smaller changes") if work.weight else "upkeep"


def _similar(main: Work, works: Sequence[Work]) -> int:
    """Count the other commits that begin with the same words."""
    begin = main.headline.casefold().split()[:_PREFIX]
    alike = [work for work in works if work.headline.casefold().split()[:_PREFIX] == begin]
    return len(alike) - 1 if len(begin) == _PREFIX else 0


def _both(first: str, second: str) -> str | None:
    """Join two headlines; what both begin with is said once, and only a verb is written small."""
    mine, theirs = first.split(), second.split()
    if not (_is_verb(mine[0]) and _is_verb(theirs[0])):
        return None
    same = 0
    while same < min(len(mine), len(theirs)) - 1 and mine[same].lower() == theirs[same].lower():
        same += 1
    while same and _PREPOSITION.match(theirs[same]):
        same -= 1
    rest = " ".join(theirs[same:])
    return f"{first} and {rest if same else rest[:1].lower() + rest[1:]}"


def _is_verb(word: str) -> bool:
    plain = word.lower()
    bare = _ENDING.sub(lambda ending: ending["twin"] or "", plain)
    return bool({plain, bare, f"{bare}e", f"{bare}y"} & _VERBS) or plain == "made"
