"""Tracing: what has become of places in the code, for many at once."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from protocol.memories import Anchor
from sidecar.domain.drift import verdicts
from sidecar.domain.drift.traces import Symbol, short
from sidecar.domain.drift.verdicts import State
from sidecar.services.drift.codebases import Code

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
    """Tell what has become of anchors; `latest` says what commits written anew are called today."""
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
    """Tell whether the commit deleted the file: what is to stay away."""
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
            step = verdicts.departure(steps.get(paths[anchor], ()), ages, since[anchor])
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
            is_other = verdicts.is_rewritten(old, spans.get(key, ()), new)
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
    """Tell what has become of a symbol in its file; one under another class is still the same."""
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
    """Find files of HEAD that define symbols with these names, by name and digest."""
    names = {short(anchor.symbol or "") for anchor in anchors}
    blobs = code.blobs(code.mentioning(names))
    found: dict[tuple[str, str], set[str]] = {}
    for (path, _), defined in code.symbols(blobs.items()).items():
        for symbol in defined:
            found.setdefault((symbol.short, symbol.digest), set()).add(path)
    return found
