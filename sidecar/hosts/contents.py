"""What Threadline writes into a host's files."""

from msgspec import Struct

Path = tuple[str, ...]


class Server(Struct, frozen=True):
    """An MCP server under its name; what a user added to it stays."""

    path: Path
    value: dict[str, object]


class Plugin(Struct, frozen=True):
    """The settings of a plugin that is ours; what a user added to them stays."""

    path: Path
    value: dict[str, object]


class Group(Struct, frozen=True):
    """Hooks under one name; it is ours if all of them are."""

    path: Path
    agent: str
    value: dict[str, object]


class Hooks(Struct, frozen=True):
    """Lists by event, with one item of ours in each."""

    path: Path
    agent: str
    events: dict[str, dict[str, object]]


class Member(Struct, frozen=True):
    """A member that the file needs, such as its version; where there is one, it stays as it is."""

    path: Path
    value: object


Piece = Server | Plugin | Group | Hooks | Member


class Json(Struct, frozen=True):
    """A JSON file that may hold much else."""

    pieces: tuple[Piece, ...]
    is_loose: bool = False
    """Whether its host reads JSON5."""


class Toml(Struct, frozen=True):
    """A TOML file that may hold much else."""

    server: Server


class Script(Struct, frozen=True):
    """A file that is ours as a whole; its text says so."""

    text: str
    is_living: bool = False
    """Whether we go on writing it after it was made; its text then says whether others have."""


Content = Json | Toml | Script

SIGN = "Written by `threadline connect`"
"""Stands in every file that is ours as a whole."""


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
