"""Where the server's log goes: a file of its own, the client's output, and standard error."""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from lsprotocol.types import MessageType

from protocol.settings import Settings
from sidecar.store import files

VARIABLE = "THREADLINE_LOG"
_SIZE = 1_000_000
_KEPT = 3
_OURS = "sidecar"
_ERRORS = "errors"
_TYPES = {
    logging.ERROR: MessageType.Error,
    logging.WARNING: MessageType.Warning,
    logging.INFO: MessageType.Info,
    logging.DEBUG: MessageType.Log,
}


def write_to_file(home: Path, environment: Mapping[str, str]) -> Path:
    """Log into a file that only this user can read, and begin another when it has grown."""
    chosen = environment.get(VARIABLE)
    path = Path(chosen).expanduser() if chosen else home / "logs" / "threadline.log"
    if not chosen:
        files.ensure_folder(path.parent)
    handler = _PrivateFile(path, maxBytes=_SIZE, backupCount=_KEPT, encoding="utf-8", delay=True)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    )
    logging.getLogger().addHandler(handler)
    return path


def write_to_errors() -> None:
    """Log what is serious to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.name = _ERRORS
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("threadline: %(message)s"))
    logging.getLogger().addHandler(handler)


def write_to_client(tell: Callable[[MessageType, str], None]) -> None:
    """Log to the client instead of standard error; `tell` may be called from any thread."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if one.name == _ERRORS]:
        root.removeHandler(handler)
    root.addHandler(_ClientHandler(tell))


def obey(settings: Settings) -> None:
    """Log what the user wants to see; other libraries only what is serious."""
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(settings.log_level.upper())


class _PrivateFile(RotatingFileHandler):
    """Opens its file so that nobody else can read it."""

    def _open(self) -> TextIOWrapper:
        descriptor = files.open_private(Path(self.baseFilename))
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding="utf-8", line_buffering=True)


class _ClientHandler(logging.Handler):
    """Hands what is logged to the client."""

    def __init__(self, tell: Callable[[MessageType, str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        kind = _TYPES.get(record.levelno, MessageType.Info)
        self._tell(kind, record.getMessage())
