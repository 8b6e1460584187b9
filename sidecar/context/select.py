"""Select memories for a request, given the files at hand."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import get_args

import msgspec

from protocol.memories import MemoryType
from protocol.recall import Found, Hit, SearchParams
from sidecar.capture import timeline
from sidecar.context.rules import choosing
from sidecar.context.rules.choosing import Choice, Standing
from sidecar.context.scenes import Scene
from sidecar.context.verify import Verifier
from sidecar.conversations.rules import conversations
from sidecar.search.recall import Inquiry
from sidecar.search.rules.standing import Group
from sidecar.storage.vault import Vault

_MOST = 20
"""Files of the active session that count as at hand."""
_EVENTS = 100
"""Events among which they are looked for, those that came last."""


def files(scene: Scene) -> tuple[str, ...]:
    """Return the files at hand: those that were named, then what was last worked on in the active session."""
    session_id = timeline.active_id(scene.vault)
    if session_id is None:
        return scene.params.files_at_hand
    events = scene.vault.sessions.latest(session_id, _EVENTS)
    events.sort(key=lambda event: (event.occurred_at, event.event_id), reverse=True)
    latest = (change.path for event in events for change in event.files)
    worked_on = list(dict.fromkeys(latest))[:_MOST]
    return tuple(dict.fromkeys((*scene.params.files_at_hand, *worked_on)))


RESULTS = "queryResults"
TASKS = "activeTasks"
SESSIONS = "recentSessions"
_TYPES: Mapping[str, frozenset[MemoryType]] = {
    "constraints": frozenset({"constraint"}),
    RESULTS: frozenset(get_args(MemoryType)),
    "importantFacts": frozenset({"fact", "decision", "preference", "skill", "correction"}),
    TASKS: frozenset({"task"}),
    SESSIONS: frozenset({"episodic"}),
}
"""What each section is made of, in the order in which they choose: what one has said, the next does not repeat."""
_LEAST = {"constraints": 3, "importantFacts": 3}
"""The importance from which something counts as important."""
_SPARE, _AT_LEAST = 2, 5
"""Candidates for each item that is wanted, and beyond: some will fall out."""
_WIDER, _WIDEST = 8, 64
"""How many more come into question where too many fell out, and how many more at most."""
_RESULTS, _QUOTES = 5, 3
"""Memories and records that answer a question."""
_LATELY = timedelta(days=90)
"""How long before the latest session one counts as recent."""
_RELEVANT = 1 / 3
"""The part of the best match's score from which something is about the question; the rest matches by chance."""


def limits(scene: Scene) -> dict[str, int]:
    """Return how many items of each section are wanted."""
    wanted = choosing.limits(scene.params)
    return wanted | {RESULTS: _RESULTS if scene.params.query.strip() else 0}


def select(scene: Scene, verifier: Verifier, *, taken: int) -> dict[str, Choice]:
    """Choose the memories of each section; `taken` places among the tasks are not for memories."""
    most = limits(scene)
    most[TASKS] = max(most[TASKS] - taken, 0)
    width = 1
    while True:
        groups = _groups(most, width)
        candidates = _candidates(scene, groups) if groups else {}
        choices = _choose(candidates, most, _standing(scene, candidates, verifier))
        width *= _WIDER
        if width > _WIDEST or not any(
            len(choices[section].chosen) < most[section] and len(candidates[section]) >= group.limit
            for section, group in groups.items()
        ):
            return choices


def quotes(scene: Scene) -> list[Hit]:
    """Return the records that answer the question, best first; none that the conversation said itself."""
    if not scene.params.query.strip():
        return []
    params = SearchParams(query=scene.params.query, files_at_hand=files(scene), top_k=_RESULTS)
    hits = scene.recall.search(scene.vault, params, lambda _: ()).hits
    key = scene.params.session_key
    own = conversations.known_as(key) if key else None
    records = [hit for hit in hits if hit.kind != "memory"]
    return [hit for hit in records if not own or hit.session_key != own][:_QUOTES]


def section(kind: MemoryType) -> str:
    """Name the section that memories of a type stand in."""
    return next(name for name, types in _TYPES.items() if kind in types and name != RESULTS)


def _choose(
    candidates: Mapping[str, list[Found]], most: Mapping[str, int], standing: Standing
) -> dict[str, Choice]:
    choices: dict[str, Choice] = {}
    given: list[Found] = []
    for section, found in candidates.items():
        told = {one.memory.memory_id for one in given}
        rest = [one for one in found if one.memory.memory_id not in told]
        choices[section] = choosing.choose(
            section, rest, most[section], given=given, standing=standing
        )
        given += choices[section].chosen
    told = {one.memory.memory_id for one in given}
    return {section: _missing(choice, told) for section, choice in choices.items()}


def _missing(choice: Choice, told: Collection[str]) -> Choice:
    """Call left out only what no other section tells."""
    ungiven = tuple(one for one in choice.ungiven if one.id not in told)
    return msgspec.structs.replace(choice, ungiven=ungiven)


def _groups(most: Mapping[str, int], width: int) -> dict[str, Group]:
    return {
        section: Group(
            types=types,
            least_importance=_LEAST.get(section, 1),
            limit=width * (_SPARE * most[section] + _AT_LEAST),
        )
        for section, types in _TYPES.items()
        if most[section]
    }


def _candidates(scene: Scene, groups: Mapping[str, Group]) -> dict[str, list[Found]]:
    inquiry = Inquiry(files_at_hand=files(scene), branch=scene.branch)
    relevant = _relevant(scene, inquiry, groups)
    standing = {section: group for section, group in groups.items() if section != RESULTS}
    others = scene.recall.pick(scene.vault, inquiry, standing)
    others[SESSIONS] = _recent(scene.vault, others.get(SESSIONS, ()))
    return {
        section: _first(relevant.get(section, ()), others.get(section, ())) for section in groups
    }


def _recent(vault: Vault, sessions: Sequence[Found]) -> list[Found]:
    """Leave out the sessions of long before the latest, unless there are no others: old news is better than none."""
    latest = next(vault.sessions.newest(), None)
    since = latest and latest.started_at - _LATELY
    return [one for one in sessions if since and one.memory.occurred_at > since] or list(sessions)


def _relevant(
    scene: Scene, inquiry: Inquiry, groups: Mapping[str, Group]
) -> dict[str, list[Found]]:
    query = scene.params.query
    if not query.strip():
        return {}
    asked = msgspec.structs.replace(inquiry, query=query)
    picked = scene.recall.pick(scene.vault, asked, groups)
    best = max((one.score for found in picked.values() for one in found), default=0.0)
    return {
        section: [one for one in found if one.score >= _RELEVANT * best]
        for section, found in picked.items()
    }


def _first(relevant: Sequence[Found], others: Sequence[Found]) -> list[Found]:
    """Put what is about the question before what stands for itself; each once."""
    known = {one.memory.memory_id for one in relevant}
    return [*relevant, *(one for one in others if one.memory.memory_id not in known)]


def _standing(scene: Scene, candidates: Mapping[str, list[Found]], verifier: Verifier) -> Standing:
    every = {one.memory.memory_id: one.memory for found in candidates.values() for one in found}
    verified = verifier.verify(scene.vault, list(every.values()), scene.code, scene.most_branches)
    known = {key: verdict for key, verdict in verified.verdicts.items() if verdict is not None}
    return Standing(elsewhere=verified.elsewhere, verdicts=known)
