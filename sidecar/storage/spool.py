"""Lines that nobody has placed yet: what hooks have overheard, in the home; events of a busy vault, beside it.

A hook appends one line and ends; whoever opens the application next claims all lines by renaming their file,
places them, and deletes it. Only a few modules of the standard library are loaded: a hook pays for each.
"""

import errno
import os
import stat
import sys
import time
from _collections_abc import Iterable, Iterator, Mapping

VARIABLE = "THREADLINE_HOME"
SECONDS = 5.0
"""For how long the same word of the same conversation counts as a repetition."""
_PATIENCE = 0.4
"""Seconds to wait for a lock; after that a line gets a file of its own."""
_FULL = 4 * 1024 * 1024
"""Bytes after which another file is begun, so that none is too large to be read at once."""
_CURRENT, _BATCH, _DONE, _DRAFT = "current.jsonl", ".batch.jsonl", ".done", ".draft"
_LEFT = 60.0
"""Seconds after which a draft belongs to nobody."""
_LOOKS, _PEEKED = 3, 16 * 1024 * 1024
"""How often it is looked at what waits while somebody drains it, and the bytes after which no further file is read."""
_RETRY = "-try"
"""What comes before the number of tries, in the name of a file of lines that failed before."""
_PARKED, _PARKED_MOST = "parked.jsonl", 4 * 1024 * 1024
"""Where lines are kept that nobody could place; in the folder of the logs, from which forgetting takes them, too."""
_SEEN, _SEEN_MOST, _SEEN_KEPT = "seen", 16 * 1024, 2 * 1024
_TALKS, _KEPT, _CUT = "talks", "kept", "cut"
_TURNS = ".turns"
_TOLD = ".told"
_WHAT = {_KEPT: _KEPT, _CUT: "owed"}
"""What a conversation that begins again is to be told, by what it was told before."""
_ALONE = 3.0
"""Seconds after which somebody who wanted to tell something has given up."""
_STALE = 14 * 86400
_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
"""A link is not followed, a child does not inherit, a pipe in a file's place does not block."""
Phase = tuple[str, str] | None
"""Names the phase that something ends, if it is on, and the one that it begins."""
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def home(environment: Mapping[str, str]) -> str:
    """Return where memory is kept: THREADLINE_HOME, or the system's place for a user's data."""
    if environment.get(VARIABLE):
        return os.path.join(os.getcwd(), os.path.expanduser(environment[VARIABLE]))
    if sys.platform == "win32":
        return os.path.join(environment["LOCALAPPDATA"], "threadline")
    own = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(own, "Library", "Application Support", "threadline")
    data = environment.get("XDG_DATA_HOME") or os.path.join(own, ".local", "share")
    return os.path.join(data, "threadline")


def folder(home: str) -> str:
    """Name the folder of the inbox, which may not exist yet."""
    return f"{home}/inbox"


def drop(home: str, signature: str, line: bytes | None = None, *, phase: Phase = None) -> bool:
    """Keep a line durably, or only that it came; False for one that has just come already, in the same phase.

    Where the lock is stuck the line gets a file of its own: it is never lost, though perhaps kept twice.
    """
    place = _ensure(home)
    lock = _lock(f"{place}/lock", _PATIENCE)
    try:
        if lock >= 0 and _is_repeated(place, signature, phase):
            return False
        if line is not None and lock >= 0:
            _append(place, line + b"\n")
        elif line is not None:
            keep(home, [line])
        return True
    finally:
        _close(lock)


def keep(home: str, lines: Iterable[bytes], suffix: str = "") -> None:
    """Keep lines durably in a file of their own, without waiting for anyone; nobody sees a part of it."""
    place = _ensure(home)
    path = f"{place}/{_stamp()}{suffix}{_BATCH}"
    _write(open_private(path + _DRAFT, _NEW), b"".join(line + b"\n" for line in lines))
    os.rename(path + _DRAFT, path)
    sync_folder(place)


def promise(home: str, talk: str) -> None:
    """Note that a conversation is to be told again what it knew, as soon as its host lets us."""
    _replace(_talk(home, talk), b"owed")


def keep_promise(home: str, talk: str, *, is_kept: bool = True, is_cut: bool = False) -> None:
    """Note that a conversation was told all there is, after a compaction perhaps.

    What its host does not keep when it goes on elsewhere, it is to be told again then.
    """
    path = _talk(home, talk)
    is_kept = is_kept or _state(path)[0].endswith(_KEPT)
    _replace(path, (_KEPT if is_kept else _CUT if is_cut else "given").encode())


def claim(home: str, talk: str, *, is_start: bool) -> str | None:
    """Take it upon oneself to tell a conversation; None where it was told, or somebody is about to.

    Gives `new` for one that was never told anything, `owed` after a compaction, `kept` for one that begins again and
    has what it was told. Who fails is followed by one other, and then by nobody.
    """
    path = _talk(home, talk)
    lock = _lock(f"{folder(home)}/lock", _PATIENCE)
    try:
        if lock < 0 and sys.platform != "win32":
            return "new" if is_start else None
        state, age = _state(path)
        tries, _, what = state.partition(":")
        if state in {"", "owed"}:
            tries, what = "tried", state or "new"
        elif tries == "tried" and age > _ALONE and not is_start:
            tries = "tried again"
        elif is_start and not (tries == "tried" and age <= _ALONE):
            tries, what = "tried", _WHAT.get(state.rpartition(":")[2], "new")
        else:
            return None
        _replace(path, f"{tries}:{what}".encode())
        return what
    finally:
        _close(lock)


def told(home: str, talk: str) -> list[str]:
    """Return the ids of what a conversation was told by hooks alone."""
    return _read(f"{_talk(home, talk)}{_TOLD}").decode("utf-8", "replace").split()


def note_told(home: str, talk: str, identifiers: Iterable[str]) -> None:
    """Note what a conversation was told, so that it is not told again."""
    data = "".join(f"{identifier}\n" for identifier in identifiers).encode("utf-8", "replace")
    descriptor = open_private(f"{_talk(home, talk)}{_TOLD}", _APPEND)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def count_turn(home: str, talk: str) -> int:
    """Count a turn of a conversation; return how many there were since they were last forgotten."""
    descriptor = open_private(f"{_talk(home, talk)}{_TURNS}", _APPEND)
    try:
        os.write(descriptor, b".")
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def forget_turns(home: str, talk: str) -> None:
    """Count the turns of a conversation from nothing again."""
    _remove(f"{_talk(home, talk)}{_TURNS}")


def claim_once(home: str, talk: str, name: str) -> bool:
    """Take something upon oneself that is done once in a conversation; False for everybody after the first."""
    try:
        os.close(open_private(f"{_talk(home, talk)}.{name}", _NEW))
    except FileExistsError:
        return False
    return True


def is_empty(home: str) -> bool:
    """Return whether nothing waits."""
    try:
        with os.scandir(folder(home)) as entries:
            return not any(entry.name.endswith((_CURRENT, _BATCH)) for entry in entries)
    except OSError:
        return True


def peek(home: str) -> list[bytes]:
    """Return the lines that wait, without claiming them: those of the oldest file first, of too many bytes the latest.

    Who drains at the same time may have placed some: whoever reads the store afterwards finds them there.
    """
    place = folder(home)
    for _ in range(_LOOKS):
        try:
            names = sorted(name for name in os.listdir(place) if _is_waiting(place, name))
        except OSError:
            return []
        lines: list[bytes] = []
        left = _PEEKED
        # The latest file is the current one, whose name comes after all numbers.
        for name in reversed(names):
            if left > 0:
                data = _read(f"{place}/{name}")
                left -= len(data)
                whole = data.split(b"\n")[:-1]
                done = _progress(f"{place}/{name}")[0]
                lines = [*whole[done if 0 <= done <= len(whole) else 0 :], *lines]
        if all(os.path.lexists(f"{place}/{name}") for name in names):
            break
        # Somebody has begun to drain: what was the current file has another name now.
    return lines


class Batches:
    """All that waits, claimed by one process at a time."""

    def __init__(self, home: str, patience: float = 0.0) -> None:
        """Claim what waits; nothing where somebody else is at it for longer than there is patience."""
        self._home, self._folder = home, _ensure(home)
        self._lock = _lock(f"{self._folder}/draining", patience)
        self.is_ours = self._lock >= 0 or sys.platform == "win32"

    def names(self) -> list[str]:
        """Return the files to read, the oldest first; what failed before comes last."""
        if not self.is_ours:
            return []
        self._claim()
        found = os.listdir(self._folder)
        for name in found:
            is_orphan = name.endswith(_DONE) and name.removesuffix(_DONE) not in found
            # Nobody writes for so long: whoever began it was killed, and has acknowledged nothing.
            if is_orphan or (name.endswith(_DRAFT) and _age(f"{self._folder}/{name}") > _LEFT):
                _remove(f"{self._folder}/{name}")
        batches = (n for n in found if n.endswith(_BATCH) and _is_waiting(self._folder, n))
        return sorted(batches, key=lambda n: (tries(n) > 0, n))

    def lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not done yet, with their number; a line without an end was never whole."""
        found = _read(f"{self._folder}/{name}").split(b"\n")[:-1]
        done = _progress(f"{self._folder}/{name}")[0]
        # A number that cannot be true is none: to place a line twice does no harm.
        done = done if 0 <= done <= len(found) else 0
        for number, line in enumerate(found):
            if number >= done:
                yield number, line

    def begun(self, name: str) -> tuple[int, int]:
        """Return how many of the lines that come next somebody began with and never ended, and how often before that."""
        _, count, again = _progress(f"{self._folder}/{name}")
        return count, again

    def begin(self, name: str, number: int, count: int, again: int = 0) -> None:
        """Note that so many lines from this number on are about to be tried, after so many who never ended."""
        _replace(f"{self._folder}/{name}{_DONE}", b"%d %d %d" % (number, count, again))

    def advance(self, name: str, number: int) -> None:
        """Note that all lines before this number are done; after a crash the next process goes on there."""
        _replace(f"{self._folder}/{name}{_DONE}", b"%d" % number)

    def put_back(self, lines: Iterable[bytes], count: int) -> None:
        """Keep lines for another try, behind all others, with the number of tries so far."""
        keep(self._home, lines, f"{_RETRY}{count}")

    def done(self, name: str, *, aside: bool = False) -> None:
        """Forget a file whose lines are all placed; one with lines that nobody can read is kept aside."""
        path = f"{self._folder}/{name}"
        if aside and os.path.lexists(path):
            os.rename(path, f"{path}.corrupt.{_stamp()}")
        _remove(path)
        _remove(f"{path}{_DONE}")

    def close(self) -> None:
        """Let others go on; conversations that nobody has heard of for long are forgotten."""
        if self.is_ours:
            _forget_talks(f"{self._folder}/{_TALKS}")
        _close(self._lock)

    def _claim(self) -> None:
        lock = _lock(f"{self._folder}/lock", _PATIENCE)
        try:
            current = f"{self._folder}/{_CURRENT}"
            if lock >= 0 and os.path.lexists(current):
                os.rename(current, f"{self._folder}/{_stamp()}{_BATCH}")
        finally:
            _close(lock)


def _is_waiting(place: str, name: str) -> bool:
    """Return whether a file has lines that wait; what somebody put in the place of one is left alone."""
    if not name.endswith((_CURRENT, _BATCH)):
        return False
    try:
        return stat.S_ISREG(os.lstat(f"{place}/{name}").st_mode)
    except FileNotFoundError:
        return False


def _progress(path: str) -> tuple[int, int, int]:
    """Return how many lines of a file are done, how many after them were begun, and how often before; else zeros."""
    try:
        words = [*map(int, _read(f"{path}{_DONE}", 40).split()), 0, 0]
        return words[0], words[1], words[2]
    except (IndexError, ValueError):
        return 0, 0, 0


def tries(name: str) -> int:
    """Return how often the lines of a file were tried before, by its name."""
    count = name.removesuffix(_BATCH).rpartition(_RETRY)[2]
    return int(count) if _RETRY in name and count.isdigit() else 0


def park(home: str, lines: Iterable[bytes]) -> None:
    """Keep lines that nobody could place, out of the way."""
    data = b"".join(line + b"\n" for line in lines)
    keep_aside(f"{home}/logs/{_PARKED}", data, _PARKED_MOST)


def count_parked(home: str) -> int:
    """Count the lines that nobody could place."""
    names = (_PARKED, f"{_PARKED}.1")
    return sum(_read(f"{home}/logs/{name}").count(b"\n") for name in names)


def count_late(home: str) -> tuple[int, str]:
    """Count the hooks that ran out of time, as far as their log goes back, and tell when the last one did."""
    lines = [
        line
        for name in ("hooks.log.1", "hooks.log")
        for line in _read(f"{home}/logs/{name}").split(b"\n")
        if b": out of time" in line
    ]
    return len(lines), lines[-1].partition(b" ")[0].decode("ascii", "replace") if lines else ""


def keep_aside(path: str, data: bytes, most: int) -> None:
    """Add durably to a file that does not grow for ever."""
    _write(open_aside(path, most), data)


def open_aside(path: str, most: int) -> int:
    """Open a file in a folder of the home to add to it; it is begun anew when it has grown, the one before stays."""
    place = os.path.dirname(path)
    ensure_folder(os.path.dirname(place))
    ensure_folder(place)
    if os.path.lexists(path) and os.lstat(path).st_size > most:
        os.replace(path, f"{path}.1")
    return open_private(path, _APPEND)


def _ensure(home: str) -> str:
    ensure_folder(home)
    ensure_folder(folder(home))
    return folder(home)


def _talk(home: str, talk: str) -> str:
    place = f"{_ensure(home)}/{_TALKS}"
    ensure_folder(place)
    return f"{place}/{talk}"


def ensure_folder(path: str) -> None:
    """Make a folder that only this user can enter, and those above it; refuse a link or a stranger's folder."""
    try:
        facts = os.lstat(path)
    except FileNotFoundError:
        above = os.path.dirname(path)
        if not os.path.exists(above):
            ensure_folder(above)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        # A line that is on the disk is lost if the folder it is in is not.
        sync_folder(above)
        facts = os.lstat(path)
    keep_private(path, facts, stat.S_IFDIR)


def open_private(path: str, flags: int) -> int:
    """Open a plain file of ours, never through a link; descriptors that are short are waited for.

    Never call it for a SQLite file that this process has open: closing the descriptor would drop its locks.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            descriptor = os.open(path, flags | _FLAGS, 0o600)
            break
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE) or time.monotonic() >= deadline:
                raise
            time.sleep(0.005)
    try:
        keep_private(path, os.fstat(descriptor), stat.S_IFREG, descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def keep_private(
    path: str, facts: os.stat_result, kind: int, descriptor: int | None = None
) -> None:
    """Refuse what is a stranger's or not of this kind; let nobody else read what is ours."""
    if kind == stat.S_IFREG and stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_IFMT(facts.st_mode) != kind:
        wanted = "folder" if kind == stat.S_IFDIR else "file"
        raise OSError(errno.ENXIO, f"it is no plain {wanted}", path)
    if os.name == "posix" and facts.st_uid != os.geteuid():
        raise OSError(errno.ENXIO, f"it belongs to user {facts.st_uid}, not to you", path)
    if os.name == "posix" and stat.S_IMODE(facts.st_mode) & 0o077:
        try:
            mode = 0o700 if kind == stat.S_IFDIR else 0o600
            os.chmod(path if descriptor is None else descriptor, mode)
        except OSError:
            pass


def _append(place: str, data: bytes) -> None:
    """Add a line durably, all or nothing; the caller holds the lock."""
    path = f"{place}/{_CURRENT}"
    is_new = not os.path.lexists(path)
    descriptor = open_private(path, _APPEND)
    try:
        end = os.fstat(descriptor).st_size
        if end and os.pread(descriptor, 1, end - 1) != b"\n":
            # Whoever wrote before was killed in the middle of a line.
            data = b"\n" + data
        _write_all(descriptor, data, end)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(place)
    if end + len(data) > _FULL:
        os.rename(path, f"{place}/{_stamp()}{_BATCH}")


def _write_all(descriptor: int, data: bytes, end: int) -> None:
    """Write all or nothing; a disk that is full takes a part."""
    try:
        written = os.write(descriptor, data)
    except OSError:
        written = 0
    if written != len(data):
        os.ftruncate(descriptor, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write(descriptor: int, data: bytes) -> None:
    try:
        _write_all(descriptor, data, os.fstat(descriptor).st_size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(path: str, data: bytes) -> None:
    """Put a tiny file in place, whole; it need not survive the machine."""
    draft = f"{path}.{os.getpid()}{_DRAFT}"
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
    os.replace(draft, path)


def _read(path: str, most: int = 64 * 1024 * 1024) -> bytes:
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _state(path: str) -> tuple[str, float]:
    state = _read(path, 100).decode("ascii", "replace")
    return state, _age(path) if state else 0.0


def _age(path: str) -> float:
    """Tell for how many seconds a file is as it is; not at all, where it is gone."""
    try:
        return time.time() - os.lstat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _is_repeated(place: str, signature: str, phase: Phase) -> bool:
    """Return whether the same came a moment ago, and remember that it came; the caller holds the lock."""
    path, now, is_known = f"{place}/{_SEEN}", time.time(), False
    descriptor = open_private(path, _APPEND)
    try:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _SEEN_KEPT, max(0, size - _SEEN_KEPT))
        for entry in tail.split(b"\n"):
            moment, _, name = entry.partition(b" ")
            if name == signature.encode() and abs(now - _number(moment)) < SECONDS:
                is_known = True
            elif phase and name == phase[0].encode():
                is_known = False
        if is_known:
            return True
        if size > _SEEN_MOST:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, tail.partition(b"\n")[2])
        names = (signature, phase[1]) if phase else (signature,)
        os.write(descriptor, "".join(f"{now:.3f} {one}\n" for one in names).encode())
    finally:
        os.close(descriptor)
    return False


def _number(moment: bytes) -> float:
    try:
        return float(moment)
    except ValueError:
        return 0.0


def _forget_talks(place: str) -> None:
    try:
        names = os.listdir(place)
    except OSError:
        return
    for name in names:
        if _age(f"{place}/{name}") > _STALE:
            _remove(f"{place}/{name}")


def _stamp() -> str:
    """Name a file so that names sort by time, and no other process has the same."""
    return f"{time.time_ns():020d}-{os.getpid()}"


def sync_folder(path: "str | os.PathLike[str]") -> None:
    """Make the names in a folder durable."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(path: str, patience: float) -> int:
        """Have no lock: every line gets a file of its own."""
        del path, patience
        return -1

else:
    import fcntl

    def _lock(path: str, patience: float) -> int:
        """Lock a file and give its descriptor; -1 where somebody else keeps it for too long."""
        descriptor = open_private(path, _APPEND)
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(descriptor)
                    return -1
                time.sleep(0.005)
            except OSError:
                # The system has no locks left.
                os.close(descriptor)
                return -1
            else:
                return descriptor
