"""Files that git or `.threadlineignore` excludes."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from cachetools import TTLCache

from sidecar.code import foreign_files, git, gitignore, skips

OWN = ".threadlineignore"
"""Lists files in git's own notation, at the root of a project."""
SECONDS = 2.0
"""For all names that are asked for at once. Git tries patterns out: a line of a `.gitignore` can take it years."""
_KNOWN_FOR = 20
_RESTING = 60
"""Seconds for which git is not asked again after it ran out of time."""
_SOME, _NONE = 0, 1
"""What git's exit code says."""
_LATE = f"could not be judged within {SECONDS:.0f} s and count as ignored"

_MISTAKEN = "lines with a mistake in them; nothing is recorded until they are mended"


class Ignores:
    """Which files of a project are ignored; answers are cached for a while.

    What cannot be judged in time counts as ignored: nothing is kept of a file that somebody may have wanted to hide.
    """

    def __init__(self, root: Path) -> None:
        """Take the project's root."""
        self._root = root
        self._known: TTLCache[str, bool] = TTLCache(maxsize=10_000, ttl=_KNOWN_FOR)
        self._asks_again_at = 0.0

    def ignored(self, names: Iterable[str]) -> set[str]:
        """Return the ignored ones among paths relative to the root."""
        names = set(names)
        if any(os.path.basename(name) in {OWN, ".gitignore"} for name in names):  # noqa: PTH119  # of thousands
            self._known.clear()
            self._asks_again_at = 0.0
        unknown = {name for name in names if name not in self._known}
        if unknown:
            deadline = time.monotonic() + git.left(SECONDS)
            ignored = self._by_own_list(unknown, deadline)
            ignored |= self._by_git(unknown - ignored, deadline)
            self._known.update({name: name in ignored for name in unknown})
            return ignored | {name for name in names - unknown if self._known.get(name)}
        return {name for name in names if self._known.get(name)}

    def _by_own_list(self, names: set[str], deadline: float) -> set[str]:
        content = foreign_files.read(self._root / OWN, gitignore.SIZE + 1)
        if not content:
            return set()
        own = gitignore.read(content)
        for reason, count in own.skipped.items():
            skips.note(self._root, OWN, reason, count)
        if own.mistakes:
            # A list with a mistake in it still says that there is something to hide.
            skips.note(self._root, OWN, _MISTAKEN, own.mistakes)
            return names
        ignored: set[str] = set()
        known: dict[bytes, bool] = {}
        for number, name in enumerate(sorted(names)):
            if time.monotonic() > deadline:
                skips.note(self._root, OWN, f"names {_LATE}", len(names) - number)
                return ignored | set(sorted(names)[number:])
            if own.covers(os.fsencode(name), known):
                ignored.add(name)
        return ignored

    def _by_git(self, names: set[str], deadline: float) -> set[str]:
        """Ask git, which never ignores tracked files; a path it cannot judge counts as ignored."""
        if not names or not os.path.lexists(self._root / ".git"):
            return set()
        if time.monotonic() < self._asks_again_at:
            return names
        code, output = self._ask(names, deadline - time.monotonic())
        if code in {_SOME, _NONE}:
            return {os.fsdecode(name[2:]) for name in output.split(b"\0") if name}
        if code == git.STOPPED:
            self._asks_again_at = time.monotonic() + _RESTING
            skips.note(self._root, ".gitignore", f"names {_LATE}", len(names))
            return names
        if len(names) == 1:
            return names
        return {name for one in names for name in self._by_git({one}, deadline)}

    def _ask(self, names: Iterable[str], seconds: float) -> tuple[int, bytes]:
        if seconds <= 0:
            return git.STOPPED, b""
        # With this in front no name looks like one of git's patterns.
        with git.listed((b"./" + os.fsencode(name) for name in names), b"\0") as listed:
            question = ("check-ignore", "-z", "--stdin")
            try:
                return git.ask(self._root, *question, stdin=listed, seconds=seconds)[:2]
            except git.LimitError:
                # Somebody with more time may judge them yet.
                skips.note(self._root, ".gitignore", "names could not be judged in time")
                raise
