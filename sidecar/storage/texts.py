"""What can be found by its words: the texts of events and memories, indexed in the transaction that writes them.

A text keeps what a hit shows (author, moment, commit, files), so that search reads nothing else and still finds events
that were compacted.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from protocol.events import Event
from protocol.memories import Memory
from protocol.turns import KeptTurn
from sidecar.search.rules import terms
from sidecar.storage.database import Database

COLUMNS = "id, kind, at, author, origin, session, title, text, files, extra"
SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at INTEGER NOT NULL, author TEXT NOT NULL, origin TEXT NOT NULL, session TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, files TEXT NOT NULL, extra TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (title, text, files, extra, content = 'texts', content_rowid = 'rowid', tokenize = 'porter unicode61');
CREATE INDEX IF NOT EXISTS turns_in_order ON texts (origin, at, id) WHERE kind = 'turn';
"""
_FILES = 50
"""Paths of an event that are found by their words."""
_GENERATIONS = 5
"""Renamings of a file that are followed."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Text(NamedTuple):
    """A row: something that can be found, and what a hit shows of it."""

    id: str
    kind: str
    """`commit`, `capture`, `memory` or `turn`."""
    micros: int
    author: str
    origin: str
    """A commit's sha, a turn's conversation."""
    session: str
    title: str
    text: str
    files: str
    """One path in each line; of a renamed file, the former one after a tab."""
    extra: str
    """Terms that the tokenizer does not find by itself."""

    @property
    def at(self) -> datetime:
        """When it happened."""
        return _EPOCH + timedelta(microseconds=self.micros)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it concerns."""
        return tuple(self.files.replace("\t", "\n").split("\n")) if self.files else ()


class Match(NamedTuple):
    """A text that shares words with a question."""

    text: Text
    score: float
    """BM25, higher is better."""


def of_event(event: Event) -> Text | None:
    """Return the row of an event; a save has no words, and a commit that no branch holds says nothing that is true."""
    commit = event.commit
    if event.kind == "save" or (commit and commit.dropped):
        return None
    author = commit.author_name if commit else event.agent_id or event.source
    paths = [
        f"{change.path}\t{change.previous_path}" if change.previous_path else change.path
        for change in event.files[:_FILES]
    ]
    return _text(
        event.event_id,
        (event.kind, event.occurred_at, author),
        (commit.sha if commit else "", event.session_id),
        (commit.subject if commit else "", commit.body if commit else event.text or ""),
        paths,
    )


def of_memory(memory: Memory) -> Text | None:
    """Return the row of a memory; what is forgotten has none."""
    if memory.status == "forgotten":
        return None
    said = [memory.content, memory.rationale or "", " ".join((*memory.tags, *memory.entities))]
    return _text(
        memory.memory_id,
        ("memory", memory.occurred_at, memory.agent_id or ""),
        ("", memory.session_id or ""),
        (memory.title, "\n".join(filter(None, said))),
        list(memory.files),
    )


def of_turn(turn: KeptTurn) -> Text:
    """Return the row of a turn, or of a part of one."""
    author = turn.agent_id if turn.said_by == "assistant" else turn.said_by
    return _text(
        turn.turn_id,
        ("turn", turn.at, author),
        (turn.session_key, turn.session_id or ""),
        ("", turn.text),
        list(turn.files),
    )


def put(database: Database, texts: Iterable[Text | None]) -> None:
    """Make new texts findable."""
    rows = list(filter(None, texts))
    if not rows:
        return
    (last,) = database.row("SELECT coalesce(max(rowid), 0) FROM texts")
    marks = ", ".join("?" * len(Text._fields))
    database.execute_all(f"INSERT INTO texts ({COLUMNS}) VALUES ({marks})", rows)  # noqa: S608
    database.execute(
        "INSERT INTO words (rowid, title, text, files, extra)"
        " SELECT rowid, title, text, files, extra FROM texts WHERE rowid > ?",
        (last,),
    )


def remove(database: Database, identifier: str) -> None:
    """Make a text unfindable."""
    query = "SELECT rowid, title, text, files, extra FROM texts WHERE id = ?"
    row = database.row(query, (identifier,))
    if row is not None:
        database.execute(
            "INSERT INTO words (words, rowid, title, text, files, extra)"
            " VALUES ('delete', ?, ?, ?, ?, ?)",
            tuple(row),
        )
        database.execute("DELETE FROM texts WHERE rowid = ?", (row[0],))


def rebuild(database: Database) -> None:
    """Make the index anew, so that nothing of what was removed stays in it."""
    database.execute("INSERT INTO words (words) VALUES ('delete-all')")
    database.execute("INSERT INTO words (words) VALUES ('rebuild')")
    database.execute("INSERT INTO words (words) VALUES ('optimize')")


def find(
    database: Database,
    question: str,
    most: int = 100,
    kind: str | None = None,
    between: tuple[datetime | None, datetime | None] = (None, None),
) -> list[Match]:
    """Return the texts that share words with a question, the best first; of one kind or time, where it is given."""
    expression = terms.match(terms.of_query(question))
    if not expression:
        return []
    columns = ", ".join(f"texts.{name}" for name in COLUMNS.split(", "))
    demands: dict[str, Any] = {
        "AND texts.kind = ?": kind,
        "AND texts.at >= ?": between[0] and micros(between[0]),
        "AND texts.at < ?": between[1] and micros(between[1]),
    }
    made = {clause: value for clause, value in demands.items() if value is not None}
    clause = " ".join(made)
    query = (
        f"SELECT bm25(words) AS score, {columns} FROM words JOIN texts ON texts.rowid = words.rowid"  # noqa: S608
        f" WHERE words MATCH ? {clause} ORDER BY score LIMIT ?"
    )
    values = (expression, *made.values(), most)
    return [Match(Text(*row[1:]), -row[0]) for row in database.rows(query, values)]


def touching(database: Database, paths: Iterable[str], question: str, most: int) -> list[Match]:
    """Return texts about any of these files: the best for a question, then the newest, each as many as there may be."""
    phrases = (" ".join(terms.words(path)) for path in paths)
    about = " OR ".join(f'files : "{phrase}"' for phrase in phrases if phrase)
    if not about:
        return []
    named = {*paths}
    among = "texts.rowid IN (SELECT rowid FROM words WHERE words MATCH ?)"
    columns = ", ".join(f"texts.{name}" for name in COLUMNS.split(", "))
    newest = f"SELECT 0.0, {columns} FROM texts WHERE {among} ORDER BY at DESC LIMIT ?"  # noqa: S608  # names of our own
    rows = database.rows(newest, (about, most))
    if expression := terms.match(terms.of_query(question)):
        best = (
            f"SELECT bm25(words) AS score, {columns} FROM words JOIN texts ON texts.rowid = words.rowid"  # noqa: S608
            f" WHERE words MATCH ? AND {among} ORDER BY score LIMIT ?"
        )
        rows = [*database.rows(best, (expression, about, most)), *rows]
    unique: dict[str, Match] = {}
    for row in rows:
        text = Text(*row[1:])
        # The index finds parts of paths, too.
        if named.intersection(text.paths):
            unique.setdefault(text.id, Match(text, -row[0]))
    return list(unique.values())


def some(database: Database, identifiers: Iterable[str]) -> list[Text]:
    """Return those of the texts that are there."""
    wanted = list(identifiers)
    marks = ", ".join("?" * len(wanted))
    query = f"SELECT {COLUMNS} FROM texts WHERE id IN ({marks})"  # noqa: S608  # names of our own
    return [Text(*row) for row in database.rows(query, wanted)] if wanted else []


def beside(database: Database, turn: Text) -> list[str]:
    """Return the ids of what was said right before and after a turn in its conversation."""
    query = (
        "SELECT id FROM texts WHERE kind = 'turn' AND origin = ? AND (at, id) {} (?, ?)"
        " ORDER BY at {order}, id {order} LIMIT 1"
    )
    place = (turn.origin, turn.micros, turn.id)
    sides = (query.format("<", order="DESC"), query.format(">", order="ASC"))
    return [row[0] for side in sides for row in database.rows(side, place)]


def older(database: Database, kind: str, moment: datetime) -> list[str]:
    """Return the ids of all texts of a kind from before a moment."""
    query = "SELECT id FROM texts WHERE kind = ? AND at < ?"
    return [row[0] for row in database.rows(query, (kind, micros(moment)))]


def bounds(database: Database) -> tuple[int, int]:
    """Return the numbers of the first and the last text; (0, 0) where there is none."""
    return (*database.row("SELECT coalesce(min(rowid), 0), coalesce(max(rowid), 0) FROM texts"),)


def newest(database: Database, before: int, most: int) -> list[tuple[int, Text]]:
    """Return texts with a number below one, the newest first, with their numbers."""
    query = f"SELECT rowid, {COLUMNS} FROM texts WHERE rowid < ? ORDER BY rowid DESC LIMIT ?"  # noqa: S608
    return [(row[0], Text(*row[1:])) for row in database.rows(query, (before, most))]


def former_names(database: Database, path: str) -> set[str]:
    """Return what a file was called before, as far as commits that renamed it were recorded."""
    names = {path}
    fresh = [path]
    for _ in range(_GENERATIONS):
        fresh = [old for name in fresh for old in _former(database, name) if old not in names]
        names.update(fresh)
    return names - {path}


def _former(database: Database, path: str) -> set[str]:
    words = " ".join(terms.words(path))
    if not words:
        return set()
    query = (
        "SELECT texts.files FROM words JOIN texts ON texts.rowid = words.rowid"
        " WHERE words MATCH ? LIMIT 1000"
    )
    lines = [
        line for row in database.rows(query, (f'files : "{words}"',)) for line in row[0].split("\n")
    ]
    return {line.partition("\t")[2] for line in lines if line.startswith(f"{path}\t")}


def _text(
    identifier: str,
    about: tuple[str, datetime, str],
    source: tuple[str, str],
    said: tuple[str, str],
    paths: list[str],
) -> Text:
    kind, at, author = about
    files = "\n".join(paths)
    parts = (author, *source, *said, files, terms.beyond_words(" ".join((*said, files))))
    if any("\0" in part for part in parts):
        # It would end a text early in SQLite.
        return Text(identifier, kind, micros(at), *(part.replace("\0", "\ufffd") for part in parts))
    return Text(identifier, kind, micros(at), *parts)


def micros(moment: datetime) -> int:
    """Return a moment as a number that sorts as moments do."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
