"""Labelled sessions: what happened, and what an experienced colleague would keep of it.

One TOML file is one session. The rules of enrichment are written with those in `sessions/open`; those in
`sessions/kept` are kept back: nobody looks at them while writing rules, so they tell how the rules do on
what they have not seen. A mention is a part of a word, or several parts that are equally good: `lock|mutex`.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.memories import MemoryType

FOLDER = Path(__file__).parent / "sessions"
SHARES = ("open", "kept")


class WrittenDiff(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's diff, as a label tells it."""

    path: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    context: tuple[str, ...] = ()


class WrittenEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened: a commit, something said, or saves; exactly one of them."""

    commit: str | None = None
    """The subject; `{sha 2}` here and in the body is the sha of the second event."""
    body: str = ""
    author: str = "Robin Vale"
    files: tuple[str, ...] = ()
    """As git writes them: `M path`, `A path`, `D path`, `R old -> new`."""
    diffs: tuple[WrittenDiff, ...] = ()
    say: str | None = None
    by: str | None = None
    """The agent who said it; a person where absent."""
    saves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no event or more than one."""
        if [self.commit is not None, self.say is not None, bool(self.saves)].count(True) != 1:
            raise ValueError("an event has one of `commit`, `say`, `saves`")


class Kept(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing worth keeping."""

    type: MemoryType
    what: str
    """A sentence that says it."""
    words: tuple[str, ...]
    """Mentions without which it is not said."""
    also: tuple[MemoryType, ...] = ()
    """Types that are as good, where two careful readers would differ."""
    optional: bool = False
    """May be left out without blame."""


class Summary(Struct, frozen=True, forbid_unknown_fields=True):
    """What the session's one summary must mention."""

    accomplished: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    optional: bool = False

    @property
    def mentions(self) -> tuple[str, ...]:
        """All of them, in order."""
        return self.accomplished + self.decided + self.open


class Label(Struct, frozen=True, forbid_unknown_fields=True):
    """One session and what is worth keeping of it."""

    about: str
    style: tuple[str, ...]
    events: tuple[WrittenEvent, ...]
    language: str = "English"
    keep: tuple[Kept, ...] = ()
    summary: Summary | None = None
    """Null where the session is not worth a word."""
    never: tuple[str, ...] = ()
    """Texts that no memory may hold."""
    name: str = ""
    share: str = ""

    @property
    def is_kept_back(self) -> bool:
        """Tell whether no rule was written with it in sight."""
        return self.share == "kept"


def load(folder: Path = FOLDER) -> tuple[Label, ...]:
    """Read every label, in the order of their names."""
    return tuple(label for share in SHARES for label in _read(folder, share))


def _read(folder: Path, share: str) -> Iterator[Label]:
    for path in sorted((folder / share).glob("*.toml")):
        try:
            label = msgspec.toml.decode(path.read_bytes(), type=Label)
        except (msgspec.DecodeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
        yield msgspec.structs.replace(label, name=path.stem, share=share)
