"""Maintenance: what must happen from time to time though nobody asks for it."""

import contextlib

from protocol.errors import BusyError, StorageFailedError
from sidecar.domain import sessions
from sidecar.services import recording
from sidecar.store.vaults import Vault


def maintain(vault: Vault) -> None:
    """Place what waits in the inbox and close what has run out; a store that is busy or full is left alone."""
    with contextlib.suppress(BusyError, StorageFailedError):
        recording.drain(vault)
        expire(vault)


def expire(vault: Vault) -> int:
    """Close the sessions whose window is over; tell how many."""
    now = vault.clock()
    if not sessions.expire(vault.sessions.timeline(), now, vault.rule):
        return 0
    with vault.lock.held():
        closed = sessions.expire(vault.sessions.timeline(), now, vault.rule)
        vault.sessions.close_sessions(closed)
    return len(closed)
