"""A raw LSP client: bytes out, frames in, nothing in between that could help."""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import ROOT

DEADLINE = 20.0


class RawClient:
    """A `threadline serve` process and its two pipes."""

    def __init__(self, folder: Path, root: Path = ROOT, **options: Any) -> None:
        """Run the program that is installed in `root`."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from sidecar.transports.entry import main; main()", "serve"],
            cwd=folder,
            env=dict(os.environ) | {"PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self._received = b""
        self.notices: list[Any] = []

    def send(self, message: object) -> None:
        self.send_raw(frame(json.dumps(message).encode()))

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self, seconds: float = DEADLINE) -> Any:
        """Read the next answer; what the server says unasked is kept in `notices`."""
        limit = time.monotonic() + seconds
        while True:
            message = self.receive_any(max(limit - time.monotonic(), 0))
            if not isinstance(message, dict) or "method" not in message:
                return message
            self.notices.append(message)

    def hear(self, wanted: Callable[[Any], bool], seconds: float = DEADLINE) -> Any:
        """Wait for something that the server says unasked; None when it does not come in time."""
        limit = time.monotonic() + seconds
        while True:
            for notice in self.notices:
                if wanted(notice):
                    self.notices.remove(notice)
                    return notice
            message = self.receive_any(max(limit - time.monotonic(), 0))
            if message is None:
                return None
            self.notices.append(message)

    def receive_any(self, seconds: float = DEADLINE) -> Any:
        """Read the next message; None when the stream ends or nothing comes in time."""
        assert self.process.stdout is not None
        limit = time.monotonic() + seconds
        while True:
            head, blank, rest = self._received.partition(b"\r\n\r\n")
            if blank:
                assert head.startswith(b"Content-Length: "), head
                length = int(head.removeprefix(b"Content-Length: "))
                if len(rest) >= length:
                    self._received = rest[length:]
                    return json.loads(rest[:length])
            ready, _, _ = select.select(
                [self.process.stdout], [], [], max(limit - time.monotonic(), 0)
            )
            data = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                return None
            self._received += data

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, identifier: Any, method: str, params: Any = None) -> Any:
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})
        return self.receive()

    def initialize(self, **params: Any) -> Any:
        ready = self.request(
            0, "initialize", {"processId": None, "rootUri": None, "capabilities": {}} | params
        )
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
        return ready

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
