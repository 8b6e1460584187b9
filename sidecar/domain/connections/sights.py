"""What was seen of a file that is not ours, before anything is done with it."""

from msgspec import Struct


class Sight(Struct, frozen=True):
    """A file as it was found."""

    path: str
    real: str = ""
    """Where it really is, all links followed."""
    data: bytes | None = None
    """What is in it; None where there is no such file."""
    refusal: str | None = None
    """Why it must not be touched."""
    is_private: bool = False
    """Whether only its user should read it, where it has to be made."""
