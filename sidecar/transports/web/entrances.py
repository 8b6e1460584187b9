"""The entrance of sockets: the first message shows a tab's secret; until then nothing is said or done."""

import asyncio
import contextlib
from typing import Literal

import msgspec
from starlette.websockets import WebSocket

from protocol.answers import Answer
from sidecar.transports import requests
from sidecar.transports.requests import Identifier
from sidecar.transports.web.keys import Keys
from sidecar.transports.web.tabs import GONE

MAX_FIRST = 1024
"""Bytes of the first message."""
MAX_STRANGERS = 16
"""How many sockets may be silent at once; a new one takes the place of the one that came first."""
PATIENCE = 5.0
"""Seconds in which the first message must come."""
UNKNOWN = 4401
"""The close code for a first message without a secret of ours."""
TOO_LATE = 4408


class _Secret(msgspec.Struct, frozen=True):
    secret: str


class _Introduction(msgspec.Struct, frozen=True):
    """The only message that a stranger may send."""

    id: Identifier
    method: Literal["dashboard/enter"]
    params: _Secret


class Entrance:
    """Lets sockets in, and keeps those that say nothing few; lives on the loop."""

    def __init__(self, keys: Keys) -> None:
        """Let in whoever shows a secret of these keys."""
        self._keys = keys
        self._strangers: list[asyncio.Timeout] = []

    async def admit(self, socket: WebSocket) -> bool:
        """Tell whether an accepted socket has shown a secret; one that has not is closed."""
        try:
            introduction = _read(await self._first(socket))
        except TimeoutError:
            return await _close(socket, TOO_LATE, "the first message did not come")
        if introduction is None or not self._keys.knows(introduction.params.secret):
            return await _close(
                socket, UNKNOWN, "open the dashboard again from `threadline dashboard`"
            )
        answer = Answer(id=introduction.id, result=msgspec.Raw(b"{}"))
        with contextlib.suppress(*GONE):
            await socket.send_text(requests.encode(answer).decode())
        return True

    async def _first(self, socket: WebSocket) -> bytes:
        if len(self._strangers) >= MAX_STRANGERS:
            # Those who come as they should speak at once, so the one that waits longest is the least likely of them.
            self._strangers[0].reschedule(asyncio.get_running_loop().time())
            del self._strangers[0]
        async with asyncio.timeout(PATIENCE) as patience:
            self._strangers.append(patience)
            try:
                message = await socket.receive()
            finally:
                with contextlib.suppress(ValueError):
                    self._strangers.remove(patience)
        text: str | None = message.get("text")
        return message.get("bytes") or b"" if text is None else text.encode()


def _read(first: bytes) -> _Introduction | None:
    if len(first) > MAX_FIRST:
        return None
    try:
        return msgspec.json.decode(first, type=_Introduction)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


async def _close(socket: WebSocket, code: int, reason: str) -> Literal[False]:
    with contextlib.suppress(*GONE):
        await socket.close(code, reason)
    return False
