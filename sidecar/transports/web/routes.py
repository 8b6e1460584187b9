"""Routes: what is served to whom."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from protocol.errors import Code, ForbiddenError
from protocol.methods import Change
from sidecar.text import characters
from sidecar.transports import http_gates
from sidecar.transports.http_connections import SOCKET_PATH
from sidecar.transports.http_gates import MAX_BODY, Gate, Limit, Place, refuse, retry_after
from sidecar.transports.web import page_files
from sidecar.transports.web.keys import Keys
from sidecar.transports.web.tabs import Entrance, Office, Tab
from sidecar.transports.works import Work

MAX_TABS = 32
_TO_TELL = 10.0
"""Seconds in which a body must have come in."""
_DIGITS = 10
_LIST = "threadline/checkpoints/list"
_STATUSES = {
    Code.INVALID_PARAMS: 400,
    Code.NOT_FOUND: 404,
    Code.BUSY: 503,
    Code.FORBIDDEN: 403,
}
"""What other programs are told by a status; all else is our fault."""


class _Invitation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is shown at the door."""

    token: str


class House:
    """Everything that is served at one port."""

    def __init__(self, office: Office, keys: Keys, port: int) -> None:
        """Serve what an office answers to those who have a key."""
        self._office = office
        self._keys = keys
        self._port = port
        self._files = {**page_files.load(page_files.DOOR), **page_files.load(page_files.PAGES)}
        self._knocks = Limit(10, 0.2, time.monotonic)
        self._questions = Limit(30, 1.0, time.monotonic)
        self._entrance = Entrance(keys)
        self._tabs: set[Tab] = set()

    def application(self) -> ASGIApp:
        """Return all of it, behind the gate."""
        routes: list[BaseRoute] = [
            Route("/health", _tell_health, methods=["GET"]),
            Route("/session", self._let_in, methods=["POST"]),
            Route("/api/checkpoints", self._checkpoints, methods=["GET"]),
            Route("/api/checkpoints/{key:path}", self._checkpoints, methods=["GET"]),
            Route(SOCKET_PATH.decode(), _refuse_plain, methods=["GET"]),
            WebSocketRoute(SOCKET_PATH.decode(), self._socket),
            *(Route(path, self._file, methods=["GET"]) for path in self._files),
            Route("/{path:path}", _nothing, methods=["GET"]),
        ]
        inside = Starlette(routes=routes, exception_handlers={HTTPException: _tell_problem})
        inside.router.redirect_slashes = False
        return Gate(inside, Place(hosts=http_gates.hosts(self._port)))

    def tell(self, change: Change) -> None:
        """Send a change to all tabs."""
        for tab in self._tabs:
            tab.tell(change)

    async def _let_in(self, request: Request) -> Response:
        _limit(self._knocks)
        if request.headers.get("content-type") != "application/json":
            raise HTTPException(415, "a token is shown as JSON")
        secret = self._keys.exchange(_token(await _body(request)))
        if secret is None:
            raise HTTPException(401, "this address was used already, or is too old")
        return _json(200, {"secret": secret})

    async def _file(self, request: Request) -> Response:
        """Serve a file of our pages to anybody: they hold no data."""
        file = self._files[request.scope["path"]]
        return Response(file.content, headers={"content-type": file.kind})

    async def _checkpoints(self, request: Request) -> Response:
        """List the checkpoints of a project, or of one conversation."""
        shown = _bearer(request)
        try:
            key = self._office.find_key(shown)
        except ForbiddenError as error:
            raise HTTPException(401, f"{error}; show it as a bearer") from None
        if key is None and not self._keys.is_bearer(shown):
            raise HTTPException(401, "show the token of `threadline dashboard` as a bearer")
        _limit(self._questions)
        work = Work(_ignore, _LIST)
        answer = await self._office.answer(None, _LIST, _question(request), work, key)
        if isinstance(answer.error, msgspec.UnsetType):
            return _json(200, answer.result)
        status = _STATUSES.get(Code(answer.error.code), 500)
        headers = {"retry-after": retry_after(1)} if status == _STATUSES[Code.BUSY] else {}
        return _json(status, {"error": answer.error}, headers)

    async def _socket(self, socket: WebSocket) -> None:
        """Speak with one tab until it is closed, if its first message shows a secret."""
        if len(self._tabs) >= MAX_TABS:
            why = (503, "too many tabs are open; close some")
            await refuse(why, socket.scope, socket.receive, socket.send)
            return
        await socket.accept()
        if not await self._entrance.admit(socket):
            return
        tab = Tab(socket, self._office)
        self._tabs.add(tab)
        try:
            await tab.run()
        finally:
            self._tabs.discard(tab)


def _bearer(request: Request) -> str:
    """Return what a program shows; empty where that is not one bearer."""
    shown = request.headers.getlist("authorization")
    scheme, _, token = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")
    return token if scheme.lower() == "bearer" else ""


async def _tell_health(_: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _refuse_plain(_: Request) -> Response:
    raise HTTPException(426, "this is a WebSocket", headers={"upgrade": "websocket"})


async def _nothing(_: Request) -> Response:
    raise HTTPException(404, "there is nothing here")


async def _tell_problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)  # noqa: S101  # that is what it is called for
    headers = {"connection": "close", **(problem.headers or {})}
    return PlainTextResponse(f"{problem.detail}\n", problem.status_code, headers=headers)


async def _body(request: Request) -> bytes:
    """Read a body that says how long it is, or not."""
    body = b""
    try:
        async with asyncio.timeout(_TO_TELL):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY:
                    raise HTTPException(413, f"a body may have {MAX_BODY} bytes")
    except TimeoutError:
        raise HTTPException(408, "the body did not come") from None
    except ClientDisconnect:
        raise HTTPException(400, "the body ended early") from None
    return body


def _token(body: bytes) -> str:
    with contextlib.suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return msgspec.json.decode(body, type=_Invitation).token
    raise HTTPException(400, 'a token is shown as {"token": "…"}')


def _question(request: Request) -> dict[str, Any]:
    """Write what was asked by path and query as params; what is not known is refused there."""
    asked: dict[str, Any] = dict(request.query_params)
    if len(asked) != len(request.query_params.multi_items()):
        raise HTTPException(400, "a parameter is given once")
    limit = asked.get("limit", "")
    if limit.isascii() and limit.isdecimal() and len(limit) < _DIGITS:
        asked["limit"] = int(limit)
    if "key" in request.path_params:
        asked["sessionKey"] = request.path_params["key"]
    return asked


def _limit(limit: Limit) -> None:
    if seconds := limit.take():
        headers = {"retry-after": retry_after(seconds)}
        raise HTTPException(429, "too many requests; wait a little", headers=headers)


def _json(status: int, body: object, headers: Mapping[str, str] | None = None) -> Response:
    data = characters.visible_json(msgspec.json.encode(body))
    return Response(data, status, headers, "application/json")


def _ignore(_: object) -> None:
    """Report no progress."""
