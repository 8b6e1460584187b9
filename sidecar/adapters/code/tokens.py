"""What parsers find: a name, its lines, and the tokens that carry its meaning."""

from msgspec import Struct


class Found(Struct, frozen=True):
    """A symbol as a parser found it."""

    name: str
    """Qualified by what it stands in (`Store.open`)."""
    first: int
    last: int
    tokens: list[str]
