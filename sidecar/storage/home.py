"""All projects of a user: an index of them, what is shared between them, and a vault for each."""

import contextlib
import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from protocol.errors import BusyError, StorageFailedError, StoreRefusedError, ThreadlineError
from protocol.projects import Project
from protocol.values import Record
from sidecar.capture.rules.sessions import Rule
from sidecar.projects.rules.identities import Facts
from sidecar.storage import files, legacy, snapshots, spool
from sidecar.storage.collection import Collection
from sidecar.storage.database import DamagedError, Database, probe
from sidecar.storage.engine import SQLiteStorage, table_schema
from sidecar.storage.files import JsonFile
from sidecar.storage.locks import Lock
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import NAME, Vault
from sidecar.text.token_counts import Spending

_PROJECT_ID = re.compile(r"[0-9a-f]{20}")
INDEX, FOLDERS = "home.sqlite", "folders.json"
_VERSION = 1
_TODAY = "today"
_FENCE_KEY = "fence.key"
_FENCE_KEY_SIZE = 32
_OPEN_AT_ONCE = 8
"""Vaults with open files; each takes about five descriptors."""
_LANDMARKS_MOST = 100
"""Repositories that are remembered."""

_log = logging.getLogger(__name__)


class Seen(Record, frozen=True, kw_only=True):
    """How many changes a vault had when it was last looked at: a lower bound."""

    seq: int


class Landmark(Record, frozen=True, kw_only=True):
    """A repository, as it was when git was asked."""

    stamp: str
    """What is another once the repository is another, or is set up otherwise."""
    gitdir: str
    common: str
    folder: str
    facts: Facts


def default_home(environment: Mapping[str, str]) -> Path:
    """Return where memory is kept: THREADLINE_HOME, or the system's place for a user's data."""
    return Path(spool.home(environment))


class Home:
    """Projects by id; their index is derived from the vaults and made anew when it is lost."""

    def __init__(self, folder: Path, ids: Ids, rule: Rule) -> None:
        self.folder = files.ensure_folder(folder)
        self.ids = ids
        self._rule = rule
        self._vault_folder = files.ensure_folder(folder / "projects")
        self.lock = Lock(folder / "lock")
        """Guards the small files of a home."""
        self._schema = (
            ";\n".join(table_schema(name, ()) for name in ("projects", "spending", "seen")) + ";\n"
        )
        self.database = Database(folder / INDEX, self._schema, _VERSION)
        self.database.before_open = self._look_after
        storage = SQLiteStorage(self.database)
        self._index = Collection(storage, "projects", Project)
        self._spending = Collection(storage, "spending", Spending)
        self._seen = Collection(storage, "seen", Seen)
        place = folder / "landmarks.json"
        self._landmarks = JsonFile(place, dict[str, Landmark], {}, is_kept=False)
        self._vaults: OrderedDict[str, Vault] = OrderedDict()
        self._mutex = threading.RLock()
        self._passing_key = os.urandom(_FENCE_KEY_SIZE)

    @property
    def logs(self) -> Path:
        """The folder of the logs, which may not exist yet."""
        return self.folder / "logs"

    @property
    def settings_file(self) -> Path:
        """The file of the user's own settings, which may not exist."""
        return self.folder / "settings.json"

    def choose(self, name: str, *, value: bool) -> None:
        """Write one of the user's own settings; all others stay as they are. A file that cannot be read is left alone."""
        known = self.settings()
        is_damaged = known is None and (files.read(self.settings_file) or b"").strip()
        if is_damaged or (known is not None and not isinstance(known, dict)):
            raise StorageFailedError(f"{self.settings_file} holds no settings; correct it first")
        chosen = {**(known or {}), name: value}
        files.ensure_folder(self.folder)
        written = msgspec.json.format(msgspec.json.encode(chosen), indent=2)
        files.replace(self.settings_file, written + b"\n")

    def settings(self) -> object:
        """Read the user's own settings, whatever is in the file; None where there is none."""
        path = self.settings_file
        try:
            return msgspec.json.decode(files.read(path) or b"null")
        except (
            msgspec.DecodeError,
            RecursionError,
            UnicodeDecodeError,
            StorageFailedError,
        ) as error:
            _log.warning("%s cannot be read; the defaults are used: %s", path, error)
            return None

    def fence_key(self) -> bytes:
        """Return the secret that fences are made with, one for all processes; made where there is none.

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
        """Return all projects this home knows, the oldest first."""
        return sorted(
            self._index.all(), key=lambda project: (project.created_at, project.project_id)
        )

    def stamp(self) -> object:
        """Return something cheap that is different after the index has changed, whoever changed it."""
        return self._index.revision

    def put(self, project: Project) -> None:
        """Keep what is known of a project, in its vault and in the index."""
        vault = self.vault(project.project_id)
        vault.write([vault.projects.put(project.project_id, project)])
        # Hooks read it: they cannot afford to open a database.
        files.replace(vault.folder / FOLDERS, msgspec.json.encode(project.folders))
        with self.database.transaction():
            self._index.apply(project.project_id, project)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Let nobody else change the index meanwhile."""
        with self.database.transaction():
            yield

    def landmark(self, root: str, stamp: str) -> Landmark | None:
        """Return what git said of the repository at a place, if it still is that one."""
        known = self._landmarks.read().get(root)
        return known if known is not None and known.stamp == stamp else None

    def remember(self, root: str, landmark: Landmark) -> None:
        """Keep what git said of a repository, where nobody has to be waited for; losing it costs a few questions."""
        if self.lock.is_free():
            with contextlib.suppress(BusyError, StorageFailedError), self.lock.held():
                others = [pair for pair in self._landmarks.read().items() if pair[0] != root]
                latest = dict(others[1 - _LANDMARKS_MOST :]) | {root: landmark}
                self._landmarks.write(latest)

    def spend(self, change: Callable[[Spending | None], Spending]) -> Spending:
        """Change what models cost today, for all projects and processes."""
        with self.database.transaction():
            spent = change(self._spending.get(_TODAY))
            self._spending.apply(_TODAY, spent)
            return spent

    def drop(self, project_id: str) -> None:
        """Leave no word of a project in the index, and let go of its memory."""
        with self.database.transaction():
            self._index.apply(project_id, None)
            self._seen.apply(project_id, None)
            self.database.note_erasure()
        with self.database.exclusive() as connection:
            connection.execute("VACUUM")
        self.database.checkpoint()
        with self.lock.held():
            self._landmarks.remove()
        with self._mutex:
            vault = self._vaults.pop(project_id, None)
        if vault is not None:
            vault.close()

    def vault(self, project_id: str) -> Vault:
        """Return a project's memory; the files of those that were not used for long are closed."""
        with self._mutex:
            vault = self._vaults.get(project_id)
            if vault is None:
                folder = self._vault_folder / project_id
                vault = Vault(
                    folder, project_id, self.ids, self._rule, lambda: self._expected(project_id)
                )
                vault.note_seen = self.note_seen
                self._vaults[project_id] = vault
            self._vaults.move_to_end(project_id)
            for idle in list(self._vaults.values())[:-_OPEN_AT_ONCE]:
                idle.rest()
            return vault

    def note_seen(self, vault: Vault) -> None:
        """Remember how many changes a vault has, so that a lost or older file is noticed."""
        with contextlib.suppress(ThreadlineError):
            seq = vault.database.sequence()
            if seq > self._expected(vault.project_id):
                with self.database.transaction():
                    self._seen.apply(vault.project_id, Seen(seq=seq))

    def close(self) -> None:
        """Close all files."""
        with self._mutex:
            vaults = list(self._vaults.values())
            self._vaults.clear()
        for vault in vaults:
            if vault.database.is_open:
                self.note_seen(vault)
            vault.close()
        self.database.close()

    def _expected(self, project_id: str) -> int:
        seen = self._seen.get(project_id)
        return seen.seq if seen is not None else 0

    def _look_after(self) -> None:
        """Make a lost or damaged index anew from the vaults, and add the vaults that an older one does not list."""
        path = self.database.path
        is_missing = not path.exists() or not path.stat().st_size
        is_sound = not is_missing and _is_sound(path)
        listed = probe(path, "SELECT group_concat(id) FROM projects") if is_sound else None
        vaults = [
            folder
            for folder in self._vault_folder.iterdir()
            if _PROJECT_ID.fullmatch(folder.name) and folder.name not in (listed or "").split(",")
            if (folder / NAME).exists() or legacy.is_there(folder)
        ]
        if not is_sound and (not is_missing or Path(f"{path}-wal").exists()):
            snapshots.set_aside(path)
        if not vaults:
            return
        # On a connection of its own: whoever opens the index may be about to write to it.
        fresh = Database(path, self._schema, _VERSION)
        index = Collection(SQLiteStorage(fresh), "projects", Project)
        try:
            with fresh.transaction():
                for folder in sorted(vaults):
                    self._learn_of(folder, index)
        finally:
            fresh.close()

    def _learn_of(self, folder: Path, index: Collection[Project]) -> None:
        vault = Vault(folder, folder.name, self.ids, self._rule)
        try:
            if legacy.is_there(folder) and not vault.exists:
                legacy.load(vault)
            for project in vault.projects.all():
                index.apply(project.project_id, project)
                files.replace(folder / FOLDERS, msgspec.json.encode(project.folders))
        except (StoreRefusedError, StorageFailedError) as error:
            _log.warning("%s; the project is left out", error)
        finally:
            vault.close()

    def _make_fence_key(self, path: Path) -> bytes:
        with self.lock.held():
            known = _fence_key(path)
            if known is None:
                known = os.urandom(_FENCE_KEY_SIZE)
                files.replace(path, known)
            return known


def _is_sound(path: Path) -> bool:
    try:
        probe(path, "SELECT count(*) FROM sqlite_master")
    except DamagedError:
        return False
    return True


def _fence_key(path: Path) -> bytes | None:
    """Read a key; one that was cut or wiped is none."""
    known = files.read(path) or b""
    return known if len(known) == _FENCE_KEY_SIZE and any(known) else None
