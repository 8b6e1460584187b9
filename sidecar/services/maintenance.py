"""Maintenance: what must happen from time to time though nobody asks for it."""

import contextlib
import logging
from datetime import UTC, tzinfo

from protocol.errors import BusyError, StorageFailedError, ThreadlineError
from protocol.settings import Settings
from sidecar.domain import sessions
from sidecar.services import digesting, recording
from sidecar.services.enrichment import jobs
from sidecar.storage.vault import Vault

_log = logging.getLogger(__name__)


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


def keep_safe(vault: Vault) -> None:
    """Copy and check what is kept; what goes wrong there is logged and fails nobody."""
    try:
        vault.keep_safe()
    except ThreadlineError as error:
        _log.warning("%s", error)
    except Exception:  # noqa: BLE001  # the boundary of maintenance
        _log.exception("%s could not be copied", vault.folder)


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
    if not can_learn:
        return False
    counts = vault.memories.tally("status", "verdict")
    kept = sum(count for (status, _), count in counts.items() if status != "forgotten")
    return vault.vectors.count() < kept


def neglected(vault: Vault) -> list[str]:
    """Name the closed sessions that nobody has read, newest first."""
    return vault.sessions.unread()


def expire(vault: Vault) -> int:
    """Close the sessions whose window is over; tell how many."""
    now = vault.clock()
    if not sessions.expire(vault.sessions.active(), now, vault.rule):
        return 0
    with vault.transaction():
        closed = sessions.expire(vault.sessions.active(), now, vault.rule)
        vault.sessions.close_sessions(closed)
    return len(closed)
