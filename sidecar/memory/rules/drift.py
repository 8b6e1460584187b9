"""Places in code a memory is anchored to, and whether they changed."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from protocol.memories import Anchor, Memory, Verdict
from protocol.values import Record
from sidecar.memory.rules.drafts import Draft
from sidecar.text.patterns import late

Span = tuple[int, int]
"""First and last line, counted from 1; one that ends before it begins stands between two lines."""


class Symbol(Struct, frozen=True, kw_only=True):
    """A function, class or other name that a file defines."""

    name: str
    """Qualified by what it stands in (`Store.open`)."""
    first: int
    last: int
    digest: str
    """A hash of its source without layout and comments; of a class, without its members."""
    shape: str
    """The same without its own name: what stays when it is renamed."""

    @property
    def short(self) -> str:
        """Return the name without what it stands in."""
        return short(self.name)


class Touched(Struct, frozen=True, kw_only=True):
    """One file as a commit left it."""

    path: str
    previous_path: str | None = None
    blob: str | None = None
    """What git calls its contents; None where the commit deleted it."""
    spans: tuple[Span, ...] = ()
    """Where the commit wrote or took lines away."""


class Departure(Struct, frozen=True, kw_only=True):
    """A commit after which a path was no longer there."""

    sha: str
    to: str | None = None
    """Where the file went; None where it was deleted."""


class Revert(Struct, frozen=True, kw_only=True):
    """A commit that says which others it takes back."""

    sha: str
    of: tuple[str, ...]


def short(name: str) -> str:
    """Return a symbol's name without what it stands in."""
    return name.rpartition(".")[2]


def written(symbols: Sequence[Symbol], spans: Iterable[Span]) -> list[int]:
    """Count, for each symbol, the lines in spans that are its own and no inner symbol's.

    Symbols come outermost first. A gap counts as one line of what is on both sides of it.
    """
    ends = [(first, last) if first <= last else (last, first) for first, last in spans]
    lines = sorted({line for first, last in ends for line in range(first, last + 1)})
    owners: dict[int, int] = {}
    for number, symbol in enumerate(symbols):
        inside = lines[bisect_left(lines, symbol.first) : bisect_right(lines, symbol.last)]
        owners |= dict.fromkeys(inside, number)
    counts = [0] * len(symbols)
    for owner, amount in _claims(owners, spans):
        counts[owner] += amount
    return counts


def _claims(owners: Mapping[int, int], spans: Iterable[Span]) -> Iterator[tuple[int, int]]:
    for first, last in spans:
        if first <= last:
            yield from ((owners[line], 1) for line in range(first, last + 1) if line in owners)
        elif last in owners and owners[last] == owners.get(first):
            yield owners[last], 1


MOST = 5
"""Anchors that a draft gets."""
FILES = 8
"""Files of a draft that are looked into."""

_WORD = late(r"[A-Za-z_$#~][A-Za-z0-9_$]*")
_QUOTED = late(r"`([^`\n]{1,200})`|([A-Za-z_][A-Za-z0-9_.]{0,200})\(")
_TEST = late(r"(?:^|[/_.-])(?:tests?|specs?|__tests__)(?:[/_.-]|$)", re.IGNORECASE)
_NAME = late(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]|[_0-9]|[A-Z]{2}")
"""What nobody takes for a word of English."""

Symbols = Mapping[tuple[str, str], Sequence[Symbol]]
"""What is defined in files, by path and blob."""


class Words(Struct, frozen=True, kw_only=True):
    """What a text mentions."""

    text: str
    any: frozenset[str]
    """All its words."""
    names: frozenset[str]
    """Those that it marks as names of code."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A place that could be an anchor, and what speaks for it."""

    anchor: Anchor
    is_named: bool
    is_test: bool
    is_file: bool
    lines: int
    """How many of its lines the commit wrote."""


def words(title: str, content: str, entities: Iterable[str]) -> Words:
    """Read what a text mentions."""
    entities = tuple(entities)
    text = "\n".join((title, content, *entities))
    quoted = [one or other for one, other in _QUOTED.findall(text)]
    names = {word for part in (*quoted, *entities) for word in _WORD.findall(part)}
    return Words(text=text, any=frozenset(_WORD.findall(text)), names=frozenset(names))


def is_named(anchor: Anchor, said: Words) -> bool:
    """Return whether a text mentions an anchor: its symbol, or the file where it has none.

    A symbol that is also a plain word counts only where the text marks it as a name.
    """
    if anchor.symbol is None:
        return anchor.path.rpartition("/")[2] in said.text
    name = short(anchor.symbol)
    return name in said.names or (name in said.any and _NAME.search(name) is not None)


def files(draft: Draft, changed: Sequence[Touched]) -> list[Touched]:
    """Pick the files that a draft speaks of, the most telling first."""
    wanted = set(draft.files)
    chosen = [one for one in changed if one.path in wanted or one.previous_path in wanted]
    said = words(draft.title, draft.content, draft.entities)
    return sorted(
        chosen or changed,
        key=lambda one: (
            one.path.rpartition("/")[2] not in said.text,
            _is_test(one.path),
            -sum(max(1, last - first + 1) for first, last in one.spans),
        ),
    )[:FILES]


def latest(changed: Iterable[tuple[str, Touched]]) -> dict[Touched, str]:
    """Keep of each file how the last commit left it; the newest come first."""
    kept: dict[Touched, str] = {}
    seen: set[str] = set()
    for sha, file in changed:
        if file.path not in seen:
            kept[file] = sha
        seen |= {file.path, file.previous_path or file.path}
    return kept


def anchors(
    draft: Draft, changed: Sequence[tuple[str, Touched]], symbols: Symbols
) -> tuple[Anchor, ...]:
    """Choose a draft's anchors from files that commits changed, the most telling first.

    A symbol that the text names comes first, then the symbols with the most changed lines; a file as a
    whole where none of its symbols was changed. One that the commit changed is always among them.
    """
    said = words(draft.title, draft.content, draft.entities)
    found = [one for sha, file in changed for one in _candidates(sha, file, symbols, said)]
    found.sort(key=_rank)
    chosen = found[:MOST]
    if chosen and not any(one.lines for one in chosen):
        chosen[-1:] = [one for one in found if one.lines][:1] or chosen[-1:]
    return tuple(dict.fromkeys(one.anchor for one in chosen))


def _rank(candidate: Candidate) -> tuple[object, ...]:
    return (
        not (candidate.is_named and candidate.lines),
        not candidate.is_named,
        candidate.is_test,
        candidate.is_file,
        -candidate.lines,
    )


def _candidates(sha: str, file: Touched, symbols: Symbols, said: Words) -> Iterator[Candidate]:
    known = symbols.get((file.path, file.blob), ()) if file.blob else ()
    has_symbol = False
    for symbol, lines in zip(known, written(known, file.spans), strict=True):
        anchor = _anchor(sha, file, symbol)
        named = is_named(anchor, said)
        if lines or named:
            has_symbol |= lines > 0 or not file.spans
            yield _candidate(anchor, lines, is_named=named)
    anchor = _anchor(sha, file, None)
    named = is_named(anchor, said)
    if not has_symbol or (named and not known):
        yield _candidate(anchor, max(1, len(file.spans)), is_named=named)


def _anchor(sha: str, file: Touched, symbol: Symbol | None) -> Anchor:
    return Anchor(
        path=file.path,
        commit_sha=sha,
        blob=file.blob,
        symbol=symbol.name if symbol else None,
        digest=symbol.digest if symbol else None,
    )


def _candidate(anchor: Anchor, lines: int, *, is_named: bool) -> Candidate:
    return Candidate(
        anchor=anchor,
        is_named=is_named,
        is_test=_is_test(anchor.path),
        is_file=anchor.symbol is None,
        lines=lines,
    )


def _is_test(path: str) -> bool:
    return _TEST.search(path) is not None


State = Literal["same", "changed", "gone"]
"""What has become of one anchor; what only moved is the same."""

_VERDICTS: dict[State, Verdict] = {"same": "fresh", "changed": "changed", "gone": "gone"}

KEPT = 0.5
"""Share of a text's lines that stay while it is still the same text."""


class Look(Record, frozen=True, kw_only=True):
    """Where HEAD was when all memories were last held against it."""

    head: str | None


class Fates(Struct, frozen=True, kw_only=True):
    """What is known of commits that a history written anew left behind."""

    became: Mapping[str, str] = {}
    """Old commits, each with the one that stands for it now."""
    dropped: frozenset[str] = frozenset()
    """Those that nothing stands for."""

    def latest(self, sha: str) -> str:
        """Follow a commit to what it is today."""
        seen = {sha}
        while (sha := self.became.get(sha, sha)) not in seen:
            seen.add(sha)
        return sha


def commits(memory: Memory, fates: Fates) -> list[str]:
    """Return the commits that a memory comes from; where it has none, those its anchors were seen in."""
    shas = [one.commit_sha for one in memory.evidence if one.commit_sha]
    shas = shas or [one.commit_sha for one in memory.anchors if one.commit_sha]
    return list(dict.fromkeys(fates.latest(sha) for sha in shas))


def reverted(reverts: Iterable[Revert], fates: Fates) -> dict[str, str]:
    """Return which commits are taken back, and by which; reverts come newest first.

    A revert that was itself reverted counts for nothing.
    """
    undone: dict[str, str] = {}
    for revert in reverts:
        by = fates.latest(revert.sha)
        if by not in undone:
            undone |= {fates.latest(sha): by for sha in revert.of}
    return undone


def verdict(
    memory: Memory, states: Sequence[State], shas: Sequence[str], undone: Mapping[str, str]
) -> Verdict | None:
    """Judge a memory by its anchors, in their order, and by what took its commits back.

    Anchors that the text names speak before all others. None where there is nothing to judge by.
    """
    taken = [sha for sha in shas if undone.get(sha) not in {None, *shas}]
    if taken and not (states and set(states) == {"same"}):
        return "gone" if len(taken) == len(shas) else "changed"
    if not states:
        return None
    if len(set(states)) == 1:
        return _VERDICTS[states[0]]
    judged = _named(memory, states) or states
    if set(judged) == {"gone"}:
        return "gone"
    off = sum(state != "same" for state in judged)
    return "changed" if judged[0] != "same" or 2 * off >= len(judged) else "fresh"


def _named(memory: Memory, states: Sequence[State]) -> list[State]:
    said = words(memory.title, memory.content, memory.entities)
    pairs = zip(memory.anchors, states, strict=True)
    return [state for anchor, state in pairs if is_named(anchor, said)]


def is_elsewhere(
    shas: Sequence[str], here: Container[str], present: Container[str], dropped: Container[str]
) -> bool:
    """Return whether all commits of a memory are known, and none is behind HEAD.

    What git no longer has, or never had in a shallow clone, is no sign of another branch.
    """
    if not shas or any(sha in here for sha in shas):
        return False
    return all(sha in present or sha in dropped for sha in shas)


def departure(
    steps: Sequence[Departure], ages: Mapping[str, int], since: str | None
) -> Departure | None:
    """Pick the commit that took a path away: the first after a moment; the last, if that is unknown.

    Steps come newest first; an age counts the commits between one and HEAD.
    """
    if not steps:
        return None
    born = ages.get(since or "")
    if born is None:
        return steps[0]
    later = [step for step in steps if ages.get(step.sha, -1) < born]
    return later[-1] if later else None


def is_rewritten(old: bytes, spans: Collection[Span], new: bytes) -> bool:
    """Return whether most of what stood in spans of a text, or in all of it, is in the new one no more.

    Lines are compared without their blanks, wherever they stand.
    """
    before = old.split(b"\n")
    told = [line for first, last in spans for line in before[first - 1 : last]]
    lines = _lines(told) or _lines(before)
    kept = lines & _lines(new.split(b"\n"))
    return kept.total() < KEPT * lines.total()


def _lines(lines: Iterable[bytes]) -> Counter[bytes]:
    return Counter(bare for line in lines if (bare := b"".join(line.split())))
