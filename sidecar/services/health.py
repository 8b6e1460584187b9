"""Health: what is kept for a project, where, and in what condition."""

from protocol.capture import CaptureState
from protocol.methods import Status
from protocol.projects import Project
from sidecar.services import browsing
from sidecar.store import journals
from sidecar.store.vaults import Vault


def report(vault: Vault, project: Project, capture: CaptureState) -> Status:
    """Describe a project's memory."""
    timeline = vault.sessions.timeline()
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
        newest=timeline[-1].started_at if timeline else None,
    )
