"""What parsers find: a name, its lines, and the tokens that carry its meaning."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """A symbol as a parser found it."""

    name: str
    """Qualified by what it stands in (`Store.open`)."""
    first: int
    last: int
    tokens: list[str]
