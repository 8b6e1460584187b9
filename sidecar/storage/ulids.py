"""Ids that sort by time."""

import random
import threading
from collections.abc import Callable
from datetime import datetime

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CHANCE_BITS = 80
_LENGTH = 26

_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_SHIFTS = range(120, -1, -10)


def encode(number: int) -> str:
    """Write a 128-bit number as 26 letters."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def following(previous: int, moment: datetime, chance: int) -> int:
    """Number for `moment` that is greater than `previous`, whatever the clock did."""
    milliseconds = max(int(moment.timestamp() * 1000), 0)
    return max(milliseconds << CHANCE_BITS | chance, previous + 1)


def first_at(moment: datetime) -> str:
    """Return the smallest ULID of a moment: whatever was named then or later is not less."""
    return encode(following(-1, moment, 0))


def is_ulid(text: str) -> bool:
    """Return whether a text has the form of a ULID."""
    return len(text) == _LENGTH and text[0] <= "7" and set(text) <= set(ALPHABET)


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
            chance = self._random.getrandbits(CHANCE_BITS)
            self._last = following(self._last, self.clock(), chance)
            return encode(self._last)
