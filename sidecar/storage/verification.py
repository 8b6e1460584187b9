"""Whether a copy of a vault agrees with itself: structure, checksums, sequences, counts, keys and full-text rows."""

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from protocol.events import Event
from protocol.memories import Memory
from protocol.turns import KeptTurn
from sidecar.capture.rules import sessions
from sidecar.storage import blocks, texts
from sidecar.storage.engine import checksum, column_value

_COUNTS = (
    """
SELECT 'sessions', id, count, (SELECT count(*) FROM events WHERE "sessionId" = sessions.id)
  + (SELECT coalesce(sum(count), 0) FROM blocks WHERE session = sessions.id) AS kept FROM sessions WHERE kept <> count""",
    """
SELECT 'events', "sessionId", 0, count(*) FROM events
  WHERE "sessionId" NOT IN (SELECT id FROM sessions) GROUP BY "sessionId" """,
    """
SELECT 'blocks', session, 0, sum(count) FROM blocks
  WHERE session NOT IN (SELECT id FROM sessions) GROUP BY session""",
    """
SELECT 'tallies', 'all sessions', told, kept FROM (SELECT (SELECT coalesce(sum(events), 0) FROM tallies) AS told,
  (SELECT coalesce(sum(count), 0) FROM sessions) AS kept) WHERE told <> kept""",
)
"""What is counted in two places: where, of which session, the number it says, and how many there are."""


class Finding(NamedTuple):
    """Something that is not as it should be."""

    where: str
    what: str


def check(path: Path) -> list[Finding]:
    """Return what is wrong with a closed database file: its structure, and the checksums of rows and blocks."""
    place = f"{path.as_uri()}?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(place, uri=True)) as connection:
        return [*_until_damage(_structure(connection)), *_until_damage(_checksums(connection))]


def check_all(path: Path, columns: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """Return all that is wrong with a private copy, also in what is derived from its documents."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        parts = (_sequences, _counts, _derived, _words)
        findings = [found for part in parts for found in _until_damage(part(connection))]
        findings += _until_damage(_columns(connection, columns))
    return check(path) + findings


def _until_damage(findings: Iterator[Finding]) -> Iterator[Finding]:
    try:
        yield from findings
    except (sqlite3.Error, msgspec.DecodeError) as error:
        yield Finding("vault.sqlite", str(error))


def _structure(connection: sqlite3.Connection) -> Iterator[Finding]:
    for (what,) in connection.execute("PRAGMA quick_check(20)"):
        if what != "ok":
            yield Finding("vault.sqlite", what)


def _checksums(connection: sqlite3.Connection) -> Iterator[Finding]:
    for (name,) in connection.execute("SELECT name FROM collections").fetchall():
        query = f'SELECT id, CAST(body AS BLOB), sum FROM "{name}"'  # noqa: S608  # names of our own
        for identifier, body, total in connection.execute(query):
            if checksum(name, identifier, body) != total:
                yield Finding(name, f"{identifier} has a wrong checksum")
    for session, number, total, data in connection.execute(
        "SELECT session, number, sum, data FROM blocks"
    ):
        if zlib.crc32(data) != total:
            yield Finding("blocks", f"block {number} of session {session} has a wrong checksum")


def _sequences(connection: sqlite3.Connection) -> Iterator[Finding]:
    (last,) = connection.execute("SELECT seq FROM state").fetchone()
    for name, revision in connection.execute("SELECT name, revision FROM collections").fetchall():
        query = f'SELECT coalesce(max(seq), 0) FROM "{name}"'  # noqa: S608  # names of our own
        (highest,) = connection.execute(query).fetchone()
        if highest > revision:
            yield Finding(name, f"change {highest} is later than its last one, {revision}")
        if revision > last:
            yield Finding("state", f"{name} has change {revision}, and there are only {last}")


def _counts(connection: sqlite3.Connection) -> Iterator[Finding]:
    for query in _COUNTS:
        for where, whose, count, kept in connection.execute(query):
            yield Finding(where, f"{whose}: {kept} events where {count} are counted")


def _columns(
    connection: sqlite3.Connection, columns: Mapping[str, tuple[str, ...]]
) -> Iterator[Finding]:
    for name, fields in columns.items():
        names = "".join(f', "{field}"' for field in fields)
        for identifier, body, *values in connection.execute(
            f'SELECT id, CAST(body AS BLOB){names} FROM "{name}"'  # noqa: S608  # names of our own
        ):
            document = msgspec.json.decode(body)
            if values != [column_value(document.get(field)) for field in fields]:
                yield Finding(name, f"{identifier} would not be found by {', '.join(fields)}")


def _derived(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Hold keys and texts against the events that they are made from."""
    keys = rows = 0
    for event in _events(connection):
        for key in set(sessions.keys(event)):
            place = connection.execute("SELECT session, event FROM keys WHERE key = ?", (key,))
            session, owner = place.fetchone() or ("", "")
            # Where two events claim a key, the later one has it.
            keys += (session, owner) == (event.session_id, event.event_id)
            if not owner or (owner == event.event_id and session != event.session_id):
                yield Finding("keys", f"{key} does not lead to event {event.event_id}")
        row = _row_of(connection, event.event_id)
        rows += row is not None
        if row != texts.of_event(event):
            yield Finding("texts", f"the words of event {event.event_id} are not what it says")
    for identifier, said in _said(connection):
        row = _row_of(connection, identifier)
        rows += row is not None
        if row != (said and said._replace(id=identifier)):
            yield Finding("texts", f"the words of {identifier} are not what it says")
    for name, count in (("keys", keys), ("texts", rows)):
        (there,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608
        if there > count:
            yield Finding(name, f"{there - count} rows belong to no event, memory or turn")


def _said(connection: sqlite3.Connection) -> Iterator[tuple[str, texts.Text | None]]:
    query = "SELECT id, CAST(body AS BLOB) FROM {}"
    for identifier, body in connection.execute(query.format("memories")).fetchall():
        yield identifier, texts.of_memory(msgspec.json.decode(body, type=Memory))
    for identifier, body in connection.execute(query.format("turns")).fetchall():
        yield identifier, texts.of_turn(msgspec.json.decode(body, type=KeptTurn))


def _row_of(connection: sqlite3.Connection, identifier: str) -> tuple[object, ...] | None:
    query = f"SELECT {texts.COLUMNS} FROM texts WHERE id = ?"  # noqa: S608  # names of our own
    row: tuple[object, ...] | None = connection.execute(query, (identifier,)).fetchone()
    return row


def _events(connection: sqlite3.Connection) -> Iterator[Event]:
    for (body,) in connection.execute("SELECT CAST(body AS BLOB) FROM events"):
        yield msgspec.json.decode(body, type=Event)
    for (data,) in connection.execute("SELECT data FROM blocks"):
        yield from (msgspec.json.decode(body, type=Event) for body in blocks.unpack(data) or ())


def _words(connection: sqlite3.Connection) -> Iterator[Finding]:
    try:
        # It only looks, though it is an INSERT to SQLite: never on a file that others use.
        connection.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        yield Finding("words", f"the full-text index does not agree with its texts: {error}")
    finally:
        connection.rollback()
