"""The editor at the other end: who it is, where it works, and what its user chose."""

import asyncio
import contextlib
import functools
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from lsprotocol.types import MessageType
from pygls.lsp.server import LanguageServer

from protocol.enrichment import ModelParams
from protocol.errors import ThreadlineError
from protocol.explanations import FileStory
from protocol.methods import NOTIFICATIONS, QUESTIONS, Change
from sidecar.app import Application, now
from sidecar.hosts import client_names
from sidecar.transports import logs
from sidecar.transports.addresses import path_of
from sidecar.transports.logs import ERRORS
from sidecar.transports.lsp.insights import SHOW_FILE, Insights
from sidecar.transports.lsp.link_prompts import Links
from sidecar.transports.lsp.protocol import COMMANDS, StrictProtocol
from sidecar.transports.recorder import Capture

_TYPES = {
    logging.ERROR: MessageType.Error,
    logging.WARNING: MessageType.Warning,
    logging.INFO: MessageType.Info,
    logging.DEBUG: MessageType.Log,
}


def write_to_client(tell: Callable[[MessageType, str], None]) -> None:
    """Log to the client instead of standard error; `tell` may be called from any thread."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if one.name == ERRORS]:
        root.removeHandler(handler)
    root.addHandler(_ClientHandler(tell))


class _ClientHandler(logging.Handler):
    """Hands what is logged to the client."""

    def __init__(self, tell: Callable[[MessageType, str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        kind = _TYPES.get(record.levelno, MessageType.Info)
        self._tell(kind, record.getMessage())


T = TypeVar("T")

SECTION = "threadline"
USER_SECTION = "THREADLINE_USER_SECTION"
"""The environment variable with which a client that starts us names the section in which it answers with what its
user chose outside of any project. Whoever chooses a process's environment chooses its home and settings.json, too."""
(DID_CHANGE,) = (notification.name for notification in NOTIFICATIONS)
(MODEL,) = (question.name for question in QUESTIONS)
_CONTENTS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
)
_FLUSH = 2.0
"""Seconds that what was noted may take to be recorded at the end."""
_CALM = 0.5
"""Seconds in which changes come together before lenses are looked at again."""
_ANSWER = 3.0
"""Seconds that a client may take to tell its settings; nothing is recorded before."""

_log = logging.getLogger(__name__)


class Client:
    """Everything that is said beside requests and their answers."""

    def __init__(self, server: LanguageServer, app: Application) -> None:
        """Serve the client of this server."""
        self._server = server
        self._protocol: StrictProtocol = server.protocol  # type: ignore[assignment]  # the class we gave it
        self._app = app
        self._loop = asyncio.get_running_loop()
        self._folders: dict[str, Path] = {}
        self._reported: set[str] = set()
        self._capture = Capture(app, self._tell_change)
        self._asking: asyncio.Task[None] | None = None
        self._insights = Insights(app)
        self._links = Links(app)
        self._offering: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._has_changed = False
        """Whether lenses may say something else since they were last looked at."""

    def register(self) -> None:
        """Return the capabilities of standard LSP that are served."""
        self._handle(types.INITIALIZE, self._initialize)
        self._handle(types.INITIALIZED, self._initialized)
        self._handle(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._change_folders)
        # Only to be advertised: the protocol itself hands saves to a listener, and runs commands.
        self._handle(types.TEXT_DOCUMENT_DID_SAVE, _unheard, types.SaveOptions(include_text=False))
        for command in COMMANDS:
            self._server.command(command)(functools.partial(_unheard))
        self._offer_insights()
        for method in _CONTENTS:
            # pygls would ask for what is in every file, and keep it.
            self._protocol.fm.builtin_features.pop(method, None)
            self._protocol.listeners[method] = _unheard
        self._protocol.listeners[types.TEXT_DOCUMENT_DID_SAVE] = self._saved
        self._protocol.listeners[types.WORKSPACE_DID_CHANGE_CONFIGURATION] = self._reconfigure

    def _offer_insights(self) -> None:
        """Serve hovers and lenses, past pygls: its types would cost more than the answers."""
        self._handle(types.TEXT_DOCUMENT_HOVER, _unheard)
        lens = types.CodeLensOptions(resolve_provider=False)
        self._handle(types.TEXT_DOCUMENT_CODE_LENS, _unheard, lens)
        self._server.command(SHOW_FILE)(functools.partial(_unheard))
        self._protocol.requests[types.TEXT_DOCUMENT_HOVER] = self._insights.hover
        self._protocol.requests[types.TEXT_DOCUMENT_CODE_LENS] = self._insights.lenses
        self._protocol.commands[SHOW_FILE] = self._show_file

    def _handle(self, method: str, handler: Callable[..., object], options: object = None) -> None:
        self._server.feature(method, options)(functools.partial(handler))

    async def stop(self) -> None:
        """Record what is known so far, and no more."""
        await self._loop.run_in_executor(None, self._capture.stop, _FLUSH)

    def _initialize(self, params: types.InitializeParams) -> None:
        client = params.client_info.name if params.client_info else ""
        options = params.initialization_options
        chosen = options.get("source") if isinstance(options, dict) else None
        source = chosen if isinstance(chosen, str) and chosen else client_names.find_editor(client)
        self._app.source = source[:200]
        if isinstance(options, dict) and options.get("model") is True:
            self._app.ask_editor = self._ask_model
        self._insights.meet(self._protocol.capabilities, options)
        if params.workspace_folders:
            self._add(folder.uri for folder in params.workspace_folders)
        elif params.root_uri:
            self._add([params.root_uri])
        elif params.root_path:
            self._folders[params.root_path] = Path(params.root_path)
        self._app.workspace.enter(self._folders.values())
        _log.info("serving %s as %s", client or "a client without a name", source)

    async def _initialized(self, _: types.InitializedParams) -> None:
        write_to_client(self._log_message)
        since = now()
        await asyncio.gather(self._ask_to_be_told(), self._pull_configuration())
        self._capture.start(self._places(), since)
        self._offer_links()

    def _change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            self._folders.pop(folder.uri, None)
        self._add(folder.uri for folder in params.event.added)
        self._app.workspace.enter(self._folders.values())
        self._capture.start(self._places(), now())
        self._offer_links()

    def _reconfigure(self, params: Any) -> None:  # noqa: ANN401  # whatever the client sent
        settings = params.get("settings") if isinstance(params, dict) else None
        if self._can_configure():
            self._asking = self._loop.create_task(self._pull_configuration())
        elif isinstance(settings, dict):
            self._configure(project=settings.get(SECTION))

    def _saved(self, params: Any) -> None:  # noqa: ANN401  # whatever the client sent
        document = params.get("textDocument") if isinstance(params, dict) else None
        uri = document.get("uri") if isinstance(document, dict) else None
        if isinstance(uri, str) and self._app.settings.capture_saves:
            self._capture.saved(uri)

    def _add(self, addresses: Iterable[str]) -> None:
        for address in addresses:
            path = path_of(address)
            if path is not None:
                self._folders[address] = path

    def _places(self) -> tuple[Path, ...]:
        """Return the folders to record in; a client without one works where it started us."""
        return tuple(self._folders.values()) or (self._app.here,)

    async def _ask_to_be_told(self) -> None:
        """Ask for a word when our settings change: a client that can do this does it only when asked."""
        if not self._protocol.can("workspace", "didChangeConfiguration", "dynamicRegistration"):
            return
        registration = types.Registration(
            id=SECTION,
            method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            register_options={"section": SECTION},
        )
        await self._ask(
            self._server.client_register_capability_async(
                types.RegistrationParams(registrations=[registration])
            )
        )

    async def _pull_configuration(self) -> None:
        if not self._can_configure():
            return
        sections = [SECTION, *filter(None, [os.environ.get(USER_SECTION)])]
        items = [types.ConfigurationItem(section=section) for section in sections]
        found = await self._ask(
            self._server.workspace_configuration_async(types.ConfigurationParams(items=items))
        )
        project, user, *_ = [*(found or ()), None, None]
        self._configure(project=project, user=user if len(sections) > 1 else None)

    def _can_configure(self) -> bool:
        return self._protocol.can("workspace", "configuration")

    def _configure(self, *, project: object, user: object = None) -> None:
        """Take over the client's settings; what is wrong or refused is said once."""
        for problem in self._app.configure(user=user, project=project):
            if problem not in self._reported:
                self._reported.add(problem)
                _log.warning("%s", problem)
                self._protocol.tell(
                    types.WINDOW_SHOW_MESSAGE,
                    {"type": types.MessageType.Warning.value, "message": f"Threadline: {problem}"},
                )
        logs.obey(self._app.settings)
        self._look_at_lenses()

    def _show_file(self, params: object) -> FileStory:
        """Show what is known about a file; called from the thread of the request."""
        story, text = self._insights.describe(params)
        body = {"type": types.MessageType.Info.value, "message": text}
        self._loop.call_soon_threadsafe(self._protocol.tell, types.WINDOW_SHOW_MESSAGE, body)
        return story

    def _look_at_lenses(self) -> None:
        """Ask the client to refresh its lenses if they have changed; not at every change."""
        self._has_changed = self._protocol.can("workspace", "codeLens", "refreshSupport")
        if self._has_changed and (self._looking is None or self._looking.done()):
            self._looking = self._loop.create_task(self._refresh_lenses())

    async def _refresh_lenses(self) -> None:
        while self._has_changed:
            self._has_changed = False
            await asyncio.sleep(_CALM)
            if await self._loop.run_in_executor(None, self._insights.have_changed):
                await self._ask(self._server.workspace_code_lens_refresh_async(None))

    async def _ask(self, question: Awaitable[T]) -> T | None:
        try:
            return await asyncio.wait_for(question, _ANSWER)
        except Exception as error:  # noqa: BLE001  # a client's fault must not end ours
            _log.info("the client did not answer: %r", error)
            return None

    def _offer_links(self) -> None:
        self._offering = self._loop.create_task(self._ask_for_links(self._places()))

    async def _ask_for_links(self, folders: Iterable[Path]) -> None:
        for folder in folders:
            question = await self._loop.run_in_executor(None, self._links.ask, folder)
            if question is not None:
                # A person takes the time it takes; a client that cannot ask says so, or never answers.
                with contextlib.suppress(ThreadlineError):
                    answer = await self._protocol.ask(
                        types.WINDOW_SHOW_MESSAGE_REQUEST, question.message
                    )
                    done = await self._loop.run_in_executor(
                        None, self._links.answer, question, answer
                    )
                    if done:
                        self._log_message(types.MessageType.Info, done)

    def _ask_model(self, params: ModelParams) -> "Future[Any]":
        """Ask the client's own language model; called from the thread of the work that wants it."""
        return asyncio.run_coroutine_threadsafe(self._protocol.ask(MODEL, params), self._loop)

    def _tell_change(self, change: Change) -> None:
        self._loop.call_soon_threadsafe(self._protocol.tell, DID_CHANGE, change)
        if change.what in {"memories", "sessions"}:
            self._loop.call_soon_threadsafe(self._look_at_lenses)

    def _log_message(self, kind: types.MessageType, message: str) -> None:
        body = {"type": kind.value, "message": message}
        self._loop.call_soon_threadsafe(self._protocol.tell, types.WINDOW_LOG_MESSAGE, body)


def _unheard(*_: object) -> None:
    """Take what needs nothing done."""
