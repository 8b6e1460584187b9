"""Named exit codes of the command line."""

from enum import IntEnum

from protocol.errors import Code


class Exit(IntEnum):
    """What a script may rely on."""

    OK = 0
    FAILED = 1
    """Something unexpected; the message says what."""
    USAGE = 2
    """The command or its input is wrong; nothing was changed."""
    NOT_FOUND = 3
    """The id or path names nothing."""
    CONFLICT = 4
    """The thing is not in a state that allows this."""
    BUSY = 5
    """Another process holds the store; try again."""
    STORAGE_FAILED = 6
    """The disk is full or read-only; nothing was stored."""
    STORE_REFUSED = 7
    """The store is newer than this program, or someone else's."""
    GIT_FAILED = 8
    """Git could not read the repository."""
    MODEL_FAILED = 9
    """The language model is not set up, or did not do its part."""
    FORBIDDEN = 10
    """A key is missing, or does not allow this."""
    TEAM_FAILED = 11
    """The team's server or remote could not be used; what waits is sent later."""
    INTERRUPTED = 130
    """Ctrl-C; everything acknowledged is kept."""


_BY_CODE = {
    Code.PARSE_ERROR: Exit.USAGE,
    Code.INVALID_REQUEST: Exit.USAGE,
    Code.METHOD_NOT_FOUND: Exit.USAGE,
    Code.INVALID_PARAMS: Exit.USAGE,
    Code.INTERNAL_ERROR: Exit.FAILED,
    Code.NOT_INITIALIZED: Exit.USAGE,
    Code.CANCELLED: Exit.INTERRUPTED,
    Code.NOT_FOUND: Exit.NOT_FOUND,
    Code.CONFLICT: Exit.CONFLICT,
    Code.BUSY: Exit.BUSY,
    Code.STORAGE_FAILED: Exit.STORAGE_FAILED,
    Code.STORE_REFUSED: Exit.STORE_REFUSED,
    Code.GIT_FAILED: Exit.GIT_FAILED,
    Code.MODEL_FAILED: Exit.MODEL_FAILED,
    Code.FORBIDDEN: Exit.FORBIDDEN,
    Code.TEAM_FAILED: Exit.TEAM_FAILED,
}


def exit_for(code: Code) -> Exit:
    """Choose the exit code for an error's code."""
    return _BY_CODE[code]
