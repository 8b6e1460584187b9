"""Idling: a process that lives on looks again when a conversation may have fallen silent."""

import contextlib
import logging
import threading
from collections.abc import Callable

from protocol.errors import ThreadlineError
from sidecar.storage.vault import Vault

Flush = Callable[[Vault], bool]
"""Saves what has fallen silent; tells whether something still waits."""

_log = logging.getLogger(__name__)


class Idling:
    """One alarm for each project in which something was said."""

    def __init__(self, flush: Flush) -> None:
        """Have nothing to wait for yet."""
        self._flush = flush
        self._alarms: dict[str, threading.Timer] = {}
        self._mutex = threading.Lock()

    def expect(self, vault: Vault, seconds: float) -> None:
        """Look after so many seconds, unless somebody will anyway."""
        with self._mutex:
            key = str(vault.folder)
            if key not in self._alarms:
                self._alarms[key] = _set(seconds, lambda: self._look(vault, seconds))

    def cancel(self) -> None:
        """Look no more: whoever opens the project next does it."""
        with self._mutex:
            for alarm in self._alarms.values():
                alarm.cancel()
            self._alarms.clear()

    def _look(self, vault: Vault, seconds: float) -> None:
        with self._mutex:
            if self._alarms.pop(str(vault.folder), None) is None:
                return
        is_waiting = True
        try:
            is_waiting = self._flush(vault)
        except (ThreadlineError, OSError) as error:
            _log.warning("%s; silent conversations are saved later", error)
        except Exception:  # noqa: BLE001  # the boundary of the thread
            _log.exception("silent conversations could not be saved")
        if is_waiting:
            with contextlib.suppress(RuntimeError):
                # No thread can be started any more while the process ends.
                self.expect(vault, seconds)


def _set(seconds: float, act: Callable[[], None]) -> threading.Timer:
    alarm = threading.Timer(seconds, act)
    alarm.daemon = True
    alarm.start()
    return alarm
