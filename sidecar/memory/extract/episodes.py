"""Episodes: what a session was about, in a few sentences for whoever comes next."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from protocol.events import Event, FileChange
from protocol.memories import Evidence, MemoryType
from sidecar.memory.extract import merging, places
from sidecar.memory.extract.merging import Found, Kept
from sidecar.memory.extract.messages import Kind
from sidecar.memory.extract.works import SUBSTANCE, Work
from sidecar.memory.rules.drafts import Draft
from sidecar.text import statements, wording
from sidecar.text.patterns import late, words

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


def show(told: Sequence[Work]) -> list[Work]:
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


LONGEST = 600
_ACTIVITIES = 5
"""Below this many, only a commit of substance makes a summary."""
_HEADLINES = 5
_SAME = 0.7
_AREA = 4
"""Files of one area that make saves without a commit worth a word."""


def tell(session: Sequence[Found], kept: Sequence[Kept]) -> Draft | None:
    """Tell what a session was about; nothing where nothing of substance happened."""
    gone = merging.undone(session)
    works = [
        one.work
        for at, one in enumerate(session)
        if one.work and one.event.event_id not in gone and not merging.taken_back(one, session[:at])
    ]
    told = _distinct(works)
    if not _is_worth(told, session):
        return _saved(session) if not works else None
    taken_back = [one.work for one in session if one.work and one.event.event_id in gone]
    main = told[0]
    content = wording.clipped(" ".join(_content(told, works, kept, taken_back)), LONGEST)
    events = [work.event for work in told[:_HEADLINES]]
    return Draft(
        type="episodic",
        title=named(told, works),
        content=content,
        importance=3 if main.weight > SUBSTANCE else 2,
        confidence=4,
        entities=statements.found(" ".join(work.headline for work in told[:_HEADLINES])),
        files=places.relevant(_changes([work.event for work in works]), main.headline),
        tags=_tags(works),
        agent_id=next((event.agent_id for event in events if event.agent_id), None),
        branch=next((e.commit.branch for e in events if e.commit and e.commit.branch), None),
        evidence=tuple(
            Evidence(
                quote=work.quote,
                commit_sha=work.event.commit.sha if work.event.commit else None,
                event_id=work.event.event_id,
            )
            for work in told[:_HEADLINES]
        ),
    )


def _distinct(works: Sequence[Work]) -> list[Work]:
    """Order works by weight, near-identical ones once, and leave out those that say nothing."""
    told: dict[frozenset[str], Work] = {}
    for work in sorted(works, key=_rank):
        mine = merging.words(work.headline) if work.weight else frozenset()
        if work.weight and not any(_is_alike(mine, known) for known in told):
            told[mine] = work
    return list(told.values())


def _rank(work: Work) -> tuple[int, int, datetime, str]:
    return -work.weight, -len(work.event.files), work.event.occurred_at, work.event.event_id


def _is_alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return len(mine & theirs) >= _SAME * max(1, min(len(mine), len(theirs)))


def _is_worth(told: Sequence[Work], session: Sequence[Found]) -> bool:
    if not told:
        return False
    is_light = told[0].weight < SUBSTANCE and len(told) == 1 and not told[0].detail
    return not is_light or _activities(session) >= _ACTIVITIES


def _activities(session: Sequence[Found]) -> int:
    """Count what was done or said; a text that holds nothing of anybody's is no activity."""
    return sum(one.event.kind != "capture" or bool(one.said) for one in session)


def _content(
    told: Sequence[Work], works: Sequence[Work], kept: Sequence[Kept], taken_back: Sequence[Work]
) -> Iterator[str]:
    """Brief whoever was away: what was done, decided, left open, and where."""
    shown = show(told)
    yield from done(shown, works)
    yield from _listed("Decided", _decided(kept, shown))
    yield from _listed("Left open", _titles(kept, "task", shown))
    yield from _listed("To respect", _titles(kept, "constraint", shown)[:2])
    yield from _listed("Learned", _titles(kept, "fact", shown)[:1])
    yield from _listed("Tried and reverted", [work.headline for work in taken_back][:2])
    areas = places.areas(change.path for work in works for change in work.event.files)
    if areas:
        yield f"Mainly in {' and '.join(areas)}."


def _listed(name: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"{name}: {'; '.join(item.rstrip(' .') for item in items)}."


def _decided(kept: Sequence[Kept], shown: Sequence[Work]) -> list[str]:
    """List what was decided, each with its reason; a headline without one is told already."""
    said = {wording.title(work.headline) for work in shown}
    found = [one.finding for one in kept if one.finding.type == "decision"]
    telling = [one for one in found if one.rationale or one.title not in said]
    ordered = sorted(telling, key=merging.rank, reverse=True)[:2]
    return [wording.reasoned(one.title, one.rationale) for one in ordered]


def _titles(kept: Sequence[Kept], kind: MemoryType, shown: Sequence[Work]) -> list[str]:
    """List what was found of one type, without what the headlines say already."""
    said = {wording.title(work.headline) for work in shown}
    found = [one.finding for one in kept if one.finding.type == kind]
    ordered = sorted(found, key=merging.rank, reverse=True)
    return [wording.clipped(one.title, 110) for one in ordered if one.title not in said][:3]


def _tags(works: Sequence[Work]) -> tuple[str, ...]:
    scopes = dict.fromkeys(work.scope for work in works if work.scope)
    paths = [change.path for work in works for change in work.event.files]
    return tuple(dict.fromkeys([*scopes, *places.areas(paths)]))[:5]


def _changes(events: Sequence[Event]) -> list[FileChange]:
    return list({change.path: change for event in events for change in event.files}.values())


def _saved(session: Sequence[Found]) -> Draft | None:
    """Tell modestly of work on one area that was saved and not yet committed."""
    saves = [one.event for one in session if one.event.kind == "save"]
    changes = _changes(saves)
    main = places.areas((change.path for change in changes), most=1)
    if _activities(session) < _ACTIVITIES or not main:
        return None
    inside = sorted(change.path for change in changes if places.area(change.path) == main[0])
    if len(inside) < _AREA:
        return None
    first = next(
        event for event in saves if any(change.path == inside[0] for change in event.files)
    )
    return Draft(
        type="episodic",
        title=f"Work on {main[0]} without a commit",
        content=f"{len(inside)} files in {main[0]} were edited in {len(saves)} saves, and nothing was committed yet.",
        importance=2,
        confidence=2,
        files=tuple(inside[:10]),
        tags=main,
        agent_id=next((event.agent_id for event in saves if event.agent_id), None),
        evidence=(Evidence(quote=inside[0], event_id=first.event_id),),
    )
