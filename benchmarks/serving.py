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

import msgspec

from benchmarks.timing import Duel, Go, Row, judge, timed

_REQUESTS = 500
_SAVES = 10_000
_FILES = 100
_ROUNDS = 9
_SETTLED = 3.0
"""Seconds after which a server has loaded what it needs to watch."""
SERVE = ("-c", "from sidecar.transports.entry import main; main()", "serve")
_BARE = ("-m", "benchmarks.bare")
_STOCK = ("-m", "benchmarks.stock")


def serve(folder: Path) -> Iterator[Row]:
    """Time requests, saves and starts, and weigh a server that has nothing to do."""
    repository = folder / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    with (
        closing(Server(SERVE, repository)) as ours,
        closing(Server(_BARE, repository)) as bare,
        closing(Server(_STOCK, repository)) as stock,
    ):
        what = f"{_REQUESTS} empty requests vs"
        yield judge(Duel(f"{what} a bare asyncio loop", ours.requests, bare.requests, _ROUNDS, 2.0))
        yield judge(Duel(f"{what} stock pygls", ours.requests, stock.requests, _ROUNDS))
        saves = f"{_SAVES:,} didSave notifications vs"
        # At least 0.05 of its throughput is at most 20 times its time.
        yield judge(Duel(f"{saves} a bare asyncio loop", ours.saves, bare.saves, 5, 20.0))
        yield judge(Duel(f"{saves} stock pygls", ours.saves, stock.saves, 3))
    yield judge(
        Duel(
            "LSP initialize vs import pygls.lsp.server",
            _start(repository),
            _import(folder),
            _ROUNDS,
            1.4,
        )
    )
    yield judge(
        Duel(
            "memory vs a bare pygls server",
            functools.partial(_weigh, SERVE, repository),
            functools.partial(_weigh, _STOCK, repository),
            3,
            1.35,
            "{:.0f} MB".format,
        )
    )


class Server:
    """A server in a process of its own, and its two pipes."""

    def __init__(self, command: tuple[str, ...], folder: Path, home: Path | None = None) -> None:
        home = home or Path(tempfile.mkdtemp(dir=folder.parent))
        self.process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=installed(folder.parent) | {"THREADLINE_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._received = b""
        self._folder = folder
        self.ask(
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
                self.ask("threadline/version", {})

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
            self.ask("threadline/version", {})

        return timed(go)

    def memory(self) -> float:
        """Tell the megabytes that are in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.communicate()

    def ask(self, method: str, params: object) -> int:
        """Ask, and tell how many bytes the answer has."""
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while not (answer := self._receive()).is_answer:
            pass
        if answer.error is not msgspec.UNSET:
            raise RuntimeError(f"{method} failed: {bytes(answer.error).decode()}")
        return len(bytes(answer.result))

    def _send(self, message: object) -> None:
        self._write(_frame(message))

    def _write(self, data: bytes) -> None:
        if self.process.stdin:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def _receive(self) -> "_Answer":
        descriptor = self.process.stdout.fileno() if self.process.stdout else -1
        while True:
            head, blank, rest = self._received.partition(b"\r\n\r\n")
            if blank:
                length = int(head.partition(b"Content-Length:")[2].split()[0])
                if len(rest) >= length:
                    self._received = rest[length:]
                    return msgspec.json.decode(rest[:length], type=_Answer)
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise RuntimeError("the server has ended")
            self._received += data


class _Answer(msgspec.Struct):
    """A message; what is in it is not read, which would be measured too."""

    id: int | None = None
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    method: str | None = None

    @property
    def is_answer(self) -> bool:
        return self.id is not None and self.method is None


def installed(folder: Path) -> dict[str, str]:
    """Give the environment of an installed product, whose modules are compiled."""
    rest = dict(os.environ)
    rest.pop("PYTHONDONTWRITEBYTECODE", None)
    return rest | {
        "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }


def _start(folder: Path) -> Go:
    def go() -> float:
        server: list[Server] = []
        seconds = timed(lambda: server.append(Server(SERVE, folder)))
        server[0].close()
        return seconds

    return go


def _import(folder: Path) -> Go:
    command = [sys.executable, "-c", "import pygls.lsp.server"]
    return lambda: timed(lambda: subprocess.run(command, check=True, env=installed(folder)))


def _weigh(command: tuple[str, ...], folder: Path) -> float:
    with closing(Server(command, folder)) as server:
        time.sleep(_SETTLED)
        return server.memory()


def _frame(message: object) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
