"""The composition root: all projects of one home, answered for and watched by one process."""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from protocol.answers import Answer
from protocol.conversions import convert
from protocol.methods import Change
from protocol.values import Record
from sidecar import answering, registry
from sidecar.capture.rules.sessions import Rule
from sidecar.code.folder_watcher import Watches
from sidecar.handlers.background import Background
from sidecar.handlers.hook_ingest import Hearing
from sidecar.handlers.workspaces import Workspace
from sidecar.project import Projects
from sidecar.projects.progress import Tell, untold
from sidecar.storage import spool
from sidecar.storage.database import deadline
from sidecar.storage.home import Home, default_home
from sidecar.storage.locks import Lock
from sidecar.storage.ulids import Ids

if TYPE_CHECKING:
    from sidecar.handlers.context import Dialogue

_GIVEN_AGAIN = "threadline/context/start"
"""Whose answer is kept for as long as nothing changes."""

_log = logging.getLogger(__name__)


class Application(Projects):
    """What a transport talks to: one table of methods, answered for the projects of one home."""

    def __init__(self, home: Home, *, here: Path, source: str) -> None:
        """Serve the home's projects; `here` and `source` stand in where a request names none."""
        super().__init__(home, here=here, source=source)
        for problem in self.setting_problems:
            _log.warning("settings.json: %s", problem)
        self.configure()
        self.workspace = self.part(Workspace)
        self.background = self.part(Background)
        self.hearing = self.part(Hearing)
        self.upkeep = Lock(home.folder / "upkeep")
        """Held by whoever runs `threadline maintain`."""
        self._given: tuple[Record | None, msgspec.Raw] = (None, msgspec.Raw())
        """What was last answered of what is answered again and again, and how it is written."""
        self._is_watching = False

    @property
    def dialogue(self) -> "Dialogue":
        """Return what talks with conversations, loaded when it is first asked for."""
        from sidecar.handlers.context import Dialogue  # noqa: PLC0415  # heavy

        return self.part(Dialogue)

    def call(self, name: str, params: object, progress: Tell = untold) -> Record:
        """Answer one request; whatever is wrong with it is raised as a ThreadlineError.

        A long one tells `progress` how far it is, which may raise CancelledError.
        """
        if not self._is_watching:
            self.hearing.place_soon()
        method = registry.declaration(name)
        typed = convert(method, params)
        if method.is_long:
            return registry.handler(name)(self, typed, progress)
        with deadline():
            return registry.handler(name)(self, typed)

    def answer(
        self,
        identifier: int | str | None,
        name: str,
        params: object,
        progress: Tell = untold,
    ) -> Answer:
        """Answer one request, whatever happens in it."""
        return answering.answer(identifier, name, lambda: self.write(name, params, progress))

    def write(self, name: str, params: object, progress: Tell = untold) -> msgspec.Raw:
        """Answer one request in JSON; what is given again and again is written once."""
        result = self.call(name, params, progress)
        known, written = self._given
        if result is known:
            return written
        written = msgspec.Raw(msgspec.json.encode(result))
        if name == _GIVEN_AGAIN:
            self._given = (result, written)
        return written

    def watch(self, watches: Watches, tell: Callable[[Change], None]) -> None:
        """Record what happens in the workspace until the watches are stopped; tell what changes."""
        is_on = self._is_watching = True
        inbox = Path(spool.folder(str(self.home.folder)))
        while is_on:
            self.hearing.place()
            for change in self.workspace.look():
                tell(change)
            self.background.note_skips()
            for vault in self.workspace.vaults():
                self.background.want_contexts(vault)
                self.background.stay_in_touch(vault)
            is_on = watches.wait([*self.workspace.places(), inbox], self.workspace.quiet_places())

    def follow_saves(self, root: Path, since: datetime, stop: threading.Event) -> None:
        """Record which files are written in a working tree from a moment on, where no editor says it."""
        from sidecar.code import saved_files  # noqa: PLC0415  # only who has no editor needs it

        for written in saved_files.written(root, since, stop):
            moment = now()
            self.workspace.save([(path, moment) for path in written])

    def flush(self) -> None:
        """Write what still waits."""
        self.background.settle()

    def close(self) -> None:
        """Write what still waits, and give all files back."""
        self.background.lose_touch()
        self.flush()
        self.home.close()


def open_application(
    *, here: Path, source: str, environment: Mapping[str, str] = os.environ
) -> Application:
    """Put the product together as users run it."""
    home = Home(default_home(environment), Ids(now), Rule())
    return Application(home, here=here, source=source)


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)
