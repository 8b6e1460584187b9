"""Episodes: what a session was about, in a few sentences for whoever comes next."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from protocol.events import Event, FileChange
from protocol.memories import Evidence, MemoryType
from sidecar.domain.drafts import Draft
from sidecar.domain.enrichment import headlines, merging, names, places, wording
from sidecar.domain.enrichment.merging import Found, Kept
from sidecar.domain.enrichment.works import SUBSTANCE, Work

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
        title=headlines.named(told, works),
        content=content,
        importance=3 if main.weight > SUBSTANCE else 2,
        confidence=4,
        entities=names.found(" ".join(work.headline for work in told[:_HEADLINES])),
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
    shown = headlines.shown(told)
    yield from headlines.done(shown, works)
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
