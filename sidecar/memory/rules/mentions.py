"""Which memories mention a file or a commit."""

from collections.abc import Collection, Iterable

_SHORT = 7
"""Letters that a commit's name has at least."""


class Mentions:
    """Ids by the names that they mention; what an id mentions may be said anew at any time."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._ids: dict[str, dict[str, None]] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def put(self, identifier: str, names: Iterable[str]) -> None:
        """Say what an id mentions, instead of what was said before; nothing takes it out."""
        for name in self._names.pop(identifier, ()):
            ids = self._ids[name]
            del ids[identifier]
            if not ids:
                del self._ids[name]
        kept = tuple(dict.fromkeys(names))
        for name in kept:
            self._ids.setdefault(name, {})[identifier] = None
        if kept:
            self._names[identifier] = kept

    def find(self, name: str) -> Collection[str]:
        """Return the ids that mention a name, those that were said first in front."""
        return tuple(self._ids.get(name, ()))

    def ids(self) -> Collection[str]:
        """Return all ids that mention anything."""
        return self._names.keys()


def short(sha: str) -> str:
    """Return the part of a commit's name that all its spellings have in common."""
    return sha[:_SHORT]


def is_same(one: str, other: str) -> bool:
    """Return whether two spellings name the same commit: one may be the beginning of the other."""
    return one.startswith(other) or other.startswith(one)
