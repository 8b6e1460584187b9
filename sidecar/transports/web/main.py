"""`threadline dashboard`: pages about the user's projects, for this machine alone, for as long as its terminal lives."""

import argparse
import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from protocol.errors import NotFoundError, ThreadlineError
from protocol.methods import Change
from sidecar.app import Application, now
from sidecar.code import processes
from sidecar.text import characters
from sidecar.transports import serving
from sidecar.transports.exits import Exit, exit_for
from sidecar.transports.http_connections import Server, hush, listen
from sidecar.transports.recorder import Capture
from sidecar.transports.serving import GRACE
from sidecar.transports.web import dashboards, invitations, page_files
from sidecar.transports.web.dashboards import Dashboard
from sidecar.transports.web.following import Neighbours
from sidecar.transports.web.invitations import Host
from sidecar.transports.web.keys import Keys
from sidecar.transports.web.routes import House
from sidecar.transports.web.tabs import Office

_PORTS = 65535
_UNBUILT = "the pages are not built, so browsers see none; `make pages` in Threadline's own folder builds them"


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve until Ctrl-C, or until who started us has gone."""
    options = _parse(arguments)
    try:
        code = _run(options)
    except ThreadlineError as error:
        code = _complain(str(error), exit_for(error.code))
    except OSError as error:
        code = _complain(_problem(error, options.port), Exit.CONFLICT)
    except KeyboardInterrupt:
        code = 0
    os._exit(code)


def _run(options: Namespace) -> int:
    app = serving.open_server(here=Path.cwd(), source="cli-auto")
    hush()
    if not page_files.are_built():
        _complain(_UNBUILT, 0)
    place = _Place(_folder(app, options.project), listen(options.port))
    return asyncio.new_event_loop().run_until_complete(_serve(app, place, options))


def _parse(arguments: Sequence[str]) -> Namespace:
    parser = argparse.ArgumentParser(prog="threadline dashboard")
    parser.add_argument("--port", type=_port, default=0)
    parser.add_argument("--no-open", action="store_true")
    parser.add_argument("--project")
    parser.add_argument("--until-eof", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 <= int(text[:6]) <= _PORTS):
        raise argparse.ArgumentTypeError(f"{text} is no port; it is a number up to {_PORTS}")
    return int(text)


def _folder(app: Application, reference: str | None) -> Path:
    folder = Path(reference or Path.cwd()).expanduser()
    if folder.is_dir():
        return folder.absolute()
    found = app.root(reference)
    if found is None:
        raise NotFoundError(f"{reference} is neither a folder nor a project with a repository")
    return found


def _problem(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken; name another with --port, or none to have any that is free"
    return f"cannot listen on port {port or 'any'}: {error.strerror or error}"


def _complain(words: str, code: int) -> int:
    print(f"threadline: {characters.visible(words)}", file=sys.stderr)  # noqa: T201  # a terminal is where it runs
    return code


@dataclass(frozen=True)
class _Place:
    """Where a dashboard is served, and for whom."""

    folder: Path
    taken: socket.socket
    """The process that started us."""


async def _serve(app: Application, place: _Place, options: Namespace) -> int:
    loop = asyncio.get_running_loop()
    port = place.taken.getsockname()[1]
    keys = Keys(time.monotonic)

    def tell(change: Change) -> None:
        loop.call_soon_threadsafe(house.tell, change)

    capture, neighbours = Capture(app, tell), Neighbours(app, tell)
    office = Office(app, neighbours.follow)
    house = House(office, keys, port)
    server = Server(house.application())
    _heed_signals(server.end)
    app.workspace.enter([place.folder])
    capture.start([place.folder], now())
    host = Host(port, keys, _announce(app, port, keys))
    _invite(host, options, server.end)
    watcher = asyncio.create_task(serving.watch(server.end))
    await server.serve([place.taken])
    watcher.cancel()
    office.cancel_all()
    dashboards.withdraw(host.note)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(_finish, app, capture, neighbours), GRACE)
    return 0


def _announce(app: Application, port: int, keys: Keys) -> Path:
    dashboards.tidy(app.home.folder, processes.is_running)
    address = f"http://127.0.0.1:{port}"
    running = Dashboard(address=address, token=keys.bearer, process=processes.own_name())
    return dashboards.announce(app.home.folder, port, running)


def _invite(host: Host, options: Namespace, end: Callable[[], None]) -> None:
    at_end = {"at_end": end} if options.until_eof else {}
    if options.json:
        invitations.write_json(host, **at_end)
    else:
        invitations.write(host, is_shown=not options.no_open, **at_end)


def _finish(app: Application, capture: Capture, neighbours: Neighbours) -> None:
    neighbours.stop()
    capture.stop(GRACE / 2)
    app.flush()


def _heed_signals(end: Callable[[], None]) -> None:
    serving.heed_signals(end)
    if os.name == "posix":
        # In the background of its terminal it cannot be asked for another address, but goes on.
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
