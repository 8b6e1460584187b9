"""Drifting: memories get anchors in the code, and are held against it as it goes on."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from protocol.memories import Anchor, Memory, Verdict
from sidecar.domain.drafts import Draft
from sidecar.domain.drift import anchoring, verdicts
from sidecar.domain.drift.traces import Touched
from sidecar.domain.drift.verdicts import Fates, State
from sidecar.services.drift import tracing
from sidecar.services.drift.codebases import Code

_NOTHING = Fates()


def anchor(drafts: Sequence[Draft], code: Code) -> list[Draft]:
    """Give drafts their anchors: in what their commits changed, or in their files as they are now.

    A draft that has anchors keeps them.
    """
    waiting = [draft for draft in drafts if not draft.anchors]
    chosen = {id(draft): files for draft, files in _files(waiting, code)}
    places = {(one.path, one.blob) for files in chosen.values() for _, one in files if one.blob}
    symbols = code.symbols((path, blob) for path, blob in places if blob)
    return [
        msgspec.structs.replace(draft, anchors=anchoring.anchors(draft, chosen[id(draft)], symbols))
        if id(draft) in chosen
        else draft
        for draft in drafts
    ]


def _files(
    drafts: Sequence[Draft], code: Code
) -> Iterator[tuple[Draft, list[tuple[str, Touched]]]]:
    """Pick the files that drafts speak of, each with the commit it is seen in."""
    touched = code.touched({sha for draft in drafts for sha in _shas(draft)})
    with code.held() as head:
        ages = code.ages(touched.keys())
        blobs = code.blobs({path for draft in drafts if not _shas(draft) for path in draft.files})
    for draft in drafts:
        shas = sorted(_shas(draft), key=lambda sha: ages.get(sha, 0))
        changed = anchoring.latest([(sha, file) for sha in shas for file in touched.get(sha, ())])
        if not shas and head:
            now = [Touched(path=path, blob=blobs[path]) for path in draft.files if path in blobs]
            changed = dict.fromkeys(now, head)
        yield draft, [(changed[file], file) for file in anchoring.files(draft, list(changed))]


def check(memories: Collection[Memory], code: Code, fates: Fates = _NOTHING) -> dict[str, Verdict]:
    """Judge memories against HEAD; those of another branch, and those without a place, are left out."""
    with code.held() as head:
        if head is None:
            return {}
        fates, origins = _settle(memories, code, fates)
        away = _elsewhere(memories, code, fates, origins)
        judged = [memory for memory in memories if memory.memory_id not in away]
        states = _states(judged, code, fates)
        undone = verdicts.reverted(code.reverts(), fates)
    reached: dict[str, Verdict] = {}
    for memory in judged:
        found = [states[one] for one in memory.anchors]
        verdict = verdicts.verdict(memory, found, origins[memory.memory_id], undone)
        if verdict is not None:
            reached[memory.memory_id] = verdict
    return reached


def elsewhere(memories: Collection[Memory], code: Code, fates: Fates = _NOTHING) -> set[str]:
    """Name the memories that belong to branches which HEAD has not, or to commits that were dropped.

    What is part of the main line of development belongs everywhere. So does one whose places all look
    here as they do there: it was merged in another way.
    """
    with code.held():
        fates, origins = _settle(memories, code, fates)
        away = _elsewhere(memories, code, fates, origins)
    merged = code.merged({sha for name in away for sha in origins[name]}) if away else set()
    return {name for name in away if merged.isdisjoint(origins[name])}


def _shas(draft: Draft) -> list[str]:
    return [one.commit_sha for one in draft.evidence if one.commit_sha]


def _settle(
    memories: Collection[Memory], code: Code, fates: Fates
) -> tuple[Fates, dict[str, list[str]]]:
    """Find the commits of each memory, and for those written anew also what git can tell by itself."""
    origins = {memory.memory_id: verdicts.commits(memory, fates) for memory in memories}
    shas = {sha for found in origins.values() for sha in found}
    strays = shas - code.ages(shas).keys() - fates.dropped
    twins = code.twins(strays) if strays else {}
    if not twins:
        return fates, origins
    fates = msgspec.structs.replace(fates, became={**fates.became, **twins})
    return fates, {memory.memory_id: verdicts.commits(memory, fates) for memory in memories}


def _elsewhere(
    memories: Collection[Memory], code: Code, fates: Fates, origins: Mapping[str, Sequence[str]]
) -> set[str]:
    here = code.ages({sha for shas in origins.values() for sha in shas})
    strays = {sha for shas in origins.values() for sha in shas if sha not in here}
    present = code.present(strays) if strays else set()
    away = [
        memory
        for memory in memories
        if verdicts.is_elsewhere(origins[memory.memory_id], here, present, fates.dropped)
    ]
    states = _states(away, code, fates)
    blobs = code.blobs({one.path for memory in away for one in memory.anchors})
    return {
        memory.memory_id
        for memory in away
        if not memory.anchors
        or not all(_is_here(one, blobs.get(one.path), states[one]) for one in memory.anchors)
    }


def _is_here(anchor: Anchor, blob: str | None, state: State) -> bool:
    return anchor.blob == blob or (anchor.symbol is not None and state == "same")


def _states(memories: Collection[Memory], code: Code, fates: Fates) -> dict[Anchor, State]:
    anchors = {one: None for memory in memories for one in memory.anchors}
    shas = {one.commit_sha for one in anchors if one.commit_sha}
    latest = {sha: fates.latest(sha) for sha in shas}
    return tracing.trace(list(anchors), code, latest) if anchors else {}
