"""Which files nobody wants to hear of: what git ignores, and what `.threadlineignore` names."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from cachetools import TTLCache

from sidecar.adapters.git import runner

OWN = ".threadlineignore"
"""Lists files in git's own notation, at the root of a project."""
_KNOWN_FOR = 20
_LIMIT = 1024 * 1024


class Ignores:
    """Answers for the files of one project; what was asked before is known for a while."""

    def __init__(self, root: Path, *, has_git: bool) -> None:
        """Stand at the root of a project."""
        self._root = root
        self._has_git = has_git
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
        try:
            with (self._root / OWN).open(errors="replace") as file:
                lines = file.read(_LIMIT).splitlines()
        except OSError:
            return set()
        from pathspec import GitIgnoreSpec  # noqa: PLC0415  # few have such a list

        return set(GitIgnoreSpec.from_lines(lines).match_files(names))

    def _by_git(self, names: set[str]) -> set[str]:
        """Ask git, which never ignores what it tracks."""
        if not self._has_git or not names:
            return set()
        with tempfile.TemporaryFile() as listed:
            listed.writelines(os.fsencode(name) + b"\0" for name in names)
            listed.seek(0)
            _, output, _ = runner.ask(self._root, "check-ignore", "-z", "--stdin", stdin=listed)
        return {os.fsdecode(name) for name in output.split(b"\0") if name}
