"""Handling: the files that are at hand where context is asked for."""

from sidecar.services import browsing
from sidecar.services.context.scenes import Scene

_MOST = 20
"""Files of the active session that count as at hand."""
_EVENTS = 100
"""Events among which they are looked for, those that came last."""


def files(scene: Scene) -> tuple[str, ...]:
    """Name the files at hand: those that were named, then what was last worked on in the active session."""
    session_id = browsing.active_id(scene.vault)
    if session_id is None:
        return scene.params.files_at_hand
    events = scene.vault.sessions.latest(session_id, _EVENTS)
    events.sort(key=lambda event: (event.occurred_at, event.event_id), reverse=True)
    latest = (change.path for event in events for change in event.files)
    worked_on = list(dict.fromkeys(latest))[:_MOST]
    return tuple(dict.fromkeys((*scene.params.files_at_hand, *worked_on)))
