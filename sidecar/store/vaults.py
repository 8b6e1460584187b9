"""Everything kept for one project, in one folder."""

import contextlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from protocol.checkpoints import Checkpoint
from protocol.contexts import Feedback, Receipt
from protocol.conversations import Agent, Conversation
from protocol.documents import Document
from protocol.errors import BusyError, StorageFailedError
from protocol.jobs import Job
from protocol.links import Link
from protocol.memories import Memory
from protocol.messages import Message
from protocol.projects import Project
from protocol.tasks import Task
from protocol.turns import Entry, KeptActivity
from sidecar.domain.drafts import Batch, Processed, Tries
from sidecar.domain.drift.verdicts import Look
from sidecar.domain.moves import Mark
from sidecar.domain.recall import similarities
from sidecar.domain.sessions import Rule
from sidecar.store import files, journals, migrations
from sidecar.store.catalogues import Catalogues
from sidecar.store.chronicles import Chronicle
from sidecar.store.commits import Commits
from sidecar.store.endings import Endings
from sidecar.store.findings import Findings
from sidecar.store.ids import Ids
from sidecar.store.inbox import Inbox
from sidecar.store.journals import Journal
from sidecar.store.locks import Lock
from sidecar.store.migrations import Step
from sidecar.store.outlines import Outlines
from sidecar.store.paces import Paces
from sidecar.store.pauses import Pauses
from sidecar.store.shelves import Shelf
from sidecar.store.tables import JournalDatabase, JournalStorage
from sidecar.store.vectors import Vectors

JOURNAL = "vault.jsonl"
CORRUPT = ".corrupt."


class Vault:
    """The memory of one project; many processes may have the same one open."""

    def __init__(self, folder: Path, project_id: str, ids: Ids, rule: Rule) -> None:
        """Stand on the project's folder; `open_vault` makes it ready."""
        self.folder = folder
        self.project_id = project_id
        self.ids = ids
        self.clock = ids.clock
        self.rule = rule
        self.lock = Lock(folder / "lock")
        self.journal = Journal(
            folder / JOURNAL,
            self.lock,
            lambda: self.sessions.recover(project_id, rule),
            Outlines(folder / "cache" / "outline"),
        )
        self.database = JournalDatabase(self.journal, self.lock, ids, storage=JournalStorage)
        self.projects = Shelf(self.database, "projects", Project)
        self.marks = Shelf(self.database, "marks", Mark)
        self.memories = Shelf(self.database, "memories", Memory)
        self.jobs = Shelf(self.database, "jobs", Job)
        self.batches = Shelf(self.database, "batches", Batch)
        self.processed = Shelf(self.database, "processed", Processed)
        self.tries = Shelf(self.database, "tries", Tries)
        self.looks = Shelf(self.database, "looks", Look)
        self.agents = Shelf(self.database, "agents", Agent)
        self.conversations = Shelf(self.database, "conversations", Conversation)
        self.checkpoints = Shelf(self.database, "checkpoints", Checkpoint)
        self.entries = Shelf(self.database, "entries", Entry)
        """What was said lately, until its conversation is saved."""
        self.activities = Shelf(self.database, "activities", KeptActivity)
        """What was done lately, likewise."""
        self.receipts = Shelf(self.database, "receipts", Receipt)
        self.feedback = Shelf(self.database, "feedback", Feedback)
        self.tasks = Shelf(self.database, "tasks", Task)
        self.messages = Shelf(self.database, "messages", Message)
        self.documents = Shelf(self.database, "documents", Document)
        self.revisions = Shelf(self.database, "revisions", Document)
        """What documents said before."""
        self.links = Shelf(self.database, "links", Link)
        self.running = Lock(folder / "running")
        """Held by whoever runs an enrichment job: one at a time in a project."""
        self.silent_days: set[date] = set()
        """Days on which nothing worth a digest happened, so that nobody looks again and again."""
        self.pauses = Pauses(folder / "pauses.json")
        self.vectors = Vectors(
            folder / "cache" / "vectors", self.lock, similarities.MODEL, similarities.DIMENSION
        )
        self.catalogues = Catalogues(folder / "cache", self.lock)
        self.findings = Findings(folder / "cache" / "findings")
        self.endings = Endings(folder / "cache" / "endings")
        self.sessions = Chronicle(folder, self.database, self.lock, ids)
        self.commits = Commits(self.sessions)
        self.paces = Paces(self.sessions)
        self.inbox = Inbox(folder / "inbox")

    def put_mark(self, name: str, mark: Mark) -> None:
        """Remember how far a HEAD's moves are known; losing it costs a second look."""
        with self.lock.held():
            self.journal.append([self.marks.put(name, mark)], durable=False)

    def bytes_on_disk(self) -> int:
        """Add up the size of every file."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return sum(path.lstat().st_size for path in paths)

    def damaged_copies(self) -> list[str]:
        """Name the originals of what was found damaged."""
        found = self.folder.rglob(f"*{CORRUPT}*")
        return sorted(str(path.relative_to(self.folder)) for path in found)

    def close(self) -> None:
        """Give all files back."""
        self.sessions.close()
        self.inbox.close()
        self.database.close()
        self.running.close()
        self.lock.close()


def open_vault(
    folder: Path,
    project_id: str,
    ids: Ids,
    rule: Rule,
    steps: Mapping[int, Step] = migrations.STEPS,
) -> Vault:
    """Open a project's memory, mending what a crash or a bad disk did to it.

    Where another process keeps the lock, or nothing can be written, the good part is served as it is.
    """
    files.ensure_folder(folder)
    for name in ("sessions", "inbox", "cache"):
        files.ensure_folder(folder / name)
    vault = Vault(folder, project_id, ids, rule)
    try:
        with contextlib.suppress(BusyError, StorageFailedError), vault.lock.held():
            _make_ready(vault, steps)
    except BaseException:
        vault.close()
        raise
    return vault


def _make_ready(vault: Vault, steps: Mapping[int, Step]) -> None:
    journal = vault.journal
    journal.refresh()
    if journal.format < journals.FORMAT:
        migrations.migrate(vault.folder, journal, vault.lock, steps)
    journal.prepare()
    vault.sessions.repair(vault.project_id, vault.rule)
