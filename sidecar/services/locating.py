"""Locating: from a path, an id or the facts about a folder to the project whose memory it shares."""

import contextlib
import functools
import os
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from cachetools import TTLCache

from protocol.errors import NotFoundError
from protocol.projects import Project
from sidecar.domain import identities, paths
from sidecar.domain.identities import Facts
from sidecar.store.homes import Home

Believe = Callable[[str, str | None], Iterable[str]]
Ask = Callable[[Believe], Facts]
"""Gives the facts of a folder; it may ask which root commits to expect there."""

_LOCATED_FOR = 60
"""Seconds for which a path's project is taken as known."""
_PROJECT_ID = re.compile(r"[0-9a-f]{20}")


class Places:
    """What requests may name: folders of this machine, and projects."""

    def __init__(self, home: Home, facts: Callable[[Path, Believe], Facts]) -> None:
        """Look in a home; `facts` tells what identifies the project of a folder."""
        self._home = home
        self._facts = facts
        self._located: TTLCache[str, Project] = TTLCache(maxsize=256, ttl=_LOCATED_FOR)
        self._mutex = threading.Lock()

    def project(self, reference: str) -> Project:
        """Find the project of a path or an id."""
        with self._mutex, contextlib.suppress(KeyError):
            return self._located[reference]
        project = self._locate(reference)
        with self._mutex:
            self._located[reference] = project
        return project

    def folder(self, reference: str) -> Path:
        """Give the folder that a path names, or one where the project of an id still is."""
        return _folder(reference) or _place_of(self.project(reference))

    def forget(self, folder: Path) -> None:
        """Make sure that a folder's project is found anew."""
        with self._mutex:
            self._located.pop(str(folder), None)

    def clear(self) -> None:
        """Make sure that every project is found anew."""
        with self._mutex:
            self._located.clear()

    def _locate(self, reference: str) -> Project:
        folder = _folder(reference)
        if folder is not None:
            return locate(self._home, lambda believe: self._facts(folder, believe))
        if _PROJECT_ID.fullmatch(reference):
            return by_id(self._home, reference)
        raise NotFoundError(f"{reference} is neither a folder nor a project", field="project")


def locate(home: Home, ask: Ask) -> Project:
    """Find the project of a folder, or begin one; what the facts tell anew is remembered."""
    projects = home.projects()
    facts = ask(lambda folder, remote: identities.believed_roots(folder, remote, projects))
    project = identities.match(facts, projects)
    if project is None:
        project = identities.found(facts, home.ids.clock())
        home.put(project)
    learned = identities.learn(project, facts)
    if learned != project or project.project_id not in home.vault(project.project_id).projects:
        with home.lock.held():
            learned = identities.learn(by_id(home, project.project_id), facts)
            home.put(learned)
    return learned


def by_id(home: Home, project_id: str) -> Project:
    """Find a project by its id."""
    for project in home.projects():
        if project.project_id == project_id:
            return project
    raise NotFoundError(f"no project {project_id} here", field="project")


def _folder(reference: str) -> Path | None:
    """Give the folder that a reference names, if it is a path."""
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
    """Find a folder where the project still is."""
    places = (Path(os.fsdecode(paths.write(folder))) for folder in reversed(project.folders))
    place = next((place for place in places if place.is_dir()), None)
    if place is None:
        raise NotFoundError(f"{project.name} is at none of its known places", field="project")
    return place.parent if place.name == ".git" else place
