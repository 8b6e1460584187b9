"""Counts and condition of a project's memory."""

from collections import Counter
from typing import TYPE_CHECKING

from protocol.capture import CaptureState
from protocol.memories import MemoryHealth
from protocol.methods import Status
from protocol.projects import Project
from sidecar.capture import timeline
from sidecar.search.meanings import Meanings
from sidecar.storage import skipped
from sidecar.storage import vault as storage_vault
from sidecar.storage.conditions import field
from sidecar.storage.vault import Vault

if TYPE_CHECKING:
    from sidecar.search.recall import Standings


def report(
    vault: Vault, project: Project, capture: CaptureState, meanings: Meanings, parked: int = 0
) -> Status:
    """Describe a project's memory."""
    first, last = vault.sessions.oldest(), next(vault.sessions.newest(), None)
    standings: Standings = Counter(vault.memories.tally("status", "verdict"))
    return Status(
        project_id=project.project_id,
        name=project.name,
        folder=str(vault.folder),
        format=storage_vault.VERSION,
        sessions=vault.sessions.count(),
        events=vault.sessions.count_events(),
        active_session=timeline.find_active(vault),
        capture=capture,
        waiting=vault.count_deferred(),
        bytes_on_disk=vault.bytes_on_disk(),
        damaged_copies=tuple(vault.damaged_copies()),
        snapshots=tuple(vault.snapshot_times()),
        recoveries=tuple(vault.recoveries()),
        journal="rollback" if vault.database.is_remote else "wal",
        oldest=first.started_at if first else None,
        newest=last.last_event_at if last else None,
        memories=count_active(standings),
        proposed=sum(count for (status, _), count in standings.items() if status == "proposed"),
        memory_health=memory_health(vault, meanings, standings),
        skipped=skipped.read(vault.folder),
        parked_events=parked,
    )


def memory_health(vault: Vault, meanings: Meanings, standings: "Standings") -> MemoryHealth:
    """Return what memory can do at the moment, and what of it needs attention."""
    absence = meanings.absence
    waiting = Counter(vault.sessions.count_by())
    return MemoryHealth(
        semantic=absence is None,
        semantic_absence=absence,
        unprocessed_sessions=waiting["none"] + waiting["pending"],
        failed_jobs=len(vault.jobs.search(field("status") == "failed")),
        changed=standings["active", "changed"] + standings["stale", "changed"],
        gone=standings["active", "gone"] + standings["stale", "gone"],
    )


def count_active(standings: "Standings") -> int:
    """Count the memories that are active."""
    return sum(count for (status, _), count in standings.items() if status == "active")
