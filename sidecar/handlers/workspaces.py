"""The folders a client has open, their repositories, and who watches them."""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import ParamSpec

from cachetools import TTLCache
from msgspec import Struct

from protocol.errors import ThreadlineError
from protocol.methods import Change
from sidecar.capture import pause
from sidecar.capture.changes import Follower
from sidecar.capture.head_watcher import Watched
from sidecar.capture.rules import pauses
from sidecar.capture.rules.saves import Save
from sidecar.capture.saves import Places, Saves
from sidecar.code import checkouts, processes
from sidecar.code.checkouts import Checkout
from sidecar.code.ignored_files import Ignores
from sidecar.handlers.background import Background
from sidecar.project import Projects
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance

RESCAN = timedelta(minutes=1)
"""How often repositories are looked for that appeared without a word."""
CALM = timedelta(seconds=5)
"""How often they are looked for while folders come and go."""
MAINTAIN = timedelta(seconds=30)

P = ParamSpec("P")

_log = logging.getLogger(__name__)


class _Repository(Struct):
    """A checkout, and how it was when last looked at."""

    checkout: Checkout
    vault: Vault
    watched: Watched
    birth: object
    seen: object = None


class _Project(Struct, frozen=True):
    """A project with files in the workspace."""

    vault: Vault
    follower: Follower


class Workspace:
    """Records what happens in some folders; `look` and `save` may be called from two threads."""

    def __init__(self, projects: Projects) -> None:
        """Begin without a folder."""
        self._projects = projects
        projects.on_open.append(self.follow)
        self._clock = projects.home.ids.clock
        self._began = self._clock().replace(microsecond=0)
        self._scanned = self._maintained = self._began
        self._seen_roots: object = None
        self._seen_folders: object = None
        self._seen_index: object = None
        self._repositories: dict[str, _Repository] = {}
        self._watched: dict[str, _Project] = {}
        self._asked: dict[str, _Project] = {}
        """Projects that somebody has looked at before they were watched."""
        self._saves: dict[Path, Saves] = {}
        self._kept_up: dict[str, object] = {}
        self._places = Places()
        self._mutex = threading.RLock()
        self._complaints: TTLCache[str, bool] = TTLCache(maxsize=256, ttl=60)

    def enter(self, folders: Iterable[Path]) -> None:
        """Name the folders to work in, before anyone looks for repositories there."""
        self._projects.folders = tuple(
            dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders)
        )

    def arrange(self, folders: Iterable[Path], since: datetime | None = None) -> None:
        """Work in these folders, from a moment on; what was committed before it is known, or history.

        Git counts whole seconds: in a repository that is there, the second in which this begins is
        history; in one that appears later, it is not.
        """
        self.enter(folders)
        self._began = (since or self._clock()).replace(microsecond=0)
        self._scan()
        repositories = [*self._repositories.values()]
        known = {one.vault.project_id: _last_seen(one.vault) for one in repositories}
        for one in repositories:
            begun = known[one.vault.project_id] or self._began + timedelta(seconds=1)
            self._try(one.checkout.name, one.watched.begin, begun)

    def begin(self, folder: Path) -> None:
        """Take what was committed in a folder's repositories so far as known, where nobody looked before."""
        for watched, _ in self._every(folder):
            watched.begin(self._clock())

    def settle(self, folder: Path) -> None:
        """Record at once what was committed in a folder's repositories, where somebody looked before."""
        for watched, vault in self._every(folder):
            if watched.is_known:
                watched.catch_up(self._began, is_recording=self._is_recording(vault))

    def keep_up(self, checkout: Checkout) -> None:
        """Record what was committed in a working tree while nobody looked, before somebody is told of it.

        Where nothing has happened since this was last asked, it costs next to nothing.
        """
        fingerprint = checkout.fingerprint()
        if self._kept_up.get(checkout.name) != fingerprint:
            self._try(checkout.name, self._look_once, checkout, fingerprint)

    def quiet_places(self) -> list[Path]:
        """Return the folders in which a new folder may be a new repository or worktree."""
        with self._mutex:
            commons = [one.checkout.common for one in self._repositories.values()]
        return [*dict.fromkeys((*self._projects.folders, *commons))]

    def places(self) -> list[Path]:
        """Return the folders in which something changes when something happens."""
        with self._mutex:
            vaults = [project.vault.folder for project in self._watched.values()]
            repositories = [*self._repositories.values()]
        places = [place for one in repositories for place in one.checkout.places()]
        return places + [folder / name for folder in vaults for name in ("", "sessions", "inbox")]

    def roots(self) -> list[Path]:
        """Return the roots of the working trees inside the folders; a folder in none stands for itself."""
        with self._mutex:
            trees = [one.checkout.folder for one in self._repositories.values()]
        inside = [
            tree
            for tree in trees
            if any(tree.is_relative_to(one) for one in self._projects.folders)
        ]
        alone = [
            folder
            for folder in self._projects.folders
            if not any(folder.is_relative_to(tree) for tree in inside)
        ]
        return [*dict.fromkeys((*inside, *alone))]

    def vaults(self) -> list[Vault]:
        """Return the memory of each project in the workspace."""
        with self._mutex:
            return [project.vault for project in self._watched.values()]

    def look(self) -> list[Change]:
        """Record what happened to the repositories; tell what has changed, whoever changed it."""
        now = self._clock()
        if self._needs_scan(now):
            self._scan()
        with self._mutex:
            repositories = [*self._repositories.values()]
            projects = [*self._watched.values()]
        for repository in repositories:
            self._try(repository.checkout.name, self._catch_up, repository)
        is_due = _is_over(self._maintained, now, MAINTAIN)
        if is_due:
            self._maintained = now
        changes: list[Change] = []
        for project in projects:
            self._try(project.vault.project_id, self._follow, project, is_due, changes)
        return changes

    def find(self, path: Path) -> tuple[Path, str] | None:
        """Return the root of a file's working tree and its name there; None for a file outside the folders."""
        return self._places.find(path, self._projects.folders)

    def save(self, found: Sequence[tuple[Path, datetime]]) -> None:
        """Record files that were saved, each for the project it is in; others are nobody's."""
        batches: dict[Path, list[Save]] = {}
        for path, moment in found:
            place = self.find(path)
            if place is not None:
                root, name = place
                batches.setdefault(root, []).append(Save(path=name, at=moment))
        for root, batch in batches.items():
            self._try(str(root), self._save, root, batch)

    def _look_once(self, checkout: Checkout, fingerprint: object) -> None:
        vault = self._projects.vault(str(checkout.folder))
        watched = Watched(vault, checkout, self._projects.source)
        watched.begin(_last_seen(vault) or self._began + timedelta(seconds=1))
        watched.catch_up(self._began, is_recording=self._is_recording(vault))
        # What could not be read is looked at again the next time.
        self._kept_up[checkout.name] = fingerprint

    def _every(self, folder: Path) -> Iterator[tuple[Watched, Vault]]:
        for checkout in checkouts.find(folder, self._complain):
            vault = self._projects.vault(str(checkout.folder))
            yield Watched(vault, checkout, self._projects.source), vault

    def _save(self, root: Path, batch: Sequence[Save]) -> None:
        vault = self._projects.vault(str(root))
        self._add(vault, self._watched)
        if pause.state(vault, processes.is_running).paused:
            return
        # A save may have waited its turn until the pause that it was made in is over.
        known = vault.pauses.read()
        batch = [one for one in batch if not pauses.covered(known, one.at)]
        saves = self._saves.get(root)
        if saves is None or saves.vault is not vault:
            saves = self._saves[root] = Saves(vault, Ignores(root).ignored)
        interval = timedelta(seconds=self._projects.settings.save_interval_seconds)
        saves.record(batch, self._projects.source, interval)

    def _catch_up(self, repository: _Repository) -> None:
        fingerprint = repository.checkout.fingerprint()
        if fingerprint == repository.seen:
            return
        repository.watched.source = self._projects.source
        is_recording = self._is_recording(repository.vault)
        repository.watched.catch_up(self._began, is_recording=is_recording)
        repository.seen = fingerprint
        if is_recording and repository.vault.tasks:
            self._projects.part(Background).want_check(repository.checkout.folder)

    def _is_recording(self, vault: Vault) -> bool:
        state = pause.state(vault, processes.is_running)
        return self._projects.settings.capture_commits and not state.paused

    def _follow(self, project: _Project, is_due: bool, changes: list[Change]) -> None:  # noqa: FBT001  # handed on
        if is_due or project.vault.count_deferred():
            maintenance.maintain(project.vault, self._projects.settings)
            maintenance.keep_safe(project.vault)
        if is_due:
            self._projects.part(Background).tend(project.vault)
        changes += project.follower.changes()

    def _needs_scan(self, now: datetime) -> bool:
        """Return whether there may be repositories, worktrees or projects that are not known yet."""
        if _is_over(self._scanned, now, RESCAN) or self._roots() != self._seen_roots:
            return True
        if self._projects.home.stamp() != self._seen_index:
            return True
        is_crowded = _stamps(self._projects.folders) != self._seen_folders
        return is_crowded and _is_over(self._scanned, now, CALM)

    def _roots(self) -> object:
        rooted = [os.path.lexists(folder / ".git") for folder in self._projects.folders]
        return rooted, [one.checkout.surroundings() for one in self._repositories.values()]

    def _scan(self) -> None:
        """Look for repositories; those that are known stay as they are."""
        self._scanned = self._clock()
        self._seen_folders = _stamps(self._projects.folders)
        self._places.forget()
        repositories: dict[str, _Repository] = {}
        projects: dict[str, _Project] = {}
        for folder in self._projects.folders:
            self._try(str(folder), self._find, folder, repositories, projects)
        with self._mutex:
            self._repositories, self._watched = repositories, projects
        self._seen_roots = self._roots()
        # Looking may have begun projects itself.
        self._seen_index = self._projects.home.stamp()

    def _find(
        self,
        folder: Path,
        repositories: dict[str, _Repository],
        projects: dict[str, _Project],
    ) -> None:
        found = [*checkouts.find(folder, self._complain)]
        if not found:
            self._add(self._projects.vault(str(folder)), projects)
        for checkout in found:
            known = self._repositories.get(checkout.name)
            birth = checkout.birth()
            if known is not None and known.birth != birth:
                self._projects.forget(checkout.folder)
                known = None
            vault = self._projects.vault(str(checkout.folder))
            if known is None or known.vault is not vault:
                is_linked = known is not None
                known = _Repository(
                    checkout, vault, Watched(vault, checkout, self._projects.source), birth
                )
                if is_linked:
                    known.watched.begin(_last_seen(vault) or self._began)
            self._add(known.vault, projects)
            repositories[checkout.name] = known

    def follow(self, vault: Vault) -> None:
        """Know how a project is now: who looks at it from here on is told what changes, also before it is watched."""
        with self._mutex:
            if self._projects.folders and vault.project_id not in self._watched:
                self._asked[vault.project_id] = self._begin_to_follow(vault)

    def _add(self, vault: Vault, projects: dict[str, _Project]) -> None:
        key = vault.project_id
        with self._mutex:
            asked = self._asked.pop(key, None)
            known = self._watched.get(key) or projects.get(key)
            if known is None and asked is not None and asked.vault is vault:
                known = asked
            projects[key] = known or self._begin_to_follow(vault)

    def _begin_to_follow(self, vault: Vault) -> _Project:
        return _Project(vault, Follower(vault, processes.is_running))

    def _complain(self, error: ThreadlineError) -> None:
        if str(error) not in self._complaints:
            self._complaints[str(error)] = True
            _log.warning("%s", error)

    def _try(self, what: str, action: Callable[P, None], *given: P.args, **named: P.kwargs) -> None:
        """Do something that must not keep us from doing the rest; say once a minute that it failed."""
        try:
            action(*given, **named)
        except ThreadlineError as error:
            self._complain(error)
        except Exception:  # noqa: BLE001  # the boundary of the watcher's loop
            if what not in self._complaints:
                self._complaints[what] = True
                _log.exception("%s could not be looked at", what)


def _stamps(folders: Iterable[Path]) -> list[int]:
    return [_stamp(folder) for folder in folders]


def _stamp(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _last_seen(vault: Vault) -> datetime | None:
    return max((mark.seen_at for mark in vault.marks.all()), default=None)


def _is_over(since: datetime, now: datetime, span: timedelta) -> bool:
    """Whether a time has passed; also when the clock was set back, for nobody knows how long it was then."""
    return not since <= now <= since + span
