"""Places: the files a memory speaks of, and the areas of a project by name."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from protocol.events import FileChange
from sidecar.text.patterns import late, words

_MOST = 10
_MANY = 400
"""Files that are looked at; a commit of more is about something else than files."""
_GENERIC = words(
    "src lib libs packages package app apps crates source sources internal cmd pkg code python projects services modules plugins"
)
_SIDE = late(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|changes|changelog\.d|news|newsfragments|\.github|\.circleci|locale|benchmarks?)/|(?:^|/)(?:CHANGELOG|CHANGES|README|HISTORY|NEWS|AUTHORS|LICENSE)[^/]*$|\.(?:lock|svg|png)$|lock\.json$|(?:^|/)(?:\.travis\.yml|azure-pipelines\.yml|tox\.ini|noxfile\.py|\.pre-commit-config\.yaml|conftest\.py)$|(?:^|/)test_|_test\.\w+$|\.(?:spec|test)\.\w+$",
    re.IGNORECASE,
)
_KNOWN = 4_000
_WORD = late(r"[^\W_]{3,}")


def relevant(changes: Sequence[FileChange], text: str, first: str | None = None) -> tuple[str, ...]:
    """List the files that a text most probably speaks of, the nearest first."""
    words = {word.lower() for word in _WORD.findall(text)}

    def rank(change: FileChange) -> tuple[bool, int, bool, int, str]:
        parts = {part.lower() for part in _WORD.findall(change.path.rpartition("/")[2])}
        size = (change.added_lines or 0) + (change.deleted_lines or 0)
        return (change.path != first, -len(parts & words), is_side(change.path), -size, change.path)

    return tuple(change.path for change in sorted(changes[:_MANY], key=rank)[:_MOST])


@lru_cache(maxsize=_KNOWN)
def is_side(path: str) -> bool:
    """Return whether a file goes along with others: tests, docs, lists of changes."""
    return _SIDE.search(path) is not None


def area(path: str) -> str | None:
    """Name the part of a project that a file belongs to."""
    return _area(path, is_aside=is_side(path))


def areas(paths: Iterable[str], most: int = 2) -> tuple[str, ...]:
    """Return the parts of a project where most happened, those of the product first."""
    main: Counter[str] = Counter()
    side: Counter[str] = Counter()
    for path in islice(paths, _MANY):
        is_aside = is_side(path)
        if name := _area(path, is_aside=is_aside):
            (side if is_aside else main)[name] += 1
    ordered = sorted((main or side).items(), key=lambda one: (-one[1], one[0]))
    return tuple(name for name, _ in ordered[:most])


def _area(path: str, *, is_aside: bool) -> str | None:
    folders = [part for part in path.split("/")[:-1] if part]
    if not folders or folders[0].startswith("."):
        return None
    is_deep = folders[0].lower() in _GENERIC or not is_aside
    return "/".join(folders[: 2 if is_deep else 1])
