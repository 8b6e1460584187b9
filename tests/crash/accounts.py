"""What a vault says it holds, counted in every place that says it; all places must agree."""

import contextlib
import sqlite3
from collections import Counter
from datetime import datetime
from pathlib import Path

from protocol.events import Commit, Event, FileChange, NewEvent
from sidecar.app import now
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Rule
from sidecar.storage import snapshots, texts, verification
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import NAME, Vault
from tests.support import NOON, save

AGREE = """
SELECT (SELECT coalesce(sum(count), 0) FROM sessions),
       (SELECT count(*) FROM events) + (SELECT coalesce(sum(count), 0) FROM blocks),
       (SELECT count(DISTINCT event) FROM keys),
       (SELECT count(*) FROM texts WHERE kind NOT IN ('memory', 'turn'))
"""
"""Counted in one statement, so that no writer comes between."""


def opened(folder: Path) -> Vault:
    """Open a vault with the clock of the machine."""
    return Vault(folder, "p", Ids(now), Rule())


def commit(number: int, body: str = "", *, at: datetime | None = None) -> NewEvent:
    """Make an event whose words are found."""
    return NewEvent(
        kind="commit",
        idempotency_key=f"commit:{number}",
        occurred_at=at,
        files=(FileChange(path=f"src/module{number}.py"),),
        commit=Commit(
            sha=f"{number:040x}",
            authored_at=NOON,
            subject=f"Change number {number}",
            body=body or f"Because of reason {number}. " * 20,
        ),
    )


def something(number: int, at: datetime | None = None) -> NewEvent:
    """Make an event of any kind, with a key."""
    if number % 3 == 0:
        return save(f"src/{number}.py", at=at, key=f"save:{number}")
    if number % 3 == 1:
        return commit(number, at=at)
    text = f"We decided number {number}, since nothing else was left. " * (1 + number % 40)
    return NewEvent(kind="capture", text=text, occurred_at=at, idempotency_key=f"capture:{number}")


def events_of(vault: Vault) -> list[Event]:
    """Read every event, and see that its session counts it."""
    found: list[Event] = []
    for session in vault.sessions.timeline():
        events = vault.sessions.arrivals(session.session_id)
        assert session.message_count == len(events), f"{session} has {len(events)} events"
        assert len({event.event_id for event in events}) == len(events)
        found += events
    return found


def account(vault: Vault) -> Counter[str]:
    """Count the events by their keys; sessions, rows, keys, words and the file itself must agree."""
    found = events_of(vault)
    counted, kept, with_key, with_words = vault.database.row(AGREE)
    assert counted == kept == len(found) == vault.sessions.count_events()
    wanted = {
        (key, event.session_id, event.event_id) for event in found for key in sessions.keys(event)
    }
    assert set(vault.database.rows("SELECT key, session, event FROM keys")) == wanted
    assert with_key == len({event for _, _, event in wanted})
    indexed = {
        row[0]
        for row in vault.database.rows("SELECT id FROM texts WHERE kind NOT IN ('memory', 'turn')")
    }
    assert indexed == {event.event_id for event in found if texts.of_event(event)}
    assert with_words == len(indexed)
    with vault.transaction():
        vault.database.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    assert vault.verify() == []
    assert not vault.storage.damaged
    return Counter(str(event.idempotency_key) for event in found)


def check_copies(folder: Path) -> int:
    """See that every snapshot that has its name is whole; return how many there are."""
    copies = snapshots.snapshots(folder)
    assert [finding for path in copies for finding in verification.check(path)] == []
    return len(copies)


def fill(folder: Path, count: int, *, first: int = 0) -> list[str]:
    """Store events of all kinds in several sessions, and close the vault; return their keys."""
    from sidecar.capture import record  # noqa: PLC0415  # heavy, and few need it

    vault = opened(folder)
    keys: list[str] = []
    with vault.transaction():
        for number in range(first, first + count):
            event = something(number, at=moment(number))
            record.ingest(vault, [event], "test")
            keys.append(str(event.idempotency_key))
    vault.close()
    return keys


def moment(number: int) -> datetime:
    """Return a moment such that six events share a session."""
    return NOON + (number // 6) * (Rule().window * 2) + (number % 6) * (Rule().window / 100)


def integrity(path: Path) -> list[str]:
    """Ask SQLite itself; only for files that this process has not open."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("PRAGMA integrity_check")]


__all__ = [
    "NAME",
    "account",
    "check_copies",
    "commit",
    "events_of",
    "fill",
    "integrity",
    "moment",
    "opened",
    "something",
]
