"""`threadline serve`: LSP on standard input and output, for as long as its client lives."""

import argparse
import asyncio
import contextlib
import os
import stat
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NoReturn

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from protocol.versions import VERSION
from sidecar.app import Application
from sidecar.code import processes
from sidecar.transports import logs, serving
from sidecar.transports.lsp.clients import Client
from sidecar.transports.lsp.frames import Frames
from sidecar.transports.lsp.protocol import StrictProtocol
from sidecar.transports.serving import GRACE

_CHUNK = 1 << 16
_BREATH = 0.01


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve one client and end with it; whatever is still running then has acknowledged nothing."""
    output = logs.own()
    parser = argparse.ArgumentParser(prog="threadline serve")
    parser.add_argument("--project", type=Path, default=Path.cwd())
    app = serving.begin(here=parser.parse_args(arguments).project, source="lsp")
    code = asyncio.new_event_loop().run_until_complete(_serve(app, output))
    os._exit(code)


async def _serve(app: Application, output: int) -> int:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[int] = loop.create_future()
    server = LanguageServer(
        "threadline",
        VERSION,
        text_document_sync_kind=types.TextDocumentSyncKind.None_,
        protocol_cls=StrictProtocol,
        converter_factory=default_converter,
    )
    protocol: StrictProtocol = server.protocol  # type: ignore[assignment]  # the class we gave it
    protocol.app = app
    protocol.end = lambda code: None if over.done() else over.set_result(code)
    client = Client(server, app)
    client.register()
    serving.heed_signals(lambda: protocol.end(0))
    sender = await _listen(protocol, output)
    watcher = asyncio.create_task(_watch(protocol))
    code = await over
    watcher.cancel()
    await client.stop()
    await protocol.finish(GRACE)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(app.flush), GRACE)
    await sender.drain(GRACE)
    return code


async def _listen(protocol: StrictProtocol, output: int) -> "_Sender":
    """Connect both streams to the loop; what is no pipe is read in a thread and written at once."""
    loop = asyncio.get_running_loop()
    receiver = _Receiver(protocol)
    sender = _Sender(protocol, receiver)
    pipe = os.fdopen(output, "wb", 0, closefd=False)
    try:
        await loop.connect_write_pipe(lambda: sender, pipe)
    except ValueError:
        sender.plain = pipe
    protocol.set_writer(sender)
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        await loop.connect_read_pipe(lambda: receiver, sys.stdin.buffer)
    else:
        threading.Thread(target=_read, args=(loop, receiver), daemon=True).start()
    return sender


class _Receiver(asyncio.Protocol):
    """Hands the client's bytes to the protocol, frame by frame."""

    transport: asyncio.ReadTransport | None = None

    def __init__(self, protocol: StrictProtocol) -> None:
        self._protocol = protocol
        self._frames = Frames()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # a pipe's reading end

    def data_received(self, data: bytes) -> None:
        for piece in self._frames.feed(data):
            self._protocol.take(piece)

    def connection_lost(self, _: Exception | None) -> None:
        self._protocol.end(0 if self._protocol.state == "over" else 1)


class _Sender(asyncio.BaseProtocol):
    """Writes frames; while the client does not read, neither do we, and without it we end."""

    plain: IO[bytes] | None = None
    """What is written to when it is no pipe."""
    _transport: asyncio.WriteTransport | None = None

    def __init__(self, protocol: StrictProtocol, receiver: _Receiver) -> None:
        self._protocol = protocol
        self._receiver = receiver

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a pipe's writing end

    def connection_lost(self, _: Exception | None) -> None:
        self._protocol.end(1)

    def pause_writing(self) -> None:
        if self._receiver.transport is not None:
            self._receiver.transport.pause_reading()

    def resume_writing(self) -> None:
        if self._receiver.transport is not None:
            self._receiver.transport.resume_reading()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)
        while self.plain is not None and data:
            data = data[self.plain.write(data) :]

    def close(self) -> None:
        """Nothing is to be given back: the process ends."""

    async def drain(self, seconds: float) -> None:
        """Wait that long for the client to read what is written."""
        limit = time.monotonic() + seconds
        while self._transport is not None and self._transport.get_write_buffer_size():
            if time.monotonic() > limit or self._transport.is_closing():
                return
            await asyncio.sleep(_BREATH)


def _read(loop: asyncio.AbstractEventLoop, receiver: _Receiver) -> None:
    while data := os.read(0, _CHUNK):
        loop.call_soon_threadsafe(receiver.data_received, data)
    loop.call_soon_threadsafe(receiver.connection_lost, None)


async def _watch(protocol: StrictProtocol) -> None:

    def is_there() -> bool:
        client = protocol.client_process
        return client is None or processes.is_alive(client)

    await serving.watch(lambda: protocol.end(1), is_there)
