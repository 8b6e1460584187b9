"""uvicorn with bounds: nobody holds a connection for nothing, and silent ones make room for those who ask."""

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Generator

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from sidecar.transports.http_gates import MAX_HEADERS

SOCKET_PATH = b"/rpc"
MAX_MESSAGE = 4 * 1024 * 1024
"""Bytes of one message over a socket."""
MAX_CONNECTIONS = 64
_TO_ASK = 10.0
"""Seconds in which a request must have come in whole, but for its body."""
_TO_STAY = 5
"""Seconds that a connection may be silent between two requests."""
_TO_END = 2


class Server(uvicorn.Server):
    """Serves until it is told to end; who tells is not its concern."""

    def __init__(self, app: ASGIApp) -> None:
        """Serve an application; nothing is logged but what is wrong with us."""
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=Connection,
                ws="websockets-sansio",
                ws_max_size=MAX_MESSAGE,
                ws_per_message_deflate=False,
                interface="asgi3",
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                date_header=False,
                log_config=None,
                access_log=False,
                h11_max_incomplete_event_size=MAX_HEADERS,
                timeout_keep_alive=_TO_STAY,
                timeout_graceful_shutdown=_TO_END,
            )
        )

    def end(self) -> None:
        """Serve no more; what is under way has a moment left."""
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to whoever runs us."""
        yield


def hush() -> None:
    """Make uvicorn log only our failures, not those of clients."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.msg != _UNFINISHED)


_UNFINISHED = "ASGI callable returned without completing handshake."
"""What uvicorn takes a socket for that was refused as it should be."""


def listen(port: int, host: str = "127.0.0.1") -> socket.socket:
    """Take a port, for this machine alone unless another host is named; 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        taken.listen()
    except OSError:
        taken.close()
        raise
    return taken


class Connection(H11Protocol):
    """One connection of a client."""

    _deadline: asyncio.TimerHandle | None = None
    _came = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        """Take a client; where there are too many, it takes the place of the one that has been idle longest.

        Whoever asks at once is served, however many others hold a connection and say nothing.
        """
        super().connection_made(transport)
        self._came = self.loop.time()
        self._wait()
        if len(self.connections) > MAX_CONNECTIONS:
            idle = [
                connection
                for connection in self.connections
                if isinstance(connection, Connection) and connection._is_idle  # noqa: SLF001  # our own
            ]
            oldest = min(idle, key=lambda connection: connection._came)  # noqa: SLF001  # our own
            self.connections.discard(oldest)
            oldest.transport.abort()

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request that is not whole yet has a limited time for that."""
        if self._deadline is None and self._is_idle:
            self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection to a WebSocket."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._stop_waiting()
        super().on_response_complete()

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(_TO_ASK, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
