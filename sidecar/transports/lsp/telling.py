"""What the server logs is told to its client."""

import logging
from collections.abc import Callable

from lsprotocol.types import MessageType

from sidecar.transports.logs import ERRORS

_TYPES = {
    logging.ERROR: MessageType.Error,
    logging.WARNING: MessageType.Warning,
    logging.INFO: MessageType.Info,
    logging.DEBUG: MessageType.Log,
}


def write_to_client(tell: Callable[[MessageType, str], None]) -> None:
    """Log to the client instead of standard error; `tell` may be called from any thread."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if one.name == ERRORS]:
        root.removeHandler(handler)
    root.addHandler(_ClientHandler(tell))


class _ClientHandler(logging.Handler):
    """Hands what is logged to the client."""

    def __init__(self, tell: Callable[[MessageType, str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        kind = _TYPES.get(record.levelno, MessageType.Info)
        self._tell(kind, record.getMessage())
