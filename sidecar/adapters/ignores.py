"""Which files nobody wants to hear of: what git ignores, and what `.threadlineignore` names."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from cachetools import TTLCache

from sidecar.adapters import plain
from sidecar.adapters.git import runner

OWN = ".threadlineignore"
"""Lists files in git's own notation, at the root of a project."""
_KNOWN_FOR = 20
_LIMIT = 1024 * 1024
_SOME, _NONE = 0, 1
"""What git's exit code says."""

_log = logging.getLogger(__name__)


class Ignores:
    """Answers for the files of one project; what was asked before is known for a while."""

    def __init__(self, root: Path) -> None:
        """Stand at the root of a project."""
        self._root = root
        self._known: TTLCache[str, bool] = TTLCache(maxsize=10_000, ttl=_KNOWN_FOR)

    def ignored(self, names: Iterable[str]) -> set[str]:
        """Pick the files that are ignored, out of names relative to the root."""
        names = set(names)
        if any(os.path.basename(name) in {OWN, ".gitignore"} for name in names):  # noqa: PTH119  # of thousands
            self._known.clear()
        unknown = {name for name in names if name not in self._known}
        if unknown:
            ignored = self._by_own_list(unknown)
            ignored |= self._by_git(unknown - ignored)
            self._known.update({name: name in ignored for name in unknown})
            return ignored | {name for name in names - unknown if self._known.get(name)}
        return {name for name in names if self._known.get(name)}

    def _by_own_list(self, names: set[str]) -> set[str]:
        content = plain.read(self._root / OWN, _LIMIT)
        if not content:
            return set()
        lines = content.decode("utf-8", "replace").splitlines()
        from pathspec import GitIgnoreSpec  # noqa: PLC0415  # few have such a list

        try:
            return set(GitIgnoreSpec.from_lines(lines).match_files(names))
        except ValueError as error:
            # A list with a mistake in it still says that there is something to hide.
            _log.warning("%s: %s; nothing is recorded until it is mended", self._root / OWN, error)
            return set(names)

    def _by_git(self, names: set[str]) -> set[str]:
        """Ask git, which never ignores what it tracks; a name that it cannot judge is ignored."""
        if not names or not os.path.lexists(self._root / ".git"):
            return set()
        # With this in front no name looks like one of git's patterns.
        with runner.listed((b"./" + os.fsencode(name) for name in names), b"\0") as listed:
            code, output, _ = runner.ask(self._root, "check-ignore", "-z", "--stdin", stdin=listed)
        if code in {_SOME, _NONE}:
            return {os.fsdecode(name[2:]) for name in output.split(b"\0") if name}
        if len(names) == 1:
            return names
        return {name for one in names for name in self._by_git({one})}
