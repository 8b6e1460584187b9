"""Debounced writes: by-products that may be stored a little later, in batches."""

import logging
import threading
import time
from collections.abc import Callable

from msgspec import Struct

from protocol.errors import ThreadlineError
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

QUIET = 2.5
"""Seconds without anything new after which all is written."""
PATIENCE = 10.0
"""Seconds after which it is written though there is always something new."""
MOST = 1_000
"""By-products that may wait; of more than these the oldest are given up."""
_DOUBLINGS = 5
"""How often the wait is doubled while the disk refuses."""

MakeOps = Callable[[Vault], list[Op]]
"""Says what to write; called with the store's lock held, at the moment of writing."""
_Key = tuple[str, str]


class _Entry(Struct, frozen=True):
    vault: Vault
    make_ops: MakeOps
    generation: int | None
    """The journal that it was meant for; None where it brings no words of its own."""


_log = logging.getLogger(__name__)


class Buffer:
    """Writes that wait; a thread of its own makes them while there are any."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
        start: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        """Take the time from this clock; tests rest and start threads in their own way."""
        self._clock = clock
        self._rest = rest
        self._start = start or _start
        self._waiting: dict[_Key, _Entry] = {}
        self._first = self._last = 0.0
        self._failures = 0
        self._is_running = False
        self._mutex = threading.Lock()
        self._turn = threading.Lock()

    def add(self, vault: Vault, key: str, make_ops: MakeOps, *, has_words: bool = False) -> None:
        """Write something soon; the same key replaces what still waits under it. Never waits itself.

        What has words that are not on the disk is given up where a journal was written anew meanwhile: somebody
        may have wanted them forgotten.
        """
        generation = vault.erasures() if has_words else None
        with self._mutex:
            self._last = self._clock()
            if not self._waiting:
                self._first = self._last
            self._waiting.pop((str(vault.folder), key), None)
            self._waiting[str(vault.folder), key] = _Entry(vault, make_ops, generation)
            while len(self._waiting) > MOST:
                self._waiting.pop(next(iter(self._waiting)))
            is_first, self._is_running = not self._is_running, True
        if is_first:
            self._start(self._run)

    def flush(self) -> int:
        """Write all that waits, now; tell how much still does, because the disk or a lock refused."""
        with self._turn:
            with self._mutex:
                taken, self._waiting = self._waiting, {}
            refused = {
                key: entry for part in _by_vault(taken) for key, entry in _write(part).items()
            }
            with self._mutex:
                # What was added meanwhile is newer than what is put back.
                self._waiting = refused | self._waiting
                self._first = self._last = self._clock()
                self._failures = self._failures + 1 if refused else 0
                left = len(self._waiting)
                is_first = left > 0 and not self._is_running
                self._is_running = self._is_running or is_first
        if is_first:
            self._start(self._run)
        return left

    def discard(self, vault: Vault) -> None:
        """Give up what waits for a project: it is being forgotten."""
        with self._turn, self._mutex:
            folder = str(vault.folder)
            self._waiting = {key: one for key, one in self._waiting.items() if key[0] != folder}

    def step(self) -> float | None:
        """Write what is due; tell after how many seconds to look again, None where nothing waits."""
        with self._mutex:
            if not self._waiting:
                self._is_running = False
                return None
            delay = QUIET * (1 << min(self._failures, _DOUBLINGS))
            due = min(self._last + delay, self._first + max(PATIENCE, delay))
            left = due - self._clock()
        if left > 0:
            return left
        self.flush()
        return 0.0

    def _run(self) -> None:
        while (seconds := self.step()) is not None:
            self._rest(seconds)


def _start(run: Callable[[], None]) -> None:
    threading.Thread(target=run, name="buffer", daemon=True).start()


def _by_vault(entries: dict[_Key, _Entry]) -> list[dict[_Key, _Entry]]:
    parts: dict[str, dict[_Key, _Entry]] = {}
    for key, entry in entries.items():
        parts.setdefault(key[0], {})[key] = entry
    return list(parts.values())


def _write(entries: dict[_Key, _Entry]) -> dict[_Key, _Entry]:
    """Write what waits for one project; give back what was refused."""
    vault = next(iter(entries.values())).vault
    left = entries
    try:
        # To lock a project that was forgotten would bring its folder back.
        if vault.exists:
            with vault.transaction():
                if vault.exists:
                    left = _wanted(entries)
                    _append(left)
    except (ThreadlineError, OSError) as error:
        _log.warning("%s; %d by-products are written later", error, len(left))
        return left
    return {}


def _wanted(entries: dict[_Key, _Entry]) -> dict[_Key, _Entry]:
    """Leave out words that somebody may have erased since they were said."""
    return {
        key: entry
        for key, entry in entries.items()
        if entry.generation in {None, entry.vault.erasures()}
    }


def _append(entries: dict[_Key, _Entry]) -> None:
    """Write one by-product after the other: each may stand on what the one before has changed."""
    for entry in entries.values():
        if ops := _made(entry.vault, entry.make_ops):
            entry.vault.write(ops)


def _made(vault: Vault, make_ops: MakeOps) -> list[Op]:
    try:
        return make_ops(vault)
    except Exception:  # noqa: BLE001  # one that cannot be made must not keep the others from the disk
        _log.exception("a by-product was given up")
        return []
