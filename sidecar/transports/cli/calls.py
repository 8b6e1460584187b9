"""`threadline call -`: requests as JSON Lines in, exactly one answer line for each out."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from protocol.answers import Answer, failure
from protocol.errors import InvalidParamsError, InvalidRequestError, ThreadlineError
from protocol.values import Record
from sidecar.app import Application
from sidecar.text import characters
from sidecar.transports import requests
from sidecar.transports.requests import Identifier, is_identifier

T = TypeVar("T")

MAX_LINE = 32 * 1024 * 1024


def answer_all(app: Application, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Answer each line that is not blank; a bad one is answered too, and the stream goes on."""
    for line in lines:
        if line.strip():
            yield characters.visible_message(msgspec.json.encode(answer(app, line)))


def answer(app: Application, line: bytes) -> Answer:
    """Answer one request."""
    identifier = None
    try:
        request = _parse(line)
        identifier = _identifier(request)
        method = _method(request)
    except ThreadlineError as error:
        return Answer(id=identifier, error=failure(error))
    return app.answer(identifier, method, request.get("params"))


def _parse(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise InvalidRequestError(f"a line of {len(line)} bytes is over the limit of {MAX_LINE}")
    return requests.decode(line)


def _identifier(request: dict[str, Any]) -> Identifier | None:
    identifier = request.get("id")
    if not (identifier is None or is_identifier(identifier)):
        raise InvalidRequestError("`id` is a number or a string", field="id")
    return identifier


def _method(request: dict[str, Any]) -> str:
    method = request.get("method")
    if not isinstance(method, str):
        raise InvalidRequestError("`method` is missing or no string", field="method")
    return method


def call(app: Application, method: str, params: object, kind: type[T]) -> T:
    """Call a method and give its result, of the kind that the table promises."""
    try:
        result = app.call(method, params)
    except InvalidParamsError as error:
        # Whoever typed a command knows nothing of methods, and wrote one task, not a list of them.
        told = str(error).removeprefix(f"{method}: ").replace("`tasks[0].", "`")
        raise InvalidParamsError(told, field=error.field) from error
    assert isinstance(result, kind)  # noqa: S101  # for the type checker; the table says so
    return result


def encode(record: Record | tuple[Record, ...]) -> str:
    """Write a result for people and scripts, with nothing hidden in it."""
    data = characters.visible_json(msgspec.json.encode(record))
    return msgspec.json.format(data, indent=2).decode()
