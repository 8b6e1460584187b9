"""Serving: how a server opens its application, and ends with whoever started it or when it is told to."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from protocol import conversions
from protocol.errors import ThreadlineError
from sidecar.app import Application, open_application
from sidecar.text import characters
from sidecar.transports import logs
from sidecar.transports.exits import exit_for
from sidecar.transports.parents import PARENT

GRACE = 2.0
"""Seconds that what is under way may take once nobody is there any more."""
_WATCH_EVERY = 3.0
"""Seconds between two looks whether somebody is still there."""


def open_server(*, here: Path, source: str) -> Application:
    """Open an application for many requests at once, with its log."""
    logs.write_to_errors()
    app = open_application(here=here, source=source)
    logs.write_to_file(app.home.folder, os.environ)
    logs.obey(app.settings)
    conversions.prepare()
    return app


def begin(*, here: Path, source: str) -> Application:
    """Open an application for a client that hears nothing but its protocol; where that fails, say why and end."""
    try:
        return open_server(here=here, source=source)
    except ThreadlineError as error:
        sys.stderr.write(f"threadline: {characters.visible(str(error))}\n")
        sys.exit(exit_for(error.code))


def heed_signals(end: Callable[[], object]) -> None:
    """End in order when the user or the system asks us to, or the terminal is closed."""
    if os.name == "posix":
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, end)


async def watch(end: Callable[[], object], is_there: Callable[[], bool] = lambda: True) -> None:
    """End with whoever started us, also when somebody else keeps its pipe open, or with somebody besides."""
    while True:
        if os.getppid() != PARENT or not is_there():
            end()
        await asyncio.sleep(_WATCH_EVERY)
