"""Maintenance: what must happen from time to time though nobody asks for it."""

import contextlib
from datetime import UTC, tzinfo

from protocol.errors import BusyError, StorageFailedError
from protocol.settings import Settings
from sidecar.domain import sessions
from sidecar.services import digesting, recording
from sidecar.services.enrichment import jobs
from sidecar.store.vaults import Vault


def maintain(vault: Vault, settings: Settings) -> None:
    """Do what is due; a store that is busy or full is left alone until the next time."""
    with contextlib.suppress(BusyError, StorageFailedError):
        recording.drain(vault)
        expire(vault)
        jobs.mend(vault)
        if settings.daily_digest:
            digesting.digest(vault, zone(settings), settings.digest_hour)
        if vault.entries or vault.activities:
            from sidecar.services.continuity import flushing  # noqa: PLC0415  # only who has conversations needs it

            flushing.flush(vault, settings)
        if vault.conversations or vault.receipts:
            from sidecar.services.continuity import pruning  # noqa: PLC0415  # likewise

            pruning.prune(vault, settings)
        if vault.messages or vault.tasks:
            from sidecar.services import tidying  # noqa: PLC0415  # the same holds for what is shared

            tidying.tidy(vault)


def zone(settings: Settings) -> tzinfo:
    """Give the time zone that the user chose; UTC where there is no such zone."""
    if settings.time_zone == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415  # few choose another

    try:
        return ZoneInfo(settings.time_zone)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return UTC


def is_wanting(vault: Vault, settings: Settings, *, can_learn: bool) -> bool:
    """Tell whether memory needs to be looked after: cheap, since it is asked again and again."""
    if settings.auto_enrich and neglected(vault):
        return True
    return can_learn and vault.vectors.count() < sum(
        one.status != "forgotten" for one in vault.memories.all()
    )


def neglected(vault: Vault) -> list[str]:
    """Name the closed sessions that nobody has read, newest first."""
    return [
        session.session_id
        for session in reversed(vault.sessions.timeline())
        if session.status == "closed" and session.enrichment_status in {"none", "pending"}
    ]


def expire(vault: Vault) -> int:
    """Close the sessions whose window is over; tell how many."""
    now = vault.clock()
    if not sessions.expire(vault.sessions.timeline(), now, vault.rule):
        return 0
    with vault.lock.held():
        closed = sessions.expire(vault.sessions.timeline(), now, vault.rule)
        vault.sessions.close_sessions(closed)
    return len(closed)
