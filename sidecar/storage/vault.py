"""Everything kept for one project: `vault.sqlite`, a deletable `cache.sqlite`, and copies of the former."""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from protocol.checkpoints import Checkpoint
from protocol.contexts import Feedback, Receipt
from protocol.conversations import Agent, Conversation
from protocol.documents import Document
from protocol.errors import StorageFailedError
from protocol.jobs import Job
from protocol.links import Link
from protocol.memories import Memory
from protocol.messages import Message
from protocol.projects import Project
from protocol.tasks import Task
from protocol.turns import Entry, KeptActivity, KeptTurn
from protocol.values import Record
from sidecar.capture.rules import sessions as rules_sessions
from sidecar.capture.rules.head_moves import Mark
from sidecar.capture.rules.pauses import Pause
from sidecar.capture.rules.sessions import Rule
from sidecar.memory.rules.drafts import Batch, Processed, Tries
from sidecar.memory.rules.drift import Look
from sidecar.storage import cache, files, sessions, snapshots, spool, texts, verification
from sidecar.storage.cache import Cache, Passages, Vectors
from sidecar.storage.collection import Collection, Op
from sidecar.storage.commits import Commits, Paces
from sidecar.storage.database import DamagedError, Database, probe
from sidecar.storage.derived import Endings, Findings, Prepared
from sidecar.storage.engine import SQLiteStorage, index_schema, table_schema
from sidecar.storage.files import JsonFile
from sidecar.storage.locks import Lock
from sidecar.storage.sessions import Sessions
from sidecar.storage.spool import Batches
from sidecar.storage.ulids import Ids

NAME = "vault.sqlite"
TEAM = "team.json"
"""Says which team a project belongs to; there is none without it."""
VERSION = 2
"""Of the schema; a change of it needs a step in `STEPS`."""
STEPS: dict[int, Callable[[Database], None]] = {1: lambda _database: None}
"""What brings a file of a version to the next one, inside the transaction that raises its version."""


T = TypeVar("T", bound=Record)


class Records(Generic[T]):
    """Declares a collection of a vault, and the fields that are looked up by value; made when it is first used."""

    def __init__(
        self, kind: type[T], *columns: str, text: Callable[[T], texts.Text | None] | None = None
    ) -> None:
        self._kind, self.columns, self._text = kind, columns, text

    def __set_name__(self, _owner: type, name: str) -> None:
        """Name the collection as the vault does."""
        self._name = name

    def __get__(self, vault: "Vault", _owner: type) -> Collection[T]:
        """Make the collection; from then on the vault has it itself."""
        made = Collection(vault.storage, self._name, self._kind, self.columns)
        made.text_of = self._text
        vault.__dict__[self._name] = made
        return made

    def schema(self) -> str:
        """Return the statements that make the table and its indexes."""
        indexes = [index_schema(self._name, column) for column in self.columns]
        return ";\n".join([table_schema(self._name, self.columns), *indexes]) + ";\n"


_log = logging.getLogger(__name__)


class Vault:
    """The memory of one project; many processes may have the same one open. Nothing is opened before it is used."""

    projects = Records(Project)
    marks = Records(Mark)
    memories = Records(
        Memory, "status", "verdict", "sessionId", "idempotencyKey", text=texts.of_memory
    )
    jobs = Records(Job, "sessionId", "status")
    batches = Records(Batch)
    processed = Records(Processed)
    tries = Records(Tries)
    looks = Records(Look)
    agents = Records(Agent)
    conversations = Records(Conversation, "agentId", "projectNormalized")
    checkpoints = Records(Checkpoint, "sessionKey")
    entries = Records(Entry, "sessionKey")
    """What was said lately, until its conversation is saved."""
    activities = Records(KeptActivity, "sessionKey")
    """What was done lately, likewise."""
    turns = Records(KeptTurn, "sessionKey", text=texts.of_turn)
    """What was said, for as long as it can be found."""
    receipts = Records(Receipt, "sessionKey")
    feedback = Records(Feedback, "memoryId")
    tasks = Records(Task, "idempotencyKey")
    messages = Records(Message, "idempotencyKey")
    documents = Records(Document)
    revisions = Records(Document, "name")
    """What documents said before."""
    links = Records(Link)

    def __init__(
        self,
        folder: Path,
        project_id: str,
        ids: Ids,
        rule: Rule,
        expected: Callable[[], int] = lambda: 0,
    ) -> None:
        self.folder = folder
        self.project_id = project_id
        self.ids = ids
        self.clock = ids.clock
        self.rule = rule
        self._expected = expected
        """Returns the number of changes that were seen here before: fewer mean that some are lost."""
        self._copied = -1
        self.note_seen: Callable[[Vault], object] = lambda _vault: None
        """Tells the home how many changes there are."""
        self.database = Database(folder / NAME, _SCHEMA, VERSION)
        self.database.before_open = self._look_after
        self.database.upgrade = _upgrade
        self.database.on_damage = lambda error: self.recover(str(error))
        self.database.before_commit = self._note_for_team
        storage = self.storage = SQLiteStorage(self.database)
        self.sessions = Sessions(storage)
        self.commits = Commits(self.sessions)
        self.paces = Paces(self.sessions)
        self.running = Lock(folder / "running")
        """Held by whoever runs an enrichment job: one at a time in a project."""
        self.silent_days: set[date] = set()
        """Days on which nothing worth a digest happened, so that nobody looks again and again."""
        self.pauses = JsonFile(folder / "pauses.json", tuple[Pause, ...], ())
        """When nothing was recorded, the oldest first; hooks read the file, too."""
        self.cache = Cache(folder / cache.NAME)
        self.vectors = Vectors(self.cache)
        self.passages = Passages(self.cache)
        self.findings = Findings(self.cache)
        self.endings = Endings(self.cache)
        self.prepared = Prepared(self.cache, self.erasures)

    @contextlib.contextmanager
    def transaction(self) -> Iterator["Vault"]:
        """Make everything written inside one step; it is on the disk when this ends, or never happened."""
        with self.database.transaction():
            yield self

    def write(self, ops: Iterable[Op]) -> None:
        """Make changes, in a transaction of their own or in the one that is open."""
        with self.database.transaction():
            for op in ops:
                op.collection.apply(op.identifier, op.record)

    def _note_for_team(self) -> None:
        """Note for a team what changes; without one nothing is loaded or asked."""
        if (self.folder / TEAM).exists():
            from sidecar.storage.team.replica import Replica, read_team  # noqa: PLC0415  # few are in a team

            if team := read_team(self.folder):
                Replica(self, team).note()

    def changes(self, collections: tuple[str, ...]) -> tuple[int, ...]:
        """Return the number of the last change of each collection: equal, where nothing was written to any."""
        revisions = self.database.revisions()
        return tuple(revisions.get(name, 0) for name in collections)

    def defer(self, line: bytes) -> None:
        """Keep a line durably while the store is busy; whoever writes next places what it says."""
        with files.refusing(self.folder):
            spool.keep(str(self.folder), [line])

    @contextlib.contextmanager
    def deferred(self) -> Iterator[Batches]:
        """Claim what was deferred."""
        with files.refusing(self.folder):
            batches = Batches(str(self.folder))
            try:
                yield batches
            finally:
                batches.close()

    def count_deferred(self) -> int:
        """Count the lines that wait."""
        with files.refusing(self.folder):
            return len(spool.peek(str(self.folder)))

    def erasures(self) -> int:
        """Return how many times something was erased for good."""
        return int(self.database.row("SELECT erasures FROM state")[0])

    @property
    def exists(self) -> bool:
        """Whether the project's file is still there."""
        return self.database.path.exists()

    def bytes_on_disk(self) -> int:
        """Add up the size of every file."""
        total = 0
        for path in self.folder.rglob("*"):
            with contextlib.suppress(OSError):
                total += path.lstat().st_size if path.is_file() else 0
        return total

    def damaged_copies(self) -> list[str]:
        """Return the places where damaged files are kept."""
        found = [*self.folder.rglob("*.corrupt.*"), *(self.folder / snapshots.DAMAGED).glob("*")]
        return sorted(str(path.relative_to(self.folder)) for path in found)

    def rest(self) -> None:
        """Close the files unless somebody is using them; the next use opens them again."""
        self.database.rest()
        self.cache.database.rest()

    def close(self) -> None:
        """Close all files; the next use opens them again."""
        self.database.close()
        self.cache.close()

    # Copies and recovery

    def keep_safe(self) -> None:
        """Do what guards against loss, when nobody waits: mend damaged rows, copy what changed, note how far it is."""
        if self.storage.damaged:
            self.recover(f"{len(self.storage.damaged)} records with a wrong checksum")
            self.storage.damaged.clear()
        seq = self.database.sequence()
        if seq != self._copied and snapshots.is_due(self.folder, datetime.now(UTC)):
            self.snapshot()
            self._copied = seq
        self.database.checkpoint()
        self.note_seen(self)

    def snapshot(self, name: str | None = None) -> Path:
        """Keep a verified copy."""
        return snapshots.take(self.database, self.folder, datetime.now(UTC), name)

    def verify(self) -> list[verification.Finding]:
        """Return what is wrong with what is kept, looked at in a copy."""
        columns = {name: kind.columns for name, kind in KINDS.items()}
        try:
            return snapshots.verify(self.database, self.folder, columns)
        except StorageFailedError as error:
            return [verification.Finding(NAME, str(error))]

    def snapshot_times(self) -> list[datetime]:
        """Return when the copies were made, the newest first."""
        found = snapshots.snapshots(self.folder)
        return [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in found]

    def recoveries(self) -> list[str]:
        """Return what was done about damage so far, the latest last."""
        return [
            f"{report.at:%Y-%m-%d %H:%M} {report.reason}: {report.salvaged} records salvaged,"
            f" {report.completed} completed from a snapshot"
            for report in snapshots.reports(self.folder)
        ]

    def recover(self, reason: str) -> snapshots.Report | None:
        """Keep damaged files aside, and put in their place all that is whole in them or in a snapshot.

        Returns None where somebody else has done so meanwhile.
        """
        seen = _identity(self.database.path)
        with Lock(self.folder / "recovering").held(), files.refusing(self.folder):
            self.database.close()
            if _identity(self.database.path) != seen:
                return None
            unfinished = snapshots.sources(self.folder)
            place = snapshots.set_aside(self.database.path)
            damaged = [*unfinished, place / NAME]
            rows, blocks, completed = snapshots.gather(
                damaged, snapshots.snapshots(self.folder), _COLLECTIONS
            )
            draft = self.folder / "recovering.sqlite"
            snapshots.remove(draft)
            _rebuild(draft, self, rows, blocks)
            # Whoever was about to open the file has begun an empty one: its WAL belongs to no other.
            snapshots.remove(self.database.path)
            draft.rename(self.database.path)
            files.sync_folder(self.folder)
            for path in unfinished:
                snapshots.finish(path.parent, "a recovery that was cut short", 0, 0)
            return snapshots.finish(place, reason, len(rows) - completed + len(blocks), completed)

    def _look_after(self) -> None:
        """Before the file is opened: notice that it is missing, empty, or was rolled back."""
        path, expected = self.database.path, self._expected()
        log = Path(f"{path}-wal")
        is_missing = not path.exists() or not path.stat().st_size
        was_there = (
            expected
            or log.exists()
            or snapshots.snapshots(self.folder)
            or snapshots.sources(self.folder)
        )
        if is_missing and was_there:
            self.recover("missing")
            return
        if is_missing:
            return
        try:
            has = probe(path, "SELECT seq FROM state")
        except DamagedError as error:
            self.recover(str(error))
            return
        if has is not None and has < expected:
            self.recover(f"rolled back: {has} changes instead of {expected}")
        for source in snapshots.sources(self.folder):
            # All that was in it is in the vault; only the report was not written any more.
            if has is not None and Lock(self.folder / "recovering").is_free():
                snapshots.finish(source.parent, "a recovery that was cut short", 0, 0)
        self._keep_before_upgrade()

    def _keep_before_upgrade(self) -> None:
        version = probe(self.database.path, "PRAGMA user_version")
        if version and version < VERSION:
            self.snapshot(f"version-{version}")


KINDS = {name: kind for name, kind in vars(Vault).items() if isinstance(kind, Records)}
_SCHEMA = "".join(kind.schema() for kind in KINDS.values()) + sessions.SCHEMA + texts.SCHEMA
_COLLECTIONS = (*KINDS, "sessions", "events")


def _upgrade(database: Database, version: int) -> None:
    for before in range(version, VERSION):
        STEPS[before](database)


def _identity(path: Path) -> tuple[int, int] | None:
    """Tell a file from another one in its place; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino) if facts.st_size else None


def _rebuild(path: Path, vault: Vault, rows: Iterable[Any], blocks: Iterable[Any]) -> None:
    """Write what was saved to a new file, with all that is derived from it."""
    new = Vault(path.parent, vault.project_id, vault.ids, vault.rule)
    new.database = Database(path, _SCHEMA, VERSION)
    new.storage = SQLiteStorage(new.database)
    new.sessions = Sessions(new.storage)
    with new.database.transaction():
        latest = 0
        for row in rows:
            latest = max(latest, row.seq)
            _put_back(new, row)
        new.sessions.put_blocks(blocks)
        _restate(new)
        new.database.skip_to(max(latest, vault._expected()) + 1)  # noqa: SLF001  # the same class
    new.database.checkpoint()
    new.database.close()


def _put_back(vault: Vault, row: Any) -> None:  # noqa: ANN401  # a salvaged row
    with contextlib.suppress(msgspec.DecodeError):
        if row.collection == "events":
            vault.sessions.put_event(row.body)
        else:
            is_session = row.collection == "sessions"
            collection: Collection[Any] = (
                vault.sessions.records if is_session else getattr(vault, row.collection)
            )
            collection.restore(row.identifier, row.body)


def _restate(vault: Vault) -> None:
    """Let every session say what its events say; events without a session get one."""
    for session_id in vault.sessions.ids_of_events():
        if session_id not in vault.sessions.records:
            arrived = vault.sessions.arrivals(session_id)
            if arrived:
                made = rules_sessions.restore(session_id, vault.project_id, arrived, vault.rule)
                vault.sessions.records.apply(session_id, made)
    vault.sessions.restate(vault.sessions.records.ids())
