"""Scores: drafts held one to one against what a good reader keeps."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.enrichment import readings, words
from benchmarks.enrichment.labels import Kept, Label, Summary
from sidecar.memory.rules.drafts import Draft, Reading

Compose = Callable[[str, Sequence[Reading]], tuple[Draft, ...]]
"""The enricher: a session's id and what can be read of it become drafts."""

MOST = 6
"""More drafts than this for one session are no notes but a log."""
_ENOUGH = 0.6
"""A draft says what is expected when it has this part of the words."""
_HALF = 0.5
"""A summary counts when it makes this part of its mentions."""
_LONGEST = 700
"""A memory of more letters is a transcript,"""
_LONGEST_SUMMARY = 1500
"""and so is a summary of more than these."""
_FEW_WORDS = 3
_CHANGE_WORDS = (
    "add change create delete edit file folder modified modify move new remove rename touch update"
)

Expected = Kept | Summary


@dataclass(frozen=True, slots=True)
class Pair:
    """A draft and the expectation it meets."""

    draft: Draft
    expected: Expected

    @property
    def is_typed(self) -> bool:
        """Tell whether the draft's type is one that the label calls right."""
        if isinstance(self.expected, Summary):
            return True
        return self.draft.type in {self.expected.type, *self.expected.also}


@dataclass(frozen=True, slots=True)
class Score:
    """What became of one session's drafts."""

    label: Label
    drafts: tuple[Draft, ...]
    pairs: tuple[Pair, ...]
    false: tuple[Draft, ...]
    """Drafts that nobody would have kept."""
    missed: tuple[Expected, ...]
    """What had to be kept and was not."""
    violations: tuple[str, ...]

    @property
    def summary(self) -> Draft | None:
        """The summary, if the session has the one it should have."""
        found = (pair.draft for pair in self.pairs if isinstance(pair.expected, Summary))
        return next(found, None)


def score(label: Label, compose: Compose) -> Score:
    """Let the enricher read a session and judge what it makes of it."""
    read = readings.read(label)
    drafts = tuple(compose(readings.session_id(label), read))
    wanted: tuple[Expected, ...] = label.keep + ((label.summary,) if label.summary else ())
    chosen = _assign(drafts, wanted)
    return Score(
        label=label,
        drafts=drafts,
        pairs=tuple(Pair(drafts[at], wanted[to]) for at, to in chosen.items()),
        false=tuple(draft for at, draft in enumerate(drafts) if at not in chosen),
        missed=tuple(
            each
            for to, each in enumerate(wanted)
            if not each.optional and to not in chosen.values()
        ),
        violations=tuple(_violations(label, read, drafts)),
    )


def text(draft: Draft) -> str:
    """Join what a draft tells its reader."""
    return "\n".join(filter(None, (draft.title, draft.content, draft.rationale)))


def meets(draft: Draft, expected: Expected) -> float:
    """Tell how well a draft says what is expected; 0 where it does not."""
    told = text(draft)
    if isinstance(expected, Summary):
        return _summarises(draft, expected)
    if draft.type == "episodic" or len(draft.content) > _LONGEST:
        return 0.0
    if words.mentioned(expected.words, told) < len(expected.words):
        return 0.0
    covered = words.coverage(expected.what, told)
    return covered if covered >= _ENOUGH else 0.0


def _summarises(draft: Draft, summary: Summary) -> float:
    if draft.type != "episodic" or len(draft.content) > _LONGEST_SUMMARY:
        return 0.0
    told = text(draft)
    part = words.mentioned(summary.mentions, told) / len(summary.mentions)
    has_work = bool(words.mentioned(summary.accomplished, told)) or not summary.accomplished
    return part if has_work and part >= _HALF else 0.0


def _assign(drafts: Sequence[Draft], wanted: Sequence[Expected]) -> dict[int, int]:
    """Find the best way to give each draft one expectation and each expectation one draft."""

    @cache
    def best(at: int, taken: int) -> tuple[float, tuple[tuple[int, int], ...]]:
        if at == len(drafts):
            return 0.0, ()
        options = []
        for to, expected in enumerate(wanted):
            worth = _worth(drafts[at], expected)
            if worth and not taken >> to & 1:
                rest, pairs = best(at + 1, taken | 1 << to)
                options.append((rest + worth, ((at, to), *pairs)))
        return max([*options, best(at + 1, taken)], key=lambda option: option[0])

    return dict(best(0, 0)[1])


def _worth(draft: Draft, expected: Expected) -> float:
    """Weigh a pair: that it is one, then that it is required, then its type, then its words."""
    met = meets(draft, expected)
    typed = Pair(draft, expected).is_typed
    return 1000 + 100 * (not expected.optional) + 10 * typed + met if met else 0.0


def _violations(label: Label, read: Sequence[Reading], drafts: Sequence[Draft]) -> Iterator[str]:
    if len(drafts) > MOST:
        yield f"{len(drafts)} drafts, {MOST} are the most"
    if sum(draft.type == "episodic" for draft in drafts) > 1:
        yield "more than one summary"
    told = readings.texts(read)
    paths = {change.path for reading in read for change in reading.event.files}
    for draft in drafts:
        yield from _misquotes(draft, told)
        if _is_file_list(draft, paths):
            yield f"only a list of files: {draft.title}"
        yield from (f"{held!r} is taken in: {draft.title}" for held in _leaks(label, draft))


def _misquotes(draft: Draft, told: dict[str, tuple[str, ...]]) -> Iterator[str]:
    if not draft.evidence:
        yield f"no evidence: {draft.title}"
    for evidence in draft.evidence:
        names = [name for name in (evidence.event_id, evidence.commit_sha) if name]
        sources = [told.get(name, ()) for name in names] or [sum(told.values(), ())]
        if not evidence.quote.strip():
            yield f"an empty quote: {draft.title}"
        elif not all(any(evidence.quote in one for one in source) for source in sources):
            yield f"not in the event: {evidence.quote!r}"


def _is_file_list(draft: Draft, paths: set[str]) -> bool:
    told = text(draft)
    parts = {part for path in paths for part in (path, path.rpartition("/")[2])}
    for part in sorted(parts, key=len, reverse=True):
        told = told.replace(part, " ")
    left = words.content(re.sub(r"\S*[/\\]\S*|\d+", " ", told)) - words.content(_CHANGE_WORDS)
    return bool(paths) and told != text(draft) and len(left) < _FEW_WORDS


def _leaks(label: Label, draft: Draft) -> list[str]:
    told = " ".join((text(draft), *(evidence.quote for evidence in draft.evidence))).casefold()
    return [held for held in label.never if held.casefold() in told]
