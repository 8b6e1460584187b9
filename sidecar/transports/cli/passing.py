"""A passing home for a look at a folder that was never used, so that looking leaves nothing behind."""

import contextlib
import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from protocol.projects import Project
from sidecar.app import Application, now, open_application
from sidecar.capture.rules.sessions import Rule
from sidecar.projects import locate
from sidecar.projects.repositories import Scout
from sidecar.storage import spool
from sidecar.storage.database import deadline
from sidecar.storage.home import INDEX, Home, default_home
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.storage.ulids import Ids

_LOOKING = {
    *("agents", "checkpoints", "context", "doctor", "documents", "export", "graph", "inbox"),
    *("jobs", "memories", "receipts", "rules", "search", "sessions", "stats", "status", "tasks"),
    *("verify", "why", "worth-knowing"),
}
_LOOKING_ACTIONS = {None, "list", "show", "history", "sent"}
_CARRIED = ("connections.json", "settings.json")
"""What such a look has to know of the real home: the user's settings, and which assistants are connected."""


@contextlib.contextmanager
def application(
    options: Namespace, environment: Mapping[str, str], *, source: str
) -> Iterator[Application]:
    """Open the application for a command; one that only looks gets a passing home where nothing is known yet."""
    here = Path.cwd()
    known: list[Project] = []
    with contextlib.ExitStack() as stack:
        if is_look(options) and not _is_used(options, here, default_home(environment)):
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="threadline-")))
            known = _projects(default_home(environment))
            for name in _CARRIED:
                with contextlib.suppress(OSError):
                    shutil.copyfile(default_home(environment) / name, home / name)
            environment = {**environment, "THREADLINE_HOME": str(home)}
            options.is_passing = True
        app = stack.enter_context(
            contextlib.closing(open_application(here=here, source=source, environment=environment))
        )
        if options.is_passing:
            # Another clone may have the id that this folder would get.
            with app.home.transaction():
                for project in known:
                    app.home.put(project)
        yield app


def is_look(options: Namespace) -> bool:
    """Return whether a command changes nothing: neither by its name nor by the action that it is given."""
    action = getattr(options, "action", None)
    # These ask about more than the folder, which the real home alone knows.
    is_wider = any(getattr(options, name, False) for name in ("why", "everywhere", "all_projects"))
    return options.command in _LOOKING and action in _LOOKING_ACTIONS and not is_wider


def _is_used(options: Namespace, here: Path, folder: Path) -> bool:
    """Return whether a home knows the project of the folder that is meant, or may hear of it from what hooks left."""
    wanted = _folder(options, here)
    if wanted is None:
        return True
    if not folder.exists():
        # Where no home can be made, opening it says why.
        above = next(parent for parent in folder.absolute().parents if parent.exists())
        return not above.is_dir() or not os.access(above, os.W_OK)
    if not (folder / INDEX).exists() or not spool.is_empty(str(folder)):
        return True
    if options.command == "context" and (folder / "projects" / PERSONAL_ID).exists():
        # What a person keeps for every project is told in this one, too.
        return True
    with deadline(), contextlib.closing(Home(folder, Ids(now), Rule())) as home:
        scout = Scout(home)
        return locate.recognise(home, lambda believe: scout.identify(wanted, believe)) is not None


def _projects(folder: Path) -> list[Project]:
    if not (folder / INDEX).exists():
        return []
    with deadline(), contextlib.closing(Home(folder, Ids(now), Rule())) as home:
        return home.projects()


def _folder(options: Namespace, here: Path) -> Path | None:
    """Return the folder that a command means; None where it names a project by its id, or nothing that is there."""
    if options.command == "why" and not options.project:
        place = here / Path(options.place.rpartition(":")[0] or options.place).expanduser()
        return place.parent if place.parent.is_dir() else here
    folder = here / Path(options.project or "").expanduser()
    return folder if folder.is_dir() else None
