"""What has become of what a memory speaks of: fresh, changed or gone; and whether it is of this branch."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from protocol.memories import Memory, Verdict
from protocol.values import Record
from sidecar.domain.drift import anchoring
from sidecar.domain.drift.traces import Departure, Revert, Span

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
    """Name the commits that a memory comes from; where it has none, those its anchors were seen in."""
    shas = [one.commit_sha for one in memory.evidence if one.commit_sha]
    shas = shas or [one.commit_sha for one in memory.anchors if one.commit_sha]
    return list(dict.fromkeys(fates.latest(sha) for sha in shas))


def reverted(reverts: Iterable[Revert], fates: Fates) -> dict[str, str]:
    """Tell which commits are taken back, and by which; reverts come newest first.

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
    said = anchoring.words(memory.title, memory.content, memory.entities)
    pairs = zip(memory.anchors, states, strict=True)
    return [state for anchor, state in pairs if anchoring.is_named(anchor, said)]


def is_elsewhere(
    shas: Sequence[str], here: Container[str], present: Container[str], dropped: Container[str]
) -> bool:
    """Tell whether all commits of a memory are known, and none is behind HEAD.

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
    """Tell whether most of what stood in spans of a text, or in all of it, is in the new one no more.

    Lines are compared without their blanks, wherever they stand.
    """
    before = old.split(b"\n")
    told = [line for first, last in spans for line in before[first - 1 : last]]
    lines = _lines(told) or _lines(before)
    kept = lines & _lines(new.split(b"\n"))
    return kept.total() < KEPT * lines.total()


def _lines(lines: Iterable[bytes]) -> Counter[bytes]:
    return Counter(bare for line in lines if (bare := b"".join(line.split())))
