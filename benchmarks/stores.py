"""Vaults of any size, with invented content."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from protocol.conversations import Agent
from protocol.errors import BusyError
from protocol.events import FileChange, NewEvent
from protocol.sessions import Session
from sidecar.app import now
from sidecar.capture import record
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.collection import Op
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault

SOURCE = "benchmark"
EVENTS_PER_SESSION = 20
_WINDOW = Rule().window
_BATCH = 10_000
_FILES = 6


def open_store(folder: Path) -> Vault:
    """Open a vault as the product does."""
    return Vault(folder, SOURCE, Ids(now), Rule())


@contextlib.contextmanager
def opened(folder: Path, *, events: int = 0, records: int = 0) -> Iterator[Vault]:
    """Hold a new vault open that has this many events, or this many documents and sessions of one event each."""
    vault = open_store(folder)
    try:
        _fill_events(vault, events)
        _fill_records(vault, records)
        with contextlib.suppress(BusyError):
            vault.database.checkpoint()
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


def capture(number: int, prefix: str) -> NewEvent:
    """Invent an event with words that are to be found."""
    words = " ".join(
        f"{word}{number % 97}" for word in ("payment", "retry", "gateway", "lock", "queue")
    )
    return NewEvent(
        kind="capture",
        idempotency_key=f"{prefix}:{number}",
        source="vscode",
        text=f"We keep the {words} because the service in part {number} drops what it cannot answer.",
    )


def put_document(vault: Vault, key: str) -> Op:
    """Invent a document without columns of its own, and say how to write it."""
    moment = now()
    agent = Agent(
        agent_id=key,
        project_id=vault.project_id,
        label=f"Agent {key}",
        harness="claude-code",
        first_seen_at=moment,
        last_seen_at=moment,
        last_summary="It moved the retries into the gateway, since a queue of them grew without end. "
        * 4,
    )
    return vault.agents.put(key, agent)


def put_session(vault: Vault, number: int, *, ago: timedelta) -> Op:
    """Invent a closed session, and say how to write it: a document with columns."""
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
    return vault.sessions.records.put(session.session_id, session)


def fill_sessions(vault: Vault, count: int) -> None:
    """Store sessions of one event each."""
    for first in range(0, count, _BATCH):
        numbers = range(first, min(first + _BATCH, count))
        batch = [save(number, "single", ago=(count - number) * 2 * _WINDOW) for number in numbers]
        record.ingest(vault, batch, SOURCE)


def _fill_events(vault: Vault, count: int) -> None:
    """Store events that lie so close together that each session gets its share of them."""
    step = _WINDOW / EVENTS_PER_SESSION
    for first in range(0, count, _BATCH):
        numbers = range(first, min(first + _BATCH, count))
        batch = [save(number, "filled", ago=(count - number) * step) for number in numbers]
        record.ingest(vault, batch, SOURCE)


def _fill_records(vault: Vault, count: int) -> None:
    """Store documents, and as many sessions."""
    for first in range(0, count, _BATCH):
        numbers = range(first, min(first + _BATCH, count))
        vault.write(put_document(vault, f"filled {number:09}") for number in numbers)
        vault.write(
            put_session(vault, number, ago=(count - number + 1) * _WINDOW) for number in numbers
        )


def _path(number: int) -> str:
    return f"sidecar/services/module_{number % 300}.py"
