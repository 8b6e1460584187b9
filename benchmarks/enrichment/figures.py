"""Figures: how much of what is kept is worth it, and how much of what is worth it is kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.enrichment import words
from benchmarks.enrichment.scoring import Score, text
from benchmarks.timing import Row
from sidecar.memory.rules.drafts import Draft

LEAST_PRECISION = 0.9

Part = tuple[int, int]
"""How many of how many."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The counts of some sessions."""

    sessions: int
    precision: Part
    """Drafts that say what a good reader keeps, of all drafts."""
    recall: Part
    """What had to be kept and was, of all that had to."""
    typed_precision: Part
    """As above, where the type must be right, too."""
    typed_recall: Part
    notes_precision: Part
    """The same, content and type, without the summaries, which are easily had."""
    notes_recall: Part
    accomplished: Part
    """Of what the summaries should mention: what was done,"""
    decided: Part
    """what was decided,"""
    open: Part
    """and what was left open."""
    most: int
    """The largest number of drafts for one session."""
    violations: int


def count(scores: Sequence[Score]) -> Figures:
    """Add up the scores of some sessions."""
    drafts = sum(len(each.drafts) for each in scores)
    pairs = [pair for each in scores for pair in each.pairs]
    required = [pair for pair in pairs if not pair.expected.optional]
    wanted = len(required) + sum(len(each.missed) for each in scores)
    notes = [pair for pair in pairs if pair.draft.type != "episodic" and pair.is_typed]
    required_notes = [pair for pair in notes if not pair.expected.optional]
    return Figures(
        sessions=len(scores),
        precision=(len(pairs), drafts),
        recall=(len(required), wanted),
        typed_precision=(sum(pair.is_typed for pair in pairs), drafts),
        typed_recall=(sum(pair.is_typed for pair in required), wanted),
        notes_precision=(len(notes), _notes(each.drafts for each in scores)),
        notes_recall=(len(required_notes), _required_notes(scores)),
        accomplished=_mentioned(scores, "accomplished"),
        decided=_mentioned(scores, "decided"),
        open=_mentioned(scores, "open"),
        most=max((len(each.drafts) for each in scores), default=0),
        violations=sum(len(each.violations) for each in scores),
    )


def shares(scores: Sequence[Score]) -> dict[str, Figures]:
    """Count apart what rules were written with, what was kept back, and all of it."""
    return {
        "open": count([each for each in scores if not each.label.is_kept_back]),
        "kept back": count([each for each in scores if each.label.is_kept_back]),
        "together": count(scores),
    }


def rows(scores: Sequence[Score]) -> Iterator[Row]:
    """Tell the figures as rows of the benchmarks' table."""
    for share, figures in shares(scores).items():
        gate = None if share == "open" else LEAST_PRECISION
        yield _row(f"memories worth keeping, {share}", figures.precision, gate)
        yield _row(f"and of the right type, {share}", figures.typed_precision, gate)
        # Of the few notes in the part kept back, a handful decides: there it is for orientation.
        whole = gate if share == "together" else None
        yield _row(f"and without summaries, {share}", figures.notes_precision, whole)
        yield _row(f"found of what had to be kept, {share}", figures.recall, None)
        yield _row(f"and of the right type, {share}", figures.typed_recall, None)
        yield _row(f"and without summaries, {share}", figures.notes_recall, None)
    yield _broken(count(scores))


def ratio(part: Part) -> float:
    """Tell a part as a number; who keeps nothing has earned nothing."""
    return part[0] / part[1] if part[1] else 0.0


def _row(what: str, part: Part, gate: float | None) -> Row:
    is_missed = gate is not None and ratio(part) < gate
    return Row(
        what=what,
        ours=str(part[0]),
        baseline=str(part[1]),
        ratio=f"{ratio(part):.2f}",
        gate="" if gate is None else f"≥ {gate:g}",
        verdict="for orientation" if gate is None else "MISSED" if is_missed else "holds",
        is_missed=is_missed,
    )


def _broken(figures: Figures) -> Row:
    return Row(
        what="memories that break a rule (evidence, number, junk)",
        ours=str(figures.violations),
        baseline=str(figures.precision[1]),
        ratio="",
        gate="0",
        verdict="MISSED" if figures.violations else "holds",
        is_missed=bool(figures.violations),
    )


def _notes(drafts: Iterable[Sequence[Draft]]) -> int:
    return sum(draft.type != "episodic" for some in drafts for draft in some)


def _required_notes(scores: Sequence[Score]) -> int:
    return sum(not kept.optional for each in scores for kept in each.label.keep)


def _mentioned(scores: Sequence[Score], kind: str) -> Part:
    made = wanted = 0
    for each in scores:
        if each.label.summary is not None and (each.summary or not each.label.summary.optional):
            mentions: tuple[str, ...] = getattr(each.label.summary, kind)
            wanted += len(mentions)
            made += words.mentioned(mentions, text(each.summary)) if each.summary else 0
    return made, wanted
