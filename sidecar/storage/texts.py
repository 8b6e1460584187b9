"""The words of what happened, in a full-text index that is written in the same transaction."""

from collections.abc import Iterable

from protocol.events import Event
from sidecar.storage.database import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, text TEXT NOT NULL, names TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (title, text, names, content = 'texts', content_rowid = 'rowid', tokenize = 'porter unicode61');
"""
_NAMES = 50
"""Paths of an event that are found by their words."""


def put_events(database: Database, events: Iterable[Event]) -> None:
    """Make the words of new events findable; a save has none."""
    rows = [row_of(event) for event in events if event.kind != "save"]
    if not rows:
        return
    last = database.row("SELECT coalesce(max(rowid), 0) FROM texts")
    database.execute_all("INSERT INTO texts (id, title, text, names) VALUES (?, ?, ?, ?)", rows)
    database.execute(
        "INSERT INTO words (rowid, title, text, names)"
        " SELECT rowid, title, text, names FROM texts WHERE rowid > ?",
        tuple(last),
    )


def row_of(event: Event) -> tuple[str, ...]:
    """Return the id of an event and the words by which it is found."""
    commit = event.commit
    title = commit.subject if commit else ""
    text = commit.body if commit else event.text or ""
    names = "\n".join(change.path for change in event.files[:_NAMES])
    return event.event_id, *(part.replace("\0", "\ufffd") for part in (title, text, names))


def remove(database: Database, identifier: str) -> None:
    """Make the words of something unfindable."""
    row = database.row("SELECT rowid, title, text, names FROM texts WHERE id = ?", (identifier,))
    if row is not None:
        database.execute(
            "INSERT INTO words (words, rowid, title, text, names) VALUES ('delete', ?, ?, ?, ?)",
            tuple(row),
        )
        database.execute("DELETE FROM texts WHERE rowid = ?", (row[0],))


def rebuild(database: Database) -> None:
    """Make the index anew, so that nothing of what was removed stays in it."""
    database.execute("INSERT INTO words (words) VALUES ('delete-all')")
    database.execute("INSERT INTO words (words) VALUES ('rebuild')")
    database.execute("INSERT INTO words (words) VALUES ('optimize')")


def find(database: Database, words: str, most: int = 100) -> list[tuple[str, float]]:
    """Return the ids of what has all these words, the best first, with their BM25 score."""
    terms = " ".join(
        '"' + word.replace('"', '""') + '"' for word in words.replace("\0", " ").split()[:64]
    )
    if not terms:
        return []
    query = (
        "SELECT texts.id, bm25(words) FROM words JOIN texts ON texts.rowid = words.rowid"
        " WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?"
    )
    return [(identifier, -score) for identifier, score in database.rows(query, (terms, most))]
