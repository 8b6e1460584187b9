"""Limits: how often something may happen."""

import math
from collections.abc import Callable

Clock = Callable[[], float]


class Limit:
    """Lets through so many at once, and so many a second after that."""

    def __init__(self, burst: int, per_second: float, clock: Clock) -> None:
        """Begin with everything free; the clock counts seconds and never goes back."""
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._free = float(burst)
        self._at = clock()

    def take(self) -> float:
        """Count one; give the seconds to wait where there were too many, which does not count."""
        now = self._clock()
        self._free = min(self._burst, self._free + (now - self._at) * self._per_second)
        self._at = now
        if self._free < 1:
            return (1 - self._free) / self._per_second
        self._free -= 1
        return 0.0


def retry_after(seconds: float) -> str:
    """Write for how long to wait, in the whole seconds of HTTP."""
    return str(max(1, math.ceil(seconds)))
