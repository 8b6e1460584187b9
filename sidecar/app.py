"""The composition root: which concrete thing serves which method."""

import contextlib
import functools
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from cachetools import TTLCache
from msgspec import UNSET

from protocol import methods
from protocol.answers import Answer, ErrorData, Failure
from protocol.capture import CaptureState
from protocol.errors import (
    Code,
    InvalidParamsError,
    NotFoundError,
    ThreadlineError,
    UnknownMethodError,
)
from protocol.methods import METHODS, Method
from protocol.projects import Project
from protocol.sessions import Session
from protocol.settings import Settings
from protocol.values import Params, Record
from sidecar.adapters import processes
from sidecar.adapters.git import checkouts, commits, identity
from sidecar.adapters.ignores import Ignores
from sidecar.adapters.watches import Watches
from sidecar.domain import paths, settings
from sidecar.domain.sessions import Rule
from sidecar.services import (
    browsing,
    health,
    locating,
    maintenance,
    pausing,
    recording,
    reporting,
    scanning,
    transferring,
)
from sidecar.services.scanning import Progress
from sidecar.services.transferring import Moved
from sidecar.services.workspaces import Tools, Workspace
from sidecar.store.homes import Home, default_home
from sidecar.store.ids import Ids
from sidecar.store.vaults import Vault

_LOCATED_FOR = 60
"""Seconds for which a path's project is taken as known."""
_PROJECT_ID = re.compile(r"[0-9a-f]{20}")
_FIELD = re.compile(
    r"(?:required|unknown) field `(?P<name>[^`]+)`|(?:needs) the field `(?P<part>[^`]+)`"
)
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")

_log = logging.getLogger(__name__)


def _untold(_done: int, _total: int) -> None:
    """Tell nobody how far it is."""


class Application:
    """Everything a transport needs: one table of methods, answered for the projects of one home."""

    def __init__(self, home: Home, *, here: Path, source: str) -> None:
        """Serve the home's projects; `here` and `source` stand in where a request names none."""
        self.home = home
        self.here = here
        self._located: TTLCache[str, Project] = TTLCache(maxsize=256, ttl=_LOCATED_FOR)
        self._maintained: set[str] = set()
        self._mutex = threading.Lock()
        self._own_settings, problems = settings.read(home.settings(), Settings())
        for problem in problems:
            _log.warning("settings.json: %s", problem)
        self.workspace = Workspace(self._tools(), source, self._own_settings)
        self.configure({})

    @functools.cached_property
    def version(self) -> str:
        """Tell which version of the product this is."""
        return version("threadline")

    @property
    def source(self) -> str:
        """Say who reports, for events that do not say it themselves."""
        return self.workspace.source

    def configure(self, raw: object) -> list[str]:
        """Take over a client's settings, on top of the user's own; tell what is wrong with them."""
        chosen, problems = settings.read(raw, self._own_settings)
        self.workspace.settings = chosen
        self.home.obey(Rule(window=timedelta(hours=chosen.session_hours)))
        return problems

    def projects(self) -> list[Project]:
        """List the projects of the workspace."""
        ids = [vault.project_id for vault in self.workspace.vaults()]
        found = [locating.by_id(self.home, each) for each in ids]
        if not found:
            # Nobody has looked for repositories yet.
            found = [self.project(str(folder)) for folder in self.workspace.folders or [self.here]]
        return list({project.project_id: project for project in found}.values())

    def call(self, name: str, params: object, progress: Progress = _untold) -> Record:
        """Answer one request; whatever is wrong with it is raised as a ThreadlineError.

        A long one tells `progress` how far it is, which may raise CancelledError.
        """
        method = _BY_NAME.get(name)
        if method is None:
            raise UnknownMethodError(f"there is no method {name}; `threadline call` lists them")
        typed = convert(method, params)
        if method.is_long:
            return _LONG[name](self, typed, progress)
        return _HANDLERS[name](self, typed)

    def answer(
        self,
        identifier: int | str | None,
        name: str,
        params: object,
        progress: Progress = _untold,
    ) -> Answer:
        """Answer one request, whatever happens in it: the boundary that all transports share."""
        try:
            result = self.call(name, params, progress)
            return Answer(id=identifier, result=msgspec.Raw(msgspec.json.encode(result)))
        except ThreadlineError as error:
            return Answer(id=identifier, error=failure(error))
        except Exception:  # noqa: BLE001  # it is answered, and the log has the rest
            _log.exception("%s failed unexpectedly", name)
            problem = Failure(code=Code.INTERNAL_ERROR, message="internal error; the log has more")
            return Answer(id=identifier, error=problem)

    def watch(self, watches: Watches, tell: Callable[[methods.Change], None]) -> None:
        """Record what happens in the workspace until the watches are stopped; tell what changes."""
        is_on = True
        while is_on:
            for change in self.workspace.look():
                tell(change)
            is_on = watches.wait(self.workspace.places(), self.workspace.quiet_places())

    def catch_up(self, reference: str | None) -> None:
        """Settle what was committed so far in a project that is watched, before a pause begins or ends."""
        with contextlib.suppress(ThreadlineError):
            self.workspace.settle(self._place(reference))

    def follow_saves(self, root: Path, since: datetime, stop: threading.Event) -> None:
        """Record which files are written in a working tree from a moment on, where no editor says it."""
        from sidecar.adapters import trees  # noqa: PLC0415  # only who has no editor needs it

        for written in trees.written(root, since, stop):
            moment = now()
            self.workspace.save([(path, moment) for path in written])

    def project(self, reference: str | None) -> Project:
        """Find the project that a request names by path or id."""
        reference = reference or self._only_folder()
        with self._mutex:
            project = self._located.get(reference)
        if project is None:
            project = self._locate(reference)
            with self._mutex:
                self._located[reference] = project
        return project

    def vault(self, project: Project) -> Vault:
        """Open a project's memory; the first time, do what has been waiting for that."""
        vault = self.home.vault(project.project_id)
        if project.project_id not in self._maintained:
            self._maintained.add(project.project_id)
            maintenance.maintain(vault)
        return vault

    def scan(self, params: methods.ScanParams, progress: Progress) -> methods.ScanResult:
        """Import a repository's history, telling `progress` how far it is."""
        project = self.project(params.project)
        folder = self._place(params.project)
        author = None if params.all_authors else params.author or _own_commits(folder)
        history = commits.history(folder, since=params.since, author=author)
        scanned = scanning.scan(
            self.vault(project),
            history,
            lambda wanted: commits.read(folder, wanted, line_counts=params.line_counts),
            progress,
        )
        self.workspace.begin(folder)
        return methods.ScanResult(
            project_id=project.project_id,
            author=author,
            found=scanned.found,
            imported=scanned.imported,
            already_known=scanned.found - scanned.imported,
            sessions=scanned.sessions,
        )

    def export(self, reference: str | None) -> Iterator[bytes]:
        """Write a project's whole memory as lines."""
        project = self.project(reference)
        return transferring.export(self.vault(project), project)

    def report(self, reference: str | None) -> Iterator[bytes]:
        """Write a project's whole memory as Markdown."""
        project = self.project(reference)
        return (block.encode() for block in reporting.report(self.vault(project), project))

    def load(self, lines: Iterable[bytes], reference: str | None) -> Moved:
        """Read an export into its own project, or into the one that is named."""
        into = None if reference is None else self.project(reference)
        return transferring.load(self.home, lines, into)

    def close(self) -> None:
        """Give all files back."""
        self.home.close()

    def _place(self, reference: str | None) -> Path:
        """Give a folder of the project that a request names."""
        return _folder(reference or self._only_folder()) or _place_of(self.project(reference))

    def _only_folder(self) -> str:
        folders = self.workspace.folders or (self.here,)
        if len(folders) > 1:
            names = ", ".join(map(str, folders))
            raise InvalidParamsError(f"name one of the folders: {names}", field="project")
        return str(folders[0])

    def _tools(self) -> Tools:
        return Tools(
            find=checkouts.find,
            vault=lambda folder: self.vault(self.project(str(folder))),
            forget=self._forget,
            ignored=lambda root: Ignores(root).ignored,
            is_running=processes.is_running,
            clock=self.home.ids.clock,
        )

    def _forget(self, folder: Path) -> None:
        with self._mutex:
            self._located.pop(str(folder), None)

    def _locate(self, reference: str) -> Project:
        folder = _folder(reference)
        if folder is not None:
            return locating.locate(self.home, lambda believe: identity.facts(folder, believe))
        if _PROJECT_ID.fullmatch(reference):
            return locating.by_id(self.home, reference)
        raise NotFoundError(f"{reference} is neither a folder nor a project", field="project")


def _folder(reference: str) -> Path | None:
    """Give the folder that a reference names, if it is a path."""
    try:
        path = Path(reference).expanduser()
        return path if path.is_dir() else path.parent if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _place_of(project: Project) -> Path:
    """Find a folder where the project still is."""
    places = (Path(os.fsdecode(paths.write(folder))) for folder in reversed(project.folders))
    place = next((place for place in places if place.is_dir()), None)
    if place is None:
        raise NotFoundError(f"{project.name} is at none of its known places", field="project")
    return place.parent if place.name == ".git" else place


def open_application(
    *, here: Path, source: str, environment: Mapping[str, str] = os.environ
) -> Application:
    """Put the product together as users run it."""
    home = Home(default_home(environment), Ids(now), Rule())
    return Application(home, here=here, source=source)


def failure(error: ThreadlineError) -> Failure:
    """Write an error as it stands on the wire."""
    data = UNSET if error.field is None else ErrorData(field=error.field)
    return Failure(code=error.code, message=str(error), data=data)


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def convert(method: Method, params: object) -> Params:
    """Type a request's params; an error names the field."""
    try:
        return msgspec.convert({} if params is None else params, method.params)
    except msgspec.ValidationError as error:
        message = str(error)
        raise InvalidParamsError(f"{method.name}: {message}", field=_field(message)) from error


def _field(message: str) -> str | None:
    """Read the offending field out of msgspec's message."""
    at, named = _PATH.search(message), _FIELD.search(message)
    parts = [at["path"] if at else "", (named["name"] or named["part"]) if named else ""]
    return ".".join(filter(None, parts)) or None


def _own_commits(folder: Path) -> str:
    email = identity.user_email(folder)
    if email is None:
        raise InvalidParamsError(
            "git does not know who you are here (user.email is unset); name an author, or ask for all of them",
            field="author",
        )
    return f"<{email}>"


def _ingest(app: Application, params: methods.IngestParams) -> methods.IngestResult:
    project = app.project(params.project)
    vault = app.vault(project)
    if pausing.state(vault, processes.is_running).paused:
        dropped = [methods.PlacedEvent(outcome="dropped") for _ in params.events]
        return methods.IngestResult(project_id=project.project_id, events=tuple(dropped))
    placed = recording.ingest(vault, params.events, params.source or app.source)
    return methods.IngestResult(project_id=project.project_id, events=tuple(placed))


def _list_sessions(app: Application, params: methods.ListSessionsParams) -> methods.SessionPage:
    return browsing.list_sessions(_vault(app, params), params)


def _get_session(app: Application, params: methods.SessionParams) -> Session:
    return browsing.get_session(_vault(app, params), params.session_id)


def _list_events(app: Application, params: methods.SessionEventsParams) -> methods.EventPage:
    return browsing.list_events(_vault(app, params), params)


def _close_session(app: Application, params: methods.CloseSessionParams) -> Session:
    return browsing.close_session(_vault(app, params), params)


def _status(app: Application, params: methods.ProjectParams) -> methods.Status:
    project = app.project(params.project)
    vault = app.vault(project)
    return health.report(vault, project, pausing.state(vault, processes.is_running))


def _tell_version(app: Application, _: methods.NoParams) -> methods.Version:
    return methods.Version(version=app.version, process=os.getpid())


def _pause(app: Application, params: methods.PauseParams) -> CaptureState:
    app.catch_up(params.project)
    return pausing.pause(_vault(app, params), params.duration, processes.own_name())


def _resume(app: Application, params: methods.ProjectParams) -> CaptureState:
    app.catch_up(params.project)
    return pausing.resume(_vault(app, params))


def _list_projects(app: Application, params: methods.ListProjectsParams) -> methods.ProjectList:
    found = app.home.projects() if params.everywhere else app.projects()
    return methods.ProjectList(projects=tuple(found))


def _vault(app: Application, params: methods.ProjectParams) -> Vault:
    return app.vault(app.project(params.project))


_BY_NAME = {method.name: method for method in METHODS}
_HANDLERS: dict[str, Callable[[Application, Any], Record]] = {
    "threadline/ingest": _ingest,
    "threadline/sessions/list": _list_sessions,
    "threadline/sessions/get": _get_session,
    "threadline/sessions/events": _list_events,
    "threadline/sessions/close": _close_session,
    "threadline/projects/list": _list_projects,
    "threadline/status": _status,
    "threadline/version": _tell_version,
    "threadline/capture/pause": _pause,
    "threadline/capture/resume": _resume,
}
_LONG: dict[str, Callable[[Application, Any, Progress], Record]] = {
    "threadline/scan": Application.scan,
}
