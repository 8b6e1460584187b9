"""ULIDs: 48 bits of milliseconds and 80 of chance, in 26 letters that sort by time."""

from datetime import UTC, datetime, timedelta

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CHANCE_BITS = 80
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]


def encode(number: int) -> str:
    """Write a 128-bit number as 26 letters."""
    letters = [_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)]
    return "".join(letters)


def following(previous: int, moment: datetime, chance: int) -> int:
    """Number for `moment` that is greater than `previous`, whatever the clock did."""
    milliseconds = max((moment - EPOCH) // timedelta(milliseconds=1), 0)
    return max(milliseconds << CHANCE_BITS | chance, previous + 1)
