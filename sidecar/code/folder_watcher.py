"""Watch folders for changes, and working trees for saved files."""

import contextlib
import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from watchfiles._rust_notify import RustNotify

from protocol.errors import GitFailedError
from sidecar.code import checkouts, git

LIMIT = 50
"""Folders watched at once; a system has few watches, and others want some."""
IDLE = 5.0
"""Seconds after which we look all the same: not every file system tells."""
EAGER = 0.5
"""The same where the system does not let us watch."""
_STEP, _IDLE_STEP = 50, 250
"""Milliseconds between two looks at what the system told, after a change and where nothing happens."""
_GROUPED = 200
"""Milliseconds for which much of it is one."""
_ADDED = 1

_log = logging.getLogger(__name__)


class Watches:
    """Waits for changes in a set of folders that may be another one each time."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._stop = threading.Event()
        self._watched: tuple[str, ...] = ()
        self._notify: RustNotify | None = None
        self._has_complained = False
        self._step = _IDLE_STEP

    def wait(self, places: Iterable[Path], quiet: Iterable[Path]) -> bool:
        """Wait until something changed, or may have; False once it is time to stop.

        In a quiet folder only a new folder counts: files come and go there all the time.
        """
        silent = {os.fspath(place) for place in quiet}
        wanted = sorted({*silent, *(os.fspath(place) for place in places)})
        there = tuple(filter(os.path.isdir, wanted))
        if there != self._watched:
            # What happened before the new watch stood is seen by looking once more.
            self._watch(there)
        elif self._notify is None:
            self._stop.wait(EAGER)
        else:
            self._listen(self._notify, silent)
        return not self._stop.is_set()

    @property
    def is_stopped(self) -> bool:
        """Tell whether it is time to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End all waiting."""
        self._stop.set()

    def rest(self) -> None:
        """Wait for a while, whatever happens."""
        self._stop.wait(IDLE)

    def _listen(self, notify: "RustNotify", silent: set[str]) -> None:
        """Wait for something that counts, but not for ever."""
        deadline = time.monotonic() + IDLE
        counts = False
        while not counts and (left := int(1000 * (deadline - time.monotonic()))) > 0:
            try:
                told = notify.watch(_GROUPED, self._step, left, self._stop)
            except Exception as error:  # noqa: BLE001  # it raises for a name that is not UTF-8
                _log.debug("watching begins anew: %s", error)
                self._watched = ()
                self._stop.wait(EAGER)
                return
            if told == "signal":
                raise KeyboardInterrupt
            self._step = _IDLE_STEP if isinstance(told, str) else _STEP
            counts = isinstance(told, str) or any(_counts(one, path, silent) for one, path in told)

    def _watch(self, there: tuple[str, ...]) -> None:
        """Watch another set of folders."""
        # The inner class: the documented function cannot say when watching has begun.
        from watchfiles._rust_notify import RustNotify  # noqa: PLC0415  # slow to load, nothing waits for it

        if self._notify is not None:
            self._notify.close()
        self._watched, self._notify = there, None
        if len(there) > LIMIT:
            self._complain(f"{len(there)} folders are too many to watch")
            return
        try:
            # The package's own `watch` cannot say when it has begun, which would leave a gap.
            self._notify = RustNotify([*there], False, False, 0, False, True)  # noqa: FBT003  # its signature
        except (OSError, ValueError) as error:
            self._complain(str(error))

    def _complain(self, problem: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            _log.warning("looking every %s s instead of watching: %s", EAGER, problem)


def _counts(change: int, path: str, silent: set[str]) -> bool:
    folder, name = os.path.split(path)
    is_new_folder = change == _ADDED and os.path.isdir(path)  # noqa: PTH112  # asked for each change
    return folder not in silent or name == ".git" or is_new_folder


MOST_FOLDERS = 2000
"""Folders watched at most: who asks for this has no editor that would need watches too."""
_SAVE_STEP = 100
_GROUPED_SAVES = 500
_IDLE = 5000
"""Milliseconds, as in `watches`; a save need not be seen as fast as a commit."""
_DELETED = 3
_LARGE = 10_000_000
_AT_ONCE = 500
"""Names on one command line."""

_saves_log = logging.getLogger(__name__)


def written(root: Path, since: datetime, stop: threading.Event) -> Iterator[list[Path]]:
    """Give the files that are written in a working tree from a moment on, until it is time to stop.

    What git itself writes is not given: nothing is while it is at work, and after that not what is as
    committed. Folders that git ignores are not watched.
    """
    lock = _lock(root)
    files = _files(root)
    waiting = {path for path in files if _written_at(path) >= since.timestamp()}
    while not stop.is_set():
        folders = _folders(root, files)
        if len(folders) > MOST_FOLDERS:
            _saves_log.warning(
                "saves in %s are not seen: %d folders are too many", root, len(folders)
            )
            return
        with RustNotify([*folders], False, False, 0, False, True) as notify:  # noqa: FBT003  # its signature
            has_new_folder = False
            while not (has_new_folder or stop.is_set()):
                found = _listen(notify, stop, _GROUPED_SAVES if waiting else _IDLE)
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
        told = notify.watch(_GROUPED_SAVES, _SAVE_STEP, patience, stop)
    except Exception as error:  # noqa: BLE001  # it raises for a name that is not UTF-8
        _saves_log.debug("a change was not understood: %s", error)
        return []
    return [] if isinstance(told, str) else [path for change, path in told if change != _DELETED]


def _lock(root: Path) -> Path | None:
    checkout = checkouts.enclosing(root)
    return None if checkout is None else checkout.gitdir / "index.lock"


def _files(root: Path) -> list[str]:
    """Name the files that git does not ignore; without git, those that lie at the root."""
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
    """Pick the files that are not as they were committed."""
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
    """Hash a file as git keeps it where it was checked out with other line ends; None if it was not."""
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
