"""Connections: what connecting agents needs, put together; loaded by whoever does it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from protocol.errors import GitFailedError
from protocol.projects import Project
from sidecar.adapters import configs
from sidecar.adapters.git.checkouts import Checkout
from sidecar.domain import identities, paths
from sidecar.services import refreshing
from sidecar.storage.home import Home
from sidecar.storage.ledgers import Ledger

if TYPE_CHECKING:
    from protocol.rules import Target
    from sidecar.services import ruling
    from sidecar.services.connecting import Tools

Enclosing = Callable[[Path], Checkout | None]
"""Finds the working tree that a folder is in."""


def prepare(home: Home, folder: str | None) -> "Tools":
    """Give what connecting agents needs, for this user or for the project in a folder."""
    from sidecar.domain.connections.places import Surroundings  # noqa: PLC0415  # hooks do without
    from sidecar.services.connecting import Tools  # noqa: PLC0415  # likewise

    return Tools(
        around=Surroundings(str(Path.home()), sys.platform, os.environ, folder),
        program=configs.find_program(),
        ledger=Ledger(home.folder, home.lock),
        clock=home.ids.clock,
        look=configs.look,
        is_there=configs.is_there,
        is_program=configs.is_program,
        find_missing=configs.find_missing,
        back_up=configs.back_up,
        read_backup=configs.read_backup,
        forget_backup=configs.forget_backup,
        write=configs.write,
        delete=configs.delete,
    )


def prepare_refreshing(home: Home) -> refreshing.Tools:
    """Give what refreshing rules files needs."""
    ledger = Ledger(home.folder, home.lock)
    return refreshing.Tools(ledger.rows, configs.look, configs.write)


def prepare_ruling(home: Home, root: Path, tell: "Callable[[Target, int], str]") -> "ruling.Tools":
    """Give what writing rules files on command needs."""
    from sidecar.services import ruling  # noqa: PLC0415  # hooks do without

    return ruling.Tools(
        root=str(root),
        ledger=Ledger(home.folder, home.lock),
        tell=tell,
        look=configs.look,
        find_missing=configs.find_missing,
        write=configs.write,
        delete=configs.delete,
    )


def find_rules(
    home: Home, project: Project | None, checkout: Enclosing, needles: refreshing.Needles
) -> Callable[[], list[str]]:
    """Find a project's rules files; what is given empties them, and names those in which it may still stand."""
    tools = prepare_refreshing(home)
    known = project.folders if project else ()
    folders = [
        folder
        for folder in refreshing.find_projects(tools)
        if identities.is_among(_identify(folder, checkout), known)
    ]
    return lambda: refreshing.clear(tools, folders, needles)


def _identify(folder: str, checkout: Enclosing) -> str:
    """Name a folder as projects do: by git's common folder, or by itself without git."""
    place = Path(os.path.realpath(folder))
    try:
        found = checkout(place)
    except GitFailedError:
        found = None
    return paths.read(os.fsencode(found.common if found else place))
