"""The one handle on projects: their vaults, checkouts, code, settings and pauses, as this process has them open."""

import contextlib
import os
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import LRUCache, TTLCache, cached

from protocol import conversions
from protocol.errors import GitFailedError, InvalidParamsError, NotFoundError
from protocol.projects import Project
from protocol.settings import Settings
from sidecar.capture import pause
from sidecar.capture.rules.sessions import Rule
from sidecar.code import checkouts, processes
from sidecar.code.checkouts import Checkout
from sidecar.projects.locate import Located, Places
from sidecar.projects.repositories import Scout
from sidecar.projects.rules import settings
from sidecar.search.meanings import Embedder, Meanings
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance

if TYPE_CHECKING:
    from sidecar.code.codebase import Codebase
    from sidecar.memory.llm.editors import Ask

_MISSING_FOR = 10
"""Seconds for which the model for meanings is taken to be there, or not to be."""
_KNOWN_FOR = 60
"""Seconds for which a folder is taken for the repository that it was."""

Part = TypeVar("Part")


class Projects:
    """The projects of one home. A request names one by a path or an id; None means the only folder that is open."""

    def __init__(self, home: Home, *, here: Path, source: str) -> None:
        """Serve a home's projects; `here` and `source` stand in where a request names none."""
        self.home, self.here, self.source = home, here, source
        self.folders: tuple[Path, ...] = ()
        """The folders that a client has open."""
        self.is_for_people = True
        """Whether people ask, who may see what is only proposed, and not an assistant."""
        self.ask_editor: Ask | None = None
        """Asks the client's own language model, if it has one."""
        self.on_open: list[Callable[[Vault], None]] = []
        """Called with each vault when it is first opened."""
        self.meanings = Meanings(_embedder, cached(TTLCache(1, _MISSING_FOR))(_missing))
        self._scout = Scout(home)
        self._places = Places(home, self._scout.identify)
        self._opened: set[str] = set()
        self._parts: dict[type, Any] = {}
        self._codebases: TTLCache[Path, Codebase | None] = TTLCache(maxsize=64, ttl=_KNOWN_FOR)
        self._workbenches: LRUCache[Path, Codebase] = LRUCache(maxsize=8)
        self._mutex = threading.RLock()
        self._own_settings, self.setting_problems = settings.read(home.settings(), Settings())
        self.settings = self._own_settings

    def configure(self, *, user: object = None, project: object = None) -> list[str]:
        """Apply a client's settings on top of the user's own file; return what is wrong or refused.

        `user` is what the client's user chose where no project can; all else counts as a project's choice.
        """
        own, problems = settings.read(user, self._own_settings)
        chosen, others = settings.read_project(project, own, str(self.home.settings_file))
        self.settings = chosen
        self.home.obey(Rule(window=timedelta(hours=chosen.session_hours)))
        return [*problems, *others]

    def part(self, kind: Callable[["Projects"], Part]) -> Part:
        """Return this process's one instance of a class that serves all projects, made when it is first asked for."""
        with self._mutex:
            if kind not in self._parts:
                self._parts[kind] = kind(self)  # type: ignore[index]  # a class is a callable
                if threading.active_count() > 1:
                    # What was loaded with it are new kinds of records, and others may read them at once.
                    conversions.prepare()
            return self._parts[kind]  # type: ignore[index, no-any-return]

    def existing(self, name: str) -> Any | None:  # noqa: ANN401  # its class may not be loaded
        """Return a part by its class's name, if it was ever needed."""
        return next((part for kind, part in self._parts.items() if kind.__name__ == name), None)

    def project(self, reference: str | None) -> Project:
        """Find a project, or begin one."""
        return self.located(reference).project

    def located(self, reference: str | None) -> Located:
        """Find a project, and what decided that."""
        return self._places.locate(reference or self._only_folder())

    def folder(self, reference: str | None) -> Path:
        """Return the folder that a path names, or one where the project of an id still is."""
        return self._places.folder(reference or self._only_folder())

    def vault(self, project: Project | str | None) -> Vault:
        """Open a project's memory; the first time, do what has been waiting for that."""
        found = project if isinstance(project, Project) else self.project(project)
        vault = self.home.vault(found.project_id)
        if found.project_id not in self._opened:
            self._opened.add(found.project_id)
            for follow in self.on_open:
                follow(vault)
            maintenance.maintain(vault, self.settings)
        return vault

    def opened(self) -> list[Vault]:
        """Return the vaults that were asked for here."""
        return [self.home.vault(project_id) for project_id in self._opened]

    def is_paused(self, vault: Vault) -> bool:
        """Whether nothing of a project may be recorded now."""
        return pause.state(vault, processes.is_running).paused

    def checkout(self, folder: Path) -> Checkout | None:
        """Find the working tree that a folder is in."""
        return self._scout.checkout(folder)

    def root(self, reference: str | None) -> Path | None:
        """Return the root of the working tree that a request names; None without a repository."""
        found = checkouts.enclosing(self.folder(reference))
        return None if found is None else Path(os.path.realpath(found.folder))

    def repository(self, reference: str | None) -> Path:
        """Return the working tree that a request names; one that is not to be followed has no history."""
        located, place = self.located(reference), self.folder(reference)
        if located.facts is not None and located.facts.rule == "refused":
            raise GitFailedError(f"cannot read the history of {place}: {located.facts.reason}")
        found = checkouts.enclosing(place)
        return place if found is None else found.folder

    def code(self, reference: str | None) -> "Codebase | None":
        """Return the code of the project that a request names; None where there is no repository."""
        try:
            return self.code_at(self.folder(reference))
        except NotFoundError:
            return None

    def code_at(self, folder: Path) -> "Codebase | None":
        """Return the code of a folder; None where there is no repository that git can read."""
        with self._mutex:
            with contextlib.suppress(KeyError):
                return self._codebases[folder]
            code = self._codebases[folder] = self._find_code(folder)
            return code

    def workbench(self, reference: str | None) -> "Codebase | None":
        """Return the code as whoever makes memory sees it, which runs beside searches: one at a time in a project."""
        from sidecar.code.codebase import Codebase  # noqa: PLC0415  # heavy

        known = self.code(reference)
        if known is None:
            return None
        with self._mutex:
            if known.folder not in self._workbenches:
                self._workbenches[known.folder] = Codebase(known.folder)
            return self._workbenches[known.folder]

    def forget(self, folder: Path) -> None:
        """Make sure that a folder's project is found anew."""
        self._places.forget(folder)

    def forget_project(self, project_id: str) -> None:
        """Make sure that all folders' projects are found anew, and that this one is opened as if for the first time."""
        self._places.clear()
        self._opened.discard(project_id)

    def _find_code(self, folder: Path) -> "Codebase | None":
        from sidecar.code.codebase import Codebase  # noqa: PLC0415  # heavy

        try:
            found = self._scout.checkout(folder)
        except GitFailedError:
            return None
        return None if found is None else Codebase(found.folder, found)

    def _only_folder(self) -> str:
        folders = self.folders or (self.here,)
        if len(folders) > 1:
            names = ", ".join(map(str, folders))
            raise InvalidParamsError(f"name one of the folders: {names}", field="project")
        return str(folders[0])


def _missing() -> str | None:
    from sidecar.search.embeddings import model  # noqa: PLC0415  # needed late

    return model.missing()


def _embedder() -> Embedder | str:
    """Load the model for meanings, or return the reason why there is none."""
    from sidecar.search.embeddings import model  # noqa: PLC0415  # heavy, and needed late

    found = model.load()
    return found.reason if isinstance(found, model.Absence) else found
