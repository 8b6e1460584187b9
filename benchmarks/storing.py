"""What it costs to store durably, to open and to look through what is stored, whatever its size."""

import contextlib
import gc
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from benchmarks import stores
from benchmarks.timing import Duel, Go, Row, judge, timed
from protocol.events import Event
from protocol.methods import ListSessionsParams
from sidecar.app import now
from sidecar.capture import record, timeline
from sidecar.storage import texts
from sidecar.storage.vault import Vault

SMALL, LARGE = 1_000, 100_000
FEW, MANY = 20, 20_000
"""Sessions in a project that is opened."""
_ROUNDS = 300
_WARM = 120
"""Writes after which the log is written over instead of growing."""
_FEW_ROUNDS = 15


def documents(folder: Path) -> Iterator[Row]:
    """Time a durable document and a durable event against the disk, and with many documents against few."""
    with (
        stores.opened(folder / "small", records=SMALL) as small,
        stores.opened(folder / "large", records=LARGE) as large,
        raw_write(folder / "raw", _size(small)) as raw,
        raw_write(folder / "raw event", _event_size(small)) as raw_event,
    ):
        for go in (document(small), document(large), event(small), event(large)):
            for _ in range(_WARM):
                go()
        what = "durable document vs raw write + fsync"
        yield judge(Duel(what, document(small), raw, _ROUNDS, 1.4))
        what = f"durable document with {LARGE:,} documents vs {SMALL:,}"
        yield judge(Duel(what, document(large), document(small), _ROUNDS, 1.2))
        what = "durable event, session and full text vs raw write + fsync"
        yield judge(Duel(what, event(small), raw_event, _ROUNDS, 2.2))
        what = f"durable event with {LARGE:,} sessions vs {SMALL:,}"
        yield judge(Duel(what, event(large), event(small), _ROUNDS, 1.2))


def opening(folder: Path) -> Iterator[Row]:
    """Time the opening of a project and reading one session, with many sessions against few."""
    with (
        stores.opened(folder / "few", records=FEW) as few,
        stores.opened(folder / "many", records=MANY) as many,
    ):
        ours, baseline = (
            _open(one.folder, one.sessions.page(None, None, 5)[-1].session_id)
            for one in (many, few)
        )
    what = f"open and read a session, {MANY:,} sessions vs {FEW}"
    yield judge(Duel(what, ours, baseline, 4 * _FEW_ROUNDS, 1.3))


def growth(folder: Path, most: int) -> Iterator[Row]:
    """Time what an editor asks for all the time, with a hundred times as many sessions."""
    with (
        stores.opened(folder / "few") as few,
        stores.opened(folder / "many") as many,
    ):
        stores.fill_sessions(few, most // 100)
        stores.fill_sessions(many, most)
        asked: dict[str, Callable[[Vault], object]] = {
            "counts of `status`": _status,
            "a page of sessions": lambda vault: timeline.list_sessions(vault, ListSessionsParams()),
            "the newest 200 of the timeline": lambda vault: list(
                itertools.islice(vault.sessions.newest(), 200)
            ),
            "compaction of a session": _compact,
        }
        for what, ask in asked.items():
            name = f"{what}, {most:,} sessions vs {most // 100:,}"
            yield judge(Duel(name, _asking(many, ask), _asking(few, ask), 2 * _FEW_ROUNDS, 2.0))


def indexing(folder: Path, count: int) -> Iterator[Row]:
    """Time the indexing of records against a plain full-text table that takes the same rows."""
    moment = now()
    with stores.opened(folder / "vault") as vault:
        events = [
            Event(
                event_id=vault.ids.next(),
                session_id="0" * 26,
                kind="capture",
                occurred_at=moment,
                recorded_at=moment,
                source=stores.SOURCE,
                text=stores.capture(number, "record").text,
            )
            for number in range(count)
        ]

        def ours() -> float:
            with vault.transaction():
                vault.database.execute("DELETE FROM texts")
                vault.database.execute("INSERT INTO words (words) VALUES ('delete-all')")

            def index() -> None:
                with vault.transaction():
                    texts.put(vault.database, map(texts.of_event, events))

            return timed(index)

        plain = _plain_index(folder / "plain.sqlite", events)
        yield judge(Duel(f"index {count:,} records vs plain FTS5", ours, plain, 5, 2.0))


def document(vault: Vault) -> Go:
    """Store one document."""
    prefix, numbers = vault.ids.next(), itertools.count()

    def go() -> float:
        op = stores.put_document(vault, f"{prefix} {next(numbers)}")
        return timed(lambda: vault.write([op]))

    return go


def event(vault: Vault) -> Go:
    """Store one event with words into the active session."""
    prefix, numbers = vault.ids.next(), itertools.count()

    def go() -> float:
        new = [stores.capture(next(numbers), prefix)]
        return timed(lambda: record.ingest(vault, new, stores.SOURCE))

    return go


@contextlib.contextmanager
def raw_write(path: Path, size: int) -> Iterator[Go]:
    """Append so many bytes to a plain file and wait for the disk: the least that durability costs."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    data = b"x" * size

    def write() -> None:
        os.write(descriptor, data)
        os.fsync(descriptor)

    try:
        yield lambda: timed(write)
    finally:
        os.close(descriptor)


def _size(vault: Vault) -> int:
    """Measure the bytes of a document."""
    return len(msgspec.json.encode(stores.put_document(vault, "measured").record))


def _event_size(vault: Vault) -> int:
    """Measure the bytes of an event and of its session."""
    event(vault)()
    (active,) = vault.sessions.active()
    (latest,) = vault.sessions.latest(active.session_id, 1)
    return len(msgspec.json.encode(active)) + len(msgspec.json.encode(latest))


def _status(vault: Vault) -> object:
    return (
        vault.sessions.count(),
        vault.sessions.count_events(),
        vault.sessions.count_by("closed"),
        vault.sessions.active(),
        vault.sessions.oldest(),
    )


def _compact(vault: Vault) -> None:
    """Compact a session and wake it again."""
    session = vault.sessions.page("closed", None, 1)[0]
    with vault.transaction():
        vault.sessions.compact(session)
    with vault.transaction():
        vault.sessions._wake(session.session_id)  # noqa: SLF001  # what a late event does


def _asking(vault: Vault, ask: Callable[[Vault], object]) -> Go:
    return lambda: timed(lambda: ask(vault))


def _open(folder: Path, wanted: str) -> Go:
    def go() -> float:
        gc.collect()
        opened: list[Vault] = []

        def open_and_read() -> None:
            opened.append(stores.open_store(folder))
            opened[0].sessions.get(wanted)

        elapsed = timed(open_and_read)
        opened[0].close()
        return elapsed

    return go


def _plain_index(path: Path, events: list[Event]) -> Go:
    rows = [("", one.text or "", "") for one in events]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")

    def go() -> float:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("DROP TABLE IF EXISTS plain")
            options = "title, text, names, tokenize = 'porter unicode61'"
            connection.execute(f"CREATE VIRTUAL TABLE plain USING fts5 ({options})")
            connection.execute("PRAGMA synchronous = FULL")

            def insert() -> None:
                connection.execute("BEGIN")
                connection.executemany("INSERT INTO plain VALUES (?, ?, ?)", rows)
                connection.execute("COMMIT")

            return timed(insert)

    return go
