"""Tabs: each speaks JSON-RPC over a socket of its own, and gets exactly one answer for each request."""

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected

from protocol.answers import Answer, Failure, failure
from protocol.errors import Code, InvalidParamsError, ThreadlineError
from protocol.methods import METHODS, Change
from sidecar.app import Application
from sidecar.domain.rendering import characters
from sidecar.services import answering
from sidecar.transports import requests
from sidecar.transports.requests import Identifier, is_identifier
from sidecar.transports.web.confirmations import ASKED_AGAIN, Confirmations
from sidecar.transports.web.limits import Limit
from sidecar.transports.web.news import News
from sidecar.transports.works import Work, Works

OPEN_REQUESTS = 64
"""How many requests of a tab may wait for their answers; the next is read when it has heard one."""
_AT_ONCE = 16
"""How many of them are worked on; other tabs want their turn too."""
_THREADS = 32
_BURST = 200
_PER_SECOND = 50.0
"""How many messages of a tab are read at once, and in a second; the others wait."""
_LONG = {method.name for method in METHODS if method.is_long}
_PROJECT_ID = re.compile(r"[0-9a-f]{20}")

GONE = (WebSocketDisconnect, ClientDisconnected, RuntimeError)
"""What sending and receiving raise once the tab is closed, each layer in its own words."""
_CONFIRM = "dashboard/confirm"

Follow = Callable[[str], None]

_log = logging.getLogger(__name__)


class Office:
    """Answers requests in threads, for all tabs and for plain HTTP."""

    def __init__(self, app: Application, follow: Follow = lambda _: None) -> None:
        """Answer from an application; `follow` hears which project somebody looks at."""
        self._app = app
        self._follow = follow
        self._threads = ThreadPoolExecutor(_THREADS)
        self._works: set[Work] = set()

    async def answer(
        self, identifier: Identifier | None, method: str, params: object, work: Work
    ) -> Answer:
        """Answer one request, whatever happens in it."""
        loop = asyncio.get_running_loop()
        self._works.add(work)
        try:
            return await loop.run_in_executor(
                self._threads, self._run, identifier, method, params, work
            )
        finally:
            self._works.discard(work)

    def cancel_all(self) -> None:
        """Let nothing go on that can be cancelled, whoever has asked for it."""
        for work in self._works:
            work.cancel()

    def _run(
        self, identifier: Identifier | None, method: str, params: object, work: Work
    ) -> Answer:
        def act() -> msgspec.Raw:
            work.check()
            self._confine(params)
            return self._app.write(method, params, work)

        return answering.answer(identifier, method, act)

    def _confine(self, params: object) -> None:
        """Refuse what is not among the user's projects: a page names them by their ids, never by folders."""
        reference = params.get("project") if isinstance(params, dict) else None
        if not isinstance(reference, str):
            return
        known = (project.project_id for project in self._app.home.projects())
        if not _PROJECT_ID.fullmatch(reference) or reference not in known:
            raise InvalidParamsError("`project` is the id of a known project", field="project")
        self._follow(reference)


class Tab:
    """One socket; lives on the loop."""

    def __init__(self, socket: WebSocket, office: Office) -> None:
        """Speak over a socket that is accepted."""
        self._socket = socket
        self._office = office
        self._loop = asyncio.get_running_loop()
        self._limit = Limit(_BURST, _PER_SECOND, time.monotonic)
        self._confirmations = Confirmations(time.monotonic)
        self._works = Works()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(OPEN_REQUESTS)
        self._hands = asyncio.Semaphore(_AT_ONCE)
        self._turn = asyncio.Lock()
        self._news = News()
        self._has_news = asyncio.Event()

    async def run(self) -> None:
        """Answer until the tab is closed; what it has begun goes on, for the others to see."""
        teller = asyncio.create_task(self._tell_news())
        try:
            while True:
                await self._take(await self._read())
        except GONE:
            pass
        finally:
            teller.cancel()

    def tell(self, change: Change) -> None:
        """Tell of a change, as soon as the tab listens."""
        self._news.add_change(change)
        self._has_news.set()

    async def _read(self) -> bytes:
        """Read the next message, not before there is room for it."""
        while seconds := self._limit.take():  # noqa: ASYNC110  # nothing else ends it than time
            await asyncio.sleep(seconds)
        async with self._room:
            message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        text: str | None = message.get("text")
        data: bytes = message["bytes"] if text is None else text.encode()
        return data

    async def _take(self, data: bytes) -> None:
        try:
            message = requests.decode(data)
        except ThreadlineError as error:
            await self._send(Answer(id=None, error=failure(error)))
            return
        if "id" in message:
            await self._take_request(message)
        elif message.get("method") == "$/cancelRequest":
            self._works.cancel(message.get("params"))
        elif message.get("method") == "window/workDoneProgress/cancel":
            self._works.cancel_progress(message.get("params"))
        elif "method" not in message:
            await self._fail(None, Code.INVALID_REQUEST, "`method` is missing")

    async def _take_request(self, message: dict[str, Any]) -> None:
        identifier, method = message["id"], message.get("method")
        if not is_identifier(identifier):
            await self._fail(None, Code.INVALID_REQUEST, "`id` is a number or a string")
        elif not isinstance(method, str):
            await self._fail(identifier, Code.INVALID_REQUEST, "`method` is missing or no string")
        elif identifier in self._works:
            words = f"request {identifier!r} is still open"
            await self._fail(identifier, Code.INVALID_REQUEST, words)
        elif (refused := self._refusal(method, message.get("params"))) is not None:
            await self._send(Answer(id=identifier, error=failure(refused)))
        elif method == _CONFIRM:
            await self._confirm(identifier, message.get("params"))
        else:
            await self._room.acquire()
            task = asyncio.create_task(self._serve(identifier, method, message.get("params")))
            self._works[identifier] = Work(self._hear_progress, method)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _refusal(self, method: str, params: object) -> ThreadlineError | None:
        """Return why a request that the person must confirm is refused, or None."""
        if method not in ASKED_AGAIN:
            return None
        given = params if isinstance(params, dict) else {}
        confirmation = given.pop("confirmation", None)
        wanted = {name: value for name, value in given.items() if name != "workDoneToken"}
        try:
            self._confirmations.take(confirmation, method, wanted)
        except ThreadlineError as error:
            return error
        return None

    async def _confirm(self, identifier: Identifier, params: object) -> None:
        asked = params if isinstance(params, dict) else {}

        def give() -> msgspec.Raw:
            confirmation = self._confirmations.give(asked.get("method"), asked.get("params"))
            return msgspec.Raw(msgspec.json.encode({"confirmation": confirmation}))

        await self._send(answering.answer(identifier, _CONFIRM, give))

    async def _serve(self, identifier: Identifier, method: str, params: object) -> None:
        """Answer one request; its room is free again when the tab has heard the answer."""
        try:
            answer = await self._work(identifier, method, params)
            with contextlib.suppress(*GONE):
                await self._send(answer)
        finally:
            self._room.release()

    async def _work(self, identifier: Identifier, method: str, params: object) -> Answer:
        """Find the answer to a request, whose id is free again then."""
        work = self._works[identifier]
        token = params.pop("workDoneToken", None) if isinstance(params, dict) else None
        if method in _LONG and is_identifier(token):
            work.begin(token)
        try:
            async with self._hands:
                answer = await self._office.answer(identifier, method, params, work)
            work.end()
            # What the work told last is on its way through the loop and comes first.
            await asyncio.sleep(0)
            return answer
        finally:
            del self._works[identifier]

    def _hear_progress(self, body: dict[str, Any]) -> None:
        """Note how far a work is; called from its thread."""
        self._loop.call_soon_threadsafe(self._note_progress, body)

    def _note_progress(self, body: dict[str, Any]) -> None:
        self._news.add_progress(body)
        self._has_news.set()

    async def _tell_news(self) -> None:
        with contextlib.suppress(*GONE):
            while True:
                await self._has_news.wait()
                async with self._turn:
                    await self._write_news()

    async def _write_news(self) -> None:
        self._has_news.clear()
        for method, params in self._news.take():
            body = {"jsonrpc": "2.0", "method": method, "params": params}
            await self._write(msgspec.json.encode(body))

    async def _fail(self, identifier: Identifier | None, code: int, message: str) -> None:
        await self._send(Answer(id=identifier, error=Failure(code=code, message=message)))

    async def _send(self, answer: Answer) -> None:
        async with self._turn:
            await self._write_news()
            await self._write(requests.encode(answer))

    async def _write(self, body: bytes) -> None:
        """Send one message: the only way out, so that nothing hidden leaves by any other."""
        await self._socket.send_text(characters.visible_message(body).decode())
