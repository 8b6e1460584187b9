"""Params as they come become params as a method takes them."""

import re

import msgspec

from protocol.errors import InvalidParamsError
from protocol.methods import Method
from protocol.values import Params

_FIELD = re.compile(
    r"(?:required|unknown) field `(?P<name>[^`]+)`|(?:needs) the field `(?P<part>[^`]+)`"
)
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


def convert(method: Method, params: object) -> Params:
    """Type a request's params; an error names the field."""
    try:
        return msgspec.convert({} if params is None else params, method.params)
    except msgspec.ValidationError as error:
        message = str(error)
        raise InvalidParamsError(f"{method.name}: {message}", field=_field(message)) from error


def _field(message: str) -> str | None:
    """Read the offending field out of msgspec's message."""
    at, named = _PATH.search(message), _FIELD.search(message)
    parts = [at["path"] if at else "", (named["name"] or named["part"]) if named else ""]
    return ".".join(filter(None, parts)) or None
