"""Handlers that explain code."""

import logging
import os
import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from cachetools import LRUCache, TTLCache

from protocol.errors import GitFailedError
from protocol.explanations import (
    AboutParams,
    ExplainParams,
    Explanation,
    FileStory,
    NoteInCode,
)
from protocol.memories import Memory
from sidecar.code import foreign_files
from sidecar.code.blame import Origins
from sidecar.code.checkouts import Checkout
from sidecar.code.ignored_files import Ignores
from sidecar.code.line_origins import Sight
from sidecar.memory import drift, explain
from sidecar.memory.explain import Mentioned, Scene
from sidecar.memory.extract import comments
from sidecar.privacy import cleaning, secret_files
from sidecar.project import Projects
from sidecar.storage.vault import Vault
from sidecar.text import paths

_TREES, _PLACES, _JUDGED = 32, 256, 20_000
"""Working trees, folders in them, and memories held against one, that are remembered."""
_KNOWN_FOR = 60
"""Seconds for which a folder is taken for the repository that it was."""

_NEAREST, _NEAR = 3, 15
"""Notes of a line, and the lines that one is away from it at most."""
_SIZE = 1_000_000
"""Bytes of a file that notes are looked for in."""

_log = logging.getLogger(__name__)


@dataclass
class _Tree:
    """A working tree, or a folder without git, and how to ask it."""

    folder: Path
    checkout: Checkout | None
    ignores: Ignores
    origins: Origins | None
    mutex: threading.Lock = field(default_factory=threading.Lock)


class Insight:
    """Explains lines and files."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._mentioned = Mentioned()
        self._mutex = threading.Lock()
        self._trees: LRUCache[Path, _Tree] = LRUCache(_TREES)
        self._places: TTLCache[Path, _Tree] = TTLCache(_PLACES, _KNOWN_FOR)
        self._judged: LRUCache[object, bool] = LRUCache(_JUDGED)
        self._noted: LRUCache[object, tuple[NoteInCode, ...]] = LRUCache(_PLACES)

    def explain(self, params: ExplainParams) -> Explanation:
        """Return why a line is as it is; of a file that is nobody's to hear of, nothing."""
        vault = self._projects.vault(params.project)
        tree, name = self._find(params.project, params.path)
        if name is None:
            return Explanation(project_id=vault.project_id, path=params.path, line=params.line)
        found = msgspec.structs.replace(params, path=name)
        told = explain.explain(self._scene(vault, tree), found, _look(tree, name, params.line))
        notes = self._notes(tree, name)
        near = sorted(notes, key=lambda note: abs(note.line - params.line))[:_NEAREST]
        near = [note for note in near if abs(note.line - params.line) <= _NEAR]
        return msgspec.structs.replace(told, notes=tuple(near))

    def tell(self, params: AboutParams) -> FileStory:
        """Return what is known about a file; of one that is nobody's to hear of, nothing."""
        vault = self._projects.vault(params.project)
        tree, name = self._find(params.project, params.path)
        if name is None:
            return FileStory(project_id=vault.project_id, path=params.path)
        names = (name,) if tree.origins is None else tree.origins.names(name)
        found = msgspec.structs.replace(params, path=name)
        told = explain.tell(self._scene(vault, tree), found, names)
        return msgspec.structs.replace(told, notes=self._notes(tree, name)[: params.limit])

    def _notes(self, tree: _Tree, name: str) -> tuple[NoteInCode, ...]:
        """Read the comments of a file that explain something, as it is on the disk at this moment."""
        if not comments.is_source(name):
            return ()
        place = tree.folder / os.fsdecode(paths.write(name))
        key = (str(place), foreign_files.size(place), _changed_at(place))
        with self._mutex:
            known = self._noted.get(key)
        if known is None:
            data = foreign_files.read(place, _SIZE) or b""
            found = comments.find(name, data.decode("utf-8", "replace"))
            known = tuple(
                NoteInCode(line=note.first, text=cleaning.clean(note.text)) for note in found
            )
            with self._mutex:
                self._noted[key] = known
        return known

    def _scene(self, vault: Vault, tree: _Tree) -> Scene:
        return Scene(
            vault=vault,
            mentioned=self._mentioned,
            elsewhere=lambda some: self._elsewhere(vault, tree, some),
        )

    def _find(self, reference: str | None, path: str) -> tuple[_Tree, str | None]:
        """Find a file's working tree and its name there; None where it is outside, ignored, or likely a secret."""
        tree = self._tree(self._projects.folder(reference))
        try:
            real = os.path.realpath(tree.folder / os.fsdecode(paths.write(path)))
        except (OSError, ValueError):
            return tree, None
        root = os.path.join(tree.folder, "")  # noqa: PTH118  # asked with every request
        name = real.removeprefix(root)
        if name == real or not name or _is_nobodys(tree, name):
            return tree, None
        return tree, paths.read(os.fsencode(name))

    def _tree(self, place: Path) -> _Tree:
        """Find the working tree that a folder is in, or take the folder itself."""
        with self._mutex:
            if (known := self._places.get(place)) is not None:
                return known
        try:
            found = self._projects.checkout(place)
        except GitFailedError:
            found = None
        folder = Path(os.path.realpath(place if found is None else found.folder))
        with self._mutex:
            tree = self._trees.get(folder)
            if tree is None or tree.checkout != found:
                origins = None if found is None else Origins(found)
                tree = self._trees[folder] = _Tree(folder, found, Ignores(folder), origins)
            self._places[place] = tree
            return tree

    def _elsewhere(self, vault: Vault, tree: _Tree, some: Collection[Memory]) -> Collection[str]:
        """Return the memories that belong to another branch; what was judged at this HEAD is known."""
        code = None if tree.origins is None else self._projects.code_at(tree.folder)
        if code is None:
            return ()
        standing = (str(tree.folder), code.standing())
        keys = {one.memory_id: (standing, one.memory_id, one.updated_at) for one in some}
        with self._mutex:
            known = {key: self._judged.get(keys[key]) for key in keys}
        unknown = [one for one in some if known[one.memory_id] is None]
        if unknown:
            away = drift.commits_elsewhere(vault, unknown, code)
            judged = {one.memory_id: one.memory_id in away for one in unknown}
            known |= judged
            with self._mutex:
                self._judged.update({keys[key]: is_away for key, is_away in judged.items()})
        return {key for key, is_away in known.items() if is_away}


def _changed_at(place: Path) -> int:
    try:
        return place.stat().st_mtime_ns
    except OSError:
        return 0


def _look(tree: _Tree, name: str, line: int) -> Sight:
    """Ask the code of a line; where git does not answer, it says nothing."""
    try:
        return Sight() if tree.origins is None else tree.origins.look(name, line)
    except GitFailedError as error:
        _log.info("%s", error)
        return Sight()


def _is_nobodys(tree: _Tree, name: str) -> bool:
    """Return whether nobody wants to hear of a file: a secret one, an ignored one, one of git's own."""
    if secret_files.is_secret(name) or ".git" in Path(name).parts:
        return True
    with tree.mutex:
        return bool(tree.ignores.ignored([name]))
