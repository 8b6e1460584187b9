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
_STEP = re.compile(r"\[(?P<place>\d+)\]|(?P<name>[^.\[\]]+)")


def convert(method: Method, params: object) -> Params:
    """Type a request's params; an error names the field."""
    try:
        return msgspec.convert({} if params is None else params, method.params)
    except msgspec.ValidationError as error:
        message = str(error)
        told = f"{method.name}: {message}{_length(message, params)}"
        raise InvalidParamsError(told, field=_field(message)) from error


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


def _length(message: str, params: object) -> str:
    """Say how long a value is that is too long: whoever sent it has to know how much to cut."""
    at = _PATH.search(message)
    if at is None or " of length <= " not in message:
        return ""
    value: Any = params
    for step in _STEP.finditer(at["path"]):
        try:
            value = value[int(step["place"]) if step["place"] else step["name"]]
        except (KeyError, IndexError, TypeError):
            return ""
    return f"; its length is {len(value)}" if isinstance(value, str | list | tuple) else ""
