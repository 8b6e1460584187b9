"""Find past conversations of other tools, and bring those of a project into its memory."""

import contextlib
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from protocol.errors import ThreadlineError
from protocol.projects import Project
from sidecar.conversations.imports import backfill
from sidecar.conversations.imports.backfill import READERS, Brought, Found, Wish
from sidecar.conversations.imports.past import Transcript
from sidecar.conversations.rules import signals
from sidecar.conversations.rules.conversations import Who
from sidecar.projects import locate
from sidecar.projects.progress import Tell
from sidecar.projects.repositories import Scout
from sidecar.projects.rules import identities
from sidecar.sharing import agents
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from sidecar.text import paths

_SAVED = 2.0
"""Seconds after which it is written down how far an import is."""
_GIT = "/.git"

_log = logging.getLogger(__name__)


class Imports:
    """Past conversations as one user has them on this machine."""

    def __init__(self, home: Home, user: Path, vault: Callable[[Project], Vault]) -> None:
        self._home, self._user, self._vault = home, user, vault
        self._scout = Scout(home)
        self._places: dict[tuple[str, str], Project | None] = {}

    def find(
        self, host: str, known: Sequence[Project]
    ) -> Iterator[tuple[Transcript, Project | None]]:
        """Find a host's conversations, each with the project it belongs to, if that is known."""
        folders = [folder for project in known for folder in _folders(project)]
        for transcript in READERS[host].find(self._user, list(dict.fromkeys(folders))):
            yield transcript, self._project(transcript)

    def count(self, project: Project) -> list[Found]:
        """Count the conversations of each host: new ones of a project, those imported, all others."""
        marks = backfill.read_marks(self._home.vault(project.project_id).folder)
        counts = []
        for host in READERS:
            tally: Counter[str] = Counter()
            for transcript, place in self.find(host, [project]):
                is_here = place is not None and place.project_id == project.project_id
                is_new = marks.get(backfill.mark_of(transcript), ("",))[0] != transcript.stamp
                tally[("here" if is_new else "imported") if is_here else "elsewhere"] += 1
            counts.append(Found(host=host, **tally))
        return counts

    def bring(
        self,
        host: str,
        wanted: Sequence[Project],
        tell: Tell,
        *,
        since: datetime | None = None,
        is_trial: bool = False,
    ) -> Brought:
        """Import what a host has kept of conversations in these projects; a damaged one affects no other."""
        ids = {project.project_id for project in wanted}
        ours = [
            (one, place)
            for one, place in self.find(host, wanted)
            if place and place.project_id in ids
        ]
        wish = Wish(who=_who, hear=signals.detect, since=since, is_trial=is_trial)
        total, marks = Brought(), _Marks()
        try:
            for number, (transcript, place) in enumerate(ours):
                tell(number, len(ours), transcript.host)
                store = self._vault(place)
                with _tolerated() as failures:
                    total = total.plus(backfill.bring(store, transcript, wish, marks.of(store)))
                total = total.plus(Brought(damaged=len(failures)))
                marks.save(every=_SAVED)
        finally:
            if not is_trial:
                marks.save()
        tell(len(ours), len(ours), host)
        return total

    def _project(self, transcript: Transcript) -> Project | None:
        place = transcript.folder, transcript.remote
        if place not in self._places:
            self._places[place] = self._locate(*place)
        return self._places[place]

    def _locate(self, folder: str, remote: str) -> Project | None:
        """Find a project by a folder that is there, else by the remote, else by a folder that was once there."""
        path = Path(folder)
        if folder and path.is_absolute() and path.is_dir():
            with contextlib.suppress(ThreadlineError, OSError):
                return locate.recognise(
                    self._home, lambda believe: self._scout.identify(path, believe)
                )
            return None
        projects = self._home.projects()
        address = identities.normalise(remote) if remote else ""
        for project in projects:
            if address and address in project.remotes:
                return project
        return next((one for one in projects if folder and _is_under(path, one)), None)


class _Marks:
    """How far imports into several projects are."""

    def __init__(self) -> None:
        self._kept: dict[Path, backfill.Marks] = {}
        self._saved = time.monotonic()

    def of(self, vault: Vault) -> backfill.Marks:
        """Return the marks of a project."""
        if vault.folder not in self._kept:
            self._kept[vault.folder] = backfill.read_marks(vault.folder)
        return self._kept[vault.folder]

    def save(self, every: float = 0.0) -> None:
        """Write them down, unless that was done a moment ago."""
        if time.monotonic() - self._saved >= every:
            for folder, marks in self._kept.items():
                backfill.write_marks(folder, marks)
            self._saved = time.monotonic()


@contextlib.contextmanager
def _tolerated() -> Iterator[list[Exception]]:
    """Let one transcript that no rule foresaw cost itself alone; what ails our own store is raised."""
    failures: list[Exception] = []
    try:
        yield failures
    except (ThreadlineError, OSError):
        raise
    except Exception as error:  # noqa: BLE001  # the boundary of one transcript
        _log.exception("a transcript could not be read")
        failures.append(error)


def _who(transcript: Transcript) -> Who:
    folder = Path(transcript.folder or os.sep)
    return Who(
        agent_id=transcript.host,
        harness=transcript.host,
        folder=folder,
        real_folder=Path(os.path.realpath(folder)),
        is_placed=bool(transcript.folder),
        label=agents.label(transcript.host, transcript.host),
    )


def _folders(project: Project) -> Iterator[str]:
    for folder in project.folders:
        yield os.fsdecode(paths.write(folder)).removesuffix(_GIT)


def _is_under(path: Path, project: Project) -> bool:
    return any(path.is_relative_to(folder) for folder in _folders(project))
