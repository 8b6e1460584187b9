"""Invitations: the address that lets one browser in, on the terminal, and another one whenever it is wanted."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sidecar.adapters import browsers
from sidecar.transports.web.keys import VALID_FOR, Keys


@dataclass(frozen=True)
class Host:
    """Who invites."""

    port: int
    keys: Keys
    note: Path
    """The file with the token of programs."""

    @property
    def address(self) -> str:
        """Name the place itself."""
        return f"http://127.0.0.1:{self.port}"

    def invite(self) -> str:
        """Give an address that lets one browser in, once; what follows # is never sent or logged."""
        return f"{self.address}/enter#{self.keys.issue()}"


def write_json(host: Host) -> None:
    """Print an invitation for programs."""
    told = {"address": host.address, "url": host.invite(), "tokenFile": str(host.note)}
    _say(msgspec.json.encode(told).decode())


def write(host: Host, *, is_shown: bool) -> None:
    """Print an invitation for people, and show it to them where that can be."""
    url = host.invite()
    _say(f"Threadline's dashboard: {url}")
    once = f"This address lets one browser in, once, within {VALID_FOR / 60:.0f} minutes."
    _say(f"{once} {_another()} Ctrl-C ends it.")
    _say(f"Programs may ask GET {host.address}/api/checkpoints with the token in {host.note}.")
    if is_shown and sys.stdout.isatty() and browsers.show(url, os.environ):
        _say("It opens in your browser now.")


def repeat(host: Host) -> None:
    """Print another invitation each time that Enter is pressed, where there is somebody to press it."""
    if _can_hear():
        loop = asyncio.get_running_loop()
        again = lambda: _say(f"Another: {host.invite()}")  # noqa: E731  # nothing else needs it
        threading.Thread(target=_listen, args=(loop, again), daemon=True).start()


def _another() -> str:
    if _can_hear():
        return "For another browser, press Enter."
    return "For another browser, run `threadline dashboard` once more."


def _can_hear() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _listen(loop: asyncio.AbstractEventLoop, again: Callable[[], None]) -> None:
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        for _ in sys.stdin:
            loop.call_soon_threadsafe(again)


def heed_terminal() -> None:
    """Go on serving when the terminal belongs to another program for a while."""
    if os.name == "posix":
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)


def _say(line: str) -> None:
    """Print a line; a reader who has gone does not matter."""
    with contextlib.suppress(OSError, ValueError):
        print(line, flush=True)  # noqa: T201  # a terminal is where it runs
