"""`threadline serve`: LSP on standard input and output, for as long as its client lives."""

import argparse
import asyncio
import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from sidecar.app import Application, open_application
from sidecar.transports.lsp.frames import Frames
from sidecar.transports.lsp.protocol import StrictProtocol

WATCH_EVERY = 3.0
"""Seconds between two looks whether the client is still there."""
_CHUNK = 1 << 16


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve one client and end with it; whatever is still running then has acknowledged nothing."""
    output = _own_output()
    logging.basicConfig(level=logging.WARNING, format="threadline: %(message)s", stream=sys.stderr)
    parser = argparse.ArgumentParser(prog="threadline serve")
    parser.add_argument("--project", type=Path, default=Path.cwd())
    app = open_application(here=parser.parse_args(arguments).project, source="lsp")
    code = asyncio.new_event_loop().run_until_complete(_serve(app, output))
    os._exit(code)


async def _serve(app: Application, output: int) -> int:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[int] = loop.create_future()
    server = LanguageServer(
        "threadline",
        version("threadline"),
        text_document_sync_kind=types.TextDocumentSyncKind.None_,
        protocol_cls=StrictProtocol,
        converter_factory=default_converter,
    )
    protocol: StrictProtocol = server.protocol  # type: ignore[assignment]  # the class we gave it
    protocol.app = app
    protocol.end = lambda code: None if over.done() else over.set_result(code)
    _register(server, app)
    await _listen(protocol, output)
    watcher = asyncio.create_task(_watch(server, protocol.end))
    code = await over
    watcher.cancel()
    return code


def _register(server: LanguageServer, app: Application) -> None:
    """Say what of standard LSP is served."""

    @server.feature(types.INITIALIZE)
    def _initialize(params: types.InitializeParams) -> None:
        folders = [folder.uri for folder in params.workspace_folders or []]
        path = uris.to_fs_path(next(iter(folders), params.root_uri or ""))
        if path:
            app.here = Path(path)


async def _listen(protocol: StrictProtocol, output: int) -> None:
    """Connect both streams to the loop; what is no pipe is read in a thread and written at once."""
    loop = asyncio.get_running_loop()
    try:
        pipe = os.fdopen(output, "wb", 0)
        transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
        protocol.set_writer(transport)
    except ValueError:
        protocol.set_writer(_Plain(output))
    receiver = _Receiver(protocol)
    try:
        await loop.connect_read_pipe(lambda: receiver, sys.stdin.buffer)
    except ValueError:
        threading.Thread(target=_read, args=(loop, receiver), daemon=True).start()


class _Receiver(asyncio.Protocol):
    """Hands the client's bytes to the protocol, frame by frame."""

    def __init__(self, protocol: StrictProtocol) -> None:
        self._protocol = protocol
        self._frames = Frames()

    def data_received(self, data: bytes) -> None:
        for piece in self._frames.feed(data):
            self._protocol.take(piece)

    def connection_lost(self, _: Exception | None) -> None:
        self._protocol.end(0 if self._protocol.state == "over" else 1)


class _Plain:
    """Writes to what is no pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        os.write(self._descriptor, data)

    def close(self) -> None:
        os.close(self._descriptor)


def _read(loop: asyncio.AbstractEventLoop, receiver: _Receiver) -> None:
    while data := os.read(0, _CHUNK):
        loop.call_soon_threadsafe(receiver.data_received, data)
    loop.call_soon_threadsafe(receiver.connection_lost, None)


async def _watch(server: LanguageServer, end: Callable[[int], None]) -> None:
    """End with the client, also when somebody else keeps its pipe open."""
    parent = os.getppid()
    while True:
        await asyncio.sleep(WATCH_EVERY)
        if os.getppid() != parent or not _is_alive(server.process_id):
            end(1)


def _is_alive(process_id: int | None) -> bool:
    if process_id is None or os.name != "posix":
        return True
    with contextlib.suppress(PermissionError, OverflowError):
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return False
    return True


def _own_output() -> int:
    """Keep standard output for the protocol alone; what anyone prints goes to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return output
