"""What it costs to store durably and to open what is stored, whatever its size."""

import contextlib
import gc
import itertools
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec

from benchmarks import stores
from benchmarks.timing import Duel, Go, Row, judge, timed
from sidecar.services import recording
from sidecar.store.vaults import JOURNAL, Vault

SMALL, LARGE = 1_000, 100_000
CURATED = 20_000
_ROUNDS = 300
_FEW_ROUNDS = 15


def events(folder: Path) -> Iterator[Row]:
    """Time one durable event: against the disk, and in a large project against a small one."""
    with (
        stores.opened(folder / "small", events=SMALL) as small,
        stores.opened(folder / "large", events=LARGE) as large,
        raw_write(folder / "raw", _event_size(small)) as raw,
    ):
        yield judge(Duel("durable event vs raw write + fsync", event(small), raw, _ROUNDS, 2.0))
        what = f"durable event with {LARGE:,} events vs {SMALL:,}"
        yield judge(Duel(what, event(large), event(small), _ROUNDS, 1.5))


def records(folder: Path) -> Iterator[Row]:
    """Time one durable write in a vault with many curated records against one with few."""
    with (
        stores.opened(folder / "small", records=SMALL) as small,
        stores.opened(folder / "large", records=LARGE) as large,
    ):
        what = f"durable record with {LARGE:,} records vs {SMALL:,}"
        yield judge(Duel(what, record(large), record(small), _ROUNDS, 1.5))
        what = f"durable event with {LARGE:,} sessions vs {SMALL:,}"
        yield judge(Duel(what, event(large), event(small), _ROUNDS, 1.5))


def opening(folder: Path) -> Iterator[Row]:
    """Time the opening of a vault against decoding its bytes."""
    with stores.opened(folder / "vault", records=CURATED) as vault:
        wanted = vault.sessions.timeline()[0].session_id
    what = f"open {CURATED:,} records vs decode their bytes"
    ours, baseline = _open(vault.folder, wanted), _decode(vault.folder / JOURNAL)
    yield judge(Duel(what, ours, baseline, _FEW_ROUNDS, 3.5))


def event(vault: Vault) -> Go:
    """Store one event into the active session."""
    prefix, numbers = vault.ids.next(), itertools.count()

    def go() -> float:
        new = [stores.save(next(numbers), prefix)]
        return timed(lambda: recording.ingest(vault, new, stores.SOURCE))

    return go


def record(vault: Vault) -> Go:
    """Store one curated record."""
    numbers = itertools.count()

    def go() -> float:
        op = stores.put_session(vault, next(numbers), ago=timedelta(hours=4))

        def put() -> None:
            with vault.lock.held():
                vault.journal.append([op])

        return timed(put)

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


def _event_size(vault: Vault) -> int:
    """Measure how many bytes one event adds to its session's journal."""
    go = event(vault)
    go()
    before = vault.bytes_on_disk()
    go()
    return vault.bytes_on_disk() - before


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


def _decode(path: Path) -> Go:
    """Decode each line and keep what comes out, as a store must; undisturbed, so no easy target."""

    def go() -> float:
        gc.collect()
        gc.disable()
        kept: list[object] = []

        def decode() -> None:
            kept.extend(map(msgspec.json.decode, path.read_bytes().splitlines()))

        elapsed = timed(decode)
        gc.enable()
        return elapsed

    return go
