"""The record of what was written into files of others, for exact undo."""

import hashlib
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

LENGTH = 16
"""Letters of a sum."""


def add_up(text: str) -> str:
    """Return a text's sum; how its lines end does not matter, nor do empty ones behind the last."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


class Written(Struct, frozen=True, kw_only=True, rename="camel"):
    """One file we have changed or made."""

    path: str
    agents: tuple[str, ...]
    """Who it was changed for."""
    before: str | None
    """The hash of what was there before us; null where that is unknown or was nothing."""
    after: str
    """The hash of what we have written."""
    backup: str | None = None
    """A copy of what was there before us."""
    is_created: bool = False
    """Whether there was no such file before us."""
    folders: tuple[str, ...] = ()
    """Folders we have made for it, the outermost first."""


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def follow(
    known: Written | None, written: Written, data: bytes | None, *, has_ours: bool
) -> Written:
    """Return the row for a file that is written now, after whatever is known of it.

    `written` says what is new, `data` is what the file held until now, which may have entries of ours already.
    """
    if known is None or (data is None and not known.is_created):
        return replace(written, before=None, backup=None) if has_ours else written
    agents = tuple(dict.fromkeys((*known.agents, *written.agents)))
    if data is None:
        return replace(written, agents=agents)
    is_untouched = digest(data) == known.after
    return Written(
        path=written.path,
        agents=agents,
        before=known.before if is_untouched else None,
        after=written.after,
        backup=known.backup if is_untouched else None,
        is_created=known.is_created,
        folders=known.folders or written.folders,
    )


def leave(known: Written, agents: Iterable[str], new: bytes | None = None) -> Written | None:
    """Return the row without some agents; None if nobody is left.

    `new` is what was written for that. Where nothing was, the row must go on to tell what others have written since.
    """
    left = tuple(agent for agent in known.agents if agent not in set(agents))
    if not left:
        return None
    if new is None:
        return replace(known, agents=left)
    return replace(known, agents=left, before=None, after=digest(new), backup=None)


def is_untouched(known: Written, data: bytes) -> bool:
    """Return whether a file still holds exactly what we have written."""
    return digest(data) == known.after
