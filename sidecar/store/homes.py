"""The folder that holds every project's memory, and the index of which project is where."""

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from protocol.errors import BusyError, StorageFailedError
from protocol.projects import Project
from sidecar.domain.asking.budgets import Spending
from sidecar.domain.sessions import Rule
from sidecar.store import files, overheard
from sidecar.store.ids import Ids
from sidecar.store.journals import Journal
from sidecar.store.landmarks import Landmark, Landmarks
from sidecar.store.locks import Lock
from sidecar.store.shelves import Shelf
from sidecar.store.tables import JournalDatabase, JournalStorage
from sidecar.store.vaults import JOURNAL, Vault, open_vault

_INDEX = "projects.jsonl"
_TODAY = "today"
_FENCE_KEY = "fence.key"
_FENCE_KEY_SIZE = 32

_log = logging.getLogger(__name__)


def default_home(environment: Mapping[str, str]) -> Path:
    """Say where memory is kept: THREADLINE_HOME, or the system's place for a user's data."""
    return Path(overheard.home(environment))


class Home:
    """Projects by id; their index is derived from the vaults and made anew when it is lost."""

    def __init__(self, folder: Path, ids: Ids, rule: Rule) -> None:
        """Open the index, making the folder where there is none."""
        self.folder = files.ensure_folder(folder)
        self.ids = ids
        self._rule = rule
        files.ensure_folder(folder / "projects")
        self.lock = Lock(folder / "lock")
        self._database = JournalDatabase(
            Journal(folder / _INDEX, self.lock), self.lock, ids, storage=JournalStorage
        )
        self._index = Shelf(self._database, "projects", Project)
        self._spending = Shelf(self._database, "spending", Spending)
        self.landmarks = Landmarks(folder / "landmarks.json")
        self._vaults: dict[str, Vault] = {}
        self._mutex = threading.Lock()
        self._passing_key = os.urandom(_FENCE_KEY_SIZE)

    @property
    def logs(self) -> Path:
        """Name the folder of the logs, which may not exist yet."""
        return self.folder / "logs"

    @property
    def settings_file(self) -> Path:
        """Name the file of the user's own settings, which may not exist."""
        return self.folder / "settings.json"

    def settings(self) -> object:
        """Read the user's own settings, whatever is in the file; None where there is none."""
        try:
            return msgspec.json.decode(files.read(self.settings_file) or b"null")
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            _log.warning("%s is not JSON: %s", self.settings_file, error)
            return None

    def fence_key(self) -> bytes:
        """Give the secret that fences are made with, one for all processes; made where there is none.

        Where it cannot be kept, one of this process serves: as hard to guess, but not the same the next time.
        """
        path = self.folder / _FENCE_KEY
        try:
            return _fence_key(path) or self._make_fence_key(path)
        except (BusyError, StorageFailedError) as error:
            _log.warning("%s", error)
            return self._passing_key

    def obey(self, rule: Rule) -> None:
        """Place events by this rule from now on."""
        with self._mutex:
            self._rule = rule
            for vault in self._vaults.values():
                vault.rule = rule

    def projects(self) -> list[Project]:
        """Give all projects this home knows."""
        journal = self._database.journal
        journal.refresh()
        if journal.is_damaged or not journal.exists:
            with self.lock.held():
                journal.prepare()
                journal.append([self._index.put(p.project_id, p) for p in self._from_vaults()])
        return self._index.all()

    def stamp(self) -> object:
        """Give something cheap that is different after the index has changed, whoever changed it."""
        try:
            facts = os.stat(self._database.journal.path)  # noqa: PTH116  # asked with every request
        except OSError:
            return None
        return facts.st_ino, facts.st_size, facts.st_mtime_ns

    def put(self, project: Project) -> None:
        """Keep what is known of a project, in its vault and in the index."""
        vault = self.vault(project.project_id)
        with vault.lock.held():
            vault.journal.append([vault.projects.put(project.project_id, project)])
        with self.lock.held():
            self._database.journal.append([self._index.put(project.project_id, project)])

    def remember(self, root: str, landmark: Landmark) -> None:
        """Keep what git said of a repository, where nobody has to be waited for."""
        if self.lock.is_free():
            with contextlib.suppress(BusyError, StorageFailedError), self.lock.held():
                self.landmarks.put(root, landmark)

    def spend(self, change: Callable[[Spending | None], Spending]) -> Spending:
        """Change what models cost today, for all projects and processes."""
        with self.lock.held():
            self._database.journal.prepare()
            spent = change(self._spending.get(_TODAY))
            self._database.journal.append([self._spending.put(_TODAY, spent)])
            return spent

    def drop(self, project_id: str) -> None:
        """Leave no word of a project in the index, and let go of its memory."""
        with self.lock.held():
            self._database.journal.append([self._index.drop(project_id)])
            self._database.journal.rewrite()
            self.landmarks.clear()
        with self._mutex:
            self._vaults.pop(project_id, None)

    def vault(self, project_id: str) -> Vault:
        """Open a project's memory, once."""
        with self._mutex:
            vault = self._vaults.get(project_id)
            if vault is None:
                folder = self.folder / "projects" / project_id
                vault = open_vault(folder, project_id, self.ids, self._rule)
                self._vaults[project_id] = vault
            return vault

    def close(self) -> None:
        """Give all files back."""
        for vault in self._vaults.values():
            vault.close()
        self._vaults.clear()
        self._database.close()
        self.lock.close()

    def _make_fence_key(self, path: Path) -> bytes:
        with self.lock.held():
            known = _fence_key(path)
            if known is None:
                known = os.urandom(_FENCE_KEY_SIZE)
                files.replace(path, known)
            return known

    def _from_vaults(self) -> list[Project]:
        folders = sorted(path for path in (self.folder / "projects").iterdir() if path.is_dir())
        found: list[Project] = []
        for folder in folders:
            if os.path.lexists(folder / JOURNAL):
                vault = open_vault(folder, folder.name, self.ids, self._rule)
                found += vault.projects.all()
                vault.close()
        return found


def _fence_key(path: Path) -> bytes | None:
    """Read a key; one that was cut or wiped is none."""
    known = files.read(path) or b""
    return known if len(known) == _FENCE_KEY_SIZE and any(known) else None
