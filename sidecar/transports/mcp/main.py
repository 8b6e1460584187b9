"""`threadline mcp`: MCP on standard input and output, for as long as its client lives."""

import argparse
import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from protocol.errors import ThreadlineError
from protocol.versions import VERSION
from sidecar.app import now
from sidecar.transports import logs, serving
from sidecar.transports.exits import Exit, exit_for
from sidecar.transports.mcp import server, stdio
from sidecar.transports.mcp.clients import Client
from sidecar.transports.recorder import Capture
from sidecar.transports.serving import GRACE

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve one client and end with it, or with --http all that have a key."""
    options = _parse(arguments)
    pinned = options.project and options.project.expanduser().absolute()
    if options.http:
        os._exit(_serve_http(options, pinned))
    output = logs.own()
    app = serving.begin(here=Path.cwd(), source="mcp-server")
    client = Client(app, pinned=pinned)
    os._exit(asyncio.new_event_loop().run_until_complete(_serve(client, output)))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="threadline mcp")
    parser.add_argument("--project", type=Path)
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--allow-host", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _serve_http(options: argparse.Namespace, pinned: Path | None) -> int:
    from sidecar.transports.mcp import http_server  # noqa: PLC0415  # stdio needs none of it

    app = serving.begin(here=Path.cwd(), source="mcp-server")
    try:
        return http_server.run(app, options, pinned)
    except ThreadlineError as error:
        sys.stderr.write(f"threadline: {error}\n")
        return exit_for(error.code)
    except (OSError, OverflowError) as error:
        sys.stderr.write(f"threadline: cannot listen on {options.host}:{options.port}: {error}\n")
        return Exit.CONFLICT
    except KeyboardInterrupt:
        return 0


async def _serve(client: Client, output: int) -> int:
    capture = Capture(client.app, lambda _: None)
    served = asyncio.create_task(_talk(client, output, capture))
    ended = asyncio.create_task(_end())
    await asyncio.wait([served, ended], return_when=asyncio.FIRST_COMPLETED)
    code = 0 if ended.done() or served.exception() is None else 1
    if code:
        _log.error("serving was interrupted", exc_info=served.exception())
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(_finish, client, capture), GRACE)
    return code


async def _talk(client: Client, output: int, capture: Capture) -> None:
    app = client.app

    def begin(places: tuple[Path, ...]) -> None:
        """Record what happens where the client works, from now on."""
        app.source = client.harness
        app.workspace.enter(places)
        capture.start(places, now())

    made = server.build(client, VERSION, begin)
    async with stdio.streams(0, output) as (messages, answers):
        await made.run(messages, answers, made.create_initialization_options())


async def _end() -> None:
    over = asyncio.Event()
    serving.heed_signals(over.set)
    watcher = asyncio.create_task(serving.watch(over.set))
    await over.wait()
    watcher.cancel()


def _finish(client: Client, capture: Capture) -> None:
    """Save a conversation that nobody else follows, and write what still waits."""
    capture.stop(GRACE / 2)
    client.end_conversations()
    client.app.flush()
