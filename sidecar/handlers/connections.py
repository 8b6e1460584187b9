"""Handlers that connect assistants."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from protocol.errors import GitFailedError
from protocol.projects import Project
from sidecar.code.checkouts import Checkout
from sidecar.hosts import config_files, rules_writer
from sidecar.projects.rules import identities
from sidecar.storage.home import Home
from sidecar.storage.ledgers import Ledger
from sidecar.text import paths

if TYPE_CHECKING:
    from sidecar.hosts.connect import Tools


Enclosing = Callable[[Path], Checkout | None]
"""Finds the working tree that a folder is in."""


def prepare(home: Home, folder: str | None) -> "Tools":
    """Return what connecting assistants depends on, for this user or for the project in a folder."""
    from sidecar.hosts.connect import Tools  # noqa: PLC0415  # likewise
    from sidecar.hosts.locations import Surroundings  # noqa: PLC0415  # hooks do without

    return Tools(
        around=Surroundings(str(Path.home()), sys.platform, os.environ, folder),
        program=config_files.find_program(),
        ledger=Ledger(home.folder, home.lock),
        clock=home.ids.clock,
    )


def find_rules(
    home: Home, project: Project | None, checkout: Enclosing, needles: rules_writer.Needles
) -> Callable[[], list[str]]:
    """Return a function that empties a project's rules files and names those that may still contain a needle."""
    rows = Ledger(home.folder, home.lock).rows
    known = project.folders if project else ()
    folders = [
        folder
        for folder in rules_writer.find_projects(rows())
        if identities.is_among(_identify(folder, checkout), known)
    ]
    return lambda: rules_writer.clear(rows(), folders, needles)


def _identify(folder: str, checkout: Enclosing) -> str:
    """Return a folder as projects name it: git's common folder, or itself without git."""
    place = Path(os.path.realpath(folder))
    try:
        found = checkout(place)
    except GitFailedError:
        found = None
    return paths.read(os.fsencode(found.common if found else place))
