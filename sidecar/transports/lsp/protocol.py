"""pygls, made strict: every request with a readable id gets exactly one answer.

Stock pygls leaves a client waiting when params are wrong or missing, and tells it our tracebacks. Here a
message is looked at once, at its top level; what is standard LSP goes on to pygls, what is ours goes to
the application, and every way out of either ends in one answer.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from protocol.answers import Answer, Failure, failure
from protocol.errors import Code, InvalidParamsError, ModelFailedError, ThreadlineError
from protocol.methods import METHODS
from protocol.values import Record
from sidecar import answering
from sidecar.app import Application
from sidecar.text import characters
from sidecar.transports import requests
from sidecar.transports.lsp.frames import BadFrame
from sidecar.transports.requests import Identifier, is_identifier
from sidecar.transports.works import Work, Works

COMMANDS = {method.name.replace("/", "."): method.name for method in METHODS}
"""Every method is a command too, for clients that can only run those: its params are the one argument."""

_THREADS, _POINTING = 32, 4
"""Enough that requests which wait for a stuck store leave room for others; who only points at code gets few."""

State = Literal["new", "ready", "over"]
Listener = Callable[[Any], None]
Handler = Callable[[Any], object]
"""Gives the result of a request; what is wrong with its params is a ValidationError."""
_NEXT: dict[str, State] = {types.INITIALIZE: "ready", types.SHUTDOWN: "over"}
"""What a request of pygls makes of us once it is answered."""

_OURS = "threadline-"
"""Begins the ids of what we ask."""
_LONG = {method.name for method in METHODS if method.is_long}

_log = logging.getLogger(__name__)


class StrictProtocol(LanguageServerProtocol):
    """What a client and we say to each other; `app` is set before the first message."""

    app: Application
    end: Callable[[int], None]
    """Ends the server with an exit code."""
    state: State = "new"
    client_process: int | None = None
    """The process to live and die with, where the client names one."""
    capabilities: object = None
    """What the client can do, as it said it."""
    _change: State = "new"
    """The state after the request that pygls is answering."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401  # pygls's own signature
        super().__init__(*arguments)
        self._works = Works()
        self.listeners: dict[str, Listener] = {
            types.CANCEL_REQUEST: self._works.cancel,
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: self._works.cancel_progress,
        }
        """Who hears a notification that pygls need not see: untyped, since some come by the thousand."""
        self.requests: dict[str, Handler] = {}
        """Who answers a standard request that pygls need not see; off the loop."""
        self.commands: dict[str, Handler] = {}
        """Who runs a command that is no method of ours; likewise."""
        self._questions: dict[Identifier, asyncio.Future[Any]] = {}
        self._tasks: dict[Identifier, Future[None]] = {}
        self._threads = ThreadPoolExecutor(_THREADS)
        self._pointing = ThreadPoolExecutor(_POINTING)
        self._numbers = itertools.count(1)

    def take(self, piece: bytes | BadFrame) -> None:
        """Take one frame; whatever is wrong with it, the stream goes on."""
        if isinstance(piece, BadFrame):
            self._fail(None, Code.INVALID_REQUEST, f"not a frame: {piece}")
            return
        try:
            message = requests.decode(piece)
        except ThreadlineError as error:
            self._send(Answer(id=None, error=failure(error)))
            return
        try:
            self._take(message)
        except Exception:  # noqa: BLE001  # the boundary of a message: the next one is taken all the same
            _log.exception("a message failed unexpectedly")
            identifier = message.get("id")
            if is_identifier(identifier) and "method" in message:
                self._send(Answer(id=identifier, error=answering.INTERNAL))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._take_response(message)
        elif "id" in message:
            self._take_request(message)
        else:
            self._take_notification(message)

    def _take_request(self, message: dict[str, Any]) -> None:
        identifier, method = message["id"], message["method"]
        if not is_identifier(identifier):
            self._fail(None, Code.INVALID_REQUEST, "`id` is a number or a string")
        elif not isinstance(method, str):
            self._fail(identifier, Code.INVALID_REQUEST, "`method` is a string")
        elif identifier in self._tasks:
            self._fail(identifier, Code.INVALID_REQUEST, f"request {identifier!r} is still open")
        elif self.state == "over":
            self._fail(identifier, Code.INVALID_REQUEST, "the server is shutting down")
        elif self.state == "new" and method != types.INITIALIZE:
            self._fail(identifier, Code.NOT_INITIALIZED, "`initialize` comes first")
        elif self.state == "ready" and method == types.INITIALIZE:
            self._fail(identifier, Code.INVALID_REQUEST, "already initialized")
        elif method.startswith("threadline/") or method in self.requests:
            self._serve(identifier, method, message.get("params"))
        elif method == types.WORKSPACE_EXECUTE_COMMAND:
            self._execute(identifier, message.get("params"))
        else:
            self._pass_on(message)

    def _take_notification(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method == types.EXIT:
            self.end(0 if self.state == "over" else 1)
        elif self.state == "ready" and method in self.listeners:
            self.listeners[method](message.get("params"))
        elif self.state == "ready":
            self._pass_on(message)

    def _take_response(self, message: dict[str, Any]) -> None:
        identifier = message.get("id") if is_identifier(message.get("id")) else None
        question = self._questions.pop(identifier, None) if identifier is not None else None
        if question is not None:
            _settle(question, message)
        elif isinstance(identifier, str) and identifier.startswith(_OURS):
            # A question that nobody waits for any more is answered all the same.
            _log.debug("the client answered %s too late", identifier)
        elif identifier is not None and ("result" in message or "error" in message):
            self._pass_on(message)
        else:
            self._fail(identifier, Code.INVALID_REQUEST, "`method` is missing")

    def _pass_on(self, message: dict[str, Any]) -> None:
        """Pass a standard message to pygls, typed."""
        if message.get("method") == types.INITIALIZE:
            self.client_process = _process(message.get("params"))
            params = message.get("params")
            self.capabilities = params.get("capabilities") if isinstance(params, dict) else None
        identifier, method = message.get("id"), message.get("method")
        is_request = method is not None and identifier is not None
        message = (
            {"params": None, **message, "jsonrpc": "2.0"}
            if method
            else message | {"jsonrpc": "2.0"}
        )
        if is_request and method not in self.fm.features and method not in self.fm.builtin_features:
            self._fail(identifier, Code.METHOD_NOT_FOUND, f"there is no method {method}")
            return
        try:
            typed = self.structure_message(message)
        except JsonRpcException as error:
            _log.info("%s was refused: %r", method, error.__cause__)
            if is_request:
                self._fail(identifier, Code.INVALID_PARAMS, f"{method}: params do not fit")
            return
        self._change = _NEXT.get(str(method), self.state)
        self.handle_message(typed)

    def _execute(self, identifier: Identifier, params: object) -> None:
        command = params.get("command") if isinstance(params, dict) else None
        arguments = params.get("arguments") if isinstance(params, dict) else None
        method = COMMANDS.get(command) if isinstance(command, str) else None
        if isinstance(command, str) and command in self.commands:
            method = command
        if method is None:
            self._fail(identifier, Code.INVALID_PARAMS, f"there is no command {command!r}")
        else:
            first = arguments[0] if isinstance(arguments, list) and arguments else None
            self._serve(identifier, method, first)

    def _serve(self, identifier: Identifier, method: str, params: object) -> None:
        """Answer a request of our own table, off the loop."""
        loop = asyncio.get_running_loop()
        token = params.pop("workDoneToken", None) if isinstance(params, dict) else None
        work = Work(lambda body: loop.call_soon_threadsafe(self._progress, body), method)
        if method in _LONG:
            self._begin(work, token)
        self._works[identifier] = work
        threads = self._pointing if method in self.requests else self._threads

        def run() -> None:
            answer = self._answer(identifier, method, params, work)
            # Straight back to the loop: a future of its own would take as long as all the rest.
            loop.call_soon_threadsafe(self._finish, identifier, answer)

        self._tasks[identifier] = threads.submit(run)

    def _answer(self, identifier: Identifier, method: str, params: object, work: Work) -> Answer:
        """Answer a request, unless nobody wanted it any more before it began."""

        def act() -> msgspec.Raw:
            work.check()
            handler = self.requests.get(method) or self.commands.get(method)
            if handler is None:
                return self.app.write(method, params, work)
            return _handled(method, handler, params)

        return answering.answer(identifier, method, act)

    def _begin(self, work: Work, token: object) -> None:
        if is_identifier(token):
            work.begin(token)
        elif self.can("window", "workDoneProgress"):
            token = self.app.home.ids.next()
            self.send_request(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE,
                types.WorkDoneProgressCreateParams(token=token),
                lambda _: work.begin(token),
            )

    def _progress(self, body: dict[str, Any]) -> None:
        self.tell(types.PROGRESS, body)

    def _finish(self, identifier: Identifier, answer: Answer) -> None:
        del self._tasks[identifier]
        work = self._works.pop(identifier)
        work.end()
        if work.token is None:
            self._send(answer)
        else:
            # What ends the work's progress is on its way through the loop and comes first.
            asyncio.get_running_loop().call_soon(self._send, answer)

    async def finish(self, seconds: float) -> None:
        """Wait a limited time for running requests."""
        if self._tasks:
            running = [asyncio.wrap_future(task) for task in self._tasks.values()]
            await asyncio.wait(running, timeout=seconds)
        await asyncio.sleep(0)

    async def ask(self, method: str, params: Record | dict[str, Any]) -> Any:  # noqa: ANN401  # whatever the client answers
        """Ask the client something of our own; what it answers stays as it is on the wire."""
        identifier = f"{_OURS}{next(self._numbers)}"
        question = self._questions[identifier] = asyncio.get_running_loop().create_future()
        body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        self.write(msgspec.json.encode(body))
        try:
            return await question
        except asyncio.CancelledError:
            self.tell(types.CANCEL_REQUEST, {"id": identifier})
            raise
        finally:
            self._questions.pop(identifier, None)

    def can(self, *names: str) -> bool:
        """Return whether the client said at the beginning that it can do something."""
        found: object = self.capabilities
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        return found is True

    def _send_handler_result(self, future: "Future[Any]", *, msg_id: Any) -> None:  # noqa: ANN401  # pygls's own
        """Answer for a handler of pygls, without telling the client our traceback."""
        error = None if future.cancelled() else future.exception()
        if future.cancelled():
            self._fail(msg_id, Code.CANCELLED, "cancelled")
        elif error is None:
            self.state = self._change
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, JsonRpcException):
            self._fail(msg_id, error.code, str(error))
        else:
            _log.error("request %r failed unexpectedly", msg_id, exc_info=error)
            self._send(Answer(id=msg_id, error=answering.INTERNAL))

    def _fail(self, identifier: Identifier | None, code: int, message: str) -> None:
        self._send(Answer(id=identifier, error=Failure(code=code, message=message)))

    def _send(self, answer: Answer) -> None:
        self.write(requests.encode(answer))

    def tell(self, method: str, params: Record | dict[str, Any]) -> None:
        """Send a notification; only the loop's own thread may."""
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(msgspec.json.encode(body))

    def _send_data(self, data: Any) -> None:  # noqa: ANN401  # pygls's own
        if data:
            self.write(msgspec.json.encode(self._converter.unstructure(data)))

    def write(self, body: bytes) -> None:
        """Send one frame: the only way out, so that nothing hidden leaves by any other."""
        if self.writer is not None:
            body = characters.visible_message(body)
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def _handled(method: str, handler: Handler, params: object) -> msgspec.Raw:
    """Return what a handler answers; what is wrong with its params is said to the client."""
    try:
        return msgspec.Raw(msgspec.json.encode(handler(params)))
    except msgspec.ValidationError as error:
        raise InvalidParamsError(f"{method}: {error}") from error


def _settle(question: "asyncio.Future[Any]", message: dict[str, Any]) -> None:
    if question.done():
        return
    error = message.get("error")
    if error is None:
        question.set_result(message.get("result"))
    else:
        text = error.get("message") if isinstance(error, dict) else error
        question.set_exception(ModelFailedError(f"the client refused: {text}"))


def _process(params: object) -> int | None:
    process = params.get("processId") if isinstance(params, dict) else None
    return (
        process
        if isinstance(process, int) and not isinstance(process, bool) and process > 0
        else None
    )
