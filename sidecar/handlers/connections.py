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
    from protocol.rules import Target
    from sidecar.hosts.connect import Tools


Enclosing = Callable[[Path], Checkout | None]
"""Finds the working tree that a folder is in."""


def prepare(home: Home, folder: str | None) -> "Tools":
    """Give what connecting agents needs, for this user or for the project in a folder."""
    from sidecar.hosts.connect import Tools  # noqa: PLC0415  # likewise
    from sidecar.hosts.locations import Surroundings  # noqa: PLC0415  # hooks do without

    return Tools(
        around=Surroundings(str(Path.home()), sys.platform, os.environ, folder),
        program=config_files.find_program(),
        ledger=Ledger(home.folder, home.lock),
        clock=home.ids.clock,
        look=config_files.look,
        is_there=config_files.is_there,
        is_program=config_files.is_program,
        find_missing=config_files.find_missing,
        back_up=config_files.back_up,
        read_backup=config_files.read_backup,
        forget_backup=config_files.forget_backup,
        write=config_files.write,
        delete=config_files.delete,
    )


def prepare_refreshing(home: Home) -> rules_writer.RefreshTools:
    """Give what refreshing rules files needs."""
    ledger = Ledger(home.folder, home.lock)
    return rules_writer.RefreshTools(ledger.rows, config_files.look, config_files.write)


def prepare_ruling(
    home: Home, root: Path, tell: "Callable[[Target, int], str]"
) -> "rules_writer.Tools":
    """Give what writing rules files on command needs."""
    from sidecar.hosts import rules_writer  # noqa: PLC0415  # hooks do without

    return rules_writer.Tools(
        root=str(root),
        ledger=Ledger(home.folder, home.lock),
        tell=tell,
        look=config_files.look,
        find_missing=config_files.find_missing,
        write=config_files.write,
        delete=config_files.delete,
    )


def find_rules(
    home: Home, project: Project | None, checkout: Enclosing, needles: rules_writer.Needles
) -> Callable[[], list[str]]:
    """Find a project's rules files; what is given empties them, and names those in which it may still stand."""
    tools = prepare_refreshing(home)
    known = project.folders if project else ()
    folders = [
        folder
        for folder in rules_writer.find_projects(tools)
        if identities.is_among(_identify(folder, checkout), known)
    ]
    return lambda: rules_writer.clear(tools, folders, needles)


def _identify(folder: str, checkout: Enclosing) -> str:
    """Name a folder as projects do: by git's common folder, or by itself without git."""
    place = Path(os.path.realpath(folder))
    try:
        found = checkout(place)
    except GitFailedError:
        found = None
    return paths.read(os.fsencode(found.common if found else place))
