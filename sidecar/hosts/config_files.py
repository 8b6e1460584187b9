"""Read and replace configuration files of other programs safely."""

import contextlib
import glob
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from protocol.errors import StorageFailedError
from sidecar.hosts.contents import Sight
from sidecar.hosts.program import MODULE, Program
from sidecar.storage import files

_LIMIT = 64 * 1024 * 1024
_KEPT = 3
"""Copies that are kept of a file."""
_DRAFT = ".threadline-draft"
_ABANDONED = 60.0
"""Seconds after which nobody is at a draft any more."""
_BACKUP = re.compile(r"\.threadline-backup-\d{8}T\d{12}Z")


def look(path: str, inside: Sequence[str]) -> Sight:
    """Read a file, and decide whether it may be changed: a regular file of this user, in one of these folders."""
    real = os.path.realpath(path)
    reason = _objection(Path(path), Path(real), inside)
    if reason is not None:
        return Sight(path, real, refusal=reason)
    try:
        return Sight(path, real, _read(real))
    except FileNotFoundError:
        return Sight(path, real)
    except OSError as error:
        return Sight(path, real, refusal=f"cannot be read: {error.strerror}")


def is_there(path: str) -> bool:
    """Return whether there is anything at a path."""
    return os.path.lexists(path)


def is_program(name: str) -> bool:
    """Return whether a program can be started by its name."""
    return shutil.which(name) is not None


def back_up(sight: Sight, moment: datetime, kept: Sequence[str | None] = ()) -> str:
    """Copy a file beside itself, and delete the oldest copies that are no longer needed."""
    real = Path(sight.real)
    name = f"{real.name}.threadline-backup-{moment:%Y%m%dT%H%M%S%f}Z"
    copy = real.with_name(name)
    with _refusing(copy):
        _place(copy, sight.data or b"", real.stat(), is_new=True)
    _prune(real, {str(copy), *filter(None, kept)})
    return str(copy)


def write(sight: Sight, data: bytes) -> tuple[str, ...]:
    """Replace a file's content atomically; return the folders that were created for it.

    Its mode, its owner and the links that lead to it stay.
    """
    real = Path(sight.real)
    with _refusing(real):
        made = _make_folders(real.parent)
        if not _is_as_seen(sight):
            raise StorageFailedError(f"{sight.path} was changed meanwhile; try again")
        mode = 0o600 if sight.is_private else 0o666
        _place(real, data, mode if sight.data is None else real.stat())
    return made


def delete(sight: Sight, folders: Sequence[str] = ()) -> None:
    """Delete a file, and the folders that were made for it if nothing else is in them."""
    with _refusing(Path(sight.real)):
        if not _is_as_seen(sight):
            raise StorageFailedError(f"{sight.path} was changed meanwhile; try again")
        Path(sight.real).unlink(missing_ok=True)
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def read_backup(path: str) -> bytes | None:
    """Return a backup of ours; None if it is gone."""
    try:
        return None if Path(path).is_symlink() else _read(path)
    except OSError:
        return None


def forget_backup(path: str) -> None:
    """Delete a backup of ours."""
    if _BACKUP.search(path):
        with contextlib.suppress(OSError):
            Path(path).unlink()


def find_missing(path: str) -> tuple[str, ...]:
    """Return the folders that a file would need and that are not there, the outermost first."""
    missing: list[str] = []
    for folder in Path(os.path.realpath(path)).parents:
        if folder.exists():
            break
        missing.append(str(folder))
    return tuple(reversed(missing))


def find_program() -> Program:
    """Return how to start this installation from anywhere: by its script, or by its interpreter."""
    is_windows = sys.platform == "win32"
    script, interpreter = _find_script(), find_lasting(sys.executable)
    words = (interpreter, "-P", "-m", MODULE) if script is None else (find_lasting(script),)
    return Program(words, is_windows, interpreter)


def find_lasting(program: str) -> str:
    """Return the path of a program that is still right when its environment has been replaced by another.

    An editor keeps our environments side by side, and a link `current` that leads to the one in use.
    """
    environment = Path(program).parent.parent
    current = environment.parent / "current"
    with contextlib.suppress(OSError):
        # Not the programs: the interpreters of two environments are links to the same file.
        if current.samefile(environment):
            return str(current / Path(program).relative_to(environment))
    return program


def _find_script() -> str | None:
    from importlib import metadata  # noqa: PLC0415  # slow to load, and needed once

    names = {"threadline", "threadline.exe"}
    with contextlib.suppress(metadata.PackageNotFoundError):
        found = metadata.distribution("threadline")
        for file in found.files or []:
            path = os.path.normpath(str(found.locate_file(file)))
            if file.name in names and os.access(path, os.X_OK) and Path(path).is_file():
                return path
    return None


def _objection(path: Path, real: Path, inside: Sequence[str]) -> str | None:
    """Return why a file must not be touched, if so."""
    roots = [Path(os.path.realpath(folder)) for folder in inside]
    if not any(real.is_relative_to(root) for root in roots):
        return f"it is outside your home and the project: {real}"
    if path.is_symlink() and not real.exists():
        return f"it is a link to {real}, which is not there"
    for folder in real.parents:
        if folder.exists():
            if not folder.is_dir():
                return f"{folder} is no folder"
            if not real.exists() and not os.access(folder, os.W_OK | os.X_OK):
                return f"{folder} cannot be written to"
            break
    return _objection_to_file(real)


def _objection_to_file(real: Path) -> str | None:
    try:
        facts = real.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    is_strange = os.name == "posix" and facts.st_uid != os.geteuid()
    objections = {
        "it is no plain file": not stat.S_ISREG(facts.st_mode),
        f"it belongs to user {facts.st_uid}, not to you": is_strange,
        "it is read-only": not facts.st_mode & stat.S_IWUSR,
        "it has more names than one (hard links), which would come apart": facts.st_nlink > 1,
        f"it is too large ({facts.st_size} bytes)": facts.st_size > _LIMIT,
    }
    return next((reason for reason, holds in objections.items() if holds), None)


def _read(path: str) -> bytes:
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_LIMIT + 1)


def _is_as_seen(sight: Sight) -> bool:
    try:
        return _read(sight.real) == sight.data
    except FileNotFoundError:
        return sight.data is None


def _make_folders(folder: Path) -> tuple[str, ...]:
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir()
    return tuple(str(each) for each in reversed(missing))


def _place(target: Path, data: bytes, like: os.stat_result | int, *, is_new: bool = False) -> None:
    """Write a draft beside the target, durably, and put it in its place, with the mode or the facts of another."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*{_DRAFT}"):
        # Whoever was killed could not take it back.
        with contextlib.suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()
    descriptor, draft = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=_DRAFT, dir=target.parent
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            _dress(descriptor, like)
        _settle(Path(draft), target, is_new=is_new or isinstance(like, int))
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    files.sync_folder(target.parent)


def _settle(draft: Path, target: Path, *, is_new: bool) -> None:
    if is_new and os.path.lexists(target):
        raise StorageFailedError(f"{target} was made meanwhile; try again")
    draft.replace(target)


def _dress(descriptor: int, like: os.stat_result | int) -> None:
    if os.name != "posix":
        return
    if isinstance(like, int):
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(descriptor, like & ~mask)
        return
    with contextlib.suppress(OSError):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _prune(real: Path, kept: set[str]) -> None:
    copies = sorted(
        path
        for path in real.parent.iterdir()
        if path.name.startswith(real.name) and _BACKUP.fullmatch(path.name.removeprefix(real.name))
    )
    for path in copies[:-_KEPT]:
        if str(path) not in kept:
            with contextlib.suppress(OSError):
                path.unlink()


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageFailedError(f"cannot write {path}: {error.strerror}") from error
