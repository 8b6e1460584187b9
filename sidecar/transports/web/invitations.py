"""Invitations: the address that lets one tab in, on the terminal, and another one whenever it is wanted."""

import asyncio
import contextlib
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sidecar.transports.web.keys import VALID_FOR, Keys

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""What tells that something can be shown; without it a browser would take over the terminal."""


def show(address: str, environment: Mapping[str, str]) -> bool:
    """Open an address without waiting for it; False where nothing can be shown."""
    if sys.platform.startswith("linux") and not any(map(environment.get, _SCREENS)):
        return False
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    return True


@dataclass(frozen=True)
class Host:
    """Who invites."""

    port: int
    keys: Keys
    note: Path
    """The file with the token of programs."""

    @property
    def address(self) -> str:
        """Return the place itself."""
        return f"http://127.0.0.1:{self.port}"

    def invite(self) -> str:
        """Return an address that lets one tab in, once; what follows # is never sent or logged."""
        return f"{self.address}/enter#{self.keys.issue()}"


def _go_on() -> None:
    """Serve on, whatever has ended."""


def write_json(host: Host, at_end: Callable[[], None] = _go_on) -> None:
    """Print an invitation for programs, and another for each line that they write."""
    _say_json(host)
    _hear(lambda: _say_json(host), at_end)


def write(host: Host, *, is_shown: bool, at_end: Callable[[], None] = _go_on) -> None:
    """Print an invitation for people, show it to them where that can be, and print another at each Enter."""
    url = host.invite()
    _say(f"Threadline's dashboard: {url}")
    _say(f"This address lets one tab in, once, within {VALID_FOR / 60:.0f} minutes.")
    _say(f"{_ANOTHER[_can_hear()]} Ctrl-C ends it.")
    _say(f"Programs may ask GET {host.address}/api/checkpoints;")
    _say(f"their token is in {host.note}.")
    if is_shown and sys.stdout.isatty() and show(url, os.environ):
        _say("It opens in your browser now.")
    if _can_hear():
        _hear(lambda: _say(f"Another: {host.invite()}"), at_end)
    elif at_end is not _go_on:
        # Otherwise what comes in belongs to somebody else, such as the shell that runs a script.
        _hear(_go_on, at_end)


_ANOTHER = {
    True: "For another tab, press Enter.",
    False: "For another tab, run `threadline dashboard` once more.",
}


def _hear(line: Callable[[], None], at_end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    threading.Thread(target=_listen, args=(loop, line, at_end), daemon=True).start()


def _can_hear() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _listen(
    loop: asyncio.AbstractEventLoop, line: Callable[[], None], at_end: Callable[[], None]
) -> None:
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        for _ in sys.stdin or ():
            loop.call_soon_threadsafe(line)
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(at_end)


def _say_json(host: Host) -> None:
    told = {"address": host.address, "url": host.invite(), "tokenFile": str(host.note)}
    _say(msgspec.json.encode(told).decode())


def _say(line: str) -> None:
    """Print a line; a reader who has gone does not matter."""
    with contextlib.suppress(OSError, ValueError):
        print(line, flush=True)  # noqa: T201  # a terminal is where it runs
