"""Vaults of any size, with invented content."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec

from protocol.events import FileChange, NewEvent
from protocol.sessions import Session
from sidecar.app import now
from sidecar.domain.sessions import Rule
from sidecar.services import recording
from sidecar.store.ids import Ids
from sidecar.store.lines import Op
from sidecar.store.vaults import Vault, open_vault

SOURCE = "benchmark"
EVENTS_PER_SESSION = 20
_WINDOW = Rule().window
_BATCH = 10_000
_FILES = 6


def open_store(folder: Path) -> Vault:
    """Open a vault as the product does."""
    return open_vault(folder, SOURCE, Ids(now), Rule())


@contextlib.contextmanager
def opened(folder: Path, *, events: int = 0, records: int = 0) -> Iterator[Vault]:
    """Hold a new vault open that has this many events, or this many curated records."""
    vault = open_store(folder)
    try:
        _fill_events(vault, events)
        _fill_records(vault, records)
        yield vault
    finally:
        vault.close()


def save(number: int, prefix: str, *, ago: timedelta | None = None) -> NewEvent:
    """Invent an event, with a key of its own."""
    return NewEvent(
        kind="save",
        occurred_at=None if ago is None else now() - ago,
        idempotency_key=f"{prefix}:{number}",
        source="vscode",
        files=(FileChange(path=_path(number)),),
    )


def put_session(vault: Vault, number: int, *, ago: timedelta) -> Op:
    """Invent a closed session, and say how to write it: a curated record like any other."""
    start = now() - ago
    session = Session(
        session_id=vault.ids.next(),
        project_id=vault.project_id,
        started_at=start,
        ended_at=start + _WINDOW,
        last_event_at=start + _WINDOW / 2,
        status="closed",
        source=SOURCE,
        sources=(SOURCE,),
        message_count=EVENTS_PER_SESSION,
        files_modified=tuple(_path(number + offset) for offset in range(_FILES)),
    )
    return ("sessions", session.session_id, msgspec.to_builtins(session))


def _fill_events(vault: Vault, count: int) -> None:
    """Store events that lie so close together that each session gets its share of them."""
    step = _WINDOW / EVENTS_PER_SESSION
    for first in range(0, count, _BATCH):
        numbers = range(first, min(first + _BATCH, count))
        batch = [save(number, "filled", ago=(count - number) * step) for number in numbers]
        recording.ingest(vault, batch, SOURCE)


def _fill_records(vault: Vault, count: int) -> None:
    """Store curated records, and leave the journal as a compaction does: one line for each."""
    with vault.lock.held():
        for first in range(0, count, _BATCH):
            numbers = range(first, min(first + _BATCH, count))
            vault.journal.append(
                put_session(vault, number, ago=(count - number + 1) * _WINDOW) for number in numbers
            )
        if count:
            vault.journal.rewrite()


def _path(number: int) -> str:
    return f"sidecar/services/module_{number % 300}.py"
