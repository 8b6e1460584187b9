"""A vault's part in a team: what it has to tell, what it has heard, and how far. Kept in the vault's own file.

The tables are made when a team is joined and go when it is left. Every change of a shared record is noted in the
transaction that makes it, so what is stored is told, and what was undone never is.
"""

import logging
import secrets
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from protocol.values import Record as WireRecord
from sidecar.privacy import cleaning
from sidecar.storage import files
from sidecar.storage.team import merge
from sidecar.storage.team.entries import LIMIT, Change, Entry, Head, encode, hashed, moment, tick
from sidecar.storage.team.merge import DELETED, ERASED, Document, Value

if TYPE_CHECKING:
    from sidecar.storage.collection import Collection
    from sidecar.storage.vault import Vault

TEAM = "team.json"
Share = Literal["decisions", "memories", "everything"]
COLLECTIONS = ("memories", "tasks", "messages", "documents", "links")
"""Whose records may be shared; all others never leave the machine."""
MEMBERS, CONFIRMATIONS = "members", "confirmations"
"""Records of the log itself: who takes part, and who has erased what was to be erased."""

PERSONAL = "personal"
"""The team of a project that is in none."""
_DECISIONS = ("decision", "constraint", "preference")
_AGREED = ("active", "superseded", "forgotten")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS team_self (id INTEGER PRIMARY KEY CHECK (id = 1), writer TEXT NOT NULL,
  sequence INTEGER NOT NULL, sent INTEGER NOT NULL, hash TEXT NOT NULL, clock TEXT NOT NULL, pulled TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS team_outbox (sequence INTEGER PRIMARY KEY, clock TEXT NOT NULL, change TEXT NOT NULL, payload BLOB);
CREATE TABLE IF NOT EXISTS team_values (collection TEXT, id TEXT, field TEXT, clock TEXT, writer TEXT, body TEXT NOT NULL,
  PRIMARY KEY (collection, id, field, clock, writer)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS team_entries (collection TEXT, id TEXT, clock TEXT, writer TEXT, sequence INTEGER NOT NULL,
  PRIMARY KEY (collection, id, clock, writer)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS team_cursors (writer TEXT PRIMARY KEY, sequence INTEGER NOT NULL, hash TEXT NOT NULL,
  clock TEXT NOT NULL, problem TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS team_withdrawals (writer TEXT, sequence INTEGER, PRIMARY KEY (writer, sequence)) WITHOUT ROWID;
"""
_TABLES = tuple(
    f"team_{name}" for name in ("self", "outbox", "values", "entries", "cursors", "withdrawals")
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = LIMIT * 3 // 4
"""Bytes of the fields of one entry: it must fit with its names, sealed."""
_ZERO = f"{0:013d}-{0:06x}"

Seal = Callable[[bytes, bytes], bytes]
"""Makes a payload of an entry's header and its change."""

_log = logging.getLogger(__name__)


class Team(WireRecord, frozen=True, kw_only=True):
    """Which team a project belongs to, as this machine keeps it."""

    team_id: str
    address: str
    """A PostgreSQL-wire address, or a git remote."""
    project: str
    """What the team calls the project."""
    share: Share = "decisions"
    person: str = ""
    machine: str = ""
    is_encrypted: bool = False
    is_approved: bool = False
    """Whether the person has seen what is shared: before that, nothing is sent."""


def read_team(folder: Path) -> Team | None:
    """Return the team of the vault in a folder; None without one, or where the file cannot be read."""
    data = files.read(folder / TEAM)
    try:
        return None if data is None else msgspec.json.decode(data, type=Team)
    except msgspec.DecodeError as error:
        # What is local must work on, whatever has become of the team.
        _log.warning("%s cannot be read; nothing is shared: %s", folder / TEAM, error)
        return None


def write_team(folder: Path, team: Team) -> None:
    """Keep which team a vault belongs to; the address may hold a password, so the file is private."""
    files.replace(folder / TEAM, msgspec.json.encode(team))


def machine_name() -> str:
    """Return what this machine is called."""
    return socket.gethostname()[:64]


class Me(msgspec.Struct, frozen=True):
    """This machine's own log."""

    writer: str
    sequence: int
    """Of the last change that was noted."""
    sent: int
    """Of the last entry that the engine has."""
    hash: str
    """Of that entry."""
    clock: str
    pulled: str
    """When all that others have told was last taken over; empty where it never was."""


class Replica:
    """The team's tables in a vault's file; writing happens inside the vault's transactions."""

    def __init__(self, vault: "Vault", team: Team) -> None:
        self._vault, self.team = vault, team
        self.database = vault.database

    # Beginning and end

    @property
    def is_made(self) -> bool:
        """Whether the tables are there: a vault that was put together from damaged files has none."""
        query = "SELECT 1 FROM sqlite_master WHERE name = 'team_self'"
        return bool(self.database.rows(query))

    def make(self) -> None:
        """Begin a log, with all that is shared as it is now; nothing where there is one."""
        if self.is_made:
            return
        with self._vault.transaction():
            if self.is_made:
                return
            for statement in _SCHEMA.split(";\n"):
                if statement.strip():
                    self.database.execute(statement)
            self.database.execute(
                "INSERT INTO team_self VALUES (1, ?, 0, 0, '', ?, '')",
                (_new_writer(), tick(_ZERO, _EPOCH)),
            )
            for changed, name, key, shown in sorted(self._all(), key=lambda found: found[:3]):
                self._note_document(name, key, shown, changed)
            self.note_member()
            self._stamp_all(self.team.team_id)

    def drop(self) -> None:
        """Forget the team's tables; the records stay, and belong to no team."""
        with self._vault.transaction():
            self._stamp_all(PERSONAL)
            for name in _TABLES:
                self.database.execute(f"DROP TABLE IF EXISTS {name}")

    def preview(self) -> Iterator[tuple[str, str, Document]]:
        """Return what would be shared: collection, id and document, as it would leave."""
        for _, name, key, shown in self._all():
            yield name, key, shown

    # What is told

    def note(self) -> None:
        """Note what the open transaction has changed, before it is committed."""
        self.make()
        began, has_erased = self.database.began, self.database.has_erased
        for name in COLLECTIONS:
            if not self.database.has_touched(name):
                continue
            collection = getattr(self._vault, name)
            for key, body, _ in list(collection.table.raw("WHERE seq > ?", [began])):
                shown = self._stamp(collection, key, msgspec.json.decode(body))
                outgoing = self._outgoing(name, shown)
                self._note_document(name, key, outgoing, has_erased=has_erased)
            for key in self.database.removed(name):
                if key not in collection:
                    self._note_removal(name, key, has_erased=has_erased)
        if self.database.has_touched("sessions"):
            sessions = self._vault.sessions.records
            for key, body, _ in list(sessions.table.raw("WHERE seq > ?", [began])):
                self._stamp(sessions, key, msgspec.json.decode(body))

    def tell(self, collection: str, identifier: str, fields: Document, at: str = "") -> None:
        """Note a change of a record, inside a transaction; one that is too large for an entry becomes several."""
        for part in _parts(fields):
            me = self.me()
            clock = tick(me.clock, moment(at) if at else self._vault.clock())
            change = Change(collection=collection, id=identifier, fields=part)
            self.database.execute(
                "INSERT INTO team_outbox VALUES (?, ?, ?, NULL)",
                (me.sequence + 1, clock, encode(change).decode()),
            )
            query = "UPDATE team_self SET sequence = ?, clock = ?"
            self.database.execute(query, (me.sequence + 1, clock))
            values = [Value(name, clock, me.writer, encode(value)) for name, value in part.items()]
            self._add((collection, identifier), (clock, me.writer, me.sequence + 1), values)

    def note_member(self) -> None:
        """Tell who works here and when; inside a transaction."""
        fields = {"person": self.team.person, "machine": self.team.machine}
        now = self._vault.clock().isoformat()
        heads = {writer: head.sequence for writer, head in self.cursors().items()}
        self.tell(MEMBERS, self.me().writer, fields | {"seenAt": now, "heads": heads})

    def _note_document(
        self, name: str, key: str, shown: Document, at: str = "", *, has_erased: bool = False
    ) -> None:
        record = self.record(name, key)
        is_personal = shown.get("scope") == "user"
        if is_personal or not (record or self.is_shared(name, shown)):
            return
        known = getattr(self._vault, name).fields
        fields = merge.difference(name, record, shown, known.__contains__)
        if has_erased and fields:
            whole = merge.split(name, shown)
            fields = {field: msgspec.json.decode(body) for field, body in whole.items()}
            fields[ERASED] = True
        if fields:
            self.tell(name, key, fields, at)

    def _note_removal(self, name: str, key: str, *, has_erased: bool) -> None:
        record = self.record(name, key)
        if record and not merge.is_deleted(record):
            self.tell(name, key, {DELETED: True} | ({ERASED: True} if has_erased else {}))

    def is_shared(self, name: str, shown: Document) -> bool:
        """Return whether a record is one that the person has chosen to share."""
        if shown.get("scope") == "user":
            return False
        if name == "links":
            ends = [shown["source"], shown["target"]]
            return all(
                end["kind"] != "memory" or self.record("memories", end["id"]) for end in ends
            )
        if name != "memories" or self.team.share == "everything":
            return True
        if shown["status"] not in _AGREED:
            return False
        if self.team.share == "memories":
            return bool(shown["type"] != "episodic")
        return shown["type"] in _DECISIONS and shown["status"] != "forgotten"

    def _all(self) -> Iterator[tuple[str, str, str, Document]]:
        for name in COLLECTIONS:
            for key, body, _ in getattr(self._vault, name).table.raw("ORDER BY id"):
                shown = self._outgoing(name, msgspec.json.decode(body))
                if name == "links" and not self.is_made:
                    continue
                if self.is_shared(name, shown):
                    yield self._changed_at(shown), name, key, shown

    def _changed_at(self, shown: Document) -> str:
        """Return the clock of a record's last change: what others have changed later wins."""
        text = shown.get("updatedAt") or shown.get("createdAt")
        now = self._vault.clock()
        return tick(
            _ZERO, min(msgspec.convert(text, type(now), strict=False), now) if text else _EPOCH
        )

    def _outgoing(self, name: str, shown: Document) -> Document:
        """Return a document as it may leave: without what is this machine's own, redacted once more."""
        return _redacted(merge.publishable(name, shown))  # type: ignore[no-any-return]  # a document stays one

    def _stamp(
        self, collection: "Collection[Any]", key: str, shown: Document, team_id: str = ""
    ) -> Document:
        """Let a stored record name its team."""
        wanted = team_id or self.team.team_id
        if shown.get("teamId", PERSONAL) == wanted:
            return shown
        stamped = shown | {"teamId": wanted}
        collection.restore(key, encode(stamped))
        return stamped

    def _stamp_all(self, team_id: str) -> None:
        shared = [getattr(self._vault, name) for name in COLLECTIONS]
        for collection in (*shared, self._vault.sessions.records):
            for key, body, _ in list(collection.table.raw()):
                self._stamp(collection, key, msgspec.json.decode(body), team_id)

    # What is sent

    def me(self) -> Me:
        """Return how far this machine's own log is."""
        return Me(
            *self.database.row("SELECT writer, sequence, sent, hash, clock, pulled FROM team_self")
        )

    def waiting(self) -> int:
        """Count the changes that the engine does not have yet."""
        return int(self.database.row("SELECT count(*) FROM team_outbox")[0])

    def outgoing(self, limit: int, seal: Seal) -> list[Entry]:
        """Return the next entries to send; the same bytes again for as long as nobody has confirmed them."""
        with self._vault.transaction():
            me = self.me()
            head, entries = me.hash, []
            query = (
                "SELECT sequence, clock, change, payload FROM team_outbox ORDER BY sequence LIMIT ?"
            )
            for sequence, clock, change, payload in self.database.rows(query, (limit,)):
                plain = Entry(
                    project=self.team.project,
                    writer=me.writer,
                    sequence=sequence,
                    clock=clock,
                    previous=head,
                    digest="",
                    payload=b"",
                )
                sealed = payload or seal(plain.header, change.encode())
                if payload is None:
                    query = "UPDATE team_outbox SET payload = ? WHERE sequence = ?"
                    self.database.execute(query, (sealed, sequence))
                entry = msgspec.structs.replace(plain, payload=sealed, digest=hashed(sealed))
                entries.append(entry)
                head = entry.hash
            return entries

    def confirm(self, head: Head) -> None:
        """Note that the engine has this machine's log up to here."""
        with self._vault.transaction():
            self.database.execute("DELETE FROM team_outbox WHERE sequence <= ?", (head.sequence,))
            self.database.execute(
                "UPDATE team_self SET sent = ?, hash = ? WHERE sent < ?",
                (head.sequence, head.hash, head.sequence),
            )

    def retire(self) -> str:
        """Go on under a new writer id, since the log has entries of the old one that are not ours; return the new id.

        A vault restored from an old copy, or copied to a second machine, does not know what it has told since.
        """
        with self._vault.transaction():
            me, writer = self.me(), _new_writer()
            # Its clock is not known here: that the hash fits is enough.
            self._keep_cursor(me.writer, Head(me.sent, me.hash, ""), "")
            # What nobody has heard yet is told under the new name.
            self.database.execute(
                "UPDATE OR REPLACE team_values SET writer = ? WHERE writer = ? AND clock IN (SELECT clock FROM team_outbox)",
                (writer, me.writer),
            )
            self.database.execute(
                "UPDATE team_entries SET writer = ?, sequence = sequence - ? WHERE writer = ? AND sequence > ?",
                (writer, me.sent, me.writer, me.sent),
            )
            self.database.execute(
                "UPDATE team_outbox SET sequence = sequence - ?, payload = NULL", (me.sent,)
            )
            self.database.execute(
                "UPDATE team_self SET writer = ?, sequence = sequence - sent, sent = 0, hash = ''",
                (writer,),
            )
            self.note_member()
            return writer

    # What is heard

    def cursors(self) -> dict[str, Head]:
        """Return how far the logs of others are known."""
        rows = self.database.rows("SELECT writer, sequence, hash, clock FROM team_cursors")
        return {writer: Head(*head) for writer, *head in rows}

    def problems(self) -> dict[str, str]:
        """Return what keeps logs of others from being read on."""
        query = "SELECT writer, problem FROM team_cursors WHERE problem != ''"
        return dict(self.database.rows(query))

    def advance(self, writer: str, head: Head) -> None:
        """Note how far a log of somebody else is known, inside a transaction."""
        self._keep_cursor(writer, head, "")

    def report(self, writer: str, problem: str) -> bool:
        """Note what keeps a log from being read on; False where that was known."""
        if self.problems().get(writer) == problem:
            return False
        with self._vault.transaction():
            self._keep_cursor(writer, self.cursors().get(writer, Head()), problem)
        return True

    def take(self, entry: Entry, change: Change) -> bool:
        """Merge an entry into its record, inside a transaction; True where it erased something."""
        me = self.me()
        if entry.clock > me.clock:
            self.database.execute("UPDATE team_self SET clock = ?", (entry.clock,))
        place = (entry.clock, entry.writer, entry.sequence)
        record = self._add((change.collection, change.id), place, merge.values_of(entry, change))
        if change.collection in COLLECTIONS:
            self._show(change.collection, change.id, record)
        return ERASED in change.fields

    def note_pulled(self) -> None:
        """Note that all was taken over that there was."""
        with self._vault.transaction():
            self.database.execute(
                "UPDATE team_self SET pulled = ?", (self._vault.clock().isoformat(),)
            )

    # Records

    def record(self, collection: str, identifier: str) -> dict[str, list[Value]]:
        """Return the values of a record that are known."""
        return merge.settle(self._values(collection, identifier))

    def records(self) -> dict[tuple[str, str], dict[str, list[Value]]]:
        """Return all records that are shared, also those that were deleted."""
        query = "SELECT collection, id, field, clock, writer, body FROM team_values"
        gathered: dict[tuple[str, str], list[Value]] = {}
        for collection, identifier, field, clock, writer, body in self.database.rows(query):
            value = Value(field, clock, writer, body.encode())
            gathered.setdefault((collection, identifier), []).append(value)
        return {key: merge.settle(values) for key, values in gathered.items()}

    def documents(self, collection: str) -> dict[str, Document]:
        """Return the shared documents of a collection that are there, by id."""
        shown = {
            identifier: merge.document(name, record)
            for (name, identifier), record in self.records().items()
            if name == collection
        }
        return {identifier: found for identifier, found in shown.items() if found is not None}

    def document(self, collection: str, identifier: str) -> Document | None:
        """Return one shared document."""
        return merge.document(collection, self.record(collection, identifier)) or None

    def erasures(self) -> list[tuple[str, str]]:
        """Return the records of which something was erased."""
        query = "SELECT DISTINCT collection, id FROM team_values WHERE field = ? ORDER BY 1, 2"
        return [tuple(row) for row in self.database.rows(query, (ERASED,))]

    def withdrawals(self) -> list[tuple[str, int]]:
        """Return the entries whose payloads must go from the engine."""
        rows = self.database.rows("SELECT writer, sequence FROM team_withdrawals")
        return [(writer, sequence) for writer, sequence in rows]

    def withdrawn(self, places: list[tuple[str, int]]) -> None:
        """Note that payloads are gone from the engine."""
        with self._vault.transaction():
            self.database.execute_all(
                "DELETE FROM team_withdrawals WHERE writer = ? AND sequence = ?", places
            )

    def confirm_erasures(self) -> int:
        """Tell that what was to be erased is nowhere here any more; return how many are told now."""
        with self._vault.transaction():
            writer = self.me().writer
            known = self.documents(CONFIRMATIONS)
            fresh = [
                (f"{name}/{key}/{writer}", name, key)
                for name, key in self.erasures()
                if f"{name}/{key}/{writer}" not in known
            ]
            for identifier, name, key in fresh:
                at = self._vault.clock().isoformat()
                told = {"collection": name, "record": key, "writer": writer, "at": at}
                self.tell(CONFIRMATIONS, identifier, told)
            return len(fresh)

    # Inside

    def _values(self, collection: str, identifier: str) -> list[Value]:
        query = "SELECT field, clock, writer, body FROM team_values WHERE collection = ? AND id = ?"
        rows = self.database.rows(query, (collection, identifier))
        return [Value(name, clock, writer, body.encode()) for name, clock, writer, body in rows]

    def _add(
        self, record: tuple[str, str], place: tuple[str, str, int], values: list[Value]
    ) -> dict[str, list[Value]]:
        """Add an entry's values to a record, and drop those that are not kept; return what is."""
        self.database.execute(
            "INSERT OR IGNORE INTO team_entries VALUES (?, ?, ?, ?, ?)", (*record, *place)
        )
        before = set(self._values(*record))
        settled = merge.settle([*before, *values])
        kept = {value for values in settled.values() for value in values}
        self.database.execute_all(
            "DELETE FROM team_values WHERE collection = ? AND id = ? AND field = ? AND clock = ? AND writer = ?",
            [(*record, *value[:3]) for value in before - kept],
        )
        self.database.execute_all(
            "INSERT OR REPLACE INTO team_values VALUES (?, ?, ?, ?, ?, ?)",
            [(*record, *value[:3], value.body.decode()) for value in kept - before],
        )
        if ERASED in settled:
            self._withdraw(record, settled[ERASED][0])
        return settled

    def _withdraw(self, record: tuple[str, str], erased: Value) -> None:
        """Remember which entries have words that must go; those that wait here are emptied at once."""
        older = "collection = ? AND id = ? AND (clock, writer) < (?, ?)"
        values = (*record, erased.clock, erased.writer)
        blank = encode(Change(collection="", id="", fields={})).decode()
        own = f"SELECT sequence FROM team_entries WHERE writer = ? AND {older}"  # noqa: S608  # our own words
        self.database.execute(
            f"UPDATE team_outbox SET change = ?, payload = NULL WHERE sequence IN ({own})",  # noqa: S608
            (blank, self.me().writer, *values),
        )
        self.database.execute(
            f"INSERT OR IGNORE INTO team_withdrawals SELECT writer, sequence FROM team_entries WHERE {older}",  # noqa: S608
            values,
        )
        self.database.execute(f"DELETE FROM team_entries WHERE {older}", values)  # noqa: S608

    def _show(self, name: str, key: str, record: merge.Record) -> None:
        """Let the vault have a record as the team has it; one that this version cannot read stays out."""
        collection = getattr(self._vault, name)
        shared = merge.document(name, record)
        existing = collection.peek(key)
        if shared is None:
            if existing is not None:
                collection.apply(key, None)
            return
        own = {"projectId": self._vault.project_id, "teamId": self.team.team_id}
        kept = merge.localized(name, shared, existing, own)
        if kept != existing:
            try:
                collection.restore(key, encode(kept))
            except msgspec.DecodeError as error:
                _log.info("%s %s of the team cannot be shown by this version: %s", name, key, error)

    def _keep_cursor(self, writer: str, head: Head, problem: str) -> None:
        self.database.execute(
            "INSERT OR REPLACE INTO team_cursors VALUES (?, ?, ?, ?, ?)",
            (writer, head.sequence, head.hash, head.clock, problem),
        )


def _parts(fields: Document) -> Iterator[Document]:
    """Split fields so that each part fits an entry; marks come first, and a field that fits none is left out."""
    part: Document = {}
    size = 0
    for name in sorted(fields, key=lambda name: (not name.startswith("$"), name)):
        length = len(name) + len(encode(fields[name]))
        if length > _MOST:
            _log.warning("a field `%s` of %d bytes is too large to be shared", name, length)
            continue
        if size + length > _MOST:
            yield part
            part, size = {}, 0
        part[name] = fields[name]
        size += length
    if part:
        yield part


def _new_writer() -> str:
    return secrets.token_hex(10)


def _redacted(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value with secrets taken out of all its texts."""
    if isinstance(value, str):
        return cleaning.clean(value)
    if isinstance(value, dict):
        return {name: _redacted(inner) for name, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list) else value
