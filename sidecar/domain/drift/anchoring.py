"""Which places in the code a draft of memory is held against later: its anchors."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from protocol.memories import Anchor
from sidecar.domain.drafts import Draft
from sidecar.domain.drift.traces import Symbol, Touched, short, written
from sidecar.domain.enrichment.patterns import late

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
    """Tell whether a text mentions an anchor: its symbol, or the file where it has none.

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
