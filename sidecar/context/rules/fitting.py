"""Fit a context into its size limit, least important parts dropped first."""

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from protocol.contexts import Changes, DocumentItem, Recovery, SessionContext, StartContext
from sidecar.text import clipping

ORDER = (
    "memoryHealth",
    "vaults",
    "recentAgents",
    "availableDocuments",
    "missingDocuments",
    "introduction",
    "tasksSuggestedDone",
    "changesSinceLastSession",
    "recentSessions",
    "documents",
    "importantFacts",
    "tasksAutoCompleted",
    "queryResults",
    "otherOpenTaskCount",
    "otherPendingMessageCount",
    "linkOffer",
    "activeTasks",
    "pendingMessages",
    "personal",
    "constraints",
    "recovery",
)
"""Sections by what an assistant misses least; within a section the last item goes first.

What can be asked for again goes before what nobody would think to ask for: an assistant that does not know of
a constraint breaks it.
"""


CORE = "sessionContext"
HEADER = ("agentLabel", "isFirstConnection", "receiptId")
"""What is said about the answer itself; nobody counts it."""
COMMA = 2
"""Characters of a comma and a space; a colon and a space have as many."""

_FIELDS = {
    field.encode_name: field.name
    for field in msgspec.structs.fields(StartContext)
    if field.name not in {"project_id", "left_out"}
}
_LISTS = {field.encode_name: field.name for field in msgspec.structs.fields(SessionContext)}
_IDS = ("task_id", "memory_id", "message_id", "vault_id", "agent_id", "checkpoint_id", "name")


class Part(Struct, frozen=True, kw_only=True):
    """Something that can be left out by itself."""

    section: str
    id: str
    value: Any
    chars: int
    """Its size, and that of a comma."""
    frame: int = -1
    """Where among the parts the frame is that it stands in; -1 for a frame."""
    is_counted: bool = True
    """Whether it is missed: an empty list is not."""


def measure(value: object) -> int:
    """Return how many characters a value has as JSON on one line, with a space after every comma and colon."""
    written = msgspec.json.format(msgspec.json.encode(value), indent=0)
    return len(written) if written.isascii() else len(written.decode())


def split(context: StartContext) -> list[Part]:
    """Take an answer apart: each section's frame, and then its items in their order."""
    parts: list[Part] = []
    for name, attribute in _FIELDS.items():
        value = getattr(context, attribute)
        if value is not UNSET:
            parts.extend(_parts(name, value, len(parts)))
    return parts


def join(context: StartContext, parts: Iterable[Part], left_out: Mapping[str, int]) -> StartContext:
    """Put an answer together of those of its parts that are given."""
    frames: dict[str, Any] = {}
    items: dict[str, list[Any]] = {}
    for part in parts:
        if part.frame < 0:
            frames[part.section] = part.value
        else:
            items.setdefault(part.section, []).append(part.value)
    made = {_FIELDS[name]: _filled(name, value, items) for name, value in frames.items()}
    return StartContext(project_id=context.project_id, left_out=dict(left_out), **made)


def _parts(name: str, value: Any, at: int) -> Iterator[Part]:  # noqa: ANN401  # a section is one of many types
    match value:
        case SessionContext():
            yield _frame(name, SessionContext(), is_counted=False)
            for section, field in _LISTS.items():
                yield from _items(section, getattr(value, field), at)
        case Changes():
            yield _frame(name, msgspec.structs.replace(value, highlights=()))
            for number, told in enumerate(value.highlights, 1):
                yield _item(name, told, at, f"highlight {number}")
        case tuple():
            yield _frame(name, (), is_counted=False)
            yield from _items(name, value, at)
        case _:
            yield _frame(name, value, is_counted=value is not None and name not in HEADER)


def _frame(name: str, value: object, *, is_counted: bool = True) -> Part:
    chars = len(f'"{name}": ') + measure(value) + COMMA
    return Part(
        section=name, id=_id(value) or name, value=value, chars=chars, is_counted=is_counted
    )


def _items(section: str, values: Iterable[object], frame: int) -> Iterator[Part]:
    for value in values:
        yield _item(section, value, frame, value if isinstance(value, str) else _id(value))


def _item(section: str, value: object, frame: int, key: str) -> Part:
    return Part(section=section, id=key, value=value, chars=measure(value) + COMMA, frame=frame)


def _id(value: Any) -> str:  # noqa: ANN401  # likewise
    for name in _names(value.__class__):
        key = getattr(value, name)
        if isinstance(key, str):
            return key
    return ""


@functools.cache
def _names(kind: Hashable) -> tuple[str, ...]:
    fields = getattr(kind, "__struct_fields__", ())
    return tuple(name for name in _IDS if name in fields)


def _filled(name: str, value: Any, items: Mapping[str, list[Any]]) -> Any:  # noqa: ANN401  # a section is one of many types
    match value:
        case SessionContext():
            lists = {field: tuple(items.get(key, ())) for key, field in _LISTS.items()}
            return SessionContext(**lists)
        case Changes():
            return msgspec.structs.replace(value, highlights=tuple(items.get(name, ())))
        case tuple():
            return tuple(items.get(name, ()))
        case _:
            return value


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
    chars = measure(context)
    if chars <= cap:
        return Fitted(context=context, chars=chars, sizes=_sizes(split(context)))
    draft = _draft(context, chars)
    steps = _steps(draft.parts)
    _trim(draft, cap, steps)
    _refill(draft, cap, steps[::-1])
    kept = [part for part, is_there in zip(draft.parts, draft.present, strict=True) if is_there]
    return Fitted(
        context=join(context, kept, draft.left_out()),
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
        """Return how many characters it has now."""
        return self.body + self._mentioned(self.entries, self.lost)

    def left_out(self) -> dict[str, int]:
        """Return what is missing."""
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
        """Return how large it would be with a part that is missing."""
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
    parts = split(context)
    entries = sum(_entry(section, count) for section, count in context.left_out.items())
    draft = _Draft(
        parts=parts,
        body=chars - measure(context.left_out),
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
    return measure({section: count}) - len("{}") + COMMA if count else 0


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
    """Return the sections that take less room than it takes to say that they are missing."""
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
    around = part.chars - measure(part.value)
    found: Part | None = None
    while low <= high:
        limit = (low + high) // 2
        value = _clipped(part.value, limit)
        chars = around + measure(value)
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


_PASSING = {
    "introduction": "",
    "link_offer": UNSET,
    "recovery": None,
    "query_results": (),
    "pending_messages": (),
    "other_pending_message_count": UNSET,
    "changes_since_last_session": None,
    "tasks_auto_completed": (),
    "tasks_suggested_done": (),
    "recent_agents": (),
}
_LASTING = frozenset(
    {
        "introduction",
        "linkOffer",
        "recovery",
        "queryResults",
        "pendingMessages",
        "otherPendingMessageCount",
        "changesSinceLastSession",
        "tasksAutoCompleted",
        "tasksSuggestedDone",
        "recentAgents",
    }
)


def keep(context: StartContext) -> StartContext:
    """Return a context without letters, news and the state of a conversation."""
    left_out = {name: count for name, count in context.left_out.items() if name not in _LASTING}
    return replace(context, **_PASSING, left_out=left_out)
