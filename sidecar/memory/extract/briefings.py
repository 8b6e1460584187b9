"""What a session was about: its name, and a briefing where that says more than commit subjects."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from protocol.events import Commit, Event
from protocol.memories import Evidence
from sidecar.memory.extract import commits, noise, places
from sidecar.memory.rules.drafts import Draft
from sidecar.text import statements, wording
from sidecar.text.patterns import late

_NAME = 110
_TELLING = 3
"""Words beyond which a subject says something."""
_QUOTED = 3
"""Commits that a briefing quotes."""
_LONGEST = 700
_OPEN = 3
_KIND = late(
    r"(?:(?P<light>docs?|tests?|ci|chore|style|build|refactor|typo|lint)\b|(?P<heavy>feat|perf|security|fix)\b)(?:\([^)]*\))?!?:",
    re.IGNORECASE,
)
_LEFT = late(
    r"(?:TODO|FIXME|left to do|still (?:to do|open|missing)|not (?:yet|done)|follow-?up|next steps?|open questions?)\b",
    re.IGNORECASE,
)


class Weighed(Struct, frozen=True, kw_only=True):
    """A commit of a session with what it weighs."""

    event: Event
    commit: Commit
    headline: str
    weight: float
    reason: str | None


def name(events: Iterable[Event]) -> str | None:
    """Return the subject of the weightiest commit, or None where no commit says anything."""
    best = next(iter(weigh(events)), None)
    return wording.clipped(best.headline, _NAME) if best else None


def tell(events: Sequence[Event]) -> str | None:
    """Return what a session was about for whoever reads of its day; None where it was upkeep at most."""
    draft = write(events)
    if draft is not None:
        return f"{draft.title}\n{draft.content}"
    best = next(iter(weigh(events)), None)
    return best.headline if best and best.weight >= 1 else None


def weigh(events: Iterable[Event]) -> list[Weighed]:
    """Return the commits of a session that say something, the weightiest first."""
    weighed = [
        Weighed(
            event=event,
            commit=commit,
            headline=headline,
            weight=_weight(event, headline),
            reason=commits.reason(commit),
        )
        for event in events
        if (commit := event.commit)
        and not _is_mute(commit)
        and (headline := commits.headline(commit))
    ]
    return sorted(
        weighed,
        key=lambda one: (
            -one.weight - (one.reason is not None),
            one.event.occurred_at,
            one.event.event_id,
        ),
    )


def write(events: Sequence[Event]) -> Draft | None:
    """Return a briefing: the reasons of the weightiest commits, quoted, and what is open; None where there is neither."""
    weighed = weigh(events)
    told = [one for one in weighed if one.reason][:_QUOTED]
    left = _open(weighed)
    if not told and not left:
        return None
    lines = [f"“{one.headline}”: {one.reason}" for one in told]
    lines += [f"Open: {'; '.join(left)}"] if left else []
    named = weighed[0]
    quoted = told or weighed[:1]
    return Draft(
        type="episodic",
        title=wording.clipped(named.headline, _NAME),
        content=wording.clipped("\n".join(lines), _LONGEST),
        importance=3 if told else 2,
        confidence=4,
        entities=statements.found(" ".join(one.headline for one in quoted)),
        files=places.relevant([file for one in quoted for file in one.event.files], named.headline),
        tags=places.areas((file.path for one in weighed for file in one.event.files), most=2),
        agent_id=next((one.event.agent_id for one in quoted if one.event.agent_id), None),
        branch=next((one.commit.branch for one in quoted if one.commit.branch), None),
        evidence=tuple(
            Evidence(
                quote=one.commit.subject, commit_sha=one.commit.sha, event_id=one.event.event_id
            )
            for one in (*quoted, *([named] if named not in quoted else ()))
        ),
    )


def _is_mute(commit: Commit) -> bool:
    return commit.dropped or noise.is_machine(commit) or noise.is_merge(commit)


def _weight(event: Event, headline: str) -> float:
    kind = _KIND.match(headline)
    weight = 3.0 if kind and kind["heavy"] else 1.0 if kind and kind["light"] else 2.0
    if noise.is_upkeep(headline):
        weight = 0.0
    elif event.files and all(places.is_side(one.path) for one in event.files[:50]):
        weight = min(weight, 1.0)
    lines = sum((one.added_lines or 0) + (one.deleted_lines or 0) for one in event.files[:200])
    return weight + min(lines, 500) / 1000 + 0.3 * (len(headline.split()) > _TELLING)


def _open(weighed: Sequence[Weighed]) -> list[str]:
    """Quote what bodies leave to do: boxes without a tick, and lines under such a head."""
    found = [
        wording.clipped(one.text, 160)
        for work in weighed
        for one in statements.read(work.commit.body, "body")
        if one.is_open
        or (_LEFT.match(one.text) and not one.is_done)
        or (one.is_item and _LEFT.match(one.heading))
    ]
    return list(dict.fromkeys(found))[:_OPEN]
