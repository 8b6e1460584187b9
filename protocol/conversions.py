"""Params as they come become params as a method takes them."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from protocol.errors import InvalidParamsError
from protocol.rows import Method
from protocol.values import Params

_FIELD = re.compile(
    r"(?:required|unknown) field `(?P<name>[^`]+)`|(?:needs) the field `(?P<part>[^`]+)`"
)
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_MOST = re.compile(r" of length <= (?P<most>\d+) ")
_NO_ULID = "Expected `str` matching regex '^[0-7][0-9A-HJKMNP-TV-Z]{25}"
_ULID = "01J9ZK3Q4W5X6Y7Z8A9B0C1D2E"
_STEP = re.compile(r"\[(?P<place>\d+)\]|(?P<name>[^.\[\]]+)")


def convert(method: Method, params: object) -> Params:
    """Type a request's params; an error names the field."""
    try:
        return msgspec.convert({} if params is None else params, method.params)
    except msgspec.ValidationError as error:
        message = str(error)
        told = _too_long(message, params) or _no_id(message) or message
        raise InvalidParamsError(f"{method.name}: {told}", field=_field(message)) from error


def prepare() -> None:
    """Learn every kind of record that is loaded, before there are threads.

    msgspec learns a kind when it first reads one; two threads that do so at once can end the process.
    """
    for kind in _kinds(msgspec.Struct):
        with contextlib.suppress(TypeError, NameError):  # some are never read, and could not be
            msgspec.json.Decoder(kind)


def _kinds(base: type) -> Iterator[type]:
    found: list[type] = base.__subclasses__()
    for kind in found:
        yield kind
        yield from _kinds(kind)


def _field(message: str) -> str | None:
    """Read the offending field out of msgspec's message."""
    at, named = _PATH.search(message), _FIELD.search(message)
    parts = [at["path"] if at else "", (named["name"] or named["part"]) if named else ""]
    return ".".join(filter(None, parts)) or None


def _too_long(message: str, params: object) -> str | None:
    """Say how long a value is that is too long: whoever sent it has to know how much to cut."""
    at, most = _PATH.search(message), _MOST.search(message)
    value = None if at is None else _value(at["path"], params)
    if at is None or most is None or not isinstance(value, str | list | tuple):
        return None
    things = "characters" if isinstance(value, str) else "items"
    return f"`{at['path']}` has {len(value):,} {things}, and {int(most['most']):,} is the most"


def _no_id(message: str) -> str | None:
    """Say what an id looks like, rather than by which pattern it is known."""
    at = _PATH.search(message)
    if at is None or not message.startswith(_NO_ULID):
        return None
    return f"`{at['path']}` is no id: those have 26 letters and digits, such as {_ULID}"


def _value(path: str, params: object) -> object:
    """Find what stands at a path of the params."""
    value: Any = params
    for step in _STEP.finditer(path):
        try:
            value = value[int(step["place"]) if step["place"] else step["name"]]
        except (KeyError, IndexError, TypeError):
            return None
    return value
