"""Confirmations: what cannot be undone is done only after the page has asked the person.

The page shows a dialog, then asks for a confirmation of exactly this request and sends it along. A request that was
sent without the dialog, twice, or with other params is refused. This guards against mistakes and against single
forged or replayed messages; whoever holds the secret of a tab can ask for a confirmation as the page does.
"""

import asyncio
import contextlib
import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import msgspec
from msgspec import structs
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected

from protocol.answers import Answer, Failure, failure
from protocol.errors import Code, InvalidParamsError, ThreadlineError
from protocol.methods import METHODS, Change
from protocol.methods import Subject as ChangeSubject
from sidecar import answering
from sidecar.app import Application
from sidecar.storage.agent_keys import AgentKey, AgentKeys
from sidecar.text import characters
from sidecar.transports import requests
from sidecar.transports.http_gates import Limit
from sidecar.transports.requests import Identifier, is_identifier
from sidecar.transports.web.keys import Keys
from sidecar.transports.works import Work, Works

ASKED_AGAIN = frozenset(
    {
        "threadline/purge",
        "threadline/memories/forget",
        "threadline/rules/write",
        "threadline/rules/refresh",
        "threadline/rules/remove",
    }
)
"""The methods that remove something for good, or write files that assistants obey."""
VALID_FOR = 60.0
"""Seconds in which a confirmation must be used."""
_MOST = 8
_BYTES = 16

Clock = Callable[[], float]
Subject = tuple[str, bytes]


class Confirmations:
    """What the person has agreed to in one tab and the page has not yet done."""

    def __init__(self, clock: Clock) -> None:
        """Begin with none; the clock counts seconds and never goes back."""
        self._clock = clock
        self._given: dict[str, tuple[Subject, float]] = {}

    def give(self, method: object, params: object) -> str:
        """Return a confirmation for one request with this method and these params."""
        if method not in ASKED_AGAIN or not isinstance(params, dict):
            names = ", ".join(sorted(ASKED_AGAIN))
            raise InvalidParamsError(
                f"`method` is one of {names}; `params` are its own", field="method"
            )
        confirmation = secrets.token_urlsafe(_BYTES)
        self._given[confirmation] = (_subject(str(method), params), self._clock() + VALID_FOR)
        for oldest in [*self._given][:-_MOST]:
            del self._given[oldest]
        return confirmation

    def take(self, confirmation: object, method: str, params: Mapping[str, object]) -> None:
        """Use a confirmation up; raise InvalidParamsError unless it was given for this very request."""
        subject, until = self._given.pop(str(confirmation), (None, 0.0))
        if subject != _subject(method, params) or until < self._clock():
            raise InvalidParamsError(
                f"{method} needs the person's confirmation: ask them, request it with "
                "dashboard/confirm, and send it once as `confirmation`",
                field="confirmation",
            )


def _subject(method: str, params: Mapping[str, object]) -> Subject:
    return method, msgspec.json.encode(params, order="sorted")


_MOST_IDS = 1000
"""Beyond this many nobody is helped by their names: all of a kind may have changed."""


class News:
    """Changes and progress that wait: what repeats itself is told once, so that what waits stays small."""

    def __init__(self) -> None:
        """Do nothing."""
        self._changes: dict[tuple[ChangeSubject, str], Change] = {}
        self._progress: dict[int | str, list[dict[str, Any]]] = {}

    def add_change(self, change: Change) -> None:
        """Keep that something has changed; no ids mean that any may have."""
        key = (change.what, change.project_id)
        known = self._changes.get(key)
        if known is not None:
            is_any = not (known.ids and change.ids)
            ids = () if is_any else tuple(dict.fromkeys((*known.ids, *change.ids)))
            change = structs.replace(change, ids=ids)
        if len(change.ids) > _MOST_IDS:
            change = structs.replace(change, ids=())
        self._changes[key] = change

    def add_progress(self, body: dict[str, Any]) -> None:
        """Keep how far a work is; what was to be told of the same before is old."""
        waiting = self._progress.setdefault(body["token"], [])
        if waiting and waiting[-1]["value"]["kind"] == "report":
            waiting.pop()
        waiting.append(body)

    def take(self) -> list[tuple[str, Any]]:
        """Return what waits, as the notifications to send, and have nothing more to tell."""
        told: list[tuple[str, Any]] = [
            ("$/progress", body) for bodies in self._progress.values() for body in bodies
        ]
        told += [("threadline/didChange", change) for change in self._changes.values()]
        self._progress, self._changes = {}, {}
        return told


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

    def find_key(self, shown: str) -> AgentKey | None:
        """Return the agent key that a program shows; None where keys are off. Raise ForbiddenError for a wrong one."""
        keys = AgentKeys(self._app.home.folder)
        return keys.find(shown) if keys.are_on() else None

    async def answer(
        self,
        identifier: Identifier | None,
        method: str,
        params: object,
        work: Work,
        key: AgentKey | None = None,
    ) -> Answer:
        """Answer one request, whatever happens in it; where a key is given, only what it may read."""
        loop = asyncio.get_running_loop()
        self._works.add(work)
        try:
            return await loop.run_in_executor(
                self._threads, self._run, identifier, method, params, work, key
            )
        finally:
            self._works.discard(work)

    def cancel_all(self) -> None:
        """Cancel everything that can be cancelled."""
        for work in self._works:
            work.cancel()

    def _run(
        self,
        identifier: Identifier | None,
        method: str,
        params: object,
        work: Work,
        key: AgentKey | None,
    ) -> Answer:
        def act() -> msgspec.Raw:
            work.check()
            reference = self._confine(params)
            if key is not None:
                key.check("read", self._app.project(reference).project_id)
            return self._app.write(method, params, work)

        return answering.answer(identifier, method, act)

    def _confine(self, params: object) -> str | None:
        """Refuse what is not among the user's projects: a page names them by their ids, never by folders."""
        reference = params.get("project") if isinstance(params, dict) else None
        if not isinstance(reference, str):
            return None
        known = (project.project_id for project in self._app.home.projects())
        if not _PROJECT_ID.fullmatch(reference) or reference not in known:
            raise InvalidParamsError("`project` is the id of a known project", field="project")
        self._follow(reference)
        return reference


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
        """Send a change, as soon as the tab listens."""
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
        """Accept clients that know a secret of these keys."""
        self._keys = keys
        self._strangers: list[asyncio.Timeout] = []

    async def admit(self, socket: WebSocket) -> bool:
        """Return whether an accepted socket has shown a secret; one that has not is closed."""
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
