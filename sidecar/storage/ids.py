"""New ids: ULIDs that only ever grow within a process, whatever the clock does."""

import random
import threading
from collections.abc import Callable
from datetime import datetime

from sidecar.domain import ulids

Clock = Callable[[], datetime]


class Ids:
    """A source of ULIDs."""

    def __init__(self, clock: Clock) -> None:
        """Take the time from this clock."""
        self.clock = clock
        self._last = 0
        self._random = random.Random()  # noqa: S311  # ids must differ, not be secret
        self._mutex = threading.Lock()

    def next(self) -> str:
        """Make the next one."""
        with self._mutex:
            chance = self._random.getrandbits(ulids.CHANCE_BITS)
            self._last = ulids.following(self._last, self.clock(), chance)
            return ulids.encode(self._last)
