"""Requests and answers as `threadline call -` and every JSON-RPC transport exchange them."""

from msgspec import UNSET, Raw, UnsetType

from protocol.errors import ThreadlineError
from protocol.values import Record


class ErrorData(Record, frozen=True, kw_only=True):
    """What an error says beside its message."""

    field: str | None = None
    """Path of the offending field, such as `events[0].commit.sha`."""
    current: int | str | UnsetType = UNSET
    """Where something was to be changed that is another by now: its version, or when it was changed last."""


class Failure(Record, frozen=True, kw_only=True):
    """Why a request was refused."""

    code: int
    message: str
    data: ErrorData | UnsetType = UNSET


class Answer(Record, frozen=True, kw_only=True):
    """Exactly one for each request, with its id; `result` or `error`, never both."""

    id: int | str | None
    result: Raw | UnsetType = UNSET
    error: Failure | UnsetType = UNSET


def failure(error: ThreadlineError) -> Failure:
    """Write an error as it stands on the wire."""
    current = UNSET if error.current is None else error.current
    is_plain = error.field is None and error.current is None
    data = UNSET if is_plain else ErrorData(field=error.field, current=current)
    return Failure(code=error.code, message=str(error), data=data)
