"""Import a repository's history as sessions, each commit once."""

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from protocol.events import NewEvent
from protocol.values import Record
from sidecar.capture import record
from sidecar.capture.rules import pauses
from sidecar.capture.rules.pauses import Pause
from sidecar.capture.rules.sessions import commit_key
from sidecar.storage.vault import Vault

SOURCE = "cli-scan"
CHUNK = 2000
"""Commits stored under one lock; others get their turn in between."""

Wanted = Sequence[tuple[str, str | None]]
"""Commits by sha, each with its branch, oldest first."""
Reader = Callable[[Wanted], Iterator[NewEvent]]
Progress = Callable[[int, int], None]
"""Told how many commits are done, of how many."""


class Scanned(Record, frozen=True, kw_only=True):
    """What a scan did."""

    found: int
    imported: int
    sessions: int


def scan(vault: Vault, history: Wanted, read: Reader, progress: Progress) -> Scanned:
    """Import what is not known yet; an interrupted scan goes on where it stopped."""
    # Millions of small values are made here, none of them in a cycle.
    gc.disable()
    try:
        return _scan(vault, history, read, progress)
    finally:
        gc.enable()


def _scan(vault: Vault, history: Wanted, read: Reader, progress: Progress) -> Scanned:
    known = vault.sessions.find(commit_key(sha) for sha, _ in history)
    missing = [entry for entry in history if commit_key(entry[0]) not in known]
    events = read(missing)
    imported = 0
    touched: set[str] = set()
    progress(len(known), len(history))
    known_pauses = vault.pauses.read()
    while found := list(islice(events, CHUNK)):
        chunk = [event for event in found if not _was_paused(event, known_pauses)]
        placed = record.ingest(vault, chunk, SOURCE)
        imported += sum(event.outcome != "duplicate" for event in placed)
        touched.update(event.session_id for event in placed if event.session_id)
        progress(len(known) + imported, len(history))
    record.expire(vault)
    return Scanned(found=len(history), imported=imported, sessions=len(touched))


def _was_paused(event: NewEvent, known: Sequence[Pause]) -> bool:
    commit = event.commit
    if commit is None or not known:
        return False
    return pauses.were_on(known, commit.committed_at or commit.authored_at)
