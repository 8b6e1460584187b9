"""Sections: an answer taken apart into what can be left out by itself, and put together again.

A part is an item of a list, or a section's frame: what is written of it when its list is empty. A frame that says
something by itself, such as the state of memory, counts as an item; its section cannot be empty, only absent.
Parts know their size as JSON, with the comma that separates them from the next.
"""

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from protocol.contexts import Changes, SessionContext, StartContext

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
    """Tell how many characters a value has as JSON on one line, with a space after every comma and colon."""
    written = msgspec.json.format(msgspec.json.encode(value), indent=0)
    return len(written) if written.isascii() else len(written.decode())


def split(context: StartContext) -> list[Part]:
    """Take an answer apart: each section's frame, and then its items in their order."""
    parts: list[Part] = []
    for name, field in _FIELDS.items():
        value = getattr(context, field)
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
    """Tell what may identify values of a type."""
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
