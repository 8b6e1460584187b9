"""Handling: the files that are at hand where context is asked for."""

from sidecar.services import browsing
from sidecar.services.context.scenes import Scene

_MOST = 20
"""Files of the active session that count as at hand."""


def files(scene: Scene) -> tuple[str, ...]:
    """Name the files at hand: those that were named, then what was last worked on in the active session."""
    session = browsing.find_active(scene.vault)
    if session is None:
        return scene.params.files_at_hand
    events = scene.vault.sessions.events(session.session_id)
    latest = (change.path for event in reversed(events) for change in event.files)
    worked_on = list(dict.fromkeys(latest))[:_MOST]
    return tuple(dict.fromkeys((*scene.params.files_at_hand, *worked_on)))
