"""One SQLite file, shared by any number of threads and processes.

Writers take turns: a transaction begins IMMEDIATE and is on the disk when it ends (WAL, synchronous=FULL).
Readers use a connection of their own and never wait for a writer. Every row that is written gets the next number
of one sequence, so `what changed since` is a range of numbers, in this process or in any other.
"""

import contextlib
import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from protocol.errors import BusyError, StorageFailedError, StoreRefusedError, ThreadlineError
from protocol.versions import VERSION
from sidecar.storage import files

PATIENCE = 3.0
"""Seconds that a whole request may wait for other writers."""
REMOVALS_KEPT = 10_000
"""Removals that are remembered for whoever asks what changed; who asks for older ones reads all anew."""

_WAL_LIMIT = 16 * 1024 * 1024
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_REASONS = {
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_FULL: "the disk is full",
}
_SETTINGS = f"""
PRAGMA synchronous = FULL;
PRAGMA journal_size_limit = {_WAL_LIMIT};
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA recursive_triggers = ON;
"""
_PASSING = _SETTINGS.replace("FULL", "OFF") + "PRAGMA secure_delete = ON;"
_BOOKKEEPING = """
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, stamp TEXT NOT NULL, erasures INTEGER NOT NULL);
INSERT OR IGNORE INTO state VALUES (1, 0, '', 0);
CREATE TABLE IF NOT EXISTS collections (name TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS removals (seq INTEGER PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL);
"""

_ALL = ""
"""Stands for all collections."""
_REVISIONS = f"SELECT name, revision FROM collections UNION ALL SELECT '{_ALL}', seq FROM state"  # noqa: S608  # constants

_RETRY = 1.0
"""Seconds for which a last resort serves, before the file is tried again as usual."""
_COPY = "import shutil, sys; [shutil.copy(name, sys.argv[1]) for name in sys.argv[2:]]"

_log = logging.getLogger(__name__)
_PROGRAM = Path(__file__).parents[2]
"""Where this program is installed: several may be on one machine."""
_waiting = threading.local()


class DamagedError(StorageFailedError):
    """The file is not what was written to it."""


@contextlib.contextmanager
def deadline(seconds: float = PATIENCE) -> Iterator[None]:
    """Let everything inside wait for other writers no longer than this, all waits together."""
    outer = getattr(_waiting, "left", None)
    _waiting.left = seconds if outer is None else min(seconds, outer)
    granted = _waiting.left
    try:
        yield
    finally:
        _waiting.left = None if outer is None else outer - (granted - _waiting.left)


def time_left() -> float:
    """Return the seconds that the request this thread serves may still wait."""
    left = getattr(_waiting, "left", None)
    return PATIENCE if left is None else max(left, 0.0)


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Count the time that passes inside as time spent waiting."""
    began = time.monotonic()
    try:
        yield
    finally:
        if getattr(_waiting, "left", None) is not None:
            _waiting.left -= time.monotonic() - began


def translation(path: Path, error: BaseException) -> ThreadlineError | None:
    """Return the error of ours that says what happened to a file, with its code; None for what is no failure of it."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return BusyError(f"{path} is being written by another process; try again")
        if code in _DAMAGE:
            return DamagedError(f"{path} is damaged: {error}; run `threadline verify`")
        reason = _REASONS.get(code, "")
        what = f"cannot write {path}: {reason}" if reason else f"cannot use {path}: {error}"
    elif isinstance(error, UnicodeEncodeError | OverflowError):
        what = f"no value for {path}: {error}"
    elif isinstance(error, OSError):
        what = f"cannot use {path}: {error.strerror}"
    else:
        return None
    return StorageFailedError(f"{what}; nothing was stored")


class Translated:
    """Turns the errors of SQLite and of the system inside it into ours."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing is wrong yet."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Raise our error instead of one that is translated."""
        if error is not None and (ours := translation(self._path, error)) is not None:
            raise ours from error


def probe(path: Path, query: str) -> Any:  # noqa: ANN401  # a value of SQLite
    """Ask a closed file for one value, making and changing nothing; None where it has no answer now.

    Raises DamagedError where SQLite cannot read it at all.
    """
    try:
        with (
            Translated(path),
            waiting(),
            contextlib.closing(sqlite3.connect(path, timeout=time_left())) as connection,
        ):
            row = connection.execute(query).fetchone()
            return row and row[0]
    except DamagedError:
        raise
    except (StorageFailedError, BusyError) as error:
        _log.debug("%s", error)
        return None


def _connect_reading(path: Path, *, is_last: bool) -> sqlite3.Connection:
    """Open a file without writing beside it; as the last resort, ignore or copy what lies beside it."""
    logs = [Path(f"{path}{suffix}") for suffix in ("-wal", "-journal")]
    waiting = [log for log in logs if log.exists() and log.stat().st_size] if is_last else []
    if waiting:
        return _connect_copy(path, waiting)
    return _check(f"{path.as_uri()}?mode=ro{'&immutable=1' if is_last else ''}")


def _check(place: str) -> sqlite3.Connection:
    connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT seq FROM state").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect_copy(path: Path, logs: list[Path]) -> sqlite3.Connection:
    """Open a private copy of a file and its log, of which no name is left."""
    import shutil  # noqa: PLC0415  # they load much that few need
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    place = tempfile.mkdtemp(prefix="threadline-")
    try:
        # In a child: to open and close the file here would drop the locks of any connection to it.
        command = [sys.executable, "-I", "-S", "-c", _COPY, place, str(path), *map(str, logs)]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603
        return _check((Path(place) / path.name).as_uri())
    finally:
        # SQLite has it open; where an open file cannot be deleted, it stays in the temporary folder.
        shutil.rmtree(place, ignore_errors=True)


class Database:
    """A SQLite file with a sequence; opened at first use, reopened after an I/O error."""

    def __init__(self, path: Path, schema: str, version: int, *, is_durable: bool = True) -> None:
        self.path = path
        self._schema = schema
        self.version = version
        self._settings = _SETTINGS if is_durable else _PASSING
        self.translated = Translated(path)
        self._writing = threading.Lock()
        self._reading = threading.RLock()
        """Held by whoever uses the reader, opens or closes."""
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._owner = 0
        self._depth = 0
        self._seq = 0
        self._changes_before = 0
        self._touched: set[str] = set()
        self._removed: list[tuple[str, str]] = []
        self.began = 0
        """The number of the last change before this thread's transaction."""
        self.has_erased = False
        """Whether this thread's transaction erases something for good."""
        self._after: list[Callable[[], object]] = []
        self._seen: tuple[int, dict[str, int]] = (-1, {})
        self._inode = -1
        self._stale_at = 0.0
        """When to try again to open the file properly, where the reader is only a last resort; 0 where it is not."""
        self._patience = -1
        """The writer's busy timeout, in milliseconds."""
        self.before_open: Callable[[], None] | None = None
        """Called before the file is opened; it may put another one in its place."""
        self.on_damage: Callable[[DamagedError], object] | None = None
        """Called when a query finds the file damaged; then the query is run once more."""
        self.upgrade: Callable[[Database, int], None] | None = None
        """Called inside a transaction when the file has an older version than ours."""
        self.before_commit: Callable[[], object] | None = None
        """Called inside a transaction that has changed documents, before it is committed."""

    # Reading

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a query and return all its rows; inside a transaction, what was written there counts."""
        try:
            return self._rows(query, values)
        except DamagedError as error:
            if self.is_writing or self.on_damage is None or self._stale_at:
                raise
            self.on_damage(error)
        return self._rows(query, values)

    def _rows(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self.translated:
            if self.is_writing:
                return self._own_connection().execute(query, values).fetchall()
            with self._reading:
                return self._read_connection().execute(query, values).fetchall()

    def row(self, query: str, values: Sequence[Any] = ()) -> Any:  # noqa: ANN401  # a row of SQLite
        """Run a query and return its first row, or None."""
        found = self.rows(query, values)
        return found[0] if found else None

    def revisions(self) -> dict[str, int]:
        """Return the number of the last change of each collection; cheap where nothing changed."""
        if self.is_writing:
            return dict(self.rows(_REVISIONS)) | dict.fromkeys(self._touched, self._seq)
        with self.translated, self._reading:
            connection = self._read_connection()
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._seen[0]:
                self._seen = (version, dict(connection.execute(_REVISIONS).fetchall()))
            return self._seen[1]

    def sequence(self) -> int:
        """Return the number of the last change of all."""
        return self._seq if self.is_writing else self.revisions()[_ALL]

    # Writing

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a transaction."""
        return self._owner == threading.get_ident()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything written inside one step; it is on the disk when this ends, or never happened.

        A transaction inside another one is a part of it, and is undone alone if it fails.
        """
        if self.is_writing:
            yield from self._nested()
            return
        self._take_turn()
        try:
            self._begin()
            try:
                yield
                if self._touched and self.before_commit is not None:
                    self.before_commit()
            except BaseException:
                self._roll_back()
                raise
            self._commit()
            after, self._after = self._after, []
        except StorageFailedError:
            # Among others: where descriptors were short SQLite has opened the file only for reading.
            self.close()
            raise
        finally:
            self._owner = 0
            self._touched = set()
            self._writing.release()
        for action in after:
            try:
                action()
            except (OSError, ThreadlineError) as error:
                # It is stored: whoever asked must not be told that it is not.
                _log.warning("after a change of %s: %s", self.path, error)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement that writes, inside a transaction; return how many rows it changed."""
        with self.translated:
            return self._own_connection().execute(statement, values).rowcount

    def execute_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement that writes once for each row, inside a transaction."""
        with self.translated:
            self._own_connection().executemany(statement, rows)

    def next_seq(self, collection: str) -> int:
        """Return the number for the next row that is written to a collection."""
        self._seq += 1
        self._touched.add(collection)
        return self._seq

    def has_touched(self, collection: str) -> bool:
        """Whether this thread's transaction has changed a collection."""
        return self.is_writing and collection in self._touched

    def note_removal(self, collection: str, identifier: str) -> None:
        """Remember that a row was removed, for whoever asks what changed."""
        seq = self.next_seq(collection)
        self._removed.append((collection, identifier))
        self.execute("INSERT INTO removals VALUES (?, ?, ?)", (seq, collection, identifier))
        if not seq % 256:
            self.execute("DELETE FROM removals WHERE seq < ?", (seq - REMOVALS_KEPT,))

    def removed(self, collection: str) -> list[str]:
        """Return the ids that this thread's transaction has removed; some may be there again."""
        return [identifier for name, identifier in self._removed if name == collection]

    def count_as_noted(self) -> None:
        """Let `before_commit` see only what this thread's transaction changes from here on."""
        self.began, self._removed = self._seq, []

    def skip_to(self, seq: int) -> None:
        """Let the sequence go on after a number."""
        self._seq = max(self._seq, seq)

    def note_erasure(self) -> None:
        """Count that something is erased for good in this transaction; who knows an older state reads all anew."""
        self.execute("UPDATE state SET erasures = erasures + 1")
        self.execute("DELETE FROM removals")
        self._seq += REMOVALS_KEPT
        self.has_erased = True

    def after_commit(self, action: Callable[[], object]) -> None:
        """Run an action once the transaction is on the disk, or at once outside of one."""
        if self.is_writing:
            self._after.append(action)
        else:
            action()

    # Maintenance

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """Yield the writer's connection outside a transaction, for VACUUM, checkpoints and backups."""
        if self.is_writing:
            raise RuntimeError("maintenance does not happen inside a transaction")
        self._take_turn()
        try:
            with self.translated:
                yield self._write_connection()
        finally:
            self._writing.release()

    def checkpoint(self) -> bool:
        """Move everything from the WAL into the main file; False where a reader kept some of it."""
        with self.exclusive() as connection:
            return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)

    @property
    def is_remote(self) -> bool:
        """Whether the file is on a network file system, where processes share no memory: a WAL would need it."""
        return files.is_remote(self.path.parent)

    @property
    def is_open(self) -> bool:
        """Whether the file is open."""
        return self._writer is not None

    def rest(self) -> None:
        """Close the file unless somebody is using it at this moment."""
        if self.is_open and not self.is_writing and self._writing.acquire(blocking=False):
            try:
                if self._reading.acquire(blocking=False):
                    try:
                        self.close()
                    finally:
                        self._reading.release()
            finally:
                self._writing.release()

    def close(self) -> None:
        """Close both connections; the next use opens them again."""
        # No thread may be in the middle of a query of what is closed.
        with self._reading:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    with contextlib.suppress(sqlite3.Error):
                        connection.close()
            self._reader = self._writer = None
            self._patience, self._stale_at = -1, 0.0
            self._seen = (-1, {})

    # Inside

    def _take_turn(self) -> None:
        if not self._writing.acquire(blocking=False):
            with waiting():
                is_ours = self._writing.acquire(timeout=time_left())
            if not is_ours:
                raise BusyError(f"{self.path} is being written by this process; try again")

    def _nested(self) -> Iterator[None]:
        self._depth += 1
        point = f"p{self._depth}"
        waiting, touched = len(self._after), set(self._touched)
        self.execute(f"SAVEPOINT {point}")
        try:
            yield
        except BaseException:
            with contextlib.suppress(ThreadlineError):
                self.execute(f"ROLLBACK TO {point}")
                self.execute(f"RELEASE {point}")
            del self._after[waiting:]
            self._touched = touched
            raise
        else:
            self.execute(f"RELEASE {point}")
        finally:
            self._depth -= 1

    def _begin(self) -> None:
        with self.translated:
            connection = self._write_connection()
            patience = int(time_left() * 1000)
            if patience != self._patience:
                connection.execute(f"PRAGMA busy_timeout = {patience}")
                self._patience = patience
            with waiting():
                connection.execute("BEGIN IMMEDIATE")
            try:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version > self.version:
                    raise self._newer(version)  # noqa: TRY301
                self._seq = connection.execute("SELECT seq FROM state").fetchone()[0]
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        self._owner = threading.get_ident()
        self._depth = 0
        self._changes_before = connection.total_changes
        self._touched = set()
        self._removed, self.began, self.has_erased = [], self._seq, False
        self._after = []

    def _commit(self) -> None:
        connection = self._own_connection()
        if connection.total_changes == self._changes_before and not self._touched:
            connection.execute("COMMIT")
            return
        stamp = os.urandom(8).hex()
        try:
            self._note_changes(connection, stamp)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._settle(error, stamp)
        if self._is_replaced():
            raise StorageFailedError(
                f"{self.path} was replaced while it was written; whether it was stored is unknown; try again"
            )

    def _note_changes(self, connection: sqlite3.Connection, stamp: str) -> None:
        for name in sorted(self._touched):
            connection.execute(
                "INSERT INTO collections VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET revision = excluded.revision",
                (name, self._seq),
            )
        connection.execute("UPDATE state SET seq = ?, stamp = ?", (self._seq, stamp))

    def _settle(self, error: sqlite3.Error, stamp: str) -> None:
        """Find out whether a commit that failed has happened, and make sure that it stays so.

        Frames of a refused commit may lie in the WAL and come back after a crash. A later commit over them
        decides it; where that fails too, nobody can say.
        """
        self._roll_back()
        self.close()
        self._owner = 0
        try:
            connection = self._write_connection()
            connection.execute("BEGIN IMMEDIATE")
            has_happened = connection.execute("SELECT stamp FROM state").fetchone()[0] == stamp
            if not has_happened:
                connection.execute("UPDATE state SET stamp = ?", (os.urandom(8).hex(),))
            connection.execute("COMMIT")
        except (sqlite3.Error, ThreadlineError) as second:
            self.close()
            raise StorageFailedError(
                f"cannot write {self.path}: {error}; whether it was stored is unknown: {second}"
            ) from error
        if not has_happened:
            raise translation(self.path, error) or error from error

    def _roll_back(self) -> None:
        self._after = []
        if self._writer is not None and self._writer.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._writer.execute("ROLLBACK")

    def _own_connection(self) -> sqlite3.Connection:
        if not self.is_writing:
            raise RuntimeError("nothing is written outside a transaction")
        if self._writer is None:
            # On another connection what follows would be stored without what came before.
            what = "was closed in the middle of a change; nothing was stored"
            raise StorageFailedError(f"{self.path} {what}")
        return self._writer

    def _write_connection(self) -> sqlite3.Connection:
        if self._writer is None or self._is_replaced():
            with self._reading:
                if self._writer is not None and self._is_replaced():
                    self.close()
                if self._writer is None:
                    self._writer = self._open()
                    if self._stale_at:
                        # It may not see what is about to be written.
                        self._drop_reader()
        return self._writer

    def _read_connection(self) -> sqlite3.Connection:
        """Return the connection of who holds `_reading`."""
        if self._stale_at and time.monotonic() > self._stale_at:
            self._drop_reader()
        if self._reader is None or self._is_replaced():
            try:
                self._write_connection()
                if self._reader is None:
                    self._reader = self._connect()
            except (sqlite3.Error, OSError, StorageFailedError) as error:
                self._drop_reader()
                self._reader = self._connect_anyhow(error)
                self._stale_at = time.monotonic() + _RETRY
        return self._reader

    def _drop_reader(self) -> None:
        reader, self._reader, self._stale_at, self._seen = self._reader, None, 0.0, (-1, {})
        if reader is not None:
            reader.close()

    def _connect_anyhow(self, problem: Exception) -> sqlite3.Connection:
        """Open a file that cannot be opened as usual: a full or read-only disk keeps nobody from reading.

        SQLite wants to write beside a file in order to read it. What is a last resort for a short while does without.
        """
        error = translation(self.path, problem) or problem
        if not isinstance(error, StorageFailedError) or isinstance(error, DamagedError):
            raise error
        if not self.path.exists():
            raise problem
        _log.debug("reading %s only: %s", self.path, error)
        self._inode = self.path.stat().st_ino
        for is_last in (False, True):
            with contextlib.suppress(sqlite3.Error, OSError):
                connection = _connect_reading(self.path, is_last=is_last)
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version == self.version:
                    return connection
                connection.close()
                error = self._newer(version) if version > self.version else error
        raise error

    def _is_replaced(self) -> bool:
        try:
            return os.stat(self.path).st_ino != self._inode  # noqa: PTH116  # before every answer
        except OSError:
            return True

    def _connect(self) -> sqlite3.Connection:
        files.prepare_database(self.path)
        connection = sqlite3.connect(
            self.path,
            timeout=time_left(),
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            connection.executescript(self._settings)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _open(self) -> sqlite3.Connection:
        files.check_database(self.path)
        if self.before_open is not None:
            self.before_open()
        connection = self._connect()
        try:
            self._inode = self.path.stat().st_ino
            with waiting():
                version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > self.version:
                raise self._newer(version)  # noqa: TRY301
            with contextlib.suppress(sqlite3.OperationalError):
                # Where somebody is in the way of a change of mode, it stays as it is until the next time.
                mode = "DELETE" if self.is_remote else "WAL"
                connection.execute(f"PRAGMA journal_mode = {mode}")
            if version < self.version:
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file, or bring an older one up to date."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version < self.version:
                # What an older file lacks comes first: the schema's indexes may need it.
                if version and self.upgrade is not None:
                    self._writer, self._owner = connection, threading.get_ident()
                    self._seq = connection.execute("SELECT seq FROM state").fetchone()[0]
                    try:
                        self.upgrade(self, version)
                        self._note_changes(connection, "")
                    finally:
                        self._writer, self._owner, self._touched = None, 0, set()
                for statement in (_BOOKKEEPING + self._schema).split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self.version}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _newer(self, version: int) -> StoreRefusedError:
        return StoreRefusedError(
            f"cannot open {self.path}: written by a newer Threadline ({version} > {self.version}); "
            f"upgrade this one, which is {VERSION} in {_PROGRAM}"
        )
