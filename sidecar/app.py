"""The composition root: which concrete thing serves which method."""

import contextlib
import functools
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from cachetools import TTLCache, cached

from protocol import methods
from protocol.answers import Answer
from protocol.capture import CaptureState
from protocol.connections import Level
from protocol.contexts import Rendered, RenderParams
from protocol.conversions import convert
from protocol.diagnosis import Diagnosis
from protocol.errors import GitFailedError, InvalidParamsError, ThreadlineError, UnknownMethodError
from protocol.methods import METHODS
from protocol.projects import LinkedFolder, LinkFolderParams, Project, ProjectParams, Standing
from protocol.settings import Settings
from protocol.values import Record
from protocol.versions import VERSION
from sidecar import answering
from sidecar.capture import pause, record, scan, timeline
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Rule
from sidecar.capture.scan import Progress
from sidecar.code import checkouts, commits, git, lineage, processes, skips
from sidecar.code.folder_watcher import Watches
from sidecar.code.ignored_files import Ignores
from sidecar.handlers.workspaces import Tools as WorkspaceTools
from sidecar.handlers.workspaces import Workspace
from sidecar.memory import health
from sidecar.projects import locate
from sidecar.projects.locate import Located, Places
from sidecar.projects.progress import Tell, untold
from sidecar.projects.repositories import Scout, own_commits
from sidecar.projects.rules import settings
from sidecar.search.meanings import Embedder, Meanings
from sidecar.storage import prepared, skipped, spool
from sidecar.storage.database import deadline
from sidecar.storage.home import Home, default_home
from sidecar.storage.locks import Lock
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import TEAM, Vault
from sidecar.tasks.checks import Checks
from sidecar.upkeep import maintenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sidecar.conversations.hook_ingest import Overhearing
    from sidecar.conversations.spooled import Observation
    from sidecar.handlers.memory import Mind
    from sidecar.hosts.connect import Tools
    from sidecar.memory.llm.editors import Ask


_OVERHEARING = 1.0
"""Seconds that a request may wait until what hooks have heard is placed."""

_SHARE = 10.0
"""Seconds that what hooks have heard in one folder may take where nobody waits, until other folders have their turn."""

_log = logging.getLogger(__name__)


_GIVEN_AGAIN = "threadline/context/start"
"""Whose answer is kept for as long as nothing changes."""
_CALM = 1.0
"""Seconds that a server waits after something happened until it prepares what conversations are told."""
_MISSING_FOR = 10
"""Seconds for which the model for meanings is taken to be there, or not to be."""


class Application:
    """Everything a transport needs: one table of methods, answered for the projects of one home."""

    def __init__(self, home: Home, *, here: Path, source: str) -> None:
        """Serve the home's projects; `here` and `source` stand in where a request names none."""
        self.home = home
        self.here = here
        self._scout = Scout(home)
        self._places = Places(home, self._scout.identify)
        self._maintained: set[str] = set()
        self.meanings = Meanings(_embedder, cached(TTLCache(1, _MISSING_FOR))(_missing))
        self._mind: Mind | None = None
        self._given: tuple[Record | None, msgspec.Raw] = (None, msgspec.Raw())
        """What was last answered of what is answered again and again, and how it is written."""
        self._tending: dict[str, threading.Thread] = {}
        self._touching: dict[str, threading.Thread] = {}
        """Who exchanges with teams, by project."""
        self._stopping = threading.Event()
        self.is_for_people = True
        """Whether people ask, and not an assistant."""
        self.ask_editor: Ask | None = None
        """Asks the client's own language model, if it has one."""
        self._mutex = threading.Lock()
        self._turn = threading.Lock()
        self._is_watching = False
        self.upkeep = Lock(home.folder / "upkeep")
        """Held by whoever runs `threadline maintain`."""
        self._own_settings, problems = settings.read(home.settings(), Settings())
        for problem in problems:
            _log.warning("settings.json: %s", problem)
        self._checks = Checks(lambda folder: self.check(str(folder)))
        self._preparing = Checks(lambda folder: self.prepare(home.vault(folder.name)), _CALM)
        self.workspace = Workspace(self._tools(), source, self._own_settings)
        self.configure()

    @property
    def source(self) -> str:
        """Say who reports, for events that do not say it themselves."""
        return self.workspace.source

    def configure(self, *, user: object = None, project: object = None) -> list[str]:
        """Take over a client's settings, on top of the user's own file; tell what is wrong or refused.

        `user` is what the client's user chose where no project can; all else counts as a project's choice.
        """
        own, problems = settings.read(user, self._own_settings)
        chosen, others = settings.read_project(project, own, str(self.home.settings_file))
        self.workspace.settings = chosen
        self.home.obey(Rule(window=timedelta(hours=chosen.session_hours)))
        return [*problems, *others]

    @property
    def mind(self) -> "Mind":
        """Give all that concerns memory, loaded when it is first asked for."""
        with self._mutex:
            if self._mind is None:
                from sidecar.handlers.memory import Mind, Surroundings  # noqa: PLC0415  # heavy, and needed late

                self._mind = Mind(
                    Surroundings(
                        home=self.home,
                        meanings=self.meanings,
                        vault=lambda reference: self.vault(self.project(reference)),
                        place=self.folder,
                        name=lambda reference: self.project(reference).name,
                        is_offered=lambda reference: bool(self.located(reference).offers),
                        checkout=self._scout.checkout,
                        settings=lambda: self.workspace.settings,
                        is_for_people=lambda: self.is_for_people,
                        is_paused=lambda vault: pause.state(vault, processes.is_running).paused,
                        source=lambda: self.source,
                        editor=lambda: self.ask_editor,
                        keep_up=self.workspace.keep_up,
                        forget=self._forget,
                    )
                )
            return self._mind

    @functools.cached_property
    def _overhearing(self) -> "Overhearing":
        """Give who places what hooks have heard, loaded when there is something."""
        from sidecar.handlers import hook_ingest  # noqa: PLC0415  # needed late

        return hook_ingest.prepare(
            self.home.folder,
            self.mind.dialogue,
            lambda folder: self.vault(self._places.project(str(folder))),
            lambda: self.workspace.settings,
        )

    def projects(self) -> list[Project]:
        """List the projects of the workspace."""
        ids = [vault.project_id for vault in self.workspace.vaults()]
        found = [locate.by_id(self.home, each) for each in ids]
        if not found:
            # Nobody has looked for repositories yet.
            found = [self.project(str(folder)) for folder in self.workspace.folders or [self.here]]
        return list({project.project_id: project for project in found}.values())

    def call(self, name: str, params: object, progress: Tell = untold) -> Record:
        """Answer one request; whatever is wrong with it is raised as a ThreadlineError.

        A long one tells `progress` how far it is, which may raise CancelledError.
        """
        if not self._is_watching:
            self.overhear(_OVERHEARING)
        method = _BY_NAME.get(name)
        if method is None:
            raise UnknownMethodError(f"there is no method {name}; `threadline call` lists them")
        typed = convert(method, params)
        if method.is_long:
            return _LONG[name](self, typed, progress)
        with deadline():
            return self._call(name, typed)

    def _call(self, name: str, typed: Record) -> Record:
        if name in _HANDLERS:
            return _HANDLERS[name](self, typed)
        assert isinstance(typed, ProjectParams)  # noqa: S101  # memory is always a project's
        return self.mind.serve(name, typed)

    def answer(
        self,
        identifier: int | str | None,
        name: str,
        params: object,
        progress: Tell = untold,
    ) -> Answer:
        """Answer one request, whatever happens in it."""
        return answering.answer(identifier, name, lambda: self.write(name, params, progress))

    def write(self, name: str, params: object, progress: Tell = untold) -> msgspec.Raw:
        """Answer one request in JSON; what is given again and again is written once."""
        result = self.call(name, params, progress)
        known, written = self._given
        if result is known:
            return written
        written = msgspec.Raw(msgspec.json.encode(result))
        if name == _GIVEN_AGAIN:
            self._given = (result, written)
        return written

    def watch(self, watches: Watches, tell: Callable[[methods.Change], None]) -> None:
        """Record what happens in the workspace until the watches are stopped; tell what changes."""
        is_on = self._is_watching = True
        inbox = Path(spool.folder(str(self.home.folder)))
        while is_on:
            self.overhear()
            for change in self.workspace.look():
                tell(change)
            self.note_skips()
            for vault in self.workspace.vaults():
                self._preparing.want(vault.folder)
                self._keep_in_touch(vault)
            is_on = watches.wait([*self.workspace.places(), inbox], self.workspace.quiet_places())

    def overhear(self, seconds: float | None = None, before: str = "") -> None:
        """Place what hooks have heard meanwhile, for no longer than this, up to the observation of this key.

        Where nothing waits, nothing is loaded.
        """
        if not spool.is_empty(str(self.home.folder)) and self._turn.acquire(blocking=False):
            try:
                self._overhear(seconds, before)
            finally:
                self._turn.release()

    def _overhear(self, seconds: float | None, before: str) -> None:
        from sidecar.conversations.hook_ingest import Limits  # noqa: PLC0415  # needed late

        overhearing = self._overhearing
        deadline = None if seconds is None else time.monotonic() + seconds
        patience = (seconds or 0.0) / 2
        limits = Limits(
            deadline=deadline, patience=patience, before=before, share=patience or _SHARE
        )
        overhearing.place(limits)

    def note_skips(self) -> None:
        """Write down, for each project, what was skipped of its repository since this was last done."""
        counts: dict[str, Counter[tuple[str, str]]] = {}
        for skip, count in skips.take().items():
            counts.setdefault(skip.folder, Counter())[skip.path, skip.reason] += count
        for folder, own in counts.items():
            try:
                vault = self.vault(self._places.project(folder))
                with vault.transaction():
                    skipped.add(vault.folder, own, self.home.ids.clock())
            except (ThreadlineError, OSError) as error:
                # A repository that git may not read has no project; then the log is all there is.
                what = "; ".join(f"{path}: {reason}" for path, reason in own)
                _log.info("skipped in %s: %s (%s)", folder, what, error)

    def prepare(self, vault: Vault) -> None:
        """Write what the next conversations are told, where hooks will ask for it and what they would read is not as it was.

        Where no hook has asked, nothing is loaded; while capture is paused, nothing is prepared.
        """
        wanted = vault.prepared.wanted()
        if not wanted or not vault.exists or pause.state(vault, processes.is_running).paused:
            return
        home = str(self.home.folder)
        for folder, host in wanted:
            ready = prepared.read(home, vault.project_id, (folder, host), "")
            if ready is not None and ready.is_latest:
                continue
            try:
                if not Path(folder).is_dir() or self.project(folder).project_id != vault.project_id:
                    vault.prepared.forget(folder, host)
                elif made := self.mind.dialogue.draft(folder, host, self.home.folder):
                    vault.prepared.put(folder, host, made)
            except ThreadlineError as error:
                _log.warning("no context was prepared for %s: %s", folder, error)

    def is_unprepared(self) -> bool:
        """Tell whether hooks would find something else than what is prepared, in a project that was asked for here."""
        home = str(self.home.folder)
        return any(
            (ready := prepared.read(home, project_id, place, "")) is None or not ready.is_latest
            for project_id in self._maintained
            for place in self.home.vault(project_id).prepared.wanted()
        )

    def greet(
        self, params: RenderParams, *, is_lost: bool = False, unplaced: "Sequence[Observation]" = ()
    ) -> Rendered:
        """Tell a host's conversation what it should know; while capture is paused, nothing is noted of that."""
        vault = self.vault(self.project(params.project))
        if pause.state(vault, processes.is_running).paused:
            params = msgspec.structs.replace(params, preview=True)
        return self.mind.dialogue.greet(params, is_lost=is_lost, unplaced=unplaced)

    def catch_up(self, reference: str | None) -> None:
        """Settle what was committed so far in a project that is watched, before a pause begins or ends."""
        with contextlib.suppress(ThreadlineError):
            self.workspace.settle(self.folder(reference))

    def follow_saves(self, root: Path, since: datetime, stop: threading.Event) -> None:
        """Record which files are written in a working tree from a moment on, where no editor says it."""
        from sidecar.code import saved_files  # noqa: PLC0415  # only who has no editor needs it

        for written in saved_files.written(root, since, stop):
            moment = now()
            self.workspace.save([(path, moment) for path in written])

    def project(self, reference: str | None) -> Project:
        """Find the project that a request names by path or id."""
        return self._places.project(reference or self._only_folder())

    def located(self, reference: str | None) -> Located:
        """Find the project that a request names, and what decided that."""
        return self._places.locate(reference or self._only_folder())

    def link(self, params: LinkFolderParams) -> LinkedFolder:
        """Let a folder share the memory of the project it matches, or refuse that; all it has heard comes along."""
        from sidecar.upkeep import linking  # noqa: PLC0415  # few need it

        self.catch_up(params.project)
        self.overhear(_OVERHEARING)
        self.flush()
        located = self.located(params.project)
        trees = list(checkouts.find(self.folder(params.project), _log.warning))
        linked = linking.link(self.home, located, params, trees)
        self._forget(located.project.project_id)
        return linked

    def unlink(self, reference: str | None) -> LinkedFolder:
        """Give a folder a memory of its own again."""
        from sidecar.upkeep import linking  # noqa: PLC0415  # likewise

        self.catch_up(reference)
        self.flush()
        unlinked = linking.unlink(self.home, self.located(reference))
        self._places.clear()
        return unlinked

    def root(self, reference: str | None) -> Path | None:
        """Give the root of the working tree that a request names; None without a repository."""
        found = checkouts.enclosing(self.folder(reference))
        return None if found is None else Path(os.path.realpath(found.folder))

    def vault(self, project: Project) -> Vault:
        """Open a project's memory; the first time, do what has been waiting for that."""
        vault = self.home.vault(project.project_id)
        if project.project_id not in self._maintained:
            self._maintained.add(project.project_id)
            self.workspace.follow(vault)
            maintenance.maintain(vault, self.workspace.settings)
        return vault

    def scan(self, params: methods.ScanParams, progress: Progress) -> methods.ScanResult:
        """Import a repository's history, telling `progress` how far it is."""
        project = self.project(params.project)
        folder = self._repository(params.project)
        author = params.author or (None if params.all_authors else own_commits(folder))
        history = commits.history(folder, since=params.since, author=author)
        scanned = scan.scan(
            self.vault(project),
            history,
            lambda wanted: commits.read(folder, wanted, line_counts=params.line_counts),
            progress,
        )
        self.workspace.begin(folder)
        self.check(params.project)
        return methods.ScanResult(
            project_id=project.project_id,
            author=author,
            found=scanned.found,
            imported=scanned.imported,
            already_known=scanned.found - scanned.imported,
            sessions=scanned.sessions,
        )

    def check(self, reference: str | None) -> None:
        """Complete the tasks that turn out to be done, if there are any; a project that is nowhere has none."""
        with contextlib.suppress(ThreadlineError):
            kept = self.vault(self.project(reference)).tasks.all()
            if any(task.done_when and task.status != "done" for task in kept):
                self.mind.teamwork.complete(reference)

    def connections(self, level: Level, reference: str | None = None) -> "Tools":
        """Give what connecting agents needs, for this user or for a project."""
        from sidecar.handlers import connections  # noqa: PLC0415  # needed by one command

        is_project = level == "project"
        folder = str(self.root(reference) or self.folder(reference)) if is_project else None
        return connections.prepare(self.home, folder)

    def close(self) -> None:
        """Write what still waits, and give all files back."""
        self._stopping.set()
        self.flush()
        self.home.close()

    def flush(self) -> None:
        """Write what still waits; nothing waits where nobody has asked for memory."""
        self._checks.settle()
        self.note_skips()
        if self._mind is not None:
            self._mind.dialogue.close()

    def folder(self, reference: str | None) -> Path:
        """Give a folder of the project that a request names."""
        return self._places.folder(reference or self._only_folder())

    def _repository(self, reference: str | None) -> Path:
        """Give the working tree that a request names; one that is not to be followed has no history."""
        located, place = self.located(reference), self.folder(reference)
        if located.facts is not None and located.facts.rule == "refused":
            raise GitFailedError(f"cannot read the history of {place}: {located.facts.reason}")
        found = checkouts.enclosing(place)
        return place if found is None else found.folder

    def _only_folder(self) -> str:
        folders = self.workspace.folders or (self.here,)
        if len(folders) > 1:
            names = ", ".join(map(str, folders))
            raise InvalidParamsError(f"name one of the folders: {names}", field="project")
        return str(folders[0])

    def _tend(self, vault: Vault) -> None:
        """Let memory look after itself in a thread of its own: capture must not wait for it."""
        can_learn = self.meanings.absence is None
        if not maintenance.is_wanting(vault, self.workspace.settings, can_learn=can_learn):
            return
        running = self._tending.get(vault.project_id)
        if running is None or not running.is_alive():
            running = threading.Thread(target=self._look_after, args=(vault,), daemon=True)
            self._tending[vault.project_id] = running
            running.start()

    def _keep_in_touch(self, vault: Vault) -> None:
        """Let a project exchange with its team in a thread of its own, where it has one."""
        running = self._touching.get(vault.project_id)
        if (running is None or not running.is_alive()) and (vault.folder / TEAM).exists():
            from sidecar.upkeep import team  # noqa: PLC0415  # few are in one

            arguments = (vault, self._stopping)
            running = threading.Thread(target=team.keep_in_touch, args=arguments, daemon=True)
            self._touching[vault.project_id] = running
            running.start()

    def _look_after(self, vault: Vault) -> None:
        try:
            self.mind.tend(vault)
        except ThreadlineError as error:
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001  # the boundary of the thread
            _log.exception("memory could not be looked after")

    def _forget(self, project_id: str) -> None:
        self._places.clear()
        self._maintained.discard(project_id)

    def _tools(self) -> WorkspaceTools:
        return WorkspaceTools(
            find=checkouts.find,
            vault=lambda folder: self.vault(self.project(str(folder))),
            forget=self._places.forget,
            ignored=lambda root: Ignores(root).ignored,
            check=self._checks.want,
            tend=self._tend,
            is_running=processes.is_running,
            clock=self.home.ids.clock,
            index=self.home.stamp,
        )


def open_application(
    *, here: Path, source: str, environment: Mapping[str, str] = os.environ
) -> Application:
    """Put the product together as users run it."""
    home = Home(default_home(environment), Ids(now), Rule())
    return Application(home, here=here, source=source)


def _missing() -> str | None:
    """Say what the model for meanings lacks."""
    from sidecar.search.embeddings import model  # noqa: PLC0415  # needed late

    return model.missing()


def _embedder() -> Embedder | str:
    """Load the model for meanings, or say why there is none."""
    from sidecar.search.embeddings import model  # noqa: PLC0415  # heavy, and needed late

    found = model.load()
    return found.reason if isinstance(found, model.Absence) else found


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def _ingest(app: Application, params: methods.IngestParams) -> methods.IngestResult:
    project = app.project(params.project)
    vault = app.vault(project)
    if pause.state(vault, processes.is_running).paused:
        dropped = [methods.PlacedEvent(outcome="dropped") for _ in params.events]
        return methods.IngestResult(project_id=project.project_id, events=tuple(dropped))
    placed = record.ingest(vault, params.events, params.source or app.source)
    if any(event.commit for event in params.events):
        app.check(params.project)
    return methods.IngestResult(project_id=project.project_id, events=tuple(placed))


def _status(app: Application, params: ProjectParams) -> methods.Status:
    project = app.project(params.project)
    vault = app.vault(project)
    with contextlib.suppress(ThreadlineError):
        git.check(app.folder(params.project))
    app.note_skips()
    state = pause.state(vault, processes.is_running)
    parked = spool.count_parked(str(app.home.folder))
    late, last_late = spool.count_late(str(app.home.folder))
    status = health.report(vault, project, state, app.meanings, parked)
    return msgspec.structs.replace(
        status,
        late_hooks=late,
        last_late_hook=datetime.fromisoformat(last_late) if last_late else None,
    )


def _examine(app: Application, params: ProjectParams) -> Diagnosis:
    from sidecar.upkeep import doctor  # noqa: PLC0415  # few need it

    def find_unrecorded() -> str | None:
        head = lineage.head(app.folder(params.project))
        is_known = not head or timeline.holder(_vault(app, params), sessions.commit_key(head))
        return None if is_known else head

    return doctor.examine(
        app.home.folder,
        lambda: _ask_git(app.folder(params.project)),
        lambda: _status(app, params),
        find_unrecorded,
        lambda level: app.connections(level, params.project),
    )


def _ask_git(folder: Path) -> None:
    """Raise what keeps git from reading a folder."""
    git.ask(folder, "version")
    git.check(folder)


def _tell_version(_app: Application, _: methods.NoParams) -> methods.Version:
    return methods.Version(version=VERSION, process=os.getpid())


def _pause(app: Application, params: methods.PauseParams) -> CaptureState:
    app.catch_up(params.project)
    app.overhear(_OVERHEARING)
    app.flush()
    return pause.pause(_vault(app, params), params.duration, processes.own_name())


def _resume(app: Application, params: ProjectParams) -> CaptureState:
    app.catch_up(params.project)
    return pause.resume(_vault(app, params))


def _list_projects(app: Application, params: methods.ListProjectsParams) -> methods.ProjectList:
    # Where somebody works comes first.
    found = [*app.projects(), *(app.home.projects() if params.everywhere else ())]
    return methods.ProjectList(projects=tuple({one.project_id: one for one in found}.values()))


def _explain(app: Application, params: ProjectParams) -> Standing:
    from sidecar.upkeep import linking  # noqa: PLC0415  # few need it

    return linking.explain(app.home, app.located(params.project))


def _vault(app: Application, params: ProjectParams) -> Vault:
    return app.vault(app.project(params.project))


def _of(service: Callable[[Vault, Any], Record]) -> "Handler":
    """Serve a method by what a service does with the project's memory."""
    return lambda app, params: service(_vault(app, params), params)


def _serve_team(name: str, app: Application, params: ProjectParams) -> Record:
    from sidecar.handlers import team  # noqa: PLC0415  # few are in one

    return team.SERVICES[name](_vault(app, params), params, app.folder(params.project))


Handler = Callable[[Application, Any], Record]

_BY_NAME = {method.name: method for method in METHODS}
_HANDLERS: dict[str, Handler] = {
    "threadline/ingest": _ingest,
    "threadline/sessions/list": _of(timeline.list_sessions),
    "threadline/sessions/get": _of(timeline.show_session),
    "threadline/sessions/events": _of(timeline.list_events),
    "threadline/sessions/close": _of(timeline.close_session),
    "threadline/commits/get": _of(timeline.show_commit),
    "threadline/timeline": _of(timeline.picture),
    "threadline/projects/list": _list_projects,
    "threadline/projects/why": _explain,
    "threadline/projects/link": Application.link,
    "threadline/projects/unlink": lambda app, params: app.unlink(params.project),
    "threadline/status": _status,
    "threadline/doctor": _examine,
    "threadline/version": _tell_version,
    "threadline/capture/pause": _pause,
    "threadline/capture/resume": _resume,
}
_HANDLERS |= {
    method.name: functools.partial(_serve_team, method.name)
    for method in METHODS
    if method.name.startswith("threadline/team/")
}
_LONG: dict[str, Callable[[Application, Any, Tell], Record]] = {
    "threadline/scan": Application.scan,
    "threadline/enrichment/start": lambda app, params, tell: app.mind.enrich(params, tell),
    "threadline/enrichment/startAll": lambda app, params, tell: app.mind.enrich_all(params, tell),
    "threadline/enrichment/retry": lambda app, params, tell: app.mind.retry(params, tell),
}
