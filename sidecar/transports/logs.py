"""Where a server's log goes: a file of its own, and standard error."""

import logging
import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from protocol.settings import Settings
from sidecar.storage import files
from sidecar.text import characters

VARIABLE = "THREADLINE_LOG"
ERRORS = "errors"
"""What the handler of standard error is called."""
_SIZE = 1_000_000
_KEPT = 3
_OURS = "sidecar"


def write_to_file(home: Path, environment: Mapping[str, str]) -> Path:
    """Log into a file that only this user can read, and begin another when it has grown."""
    chosen = environment.get(VARIABLE)
    path = Path(chosen).expanduser() if chosen else home / "logs" / "threadline.log"
    if not chosen:
        files.ensure_folder(path.parent)
    handler = _PrivateFile(path, maxBytes=_SIZE, backupCount=_KEPT, encoding="utf-8", delay=True)
    handler.setFormatter(_Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    return path


def write_to_errors() -> None:
    """Log what is serious to standard error."""
    logging.getLogger().addHandler(error_handler())


def error_handler() -> logging.Handler:
    """Return what writes serious records to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.name = ERRORS
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Formatter("threadline: %(message)s"))
    return handler


def obey(settings: Settings) -> None:
    """Log what the user wants to see; other libraries only what is serious."""
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(settings.log_level.upper())


class _Formatter(logging.Formatter):
    """Writes nothing hidden into a log, whatever was logged."""

    def format(self, record: logging.LogRecord) -> str:
        return characters.visible(super().format(record))


class _PrivateFile(RotatingFileHandler):
    """Opens its file so that nobody else can read it."""

    def _open(self) -> TextIOWrapper:
        descriptor = files.open_private(Path(self.baseFilename))
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding="utf-8", line_buffering=True)


def own() -> int:
    """Keep standard output for the protocol alone; what anyone prints goes to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return output
