"""A file of operations and the tables they add up to, shared by any number of processes.

Writers append under the store's lock and sync; readers take no lock: they replay what was added since
they last looked. A rewrite replaces the whole file at once, which readers notice by its inode. Whatever
does not carry a good checksum is damage: the original is kept aside, the good lines stay in use. Who opens
a long file that was read before, by whoever, reads its outline and what was appended since.
"""

import contextlib
import gc
import itertools
import logging
import operator
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from protocol.errors import StorageFailedError, StoreRefusedError
from sidecar.store import files, lines, outlines
from sidecar.store.lines import Document, Kept, Line, Op
from sidecar.store.locks import Lock
from sidecar.store.outlines import Outline, Outlines
from sidecar.store.rows import Rows

Change = Callable[[str, Document], Document | None]
"""Gives a table's document as it is to be; None removes it."""
Rename = Callable[[str, str], str]
"""Gives the id that a table's document is to have."""

FORMAT = 1
"""Of every journal this version writes; a change of it needs a step in `migrations`."""
SLACK = 1000
"""Operations beyond twice the living documents that a journal may carry before it is rewritten."""

_generations = itertools.count()

_log = logging.getLogger(__name__)


class Journal:
    """The tables of one file; whoever calls `append` or `rewrite` holds the store's lock."""

    def __init__(
        self,
        path: Path,
        lock: Lock,
        recover: Callable[[], Iterable[Op]] = tuple,
        outlines: Outlines | None = None,
    ) -> None:
        """Name the file and the store's lock; nothing is read or made yet.

        `recover` tells, when the file was lost or damaged, what else is known of its documents. `outlines`
        keeps where they stand in the file.
        """
        self.path = path
        self._lock = lock
        self._recover = recover
        self._outlines = outlines
        self._seen_turn: int | None = None
        self.tables: dict[str, Rows] = {}
        self.format = FORMAT
        self.revision = 0
        self.generation = next(_generations)
        """Another number, in the whole process, whenever all is read anew: revisions of tables compare within one."""
        self.mutex = threading.RLock()
        self._told: dict[tuple[str, ...], tuple[int, tuple[int, ...]]] = {}
        """Revisions of tables that were asked for, and as of which revision of all."""
        self._descriptor = -1
        self._inode = -1
        self._offset = 0
        self._operations = 0
        self._bad_lines = 0
        self._is_torn = False
        self._is_read_only = False

    @property
    def is_damaged(self) -> bool:
        """Tell whether the last look found anything but good lines."""
        return self._bad_lines > 0 or self._is_torn

    @property
    def exists(self) -> bool:
        """Tell whether the last look found a file."""
        return self._descriptor >= 0

    def rows(self, table: str) -> Rows:
        """Give a table's rows as of the last look."""
        rows = self.tables.get(table)
        if rows is None:
            rows = self.tables[table] = Rows()
        return rows

    def refresh(self) -> None:
        """Catch up with what other processes wrote; while we hold the lock, once is enough."""
        turn = self._lock.turn
        if turn is not None and turn == self._seen_turn:
            return
        with self.mutex:
            try:
                facts = os.lstat(self.path)
            except FileNotFoundError:
                self.close()
                self._seen_turn = turn
                return
            if facts.st_ino != self._inode or facts.st_size < self._offset:
                self.close()
                self._open()
            if facts.st_size != self._offset or not self._offset:
                self._replay()
            else:
                self._is_torn = False
            self._seen_turn = turn

    def revisions(self, tables: tuple[str, ...]) -> tuple[int, ...]:
        """Tell which state tables are in now, at one look: equal, where nothing was written to any of them."""
        with self.mutex:
            self.refresh()
            seen, known = self._told.get(tables, (-1, ()))
            if seen != self.revision:
                known = (self.generation, *(self.rows(name).revision for name in tables))
                self._told[tables] = (self.revision, known)
            return known

    def append(self, ops: Iterable[Op], *, durable: bool = True) -> None:
        """Add one transaction; when this returns it is on the disk, or will be by a later sync."""
        with self.mutex:
            ops = tuple(ops)
            self.prepare()
            line = lines.encode(ops)
            files.append(self._descriptor, line, self.path)
            if durable:
                try:
                    files.sync(self._descriptor, self.path)
                except StorageFailedError:
                    os.ftruncate(self._descriptor, self._offset)
                    raise
            self._offset += len(line)
            self._apply(ops)
            if self._operations > SLACK + 2 * sum(map(len, self.tables.values())):
                self._shrink()

    def prepare(self) -> None:
        """Make sure that a line can be added: the file is there, and good to its last byte."""
        if self._is_read_only:
            # It could not be written when it was opened; perhaps now it can.
            self.close()
            self._seen_turn = None
        self.refresh()
        if self.is_damaged or not self.exists:
            if self.is_damaged:
                files.set_aside(self.path)
            self._apply(self._recover())
            self.rewrite()

    def rewrite(self) -> None:
        """Replace the file by one line for each living document."""
        with self.mutex:
            self.refresh()
            if self._outlines is not None:
                self._outlines.drop()
            files.replace(self.path, b"".join(self._snapshot()))
            self._seen_turn = None
            self.refresh()

    def change(self, change: Change, rename: Rename = lambda _, name: name) -> None:
        """Change every document and its id, and leave nothing of what was before on the disk."""
        with self.mutex:
            self.refresh()
            for table, rows in self.tables.items():
                for identifier, document in list(rows.documents.items()):
                    name = rename(table, identifier)
                    if name != identifier:
                        rows.put(identifier, None)
                        name = _free(rows, name)
                    rows.put(name, change(table, document))
            self.revision += 1
            self.rewrite()

    def _shrink(self) -> None:
        """Rewrite, if the disk lets us; what was appended is safe either way."""
        try:
            self.rewrite()
        except StorageFailedError as error:
            self._operations = 0
            _log.warning("%s; the journal stays as long as it is", error)

    def close(self) -> None:
        """Forget everything read and give the file back."""
        with self.mutex:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self.tables = {}
            self.format = FORMAT
            self.revision += 1
            self.generation = next(_generations)
            self._descriptor = self._inode = -1
            self._offset = self._operations = self._bad_lines = 0
            self._is_torn = self._is_read_only = False

    def _snapshot(self) -> Iterator[bytes]:
        yield lines.encode_header(FORMAT)
        for name, rows in self.tables.items():
            for identifier, document in rows.documents.kept.items():
                yield lines.encode([(name, identifier, document)])

    def _open(self) -> None:
        try:
            self._descriptor = files.open_private(self.path, os.O_RDWR | os.O_APPEND)
        except IsADirectoryError:
            self._bad_lines += 1
            return
        except StorageFailedError:
            self._descriptor = files.open_private(self.path, os.O_RDONLY)
            self._is_read_only = True
        self._inode = os.fstat(self._descriptor).st_ino

    def _replay(self) -> None:
        """Read from where we stopped to the last complete line."""
        if not self.exists:
            return
        size = os.fstat(self._descriptor).st_size
        data = os.pread(self._descriptor, size - self._offset, self._offset)
        is_first = self._offset == 0
        with _no_collection():
            outline = self._outlines.read(data) if self._outlines and is_first else None
            if outline is not None:
                self._begin(outline, data)
            known = 0 if outline is None else outline.size
            *whole, rest = data[known:].split(b"\n")
            read = list(map(lines.decode, whole))
            for number, line in enumerate(read):
                self._check(line, is_first=is_first and not known and number == 0)
            good = [line for line in read if line is not None]
            self._apply([op for line in good for op in line.ops])
            self._offset += len(data) - len(rest)
            if is_first and not self._bad_lines:
                self._keep_outline(outline, data, whole, good)
        self._is_torn = size > self._offset or self._offset == 0

    def _begin(self, outline: Outline, data: bytes) -> None:
        """Take over what an outline tells of the file's content."""
        self._know(outline.format)
        for table, found in outlines.open_tables(outline, data):
            self.rows(table).begin(found.documents, found.fingerprints)
        self._operations = outline.operations

    def _keep_outline(
        self, outline: Outline | None, data: bytes, whole: Sequence[bytes], read: Sequence[Line]
    ) -> None:
        """Write down where everything stands, if whoever comes next would have to read much without it."""
        known = 0 if outline is None else outline.size
        if (
            not self._outlines
            or not self._outlines.is_due(len(data) - known)
            or not self._lock.turn
        ):
            return
        places = {} if outline is None else outlines.recall(outline, data)
        if not outlines.follow(places, known, whole, read):
            return
        content = data[: self._offset]
        try:
            self._outlines.write(outlines.draw(content, places, self.format, self._operations))
        except (OSError, StorageFailedError, StoreRefusedError) as error:
            _log.warning("%s; the journal is read line by line the next time", error)

    def _check(self, line: Line | None, *, is_first: bool) -> None:
        if line is None or (is_first and line.format is None):
            self._bad_lines += 1
        elif line.format is not None:
            self._know(line.format)

    def _know(self, found: int) -> None:
        if found > FORMAT:
            self.close()
            raise StoreRefusedError(
                f"cannot open {self.path}: written by a newer Threadline "
                f"(format {found} > {FORMAT}); upgrade this one"
            )
        self.format = found

    def _apply(self, ops: Iterable[tuple[str, str, Kept | None]]) -> None:
        for table, some in itertools.groupby(ops, key=_table):
            put = self.rows(table).put
            for _, identifier, document in some:
                put(identifier, document)
                self._operations += 1
        self.revision += 1


_table = operator.itemgetter(0)


def _free(rows: Rows, name: str) -> str:
    """Give a name that no other document has; two may have become the same."""
    names = (name if number == 1 else f"{name} {number}" for number in itertools.count(1))
    return next(one for one in names if one not in rows.documents)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector from walking documents while they are loaded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
