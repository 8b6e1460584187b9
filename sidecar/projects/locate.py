"""Find the project for a path, an id or the facts about a folder."""

import contextlib
import functools
import os
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from cachetools import TTLCache
from msgspec import Struct

from protocol.errors import NotFoundError
from protocol.projects import Project
from sidecar.projects import personal
from sidecar.projects.rules import identities
from sidecar.projects.rules.identities import Facts
from sidecar.storage.home import Home
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.text import paths

Believe = Callable[[str, str | None], Iterable[str]]
Ask = Callable[[Believe], Facts]
"""Gives the facts of a folder; it may ask which root commits to expect there."""

_LOCATED_FOR = 60
"""Seconds for which a path's project is taken as known."""
_PROJECT_ID = re.compile(r"[0-9a-f]{20}")


class Located(Struct, frozen=True):
    """A project, and what is known of the folder by which it was found."""

    project: Project
    facts: Facts | None = None
    """None where the project was named by its id."""
    offers: tuple[Project, ...] = ()
    """Projects that the person is still to be asked about."""


class Places:
    """What requests may name: folders of this machine, and projects.

    What was located is kept for a minute, and until the index of projects changes, whoever changes it.
    """

    def __init__(self, home: Home, facts: Callable[[Path, Believe], Facts]) -> None:
        """Look in a home; `facts` tells what identifies the project of a folder."""
        self._home = home
        self._facts = facts
        self._located: TTLCache[str, Located] = TTLCache(maxsize=256, ttl=_LOCATED_FOR)
        self._index: object = None
        self._mutex = threading.Lock()

    def project(self, reference: str) -> Project:
        """Find the project of a path or an id."""
        return self.locate(reference).project

    def locate(self, reference: str) -> Located:
        """Find the project of a path or an id, and what decided that."""
        index = self._home.stamp()
        with self._mutex:
            if index != self._index:
                self._located.clear()
                self._index = index
            with contextlib.suppress(KeyError):
                return self._located[reference]
        located = self._locate(reference)
        with self._mutex:
            # Where the index has changed by this, it is the next look that keeps it.
            self._located[reference] = located
        return located

    def folder(self, reference: str) -> Path:
        """Return the folder that a path names, or one where the project of an id still is."""
        return _folder(reference) or _place_of(self.project(reference))

    def forget(self, folder: Path) -> None:
        """Make sure that a folder's project is found anew."""
        with self._mutex:
            self._located.pop(str(folder), None)

    def clear(self) -> None:
        """Make sure that every project is found anew."""
        with self._mutex:
            self._located.clear()

    def _locate(self, reference: str) -> Located:
        folder = _folder(reference)
        if folder is not None:
            return locate(self._home, lambda believe: self._facts(folder, believe))
        if _PROJECT_ID.fullmatch(reference):
            return Located(by_id(self._home, reference))
        raise NotFoundError(f"{reference} is neither a folder nor a project", field="project")


def recognise(home: Home, ask: Ask) -> Project | None:
    """Find the project of a folder as `locate` does, and remember nothing; None where the folder is in none."""
    projects = home.projects()
    facts = ask(lambda folder, remote: identities.believed_roots(folder, remote, projects))
    return identities.match(facts, projects)


def locate(home: Home, ask: Ask) -> Located:
    """Find the project of a folder, or begin one; what the facts tell anew is remembered."""
    projects = home.projects()
    facts = ask(lambda folder, remote: identities.believed_roots(folder, remote, projects))
    project = identities.match(facts, projects)
    if project is None or identities.learn(project, facts) != project:
        with home.transaction():
            project = _remember(home, facts)
            projects = home.projects()
    return Located(project, facts, tuple(identities.offers(facts, project, projects)))


def _remember(home: Home, facts: Facts) -> Project:
    """Keep what facts tell anew; inside the transaction it looks again, since two may begin at once."""
    projects = home.projects()
    project = identities.match(facts, projects)
    if project is None:
        taken = {one.project_id for one in projects}
        project = identities.found(facts, home.ids.clock(), taken)
    learned = identities.learn(project, facts)
    home.put(learned)
    return learned


def by_id(home: Home, project_id: str) -> Project:
    """Find a project by its id; the person's own is made when it is first named."""
    if project_id == PERSONAL_ID:
        return personal.ensure(home)
    for project in home.projects():
        if project.project_id == project_id:
            return project
    raise NotFoundError(f"no project {project_id} here", field="project")


def _folder(reference: str) -> Path | None:
    try:
        path = _expanded(reference)
        # Asked with every request; this way it takes a third of the time.
        if os.path.isdir(path):  # noqa: PTH112
            return path
        return path.parent if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


@functools.lru_cache(maxsize=256)
def _expanded(reference: str) -> Path:
    return Path(reference).expanduser()


def _place_of(project: Project) -> Path:
    places = (Path(os.fsdecode(paths.write(folder))) for folder in reversed(project.folders))
    place = next((place for place in places if place.is_dir()), None)
    if place is None:
        raise NotFoundError(f"{project.name} is at none of its known places", field="project")
    return place.parent if place.name == ".git" else place
