"""Health: what is kept for a project, where, and in what condition."""

from collections import Counter

from protocol.capture import CaptureState
from protocol.memories import MemoryHealth
from protocol.methods import Status
from protocol.projects import Project
from sidecar.services import browsing
from sidecar.services.meanings import Meanings
from sidecar.store import journals
from sidecar.store.vaults import Vault


def report(vault: Vault, project: Project, capture: CaptureState, meanings: Meanings) -> Status:
    """Describe a project's memory."""
    timeline = vault.sessions.timeline()
    last = vault.sessions.get(timeline[-1].session_id) if timeline else None
    return Status(
        project_id=project.project_id,
        name=project.name,
        folder=str(vault.folder),
        format=journals.FORMAT,
        sessions=len(timeline),
        events=vault.sessions.count_events(),
        active_session=browsing.find_active(vault),
        capture=capture,
        waiting=vault.inbox.count(),
        bytes_on_disk=vault.bytes_on_disk(),
        damaged_copies=tuple(vault.damaged_copies()),
        oldest=timeline[0].started_at if timeline else None,
        newest=last.last_event_at if last else None,
        memories=count_active(vault),
        memory_health=memory_health(vault, meanings),
    )


def memory_health(vault: Vault, meanings: Meanings) -> MemoryHealth:
    """Tell what memory can do at the moment, and what of it needs attention."""
    kept = _by_standing(vault)
    absence = meanings.absence
    return MemoryHealth(
        semantic=absence is None,
        semantic_absence=absence,
        unprocessed_sessions=sum(
            one.enrichment_status in {"none", "pending"} for one in vault.sessions.timeline()
        ),
        failed_jobs=sum(job.status == "failed" for job in vault.jobs.all()),
        changed=kept["active", "changed"] + kept["stale", "changed"],
        gone=kept["active", "gone"] + kept["stale", "gone"],
    )


def count_active(vault: Vault) -> int:
    """Count the memories that are active."""
    return sum(count for (status, _), count in _by_standing(vault).items() if status == "active")


def _by_standing(vault: Vault) -> Counter[tuple[str, str | None]]:
    """Count the memories by their status and verdict, without reading them."""
    return Counter(vault.memories.tally("status", "verdict"))
