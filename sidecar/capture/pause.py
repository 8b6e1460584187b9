"""Pause and resume recording."""

import contextlib
from collections.abc import Callable

from protocol.capture import CaptureState, PauseDuration
from protocol.errors import BusyError, StorageFailedError
from sidecar.capture.rules import pauses
from sidecar.storage.vault import Vault

IsRunning = Callable[[str], bool]
"""Tells whether a process is still there, by the name it gave itself."""


def pause(vault: Vault, duration: PauseDuration, process: str) -> CaptureState:
    """Record nothing from now on; `process` is whose end ends a pause until restart."""
    with vault.transaction():
        now = vault.clock()
        begun = pauses.begin(duration, now, process)
        vault.pauses.write((*pauses.end(vault.pauses.read(), now), begun))
    vault.prepared.discard()
    return pauses.describe(begun)


def resume(vault: Vault) -> CaptureState:
    """Record again."""
    with vault.transaction():
        known = vault.pauses.read()
        if known:
            vault.pauses.write(pauses.end(known, vault.clock()))
    return CaptureState()


def state(vault: Vault, is_running: IsRunning) -> CaptureState:
    """Return whether anything is recorded now; a pause whose process has ended is over."""
    known = vault.pauses.read()
    pause = pauses.current(known, vault.clock()) if known else None
    if pause is not None and pause.process is not None and not is_running(pause.process):
        with contextlib.suppress(BusyError, StorageFailedError):
            resume(vault)
        return CaptureState()
    return pauses.describe(pause)
