"""Fitting: an answer is never longer than its cap, and gives as much as it can below it.

First parts go, in the order of the priorities, until the rest fits: items before the names of their sections, the
names of what can be asked for again before the items that nobody would think to ask for, and what is said of the
answer itself, and in which section how much is missing, only to save what an earlier conversation knew. Then,
in the opposite order, whatever still fits comes back; a document and the recovery come back clipped rather
than not at all. So of all that is missing nothing could be added by itself. And a section that is whole, together
with all that matter more, is so at every larger cap, too, as long as all sections are named; those that nobody would
think to ask for, as long as what is missing is counted section by section.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct, field

from protocol.contexts import DocumentItem, Recovery, StartContext
from sidecar.domain.context import clipping, sections
from sidecar.domain.context.priorities import ORDER
from sidecar.domain.context.sections import COMMA, CORE, HEADER, Part

EVERYTHING = "everything"
"""Stands for all sections where there is no room to name them."""
_RECOVERY = "recovery"
_VITAL = ORDER[ORDER.index("activeTasks") : ORDER.index(_RECOVERY)]
_SPARE = ORDER[: ORDER.index("activeTasks")]
_NAMES = -1
"""The step at which sections are not named any more in what is left out."""
_LEAST = {"documents": 200, _RECOVERY: 40}
"""Characters of a text below which clipping leaves nothing useful."""


class Fitted(Struct, frozen=True, kw_only=True):
    """An answer within its cap."""

    context: StartContext
    dropped: tuple[tuple[str, str], ...] = ()
    """What did not fit: sections and ids."""
    chars: int
    """Its size as it is measured."""
    sizes: dict[tuple[str, str], int]
    """The size of each of its parts, by section and id."""


def fit(context: StartContext, cap: int) -> Fitted:
    """Leave out of an answer what matters least, until it has at most so many characters (200 or more)."""
    chars = sections.measure(context)
    if chars <= cap:
        return Fitted(context=context, chars=chars, sizes=_sizes(sections.split(context)))
    draft = _draft(context, chars)
    steps = _steps(draft.parts)
    _trim(draft, cap, steps)
    _refill(draft, cap, steps[::-1])
    kept = [part for part, is_there in zip(draft.parts, draft.present, strict=True) if is_there]
    return Fitted(
        context=sections.join(context, kept, draft.left_out()),
        dropped=tuple(_dropped(draft)),
        chars=draft.size(),
        sizes=_sizes(kept),
    )


def _sizes(parts: Iterable[Part]) -> dict[tuple[str, str], int]:
    return {(part.section, part.id): part.chars for part in parts}


class _Draft(Struct):
    """An answer while parts of it come and go, and its size."""

    parts: list[Part]
    body: int
    """Characters of all but what is said to be left out."""
    missing: dict[str, int]
    lost: int
    """How many items are missing in all."""
    entries: int
    """Characters of what is said to be left out, section by section."""
    present: list[bool]
    users: list[int]
    """How many items stand in each frame."""
    filled: dict[str, int] = field(default_factory=dict)
    """How many items each section has."""
    is_named: bool = True
    """Whether what is left out is said section by section."""

    def size(self) -> int:
        """Tell how many characters it has now."""
        return self.body + self._mentioned(self.entries, self.lost)

    def left_out(self) -> dict[str, int]:
        """Say what is missing."""
        if not self.is_named:
            return {EVERYTHING: self.lost} if self.lost else {}
        return {section: count for section, count in self.missing.items() if count}

    def drop(self, at: int) -> None:
        """Leave a part out, unless others stand in it."""
        part = self.parts[at]
        if self.present[at] and not self.users[at]:
            self.body -= self._count(part, -1)
            self.present[at] = False
            self._miss(part.section, int(part.is_counted))

    def needs(self, at: int) -> int:
        """Tell how large it would be with a part that is missing."""
        part = self.parts[at]
        frame = self._missing_frame(part)
        chars, regained = part.chars, int(part.is_counted)
        if part.frame >= 0 and not self.filled.get(part.section):
            chars -= COMMA
        if frame is not None:
            chars += frame.chars
            regained += frame.is_counted
        lost = self.missing.get(part.section, 0)
        entries = self.entries - _entry(part.section, lost) + _entry(part.section, lost - regained)
        return self.body + chars + self._mentioned(entries, self.lost - regained)

    def add(self, at: int) -> None:
        """Take a part in again, with the frame that it stands in."""
        part = self.parts[at]
        if self._missing_frame(part) is not None:
            self.add(part.frame)
        self.body += self._count(part, 1)
        self.present[at] = True
        self._miss(part.section, -int(part.is_counted))

    def _missing_frame(self, part: Part) -> Part | None:
        is_missing = part.frame >= 0 and not self.present[part.frame]
        return self.parts[part.frame] if is_missing else None

    def _count(self, part: Part, step: int) -> int:
        """Count an item in or out; the only one of a list has no comma."""
        if part.frame < 0:
            return part.chars
        before = self.filled.get(part.section, 0)
        self.filled[part.section] = before + step
        self.users[part.frame] += step
        return part.chars - (COMMA if min(before, before + step) == 0 else 0)

    def _miss(self, section: str, step: int) -> None:
        before = self.missing.get(section, 0)
        if step:
            self.lost += step
            self.missing[section] = before + step
            self.entries += _entry(section, before + step) - _entry(section, before)

    def _mentioned(self, entries: int, lost: int) -> int:
        if not self.is_named:
            entries = _entry(EVERYTHING, lost)
        return len("{}") + max(entries - COMMA, 0)


def _draft(context: StartContext, chars: int) -> _Draft:
    parts = sections.split(context)
    entries = sum(_entry(section, count) for section, count in context.left_out.items())
    draft = _Draft(
        parts=parts,
        body=chars - sections.measure(context.left_out),
        missing=dict(context.left_out),
        lost=sum(context.left_out.values()),
        entries=entries,
        present=[True] * len(parts),
        users=[0] * len(parts),
    )
    for part in parts:
        if part.frame >= 0:
            draft.users[part.frame] += 1
            draft.filled[part.section] = draft.filled.get(part.section, 0) + 1
    return draft


@functools.lru_cache(maxsize=4096)
def _entry(section: str, count: int) -> int:
    """Tell how many characters it takes to say that so many items of a section are missing."""
    return sections.measure({section: count}) - len("{}") + COMMA if count else 0


def _steps(parts: Sequence[Part]) -> list[int]:
    """List all that can go, in the order in which it goes."""
    counted: dict[str, list[int]] = {}
    bare: dict[str, list[int]] = {}
    for at, part in enumerate(parts):
        (counted if part.is_counted else bare).setdefault(part.section, []).append(at)
    return [
        *_last_first(counted, _SPARE),
        *_last_first(bare, _SPARE),
        *_last_first(counted, _VITAL),
        *_last_first(bare, (*_VITAL, CORE, _RECOVERY)),
        *_last_first(bare, HEADER),
        _NAMES,
        *_last_first(counted, (_RECOVERY,)),
    ]


def _last_first(found: dict[str, list[int]], names: Iterable[str]) -> Iterator[int]:
    for name in names:
        yield from reversed(found.get(name, ()))


def _trim(draft: _Draft, cap: int, steps: Sequence[int]) -> None:
    """Leave parts out until the rest fits."""
    vain = _in_vain(draft)
    worth = [at for at in steps if at == _NAMES or draft.parts[at].section not in vain]
    rest = [at for at in steps if at != _NAMES and draft.parts[at].section in vain]
    after = worth.index(_NAMES) + 1
    for at in (*worth[:after], *rest, *worth[after:]):
        if draft.size() <= cap:
            return
        if at == _NAMES:
            draft.is_named = False
        else:
            draft.drop(at)


def _in_vain(draft: _Draft) -> set[str]:
    """Name the sections that take less room than it takes to say that they are missing."""
    chars: dict[str, int] = {}
    counts: dict[str, int] = {}
    for part in draft.parts:
        if part.is_counted:
            chars[part.section] = chars.get(part.section, -COMMA) + part.chars
            counts[part.section] = counts.get(part.section, 0) + 1
    return {
        section
        for section, count in counts.items()
        if chars[section] <= _grows(section, draft.missing.get(section, 0), count)
    }


def _grows(section: str, lost: int, count: int) -> int:
    return _entry(section, lost + count) - _entry(section, lost)


def _refill(draft: _Draft, cap: int, steps: Sequence[int]) -> None:
    """Take in again whatever still fits, until nothing does."""
    missing = list(steps)
    while True:
        left = [at for at in missing if not _return(draft, cap, at)]
        if len(left) == len(missing):
            return
        missing = left


def _return(draft: _Draft, cap: int, at: int) -> bool:
    """Take a step back if there is room for it; tell whether that is done."""
    if at == _NAMES:
        was_named, draft.is_named = draft.is_named, True
        draft.is_named = was_named or draft.size() <= cap
        return draft.is_named
    if draft.present[at]:
        return True
    needed = draft.needs(at)
    if needed > cap:
        part = _shortened(draft.parts[at], needed - cap)
        if part is None:
            return False
        draft.parts[at] = part
    draft.add(at)
    return True


def _shortened(part: Part, excess: int) -> Part | None:
    """Clip a part's text until it has so many characters less, if it has a text and that leaves enough of it."""
    least = _LEAST.get(part.section)
    if least is None or part.chars - excess < least:
        return None
    low, high = least, part.chars - excess
    around = part.chars - sections.measure(part.value)
    found: Part | None = None
    while low <= high:
        limit = (low + high) // 2
        value = _clipped(part.value, limit)
        chars = around + sections.measure(value)
        if chars <= part.chars - excess:
            found = msgspec.structs.replace(part, value=value, chars=chars)
            low = limit + 1
        else:
            high = limit - 1
    return found


def _clipped(value: DocumentItem | Recovery, limit: int) -> DocumentItem | Recovery:
    if isinstance(value, Recovery):
        return msgspec.structs.replace(value, text=clipping.clip_lines(value.text, limit)[0])
    content, is_cut = clipping.clip_lines(value.content, limit)
    return msgspec.structs.replace(value, content=content, is_clipped=is_cut or value.is_clipped)


def _dropped(draft: _Draft) -> Iterator[tuple[str, str]]:
    for part, is_there in zip(draft.parts, draft.present, strict=True):
        if part.is_counted and not is_there:
            yield part.section, part.id
