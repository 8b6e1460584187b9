"""Anchor memories in code and check them as the code changes."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from protocol.memories import Anchor, Condition, Memory, Verdict
from sidecar.memory.codebases import Code
from sidecar.memory.rules import drift
from sidecar.memory.rules.drafts import Draft
from sidecar.memory.rules.drift import Fates, State, Symbol, Touched, short
from sidecar.storage.vault import Vault

_Key = TypeVar("_Key", bound=Hashable)

_HOPS = 20
"""Renames that are followed, one after the other."""
_CANDIDATES = 20
"""Files that are asked whether a symbol moved to them."""

Place = tuple[str, str]
"""A file of HEAD: path and blob."""


def trace(
    anchors: Collection[Anchor], code: Code, latest: Mapping[str, str]
) -> dict[Anchor, State]:
    """Return what has become of anchors; `latest` says what commits written anew are called today."""
    blobs = code.blobs({anchor.path for anchor in anchors})
    states: dict[Anchor, State] = {
        anchor: "same" for anchor in anchors if _is_untouched(anchor, blobs.get(anchor.path))
    }
    rest = [anchor for anchor in anchors if anchor not in states]
    states |= {anchor: "changed" for anchor in rest if _is_absence(anchor)}
    rest = [anchor for anchor in rest if anchor not in states]
    places = _follow(rest, blobs, code, latest)
    states |= {
        anchor: "same"
        for anchor, place in places.items()
        if anchor.blob and anchor.blob == place[1]
    }
    rest = [anchor for anchor in rest if anchor not in states]
    states |= _trace_texts([one for one in rest if one.symbol is None], places, code)
    states |= _trace_symbols([one for one in rest if one.symbol is not None], places, code)
    return states


def _is_absence(anchor: Anchor) -> bool:
    return anchor.blob is None and anchor.commit_sha is not None


def _is_untouched(anchor: Anchor, blob: str | None) -> bool:
    return anchor.blob == blob and (blob is not None or _is_absence(anchor))


def _follow(
    anchors: Sequence[Anchor], blobs: Mapping[str, str], code: Code, latest: Mapping[str, str]
) -> dict[Anchor, Place]:
    """Find where files are today; those that are nowhere are left out."""
    paths = {anchor: anchor.path for anchor in anchors}
    since = {one: latest.get(one.commit_sha or "", one.commit_sha) for one in anchors}
    known = dict(blobs)
    missing = [anchor for anchor in anchors if anchor.path not in known]
    for _ in range(_HOPS):
        if not missing:
            break
        steps = code.departures({paths[anchor] for anchor in missing})
        ages = code.ages(
            {sha for anchor in missing if (sha := since[anchor])}
            | {step.sha for found in steps.values() for step in found}
        )
        moved = []
        for anchor in missing:
            step = drift.departure(steps.get(paths[anchor], ()), ages, since[anchor])
            if step and step.to:
                paths[anchor], since[anchor] = step.to, step.sha
                moved.append(anchor)
        known |= code.blobs({paths[anchor] for anchor in moved})
        missing = [anchor for anchor in moved if paths[anchor] not in known]
    places = {one: (path, known[path]) for one, path in paths.items() if path in known}
    return places | _recognise([one for one in anchors if one not in places], code)


def _recognise(anchors: Sequence[Anchor], code: Code) -> dict[Anchor, Place]:
    """Find files by their contents whose history does not say where they went."""
    steps = code.departures({anchor.path for anchor in anchors})
    unknown = [anchor for anchor in anchors if anchor.blob and not steps[anchor.path]]
    holders = code.holders({anchor.blob for anchor in unknown if anchor.blob})
    return {
        anchor: (holders[anchor.blob], anchor.blob)
        for anchor in unknown
        if anchor.blob and anchor.blob in holders
    }


def _trace_texts(
    anchors: Sequence[Anchor], places: Mapping[Anchor, Place], code: Code
) -> dict[Anchor, State]:
    """Compare whole files, in the lines that their commits wrote."""
    there = [anchor for anchor in anchors if anchor in places and anchor.blob]
    touched = code.touched({anchor.commit_sha for anchor in there if anchor.commit_sha})
    spans = {
        (sha, file.path, file.blob): file.spans for sha, files in touched.items() for file in files
    }
    texts = code.read({b for anchor in there for b in (anchor.blob, places[anchor][1]) if b})
    states: dict[Anchor, State] = {}
    for anchor in anchors:
        key = (anchor.commit_sha or "", anchor.path, anchor.blob)
        old = texts.get(anchor.blob or "")
        new = texts.get(places[anchor][1]) if anchor in places else None
        if anchor not in places:
            states[anchor] = "gone"
        elif old is None or new is None:
            states[anchor] = "same"
        else:
            is_other = drift.is_rewritten(old, spans.get(key, ()), new)
            states[anchor] = "changed" if is_other else "same"
    return states


def _trace_symbols(
    anchors: Sequence[Anchor], places: Mapping[Anchor, Place], code: Code
) -> dict[Anchor, State]:
    """Look for symbols where they were, and then elsewhere."""
    keys = {one: (one.symbol, one.digest, places[one]) for one in anchors if one in places}
    known = _recall(keys.values(), code)
    new = set(keys.values()) - known.keys()
    parsed = code.symbols(place for _, _, place in new)
    known |= {key: _compare(*key[:2], parsed.get(key[2], ())) for key in new}
    states: dict[Anchor, State] = {one: known[key] for one, key in keys.items()}
    lost = [one for one in anchors if states.get(one, "gone") == "gone"]
    before = _recall(((one, code.at) for one in lost), code)
    found = _trace_lost([one for one in lost if (one, code.at) not in before], places, code)
    for key in new:
        code.memo[key] = known[key]
    for one, state in found.items():
        code.memo[one, code.at] = state
    return states | {one: state for (one, _), state in before.items()} | found


def _recall(keys: Iterable[_Key], code: Code) -> dict[_Key, State]:
    return {key: state for key in keys if (state := code.memo.get(key)) is not None}


def _compare(name: str | None, digest: str | None, here: Sequence[Symbol]) -> State:
    """Return what has become of a symbol in its file; one under another class is still the same."""
    alike = [one for one in here if one.name == name]
    if any(_is_same(one, name or "", digest) for one in alike or here):
        return "same"
    return "changed" if alike else "gone"


def _is_same(symbol: Symbol, name: str, digest: str | None) -> bool:
    return symbol.short == short(name) and digest in {symbol.digest, None}


def _trace_lost(
    lost: Sequence[Anchor], places: Mapping[Anchor, Place], code: Code
) -> dict[Anchor, State]:
    """Tell of symbols that are no longer in their file: renamed there, moved to another, or gone."""
    if not lost:
        return {}
    before = code.symbols((one.path, one.blob) for one in lost if one.blob)
    after = code.symbols(places[one] for one in lost if one in places)
    moved = _moved(lost, code)
    states: dict[Anchor, State] = dict.fromkeys(moved, "same")
    for anchor in lost:
        if anchor not in moved:
            old = before.get((anchor.path, anchor.blob or ""), ())
            new = after.get(places[anchor], ()) if anchor in places else ()
            states[anchor] = "changed" if _is_renamed(anchor.symbol, old, new) else "gone"
    return states


def _is_renamed(name: str | None, old: Sequence[Symbol], new: Sequence[Symbol]) -> bool:
    shapes = {one.shape for one in old if one.name == name}
    known = {one.name for one in old}
    return any(one.shape in shapes and one.name not in known for one in new)


def _moved(lost: Sequence[Anchor], code: Code) -> set[Anchor]:
    """Pick those that a file defines now which did not when the memory was made."""
    found = _search(lost, code)
    now = {
        one: sorted(found.get((short(one.symbol or ""), one.digest or ""), set()) - {one.path})
        for one in lost
    }
    asked = [
        (one.commit_sha, path)
        for one, candidates in now.items()
        if one.commit_sha
        for path in candidates[:_CANDIDATES]
    ]
    then = code.earlier(asked)
    defined = code.symbols({(path, blob) for (_, path), blob in then.items()})

    def had(anchor: Anchor, path: str) -> bool:
        blob = then.get((anchor.commit_sha or "", path), "")
        known = defined.get((path, blob), ())
        return any(_is_same(one, anchor.symbol or "", anchor.digest) for one in known)

    return {
        one
        for one, candidates in now.items()
        if any(not had(one, path) for path in candidates[:_CANDIDATES])
    }


def _search(anchors: Iterable[Anchor], code: Code) -> dict[tuple[str, str], set[str]]:
    names = {short(anchor.symbol or "") for anchor in anchors}
    blobs = code.blobs(code.mentioning(names))
    found: dict[tuple[str, str], set[str]] = {}
    for (path, _), defined in code.symbols(blobs.items()).items():
        for symbol in defined:
            found.setdefault((symbol.short, symbol.digest), set()).add(path)
    return found


_NOTHING = Fates()


def anchor(drafts: Sequence[Draft], code: Code) -> list[Draft]:
    """Return drafts their anchors: in what their commits changed, or in their files as they are now.

    A draft that has anchors keeps them; what a session was about has none, and stays true.
    """
    waiting = [draft for draft in drafts if not draft.anchors and draft.type != "episodic"]
    if not waiting:
        return [*drafts]
    chosen = {id(draft): files for draft, files in _files(waiting, code)}
    places = {(one.path, one.blob) for files in chosen.values() for _, one in files if one.blob}
    symbols = code.symbols((path, blob) for path, blob in places if blob)
    return [
        msgspec.structs.replace(draft, anchors=drift.anchors(draft, chosen[id(draft)], symbols))
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
        changed = drift.latest([(sha, file) for sha in shas for file in touched.get(sha, ())])
        if not shas and head:
            now = [Touched(path=path, blob=blobs[path]) for path in draft.files if path in blobs]
            changed = dict.fromkeys(now, head)
        yield draft, [(changed[file], file) for file in drift.files(draft, list(changed))]


def check(memories: Collection[Memory], code: Code, fates: Fates = _NOTHING) -> dict[str, Verdict]:
    """Judge memories against HEAD; those of another branch, and those without a place, are left out."""
    with code.held() as head:
        if head is None:
            return {}
        fates, origins = _settle(memories, code, fates)
        away = _elsewhere(memories, code, fates, origins)
        judged = [memory for memory in memories if memory.memory_id not in away]
        states = _states(judged, code, fates)
        undone = drift.reverted(code.reverts(), fates)
        kept = _hold(judged, code)
    reached: dict[str, Verdict] = {}
    for memory in judged:
        found = [states[one] for one in memory.anchors]
        verdict = drift.verdict(memory, found, origins[memory.memory_id], undone)
        if memory.holds and verdict != "gone":
            verdict = "fresh" if kept[memory.memory_id] else "gone"
        if verdict is not None:
            reached[memory.memory_id] = verdict
    return reached


def _hold(memories: Collection[Memory], code: Code) -> dict[str, bool]:
    """Tell of memories with conditions whether all of them are met at HEAD; each blob is asked once."""
    wanted = {(one, memory.memory_id) for memory in memories for one in memory.holds}
    blobs = code.blobs({one.path for one, _ in wanted})
    asked = {(one, blobs.get(one.path)) for one, _ in wanted}
    unknown = {pair for pair in asked if ("holds", *pair) not in code.by_blob}
    texts = code.read({blob for _, blob in unknown if blob}) if unknown else {}
    for one, blob in unknown:
        data = texts.get(blob or "")
        # A blob that git has not, as in a partial clone, proves nothing: what was true stays.
        is_met = one.kind == "no-dependency" if blob is None else data is None
        text = "" if data is None else data.decode("utf-8", "replace")
        code.by_blob["holds", one, blob] = is_met or (data is not None and meets(one, text))
    met: dict[str, bool] = {}
    for one, memory_id in wanted:
        is_met = code.by_blob["holds", one, blobs.get(one.path)]
        met[memory_id] = met.get(memory_id, True) and is_met
    return met


def meets(condition: Condition, text: str) -> bool:
    """Return whether a file with this text is as a condition wants it."""
    from sidecar.memory import code_notes  # noqa: PLC0415  # a start that asks nothing new does without
    from sidecar.memory.extract import commits  # noqa: PLC0415  # likewise

    if condition.kind == "text":
        return code_notes.stands(condition.path, text, condition.text)
    is_named = commits.names_dependency(text.splitlines(), condition.text)
    return is_named == (condition.kind == "dependency")


def elsewhere(memories: Collection[Memory], code: Code, fates: Fates = _NOTHING) -> set[str]:
    """Return the memories that belong to branches which HEAD has not, or to commits that were dropped.

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
    origins = {memory.memory_id: drift.commits(memory, fates) for memory in memories}
    shas = {sha for found in origins.values() for sha in found}
    strays = shas - code.ages(shas).keys() - fates.dropped
    twins = code.twins(strays) if strays else {}
    if not twins:
        return fates, origins
    fates = msgspec.structs.replace(fates, became={**fates.became, **twins})
    return fates, {memory.memory_id: drift.commits(memory, fates) for memory in memories}


def _elsewhere(
    memories: Collection[Memory], code: Code, fates: Fates, origins: Mapping[str, Sequence[str]]
) -> set[str]:
    here = code.ages({sha for shas in origins.values() for sha in shas})
    strays = {sha for shas in origins.values() for sha in shas if sha not in here}
    present = code.present(strays) if strays else set()
    away = [
        memory
        for memory in memories
        if drift.is_elsewhere(origins[memory.memory_id], here, present, fates.dropped)
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
    return trace(list(anchors), code, latest) if anchors else {}


def commits_elsewhere(vault: Vault, memories: Collection[Memory], code: Code | None) -> set[str]:
    """Return the memories that belong to branches which are not part of the current one."""
    if code is None:
        return set()
    with code.held() as head:
        if head is None:
            return set()
        return elsewhere(memories, code, find(vault, memories, code))


def find(vault: Vault, memories: Collection[Memory], code: Code) -> Fates:
    """Return which commits were written anew or dropped; only sessions with a commit that HEAD lacks are read."""
    commits = {one.memory_id: drift.commits(one, Fates()) for one in memories}
    with code.held():
        here = code.ages({sha for shas in commits.values() for sha in shas})
    astray = {
        one.session_id
        for one in memories
        if one.session_id and any(sha not in here for sha in commits[one.memory_id])
    }
    became: dict[str, str] = {}
    dropped: set[str] = set()
    for session_id in sorted(astray):
        for event in vault.sessions.events(session_id):
            if event.commit is not None:
                became |= dict.fromkeys(event.commit.replaces, event.commit.sha)
                dropped |= {event.commit.sha} if event.commit.dropped else set()
    return Fates(became=became, dropped=frozenset(dropped))
