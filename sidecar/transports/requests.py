"""Requests as they stand on the wire: read without trust, answered in the form of JSON-RPC."""

from typing import Any, TypeGuard

import msgspec

from protocol.answers import Answer
from protocol.errors import Code, InvalidRequestError, ThreadlineError

Identifier = int | str


class ParseError(ThreadlineError):
    """A message is no JSON."""

    code = Code.PARSE_ERROR


def decode(data: bytes) -> dict[str, Any]:
    """Read one message; whatever is wrong with it is raised as a ThreadlineError."""
    try:
        message = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ParseError(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise InvalidRequestError("a message is an object with `method` and `params`")
    return message


def encode(answer: Answer) -> bytes:
    """Write an answer as JSON-RPC has it."""
    return b'{"jsonrpc":"2.0",' + msgspec.json.encode(answer)[1:]


def is_identifier(value: object) -> TypeGuard[Identifier]:
    """Return whether a value may name a request: a number or a string."""
    return isinstance(value, int | str) and not isinstance(value, bool)
