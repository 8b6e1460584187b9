"""Folders and small files that only this user can read, replaced as a whole or not at all."""

import contextlib
import errno
import logging
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from protocol.errors import StorageFailedError, StoreRefusedError, ThreadlineError
from sidecar.storage import spool

MOUNTS = Path("/proc/self/mountinfo")
"""Where Linux says which device is mounted where, and of which kind."""
_REMOTE = frozenset(
    "nfs nfs4 cifs smb3 smbfs 9p afs ceph sshfs glusterfs lustre gpfs beegfs davfs davfs2 s3fs rclone ncpfs".split()  # noqa: SIM905
)

T = TypeVar("T")

_log = logging.getLogger(__name__)
sync_folder = spool.sync_folder


def ensure_folder(path: Path) -> Path:
    """Make a folder that only this user can enter; refuse a link or a stranger's folder."""
    with refusing(path):
        spool.ensure_folder(str(path))
    return path


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT | os.O_APPEND) -> int:
    """Open a file of ours, never through a link, never a stranger's, readable by us alone; see `spool.open_private`."""
    with refusing(path):
        return spool.open_private(str(path), flags)


def prepare_database(path: Path) -> None:
    """Make sure that SQLite opens a private file of ours at this path, without opening an existing one."""
    if check_database(path):
        return
    ensure_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        sync_folder(path.parent)


def check_database(path: Path) -> bool:
    """Refuse a link, a pipe or a stranger's file in the place of a database or its WAL; False where there is none."""
    shared = Path(f"{path}-shm")
    with contextlib.suppress(FileNotFoundError):
        # It holds nothing that matters, and SQLite would refuse the whole file for it.
        if not stat.S_ISREG(shared.lstat().st_mode):
            set_aside(shared)
    for suffix in ("-wal", "-shm", ""):
        place = Path(f"{path}{suffix}")
        try:
            with refusing(place):
                spool.keep_private(str(place), place.lstat(), stat.S_IFREG)
        except FileNotFoundError:
            continue
        except IsADirectoryError as error:
            raise StoreRefusedError(f"cannot use {place}: it is a folder; move it away") from error
        if not suffix:
            return True
    return False


def is_remote(folder: Path) -> bool:
    """Whether a folder is on a network file system, as far as the system tells."""
    if os.name == "nt":
        return str(folder.absolute()).startswith("\\\\")
    try:
        device = folder.stat().st_dev
        mounts = MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = (
        line.partition(" - ")[2].split(" ")[0]
        for line in mounts
        if line.split(" ")[2:3] == [number]
    )
    return any(kind.removeprefix("fuse.") in _REMOTE for kind in kinds)


def read(path: Path) -> bytes | None:
    """Read a whole small file of ours; None where there is none."""
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        set_aside(path)
        return None
    with os.fdopen(descriptor, "rb") as file, refusing(path):
        return file.read()


def replace(path: Path, data: bytes) -> None:
    """Put a whole new content in place of a file, durably, or leave the old one untouched."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        with refusing(path):
            descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            try:
                _put(draft, path)
            except IsADirectoryError:
                set_aside(path)
                draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # The file is in place: a folder that cannot be synced makes it less durable, not undone.
    with contextlib.suppress(OSError):
        sync_folder(path.parent)


_TRIES, _PAUSE = 20, 0.02
"""How often and how long Windows is given to let go of a file that somebody reads."""


def _put(draft: Path, path: Path) -> None:
    """Put a draft in place; on Windows a file that somebody reads at this moment cannot be replaced yet."""
    for _ in range(_TRIES if os.name == "nt" else 0):
        with contextlib.suppress(PermissionError):
            draft.replace(path)
            return
        time.sleep(_PAUSE)
    draft.replace(path)


class JsonFile(Generic[T]):
    """A value in a small file of its own, which all processes see as it is; whoever writes it holds a lock."""

    def __init__(self, path: Path, kind: type[T], empty: T, *, is_kept: bool = True) -> None:
        """Name the file and what it means that there is none; a damaged one is kept aside unless it can be lost."""
        self.path = path
        self._place, self._kind, self._empty, self._is_kept = str(path), kind, empty, is_kept
        self._known: tuple[object, T] = (None, empty)

    def read(self) -> T:
        """Return what the file says; it is read again once it was replaced."""
        try:
            facts = os.lstat(self._place)
        except FileNotFoundError:
            return self._empty
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if self._known[0] != stamp:
            self._known = (stamp, self._read())
        return self._known[1]

    def _read(self) -> T:
        try:
            data = read(self.path)
            return self._empty if data is None else msgspec.json.decode(data, type=self._kind)
        except (msgspec.DecodeError, UnicodeDecodeError, ThreadlineError) as error:
            _log.warning("%s cannot be read: %s", self.path, error)
            if self._is_kept and isinstance(error, ThreadlineError):
                raise
            if self._is_kept:
                set_aside(self.path)
            return self._empty

    def write(self, value: T) -> None:
        """Put a value in place of the one before, durably."""
        replace(self.path, msgspec.json.encode(value))

    def remove(self) -> None:
        """Leave nothing of it."""
        with contextlib.suppress(FileNotFoundError), refusing(self.path):
            self.path.unlink()


def set_aside(path: Path) -> Path:
    """Move away a file that cannot be used, beside where it was."""
    kept = path.with_name(f"{path.name}.corrupt.{stamp()}")
    with refusing(path):
        path.rename(kept)
        sync_folder(path.parent)
    _log.warning("%s was damaged; it is kept as %s", path, kept.name)
    return kept


def stamp() -> str:
    """Name a moment so that names sort by time."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")


@contextlib.contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.EEXIST, errno.EISDIR}:
            raise
        if error.errno in {errno.ENOTDIR, errno.ENXIO}:
            way_out = "move it away, or set THREADLINE_HOME"
            raise StoreRefusedError(f"cannot use {path}: {error.strerror}; {way_out}") from error
        if error.errno == errno.ELOOP:
            raise StoreRefusedError(f"cannot use {path}: it is a link; remove it") from error
        raise StorageFailedError(
            f"cannot use {path}: {error.strerror}; nothing was stored"
        ) from error
