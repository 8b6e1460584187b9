"""Params as they come become params as a method takes them."""

import contextlib
from collections.abc import Iterator

import msgspec

from protocol import refusals
from protocol.errors import InvalidParamsError
from protocol.rows import Method
from protocol.values import Params


def convert(method: Method, params: object) -> Params:
    """Type a request's params; an error names the field."""
    try:
        return msgspec.convert({} if params is None else params, method.params)
    except msgspec.ValidationError as error:
        message = str(error)
        told = f"{method.name}: {refusals.tell(method, params, message)}"
        raise InvalidParamsError(told, field=refusals.find_field(message)) from error


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
