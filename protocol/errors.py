"""Every way a request can fail, with its stable code."""

from enum import IntEnum


class Code(IntEnum):
    """The codes of JSON-RPC and LSP, and ours outside the ranges they reserve."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    NOT_INITIALIZED = -32002
    CANCELLED = -32800
    NOT_FOUND = -33001
    """An id that names nothing."""
    BUSY = -33002
    """Another process holds the store and does not let go; try again."""
    STORAGE_FAILED = -33003
    """The disk refused (full, read-only); nothing was stored."""
    STORE_REFUSED = -33004
    """The store was written by a newer Threadline or belongs to someone else."""
    GIT_FAILED = -33005
    """Git could not read the repository."""
    CONFLICT = -33006
    """The thing is not in a state that allows this."""
    MODEL_FAILED = -33007
    """A language model could not be asked, or its answer could not be used; try again."""
    FORBIDDEN = -33008
    """No key was shown, or one that does not allow this."""
    TEAM_FAILED = -33009
    """The team's server or remote could not be used; what waits is sent later."""


class ThreadlineError(Exception):
    """The root of everything we raise on purpose; its text is for people."""

    code = Code.INTERNAL_ERROR

    def __init__(
        self, message: str, *, field: str | None = None, current: int | str | None = None
    ) -> None:
        """Say the value and the way out in `message`; `current` is what a stale writer should have read."""
        super().__init__(message)
        self.field = field
        self.current = current


class InvalidRequestError(ThreadlineError):
    """A message that is no request."""

    code = Code.INVALID_REQUEST


class UnknownMethodError(ThreadlineError):
    """A method that is not in the table."""

    code = Code.METHOD_NOT_FOUND


class InvalidParamsError(ThreadlineError):
    """Params that do not fit their method."""

    code = Code.INVALID_PARAMS


class NotFoundError(ThreadlineError):
    """An id that names nothing."""

    code = Code.NOT_FOUND


class BusyError(ThreadlineError):
    """The lock could not be had in time."""

    code = Code.BUSY


class StorageFailedError(ThreadlineError):
    """The disk refused; nothing was stored."""

    code = Code.STORAGE_FAILED


class StoreRefusedError(ThreadlineError):
    """A store we must not touch."""

    code = Code.STORE_REFUSED


class GitFailedError(ThreadlineError):
    """Git could not read the repository."""

    code = Code.GIT_FAILED


class ConflictError(ThreadlineError):
    """The thing is not in a state that allows this."""

    code = Code.CONFLICT


class ModelFailedError(ThreadlineError):
    """A language model could not be asked, or its answer could not be used."""

    code = Code.MODEL_FAILED


class ForbiddenError(ThreadlineError):
    """No key was shown, or one that does not allow this."""

    code = Code.FORBIDDEN


class TeamFailedError(ThreadlineError):
    """A team's server or remote could not be used; all that is local works on."""

    code = Code.TEAM_FAILED


class CancelledError(ThreadlineError):
    """Whoever asked does not want it any more; what is done is done."""

    code = Code.CANCELLED
