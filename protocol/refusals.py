"""What is wrong with params, in words: the field, the value, and the way out."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import inspect

from protocol.documents import DocumentName
from protocol.rows import Method
from protocol.values import ProjectId, Sha, Ulid

_FIELD = re.compile(
    r"(?:required|unknown) field `(?P<name>[^`]+)`|(?:needs) the field `(?P<part>[^`]+)`"
)
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_STEP = re.compile(r"\[(?P<place>\d+)\]|(?P<name>[^.\[\]]+)")
_LIMIT = re.compile(r"(?P<length> of length)? (?P<sign><=|>=|<|>) (?P<limit>[\d.]+) - at ")
_WORDS = {
    "<=": "{limit} is the most",
    ">=": "{limit} is the least",
    "<": "it must be less than {limit}",
    ">": "it must be more than {limit}",
}
_FORM = "Expected `str` matching regex "
_FORMS: tuple[tuple[Any, str], ...] = (
    (Ulid, "is no id: those have 26 letters and digits, such as 01J9ZK3Q4W5X6Y7Z8A9B0C1D2E"),
    (Sha, "is no commit: those have 7 to 64 of the signs 0-9 and a-f"),
    (ProjectId, "is no project's id: those have 20 of the signs 0-9 and a-f"),
    (
        DocumentName,
        "is no name: those have letters, digits, _, and after the first also blanks, dots, dashes",
    ),
)
"""Kinds of texts, and what to say of one that has not the form."""
_ENUM = "Invalid enum value"
_SHOWN = 60
"""Letters of a wrong value that are said again."""


def find_field(message: str) -> str | None:
    """Read the offending field out of msgspec's message."""
    at, named = _PATH.search(message), _FIELD.search(message)
    parts = [at["path"] if at else "", (named["name"] or named["part"]) if named else ""]
    return ".".join(filter(None, parts)) or None


def tell(method: Method, params: object, message: str) -> str:
    """Say in words what msgspec complains of; in its own where there are none."""
    at = _PATH.search(message)
    if at is None:
        return message
    path = at["path"]
    if message.startswith(_FORM):
        return next(_explain_form(path, message), message)
    if message.startswith(_ENUM):
        known = ", ".join(map(str, dict.fromkeys(_choices(_type(method, path)))))
        value = str(_value(params, path))[:_SHOWN]
        return f"`{path}` is “{value}”; it can be {known}" if known else message
    limit = _LIMIT.search(message)
    return (_measure(limit, path, _value(params, path)) if limit else None) or message


def _explain_form(path: str, message: str) -> Iterator[str]:
    for kind, words in _FORMS:
        (meta,) = kind.__metadata__
        if message.startswith(f"{_FORM}{meta.pattern!r}"):
            yield f"`{path}` {words}"


def _measure(found: "re.Match[str]", path: str, value: object) -> str | None:
    """Say by how much a value is too long, too large or too small: whoever sent it has to know."""
    limit = _number(float(found["limit"]))
    allowed = _WORDS[found["sign"]].format(limit=limit)
    if isinstance(value, int | float) and not found["length"]:
        return f"`{path}` is {_number(value)}, and {allowed}"
    if not isinstance(value, str | list | tuple):
        return None
    if not value:
        return f"`{path}` is empty"
    things = "characters" if isinstance(value, str) else "items"
    return f"`{path}` has {len(value):,} {things}, and {allowed}"


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def _value(params: object, path: str) -> object:
    """Find what stands at a path of the params."""
    value: Any = params
    for step in _STEP.finditer(path):
        try:
            value = value[int(step["place"]) if step["place"] else step["name"]]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _type(method: Method, path: str) -> object:
    """Find the type of what stands at a path; None where that cannot be told."""
    found: object = inspect.type_info(method.params)
    for step in _STEP.finditer(path):
        found = next(_inside(found, step["name"]), None)
    return found


def _inside(kind: object, name: str | None) -> Iterator[object]:
    """Give the type of a field, or of the items where no field is named."""
    match kind:
        case inspect.Metadata():
            yield from _inside(kind.type, name)
        case inspect.UnionType():
            for one in kind.types:
                yield from _inside(one, name)
        case inspect.StructType() if name:
            yield from (one.type for one in kind.fields if one.encode_name == name)
        case inspect.VarTupleType() if not name:
            yield kind.item_type


def _choices(kind: object) -> Iterator[object]:
    match kind:
        case inspect.Metadata():
            yield from _choices(kind.type)
        case inspect.UnionType():
            for one in kind.types:
                yield from _choices(one)
        case inspect.LiteralType():
            yield from kind.values
