"""`threadline mcp`: MCP on standard input and output, for as long as its client lives."""

import argparse
import asyncio
import contextlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from msgspec import UNSET

from protocol.versions import VERSION
from sidecar.app import now
from sidecar.transports import logs, serving
from sidecar.transports.mcp import server, stdio
from sidecar.transports.mcp.clients import Client
from sidecar.transports.recorder import Capture
from sidecar.transports.serving import GRACE

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve one client and end with it."""
    output = logs.own()
    parser = argparse.ArgumentParser(prog="threadline mcp")
    parser.add_argument("--project", type=Path)
    pinned = parser.parse_args(arguments).project
    app = serving.begin(here=Path.cwd(), source="mcp-server")
    client = Client(app, pinned=pinned and pinned.expanduser().absolute())
    os._exit(asyncio.new_event_loop().run_until_complete(_serve(client, output)))


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
    for folder, key in client.alone.items():
        params = {"sessionKey": key, "harness": client.harness, "project": str(folder)}
        answer = client.app.answer(None, "threadline/context/end", params)
        if answer.error is not UNSET:
            _log.warning("the conversation could not be ended: %s", answer.error.message)
    client.app.flush()
