"""What it costs to be served: against a bare asyncio loop, against stock pygls, against its import."""

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.timing import Duel, Go, Row, judge, timed

_REQUESTS = 500
_SAVES = 10_000
_FILES = 100
_ROUNDS = 9
_SETTLED = 3.0
"""Seconds after which a server has loaded what it needs to watch."""
_SERVE = ("-c", "from sidecar.transports.entry import main; main()", "serve")
_BARE = ("-m", "benchmarks.bare")
_STOCK = ("-m", "benchmarks.stock")


def serve(folder: Path) -> Iterator[Row]:
    """Time requests, saves and starts, and weigh a server that has nothing to do."""
    repository = folder / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    with (
        closing(_Server(_SERVE, repository)) as ours,
        closing(_Server(_BARE, repository)) as bare,
        closing(_Server(_STOCK, repository)) as stock,
    ):
        what = f"{_REQUESTS} empty requests vs"
        yield judge(Duel(f"{what} a bare asyncio loop", ours.requests, bare.requests, _ROUNDS, 2.0))
        yield judge(Duel(f"{what} stock pygls", ours.requests, stock.requests, _ROUNDS))
        saves = f"{_SAVES:,} didSave notifications vs"
        # At least 0.05 of its throughput is at most 20 times its time.
        yield judge(Duel(f"{saves} a bare asyncio loop", ours.saves, bare.saves, 5, 20.0))
        yield judge(Duel(f"{saves} stock pygls", ours.saves, stock.saves, 3))
    yield judge(
        Duel("LSP initialize vs import pygls.lsp.server", _start(repository), _import, _ROUNDS, 1.4)
    )
    yield judge(
        Duel(
            "memory vs a bare pygls server",
            functools.partial(_weigh, _SERVE, repository),
            functools.partial(_weigh, _STOCK, repository),
            3,
            1.35,
            "{:.0f} MB".format,
        )
    )


class _Server:
    """A server in a process of its own, and its two pipes."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        environment = dict(os.environ) | {
            "THREADLINE_HOME": tempfile.mkdtemp(dir=folder.parent),
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
        }
        self.process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._received = b""
        self._folder = folder
        self._ask(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {},
                "workspaceFolders": [{"uri": folder.as_uri(), "name": "repository"}],
            },
        )
        self._send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    def requests(self) -> float:
        """Ask many times, one after the other."""

        def go() -> None:
            for _ in range(_REQUESTS):
                self._ask("threadline/version", {})

        return timed(go)

    def saves(self) -> float:
        """Tell of many saves at once, and see that requests are answered after them."""
        uris = [(self._folder / f"{number}.py").as_uri() for number in range(_FILES)]
        burst = b"".join(
            _frame(
                {
                    "jsonrpc": "2.0",
                    "method": "textDocument/didSave",
                    "params": {"textDocument": {"uri": uris[number % _FILES]}},
                }
            )
            for number in range(_SAVES)
        )

        def go() -> None:
            self._write(burst)
            self._ask("threadline/version", {})

        return timed(go)

    def memory(self) -> float:
        """Tell the megabytes that are in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _ask(self, method: str, params: object) -> None:
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while "id" not in self._receive():
            pass

    def _send(self, message: object) -> None:
        self._write(_frame(message))

    def _write(self, data: bytes) -> None:
        if self.process.stdin:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def _receive(self) -> dict[str, object]:
        descriptor = self.process.stdout.fileno() if self.process.stdout else -1
        while True:
            head, blank, rest = self._received.partition(b"\r\n\r\n")
            if blank:
                length = int(head.partition(b"Content-Length:")[2].split()[0])
                if len(rest) >= length:
                    self._received = rest[length:]
                    message: dict[str, object] = json.loads(rest[:length])
                    return message
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise RuntimeError("the server has ended")
            self._received += data


def _start(folder: Path) -> Go:
    def go() -> float:
        server: list[_Server] = []
        seconds = timed(lambda: server.append(_Server(_SERVE, folder)))
        server[0].close()
        return seconds

    return go


def _import() -> float:
    command = [sys.executable, "-c", "import pygls.lsp.server"]
    return timed(lambda: subprocess.run(command, check=True))


def _weigh(command: tuple[str, ...], folder: Path) -> float:
    with closing(_Server(command, folder)) as server:
        time.sleep(_SETTLED)
        return server.memory()


def _frame(message: object) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
