"""ULIDs: 48 bits of milliseconds and 80 of chance, in 26 letters that sort by time."""

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
    """Give the smallest ULID of a moment: whatever was named then or later is not less."""
    return encode(following(-1, moment, 0))


def is_ulid(text: str) -> bool:
    """Tell whether a text has the form of a ULID."""
    return len(text) == _LENGTH and text[0] <= "7" and set(text) <= set(ALPHABET)
