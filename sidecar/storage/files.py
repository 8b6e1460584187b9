"""Folders and small files that only this user can read, replaced as a whole or not at all."""

import contextlib
import errno
import logging
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from protocol.errors import StorageFailedError, StoreRefusedError
from sidecar.storage import spool

_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link is not followed, a child does not inherit, a pipe in a file's place does not block."""

MOUNTS = Path("/proc/self/mountinfo")
"""Where Linux says which device is mounted where, and of which kind."""
_REMOTE = frozenset(
    "nfs nfs4 cifs smb3 smbfs 9p afs ceph sshfs glusterfs lustre gpfs beegfs davfs davfs2 s3fs rclone ncpfs".split()  # noqa: SIM905
)

_log = logging.getLogger(__name__)
sync_folder = spool.sync_folder


def ensure_folder(path: Path) -> Path:
    """Make a folder that only this user can enter; refuse a link or a stranger's folder."""
    with refusing(path):
        if not path.is_symlink() and not path.exists():
            if not path.parent.exists():
                ensure_folder(path.parent)
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
            sync_folder(path.parent)
        facts = path.lstat()
    _refuse_strangers(path, facts, stat.S_IFDIR)
    if stat.S_IMODE(facts.st_mode) & 0o077 and os.name == "posix":
        with contextlib.suppress(PermissionError, OSError):
            path.chmod(0o700)
    return path


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT | os.O_APPEND) -> int:
    """Open a file of ours, never through a link, never a stranger's, readable by us alone.

    Never call it for a SQLite file that this process has open: closing the descriptor would drop its locks.
    """
    with refusing(path):
        descriptor = os.open(path, flags | _CAREFUL, 0o600)
    try:
        facts = os.fstat(descriptor)
        _refuse_strangers(path, facts, stat.S_IFREG)
        if stat.S_IMODE(facts.st_mode) & 0o077 and os.name == "posix":
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


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
            facts = place.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(facts.st_mode):
            raise StoreRefusedError(f"cannot use {place}: it is a folder; move it away")
        _refuse_strangers(place, facts, stat.S_IFREG)
        if stat.S_IMODE(facts.st_mode) & 0o077 and os.name == "posix":
            with contextlib.suppress(OSError):
                place.chmod(0o600)
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
                draft.replace(path)
            except IsADirectoryError:
                set_aside(path)
                draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # The file is in place: a folder that cannot be synced makes it less durable, not undone.
    with contextlib.suppress(OSError):
        sync_folder(path.parent)


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
            raise StoreRefusedError(f"cannot use {path}: {error.strerror}; move it away") from error
        if error.errno == errno.ELOOP:
            raise StoreRefusedError(f"cannot use {path}: it is a link; remove it") from error
        raise StorageFailedError(
            f"cannot use {path}: {error.strerror}; nothing was stored"
        ) from error


def _refuse_strangers(path: Path, facts: os.stat_result, kind: int) -> None:
    if kind == stat.S_IFREG and stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_IFMT(facts.st_mode) != kind:
        wanted = "folder" if kind == stat.S_IFDIR else "file"
        raise StoreRefusedError(f"cannot use {path}: it is no plain {wanted}; move it away")
    if os.name == "posix" and facts.st_uid != os.geteuid():
        raise StoreRefusedError(
            f"cannot use {path}: it belongs to user {facts.st_uid}, not to you; set THREADLINE_HOME"
        )
