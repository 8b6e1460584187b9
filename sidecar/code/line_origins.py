"""Where a line of code comes from."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from sidecar.memory.rules.drift import Symbol


class Origin(Struct, frozen=True, kw_only=True):
    """The commit that wrote a line, and where the line was then."""

    sha: str
    path: str
    line: int
    author: str
    at: datetime
    subject: str


class Sight(Struct, frozen=True, kw_only=True):
    """What the code says about a line."""

    origin: Origin | None = None
    """None where nobody has committed it, or nobody can tell."""
    symbols: tuple[str, ...] = ()
    """What the line is in, the innermost first."""


def around(symbols: Iterable[Symbol], line: int) -> tuple[str, ...]:
    """Return the symbols that a line is in, the innermost first."""
    found = [symbol for symbol in symbols if symbol.first <= line <= symbol.last]
    found.sort(key=lambda one: (one.last - one.first, -one.first))
    return tuple(dict.fromkeys(one.name for one in found))
