"""Dashboards as real processes, and short words for those who visit them."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests.support import ROOT

BRIEF = 30.0
"""Seconds in which something must have happened, however slow the machine is."""
COMMAND = ("-c", "from sidecar.transports.entry import main; raise SystemExit(main())", "dashboard")


def start(folder: Path, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    """Start a dashboard as a program does."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given: dict[str, Any] = pipes | options
    environment = given.pop("environment", {})
    return subprocess.Popen(
        [sys.executable, *COMMAND, *arguments],
        cwd=folder,
        env=dict(os.environ) | {"PYTHONPATH": path} | environment,
        **given,
    )


def complaints(process: "subprocess.Popen[bytes]") -> list[bytes]:
    """Give what was said beside the point, but for pages that nobody has built here."""
    assert process.stderr is not None
    return [line for line in process.stderr.read().splitlines() if b"make pages" not in line]


class Dashboard:
    """One that runs, with a browser that has come in."""

    def __init__(self, folder: Path, *arguments: str, **options: Any) -> None:
        self.process = start(folder, "--json", *arguments, **options)
        self.told = self._read()
        self.address: str = self.told["address"]
        self.port = int(self.address.rpartition(":")[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def invite(self) -> str:
        """Ask for an address, and give the token in it."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return str(self._read()["url"]).partition("#")[2]

    @property
    def bearer(self) -> str:
        """Give what programs must show."""
        return str(json.loads(Path(self.told["tokenFile"]).read_bytes())["token"])

    def visit(self, host: str = "127.0.0.1") -> "Visitor":
        """Come in with a new address, by one of the names of this machine."""
        visitor = Visitor(f"{host}:{self.port}", f"http://{host}:{self.port}")
        answer = visitor.show(self.invite())
        assert answer.status_code == 200, answer.text
        visitor.secret = answer.json()["secret"]
        return visitor

    def send(self, data: bytes) -> bytes:
        """Send bytes over a connection of their own; give everything that comes back until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), BRIEF) as connection:
            received = b""
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(data)
                while piece := connection.recv(1 << 16):
                    received += piece
            return received

    def is_serving(self) -> bool:
        """Tell whether it is still there for those who come as they should."""
        plain = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n"
        return self.send(plain.encode()).endswith(b"\r\n\r\nok\n") and self.process.poll() is None

    def _read(self) -> Any:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], BRIEF)
        assert ready, "nothing was said"
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read().decode()
        return json.loads(line)


@dataclass
class Visitor:
    """A tab at one of our addresses."""

    host: str
    address: str
    secret: str = ""

    def show(self, token: str, **headers: str) -> httpx.Response:
        """Show a token at the door."""
        return httpx.post(
            f"{self.address}/session",
            json={"token": token},
            headers={"origin": self.address} | headers,
        )

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask for something as a page does."""
        return httpx.get(f"{self.address}{path}", headers=headers)

    @contextlib.contextmanager
    def open_tab(self, max_queue: int = 16) -> "Iterator[Tab]":
        """Open a socket and show the secret, as a page does."""
        with self.knock(max_queue) as tab:
            assert tab.request("dashboard/enter", secret=self.secret) == {}
            yield tab

    @contextlib.contextmanager
    def knock(self, max_queue: int = 16, **headers: str) -> "Iterator[Tab]":
        """Open a socket, and say nothing yet."""
        with connect(
            f"ws://{self.host}/rpc",
            origin=Origin(self.address),
            additional_headers=headers,
            compression=None,
            max_size=None,
            max_queue=max_queue,
            open_timeout=BRIEF,
        ) as socket:
            yield Tab(socket)


@dataclass
class Tab:
    """A socket, and what was heard on it."""

    socket: ClientConnection
    notices: list[Any] = field(default_factory=list)

    def send(self, message: object) -> None:
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def ask(self, identifier: object, method: str, /, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})

    def receive(self, seconds: float = BRIEF) -> Any:
        """Give the next answer; what is said unasked is kept in `notices`."""
        while True:
            message = json.loads(self.socket.recv(seconds))
            if "method" not in message:
                return message
            self.notices.append(message)

    def request(self, method: str, /, **params: Any) -> Any:
        """Ask something that works, and give its result."""
        self.ask("the next", method, **params)
        answer = self.receive()
        assert answer["id"] == "the next"
        assert "result" in answer, answer
        return answer["result"]

    def confirm(self, method: str, /, **params: Any) -> Any:
        """Do what a page does once the person has agreed: ask for a confirmation, and use it."""
        given = self.request("dashboard/confirm", method=method, params=params)
        return self.request(method, **params, **given)

    def hear(self, what: str) -> Any:
        """Wait until it is told that something of this kind has changed."""
        return self._hear(
            lambda notice: (
                notice["method"] == "threadline/didChange" and notice["params"]["what"] == what
            )
        )

    def hear_progress(self) -> Any:
        """Wait until it is told how far something is."""
        return self._hear(lambda notice: notice["method"] == "$/progress")["value"]

    def _hear(self, wanted: Callable[[Any], bool]) -> Any:
        limit = time.monotonic() + BRIEF
        while True:
            for notice in self.notices:
                if wanted(notice):
                    self.notices.remove(notice)
                    return notice["params"]
            self.notices.append(json.loads(self.socket.recv(max(0.0, limit - time.monotonic()))))


def see_it_serves(tab: Tab) -> None:
    """The next answer is that of the next request: nothing was answered twice."""
    assert "version" in tab.request("threadline/version")
