"""Handlers that connect assistants, and find what was written for them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from protocol.connections import Level
from protocol.errors import GitFailedError
from sidecar.hosts import config_files, rules_writer
from sidecar.hosts.connect import Tools
from sidecar.hosts.locations import Surroundings
from sidecar.project import Projects
from sidecar.projects.rules import identities
from sidecar.storage.ledgers import Ledger
from sidecar.storage.vault import Vault
from sidecar.text import paths


def prepare(projects: Projects, level: Level, reference: str | None = None) -> Tools:
    """Return what connecting assistants depends on, for this user or for a project."""
    is_project = level == "project"
    folder = str(projects.root(reference) or projects.folder(reference)) if is_project else None
    return Tools(
        around=Surroundings(str(Path.home()), sys.platform, os.environ, folder),
        program=config_files.find_program(),
        ledger=ledger(projects),
        clock=projects.home.ids.clock,
    )


def ledger(projects: Projects) -> Ledger:
    """Return the list of all that was written into other programs' files."""
    return Ledger(projects.home.folder, projects.home.lock)


def find_rules(
    projects: Projects, vault: Vault, needles: rules_writer.Needles
) -> Callable[[], list[str]]:
    """Return a function that empties a project's rules files and names those that may still contain a needle."""
    rows = ledger(projects).rows
    project = vault.projects.get(vault.project_id)
    known = project.folders if project else ()
    folders = [
        folder
        for folder in rules_writer.find_projects(rows())
        if identities.is_among(_identify(projects, folder), known)
    ]
    return lambda: rules_writer.clear(rows(), folders, needles)


def _identify(projects: Projects, folder: str) -> str:
    """Return a folder as projects name it: git's common folder, or itself without git."""
    place = Path(os.path.realpath(folder))
    try:
        found = projects.checkout(place)
    except GitFailedError:
        found = None
    return paths.read(os.fsencode(found.common if found else place))
