"""`threadline mcp --http`: MCP over HTTP for assistants in containers and on other machines, always with a key.

The SDK speaks the protocol. What stands before it decides who is heard: the gate, the key, how often and how much. Answers
are JSON; no stream is kept open, so whoever is silent holds nothing but a session that ends by itself.
"""

import asyncio
import contextlib
import ipaddress
import sys
import time
from argparse import Namespace
from pathlib import Path

import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from protocol.errors import ConflictError, ForbiddenError, NotFoundError, ThreadlineError
from protocol.versions import VERSION
from sidecar.app import Application
from sidecar.storage.agent_keys import ENVIRONMENT, AgentKey, AgentKeys
from sidecar.text import characters
from sidecar.transports import http_gates, serving
from sidecar.transports.http_connections import Server, hush, listen
from sidecar.transports.http_gates import Gate, Limit, Place, refuse, retry_after
from sidecar.transports.mcp import server
from sidecar.transports.mcp.clients import Client
from sidecar.transports.serving import GRACE

PATH = "/mcp"
MAX_BODY = 4 * 1024 * 1024
"""Bytes of one message."""
_TO_TELL = 10.0
"""Seconds in which a body must have come in."""
_PATIENCE = 300.0
"""Seconds in which an answer is given: making memory with a model takes a while."""
_METHODS = ("POST", "DELETE")
_ANYWHERE = {"0.0.0.0", "::", ""}  # noqa: S104  # what is asked about, not what is bound


class Bounds(Struct, frozen=True, kw_only=True):
    """How much one key may do."""

    sessions: int = 8
    idle: float = 600.0
    """Seconds after which a session nobody uses ends."""
    burst: int = 60
    per_second: float = 10.0
    """Requests at once, and in a second after that."""
    wrong_keys: int = 10
    """Wrong keys of all clients together at once; after that, one every five seconds."""


class _Service:
    """What is served to the agent of one key: its client, its sessions, its rate."""

    def __init__(self, client: Client, bounds: Bounds) -> None:
        self.client = client
        self.limit = Limit(bounds.burst, bounds.per_second, time.monotonic)
        self.manager = StreamableHTTPSessionManager(
            server.build(client, VERSION, is_streaming=False),
            json_response=True,
            session_idle_timeout=bounds.idle,
            max_sessions=bounds.sessions,
            max_request_body_size=MAX_BODY,
        )
        self._is_ready = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def ready(self) -> None:
        """Wait until requests can be handled."""
        await self._is_ready.wait()

    def end(self) -> None:
        """End all sessions."""
        self._task.cancel()

    async def _run(self) -> None:
        # Entered and left by one task, as the SDK's task group wants it.
        async with self.manager.run():
            self._is_ready.set()
            await asyncio.Event().wait()


class Entry:
    """Answers requests of those who show a valid key."""

    def __init__(self, app: Application, pinned: Path | None, bounds: Bounds | None = None) -> None:
        """Serve the projects that each key opens, or of those only the one that is pinned."""
        self._app = app
        self._pinned = pinned
        self._bounds = bounds or Bounds()
        self._keys = AgentKeys(app.home.folder)
        self._services: dict[str, _Service] = {}
        self._knocks = Limit(self._bounds.wrong_keys, 0.2, time.monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket" or scope["path"] != PATH:
            await refuse((404, f"MCP is at {PATH}"), scope, receive, send)
        elif scope["method"] not in _METHODS:
            # The protocol allows for that: nothing is ever said unasked.
            await _say(405, "POST a message", scope, receive, send, allow=", ".join(_METHODS))
        else:
            await self._serve(scope, receive, send)

    async def finish(self) -> None:
        """End all sessions, and save the conversations that agents were in."""
        for service in self._services.values():
            service.end()
            await asyncio.to_thread(service.client.end_conversations)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = _bearer(scope)
        try:
            key = self._keys.find(token)
        except ForbiddenError as error:
            await self._turn_away(str(error), scope, receive, send)
            return
        except ThreadlineError as error:
            await refuse((503, str(error)), scope, receive, send)
            return
        service = self._service(key, token)
        if seconds := service.limit.take():
            await _say(429, "too many requests", scope, receive, send, **_wait(seconds))
            return
        body = await _body(receive)
        if isinstance(body, tuple):
            await refuse(body, scope, receive, send)
            return
        await service.ready()
        await service.manager.handle_request(scope, _replay(body, receive), _visible(send))

    async def _turn_away(self, words: str, scope: Scope, receive: Receive, send: Send) -> None:
        if seconds := self._knocks.take():
            await _say(429, "too many wrong keys", scope, receive, send, **_wait(seconds))
            return
        header = {"www-authenticate": 'Bearer realm="threadline"'}
        await _say(401, f"{words}; show it as a bearer", scope, receive, send, **header)

    def _service(self, key: AgentKey, token: str) -> _Service:
        service = self._services.get(key.digest)
        if service is None:
            self._drop_revoked()
            client = Client(
                self._app,
                environment={ENVIRONMENT: token},
                granted=lambda: self._folders(token),
            )
            service = self._services[key.digest] = _Service(client, self._bounds)
        return service

    def _drop_revoked(self) -> None:
        valid = {key.digest for key in self._keys.all() if key.revoked_at is None}
        for digest in self._services.keys() - valid:
            self._services.pop(digest).end()

    def _folders(self, token: str) -> tuple[Path, ...]:
        """Return where the projects are that a key opens; those that are nowhere on this machine are left out."""
        try:
            key = self._keys.find(token)
        except ForbiddenError:
            # It was revoked a moment ago; the call itself is refused by whoever asks for the key.
            return ()
        pinned = self._pinned and self._app.project(str(self._pinned)).project_id
        folders = []
        for project in self._app.home.projects():
            if (key.is_for_all or project.project_id in key.vaults) and (
                pinned is None or project.project_id == pinned
            ):
                with contextlib.suppress(NotFoundError):
                    folders.append(self._app.folder(project.project_id))
        return tuple(folders)


def run(app: Application, options: Namespace, pinned: Path | None) -> int:
    """Serve until Ctrl-C, or until who started us has gone; raise ConflictError where there is no key."""
    if not any(key.revoked_at is None for key in AgentKeys(app.home.folder).all()):
        raise ConflictError(
            "MCP over HTTP needs a key, and there is none; make one: "
            "threadline keys create NAME --vaults PATH --write"
        )
    hush()
    taken = listen(options.port, options.host)
    port = taken.getsockname()[1]
    hosts = _hosts(options, port)
    if not _is_loopback(options.host):
        _tell(
            f"listening on {options.host}, which other machines can reach: keys and answers travel unencrypted; "
            "let a proxy with TLS or a tunnel stand before it"
        )
    entry = Entry(app, pinned)
    place = Place(hosts=hosts, max_body=MAX_BODY, is_for_programs=True, patience=_PATIENCE)
    address = f"http://{_bracketed(options.host)}:{port}{PATH}"
    if options.json:
        print(msgspec.json.encode({"address": address}).decode(), flush=True)  # noqa: T201  # for whoever started us
    else:
        _tell(
            f"MCP at {address}; clients show their key as `Authorization: Bearer`. Ctrl-C ends it"
        )

    async def serve() -> int:
        web = Server(Gate(entry, place))
        serving.heed_signals(web.end)
        watcher = asyncio.create_task(serving.watch(web.end))
        await web.serve([taken])
        watcher.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(entry.finish(), GRACE)
        return 0

    code = asyncio.new_event_loop().run_until_complete(serve())
    app.flush()
    return code


def _hosts(options: Namespace, port: int) -> frozenset[str]:
    """Return what requests may call us: this machine, the host that is bound, and what the person allows."""
    bound = () if options.host in _ANYWHERE else (_bracketed(options.host),)
    names = (*http_gates.LOCAL_NAMES, "[::1]", *bound, *options.allow_host)
    return http_gates.hosts(port, names) | frozenset(options.allow_host)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bearer(scope: Scope) -> str:
    shown = Headers(scope=scope).getlist("authorization")
    scheme, _, token = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")
    return token if scheme.lower() == "bearer" else ""


async def _body(receive: Receive) -> bytes | http_gates.Refusal:
    """Read a body in a limited time; the SDK would wait for ever."""
    body = bytearray()
    try:
        async with asyncio.timeout(_TO_TELL):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return (400, "the body ended early")
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    return (413, f"a body may have {MAX_BODY} bytes")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return (408, "the body did not come")


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def read() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return read


def _visible(send: Send) -> Send:
    """Let no hidden character leave, as on standard output; an answer comes whole, so that it can be measured anew."""
    held: list[Message] = []

    async def write(message: Message) -> None:
        if message["type"] == "http.response.start":
            held.append(message)
            return
        start = held.pop()
        data = message.get("body", b"")
        if data and not message.get("more_body"):
            data = characters.visible_message(data)
            MutableHeaders(scope=start)["content-length"] = str(len(data))
        await send(start)
        await send({**message, "body": data})

    return write


async def _say(  # what ASGI gives, and what to say
    status: int, words: str, scope: Scope, receive: Receive, send: Send, **headers: str
) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    await PlainTextResponse(f"{words}\n", status, headers=named)(scope, receive, send)


def _wait(seconds: float) -> dict[str, str]:
    return {"retry_after": retry_after(seconds)}


def _tell(words: str) -> None:
    sys.stderr.write(f"threadline: {characters.visible(words)}\n")
