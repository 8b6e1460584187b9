"""Working trees that report which of their files were written, for want of an editor that does."""

import contextlib
import hashlib
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from watchfiles._rust_notify import RustNotify

from protocol.errors import GitFailedError
from sidecar.code import checkouts, git

MOST_FOLDERS = 2000
"""Folders watched at most: who asks for this has no editor that would need watches too."""
_STEP = 100
_GROUPED = 500
_IDLE = 5000
"""Milliseconds, as in `watches`; a save need not be seen as fast as a commit."""
_DELETED = 3
_LARGE = 10_000_000
_AT_ONCE = 500
"""Names on one command line."""

_log = logging.getLogger(__name__)


def written(root: Path, since: datetime, stop: threading.Event) -> Iterator[list[Path]]:
    """Yield the files that are written in a working tree, until stopped.

    What git itself writes is not given: nothing is while it is at work, and after that not what is as
    committed. Folders that git ignores are not watched.
    """
    lock = _lock(root)
    files = _files(root)
    waiting = {path for path in files if _written_at(path) >= since.timestamp()}
    while not stop.is_set():
        folders = _folders(root, files)
        if len(folders) > MOST_FOLDERS:
            _log.warning("saves in %s are not seen: %d folders are too many", root, len(folders))
            return
        with RustNotify([*folders], False, False, 0, False, True) as notify:  # noqa: FBT003  # its signature
            has_new_folder = False
            while not (has_new_folder or stop.is_set()):
                found = _listen(notify, stop, _GROUPED if waiting else _IDLE)
                waiting.update(path for path in found if os.path.isfile(path))  # noqa: PTH113  # of thousands
                has_new_folder = any(map(os.path.isdir, found))
                if waiting and not (lock and lock.exists()):
                    yield _changed(root, sorted(waiting))
                    waiting = set()
        # What came with a new folder was written before anyone watched it.
        files = _files(root)
        new = (path for path in files if os.path.dirname(path) not in folders)  # noqa: PTH120  # likewise
        waiting.update(path for path in new if os.path.isfile(path))  # noqa: PTH113  # likewise


def _listen(notify: RustNotify, stop: threading.Event, patience: int) -> list[str]:
    try:
        told = notify.watch(_GROUPED, _STEP, patience, stop)
    except Exception as error:  # noqa: BLE001  # it raises for a name that is not UTF-8
        _log.debug("a change was not understood: %s", error)
        return []
    return [] if isinstance(told, str) else [path for change, path in told if change != _DELETED]


def _lock(root: Path) -> Path | None:
    checkout = checkouts.enclosing(root)
    return None if checkout is None else checkout.gitdir / "index.lock"


def _files(root: Path) -> list[str]:
    """Return the files that git does not ignore; without git, those that lie at the root."""
    shape = ("--cached", "--others", "--exclude-standard")
    names = None
    with contextlib.suppress(GitFailedError):
        if checkouts.enclosing(root) is not None:
            names = [os.fsdecode(name) for name in git.tokens(root, ("ls-files", "-z", *shape))]
    if names is None:
        names = os.listdir(root)  # noqa: PTH208  # names, not paths
    # What ends with a slash is a repository of its own.
    return [os.path.join(root, name) for name in names if not name.endswith("/")]  # noqa: PTH118  # of thousands


def _written_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116  # of thousands
    except OSError:
        return 0


def _folders(root: Path, files: Iterable[str]) -> set[str]:
    folders = {str(root)}
    for name in {os.path.dirname(file) for file in files}:  # noqa: PTH120  # of thousands
        place = Path(name)
        folders.update(str(one) for one in (place, *place.parents) if one.is_relative_to(root))
    return {folder for folder in folders if os.path.isdir(folder)}  # noqa: PTH112  # likewise


def _changed(root: Path, names: Sequence[str]) -> list[Path]:
    """Return the files that differ from what is committed."""
    plain = [name for name in names if "\n" not in name]
    with git.listed(os.fsencode(name) for name in plain) as listed:
        code, output, _ = git.ask(
            root, "hash-object", "--no-filters", "--stdin-paths", stdin=listed
        )
    if code != 0:
        return [Path(name) for name in names]
    hashes = dict(zip(plain, output.split(), strict=True))
    same = {
        name
        for name, committed in _committed(root, plain)
        if committed in (hashes.get(name), _with_newlines(name))
    }
    return [Path(name) for name in names if name not in same]


def _with_newlines(name: str) -> bytes | None:
    """Return git's hash of a file that was checked out with other line ends; None if it was not."""
    try:
        data = Path(name).read_bytes() if Path(name).stat().st_size < _LARGE else b""
    except OSError:
        return None
    if b"\r\n" not in data:
        return None
    data = data.replace(b"\r\n", b"\n")
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data)).hexdigest().encode()  # noqa: S324  # git's own choice


def _committed(root: Path, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for start in range(0, len(names), _AT_ONCE):
        relative = [os.path.relpath(name, root) for name in names[start : start + _AT_ONCE]]
        _, output, _ = git.ask(root, "ls-tree", "-r", "-z", "HEAD", "--", *relative)
        for entry in output.split(b"\0")[:-1]:
            facts, _, path = entry.partition(b"\t")
            yield str(root / os.fsdecode(path)), facts.split()[2]
