"""Read the SQLite file of another program while that program runs: nothing is written, and nobody has to wait for us."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

_WAL = 2
"""What stands at byte 18 of a file whose changes go to a log of their own."""
_HEADER = 20
_SECONDS = 5.0

Query = Callable[[str, Sequence[Any]], Iterator[tuple[Any, ...]]]
"""Gives rows one by one; ends early where the file is damaged or is being written."""


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Query]:
    """Open a database of somebody else's; a file that is none has no rows.

    With a write-ahead log, readers hold up no writer, and `readonly_shm` keeps us from making or changing its index.
    Without one, a reader's lock would make the writer wait, so the file is read without any.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
        has_log = header[18:19] == bytes([_WAL]) and path.with_name(f"{path.name}-shm").exists()
        mode = "readonly_shm=1" if has_log else "immutable=1"
        address = f"file:{quote(str(path))}?mode=ro&{mode}"
        connection = sqlite3.connect(address, uri=True, timeout=_SECONDS)
    except (OSError, sqlite3.Error):
        yield _nothing
        return

    def rows(query: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        with contextlib.suppress(sqlite3.Error):
            yield from connection.execute(query, values)

    with contextlib.closing(connection):
        yield rows


def _nothing(query: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    del query, values
    return iter(())
