"""Periodic work: expire sessions, compact, digest, prune, back up."""

import contextlib
import logging
from datetime import UTC, tzinfo

import msgspec

from protocol.enrichment import Compacted
from protocol.errors import BusyError, ConflictError, StorageFailedError, ThreadlineError
from protocol.methods import SessionParams
from protocol.settings import Settings
from sidecar.capture import record, timeline
from sidecar.memory import digests, jobs
from sidecar.storage import texts
from sidecar.storage.vault import Vault

_log = logging.getLogger(__name__)


def maintain(vault: Vault, settings: Settings) -> None:
    """Do what is due; a store that is busy or full is left alone until the next time."""
    with contextlib.suppress(BusyError, StorageFailedError):
        record.drain(vault)
        record.expire(vault)
        jobs.mend(vault)
        if settings.daily_digest:
            digests.digest(vault, zone(settings), settings.digest_hour)
        if vault.entries or vault.activities:
            from sidecar.conversations import finish  # noqa: PLC0415  # only who has conversations needs it

            finish.flush(vault, settings)
        if vault.conversations or vault.receipts:
            from sidecar.conversations import finish  # noqa: PLC0415  # likewise

            finish.prune(vault, settings)
        if vault.messages or vault.tasks:
            from sidecar.upkeep import tidy  # noqa: PLC0415  # the same holds for what is shared

            tidy.tidy(vault)


def keep_safe(vault: Vault) -> None:
    """Copy and check what is kept; what goes wrong there is logged and fails nobody."""
    try:
        vault.keep_safe()
    except ThreadlineError as error:
        _log.warning("%s", error)
    except Exception:  # noqa: BLE001  # the boundary of maintenance
        _log.exception("%s could not be copied", vault.folder)


def zone(settings: Settings) -> tzinfo:
    """Return the time zone that the user chose; UTC where there is no such zone."""
    if settings.time_zone == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415  # few choose another

    try:
        return ZoneInfo(settings.time_zone)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return UTC


def is_wanting(vault: Vault, settings: Settings, *, can_learn: bool) -> bool:
    """Return whether memory needs to be looked after: cheap, since it is asked again and again."""
    if settings.auto_enrich and neglected(vault):
        return True
    if not can_learn:
        return False
    counts = vault.memories.tally("status", "verdict")
    kept = sum(count for (status, _), count in counts.items() if status != "forgotten")
    is_behind = vault.passages.reach() != texts.bounds(vault.database)
    return vault.vectors.count() < kept or is_behind


def neglected(vault: Vault) -> list[str]:
    """Name the closed sessions that nobody has read, newest first."""
    return vault.sessions.unread()


def compact(vault: Vault, params: SessionParams) -> Compacted:
    """Compress a closed session's events and say what it was about."""
    session_id = params.session_id
    told = digests.summary(vault, timeline.get_session(vault, session_id))
    with vault.transaction():
        session = timeline.get_session(vault, session_id)
        if session.status != "closed":
            raise ConflictError(
                f"session {session_id} is {session.status}; only a closed one can be compacted",
                field="sessionId",
            )
        before, after = vault.sessions.compact(msgspec.structs.replace(session, summary=told))
        return Compacted(
            session=timeline.get_session(vault, session_id), bytes_before=before, bytes_after=after
        )
