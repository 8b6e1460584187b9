"""Bytes on disk, private and durable: the only place that opens a file of the store."""

import contextlib
import errno
import logging
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from protocol.errors import StorageFailedError, StoreRefusedError

_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link is not followed, a child does not inherit, a pipe in a file's place does not block."""
_DISK_REFUSES = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.EBADF,
}
_FEW = 16

_log = logging.getLogger(__name__)


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
        path.chmod(0o700)
    return path


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT | os.O_APPEND) -> int:
    """Open a file of ours, never through a link, never a stranger's, readable by us alone."""
    try:
        with refusing(path):
            descriptor = os.open(path, flags | _CAREFUL, 0o600)
    except IsADirectoryError:
        if not flags & os.O_CREAT:
            raise
        set_aside(path)
        return open_private(path, flags)
    except FileNotFoundError:
        if not flags & os.O_CREAT or path.parent.is_dir():
            raise
        ensure_folder(path.parent)
        return open_private(path, flags)
    try:
        facts = os.fstat(descriptor)
        _refuse_strangers(path, facts, stat.S_IFREG)
        if stat.S_IMODE(facts.st_mode) & 0o077 and os.name == "posix":
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read(path: Path) -> bytes | None:
    """Read a whole file of ours; None where there is none."""
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        set_aside(path)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def append(descriptor: int, data: bytes, path: Path) -> None:
    """Add bytes at the end, all or none; they are durable only after `sync`."""
    end = os.fstat(descriptor).st_size
    with refusing(path):
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, end)
            raise


def is_at(descriptor: int, path: Path) -> bool:
    """Tell whether an open file is the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def ends_line(descriptor: int) -> bool:
    """Tell whether a file is empty or ends with a complete line."""
    end = os.fstat(descriptor).st_size
    return end == 0 or os.pread(descriptor, 1, end - 1) == b"\n"


def sync(descriptor: int, path: Path) -> None:
    """Wait until a file's bytes are on the disk."""
    with refusing(path):
        os.fsync(descriptor)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(folder: Path, names: Sequence[str | Path]) -> None:
    """Make several files of one folder durable: few one by one, many by one sweep of the disk."""
    if len(names) > _FEW and _sweep(folder):
        return
    for path in map(Path, names):
        descriptor = open_private(path, os.O_RDWR)
        try:
            sync(descriptor, path)
        finally:
            os.close(descriptor)
    sync_folder(folder)


def create(draft: Path, target: str, data: bytes) -> None:
    """Write a file that is there whole or not at all, or is the one before; durable only after `sync_all`.

    Whoever calls this holds the lock of the folder's store: all new files may share one draft.
    """
    _write_draft(draft, data)
    with refusing(draft):
        os.replace(draft, target)  # noqa: PTH105  # an import makes thousands


def replace(path: Path, data: bytes) -> None:
    """Put a whole new content in place of a file, durably, or leave the old one untouched."""
    draft = path.with_name(f"{path.name}.draft")
    try:
        _write_draft(draft, data)
        sync_all(path.parent, [draft])
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    with refusing(path):
        draft.replace(path)
        sync_folder(path.parent)


def _write_draft(draft: Path, data: bytes) -> None:
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        append(descriptor, data, draft)
    finally:
        os.close(descriptor)


def set_aside(path: Path) -> Path:
    """Keep a copy of a damaged file, or move away what is no file at all."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    kept = path.with_name(f"{path.name}.corrupt.{stamp}")
    with refusing(path):
        if path.is_file() and not path.is_symlink():
            import shutil  # noqa: PLC0415  # it loads much that few need

            shutil.copyfile(path, kept)
            kept.chmod(0o600)
        else:
            path.rename(kept)
        sync_folder(path.parent)
    _log.warning("%s was damaged; the original is kept as %s", path, kept.name)
    return kept


@contextlib.contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOTDIR, errno.ENXIO}:
            raise StoreRefusedError(f"cannot use {path}: {error.strerror}; move it away") from error
        if error.errno == errno.ELOOP:
            raise StoreRefusedError(f"cannot use {path}: it is a link; remove it") from error
        if error.errno in _DISK_REFUSES:
            raise StorageFailedError(
                f"cannot use {path}: {error.strerror}; nothing was stored"
            ) from error
        raise


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


def _sweep(folder: Path) -> bool:
    """Flush the whole file system that holds this folder, where the system can."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415  # costs a hook's start more than all else here

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        status: int = ctypes.CDLL(None, use_errno=True).syncfs(descriptor)
    finally:
        os.close(descriptor)
    return status == 0
