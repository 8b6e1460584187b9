"""Drain the hooks' spool into the projects' vaults."""

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.code import git, processes
from sidecar.code.ignored_files import Ignores
from sidecar.project import Projects
from sidecar.storage import spool

if TYPE_CHECKING:
    from sidecar.conversations.hook_ingest import Overhearing

_SOON = 1.0
"""Seconds that a request may wait until what hooks have heard is placed."""
_SHARE = 10.0
"""Seconds that what hooks have heard in one folder may take where nobody waits, until other folders have their turn."""


class Hearing:
    """Places what hooks have heard; one thread at a time. Where nothing waits, nothing is loaded."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._turn = threading.Lock()
        self._overhearing: Overhearing | None = None

    def place_soon(self) -> None:
        """Place what waits, for as long as a request can wait for that."""
        self.place(_SOON)

    def place(self, seconds: float | None = None, before: str = "") -> None:
        """Place what waits, for no longer than this, up to the observation of this key."""
        home = str(self._projects.home.folder)
        if not spool.is_empty(home) and self._turn.acquire(blocking=False):
            try:
                self._place(seconds, before)
            finally:
                self._turn.release()

    def _place(self, seconds: float | None, before: str) -> None:
        from sidecar.conversations.hook_ingest import Limits  # noqa: PLC0415  # needed late

        deadline = None if seconds is None else time.monotonic() + seconds
        patience = (seconds or 0.0) / 2
        limits = Limits(
            deadline=deadline, patience=patience, before=before, share=patience or _SHARE
        )
        if self._overhearing is None:
            self._overhearing = self._prepare()
        self._overhearing.place(limits)

    def _prepare(self) -> "Overhearing":
        from sidecar.conversations.hook_ingest import Overhearing, Tools  # noqa: PLC0415  # needed late
        from sidecar.handlers.context import Dialogue  # noqa: PLC0415  # likewise

        projects, dialogue = self._projects, self._projects.part(Dialogue)
        return Overhearing(
            projects.home.folder,
            Tools(
                vault=lambda folder: projects.vault(str(folder)),
                hear=dialogue.hear,
                digest=dialogue.digest,
                end=dialogue.end,
                give=dialogue.note_given,
                last_words=_last_words,
                ignored=lambda root: Ignores(root).ignored,
                settings=lambda: projects.settings,
                is_running=processes.is_running,
                within=git.within,
            ),
        )


def _last_words(path: str, host: str) -> str:
    """Read what an agent said last, as its host wrote it down."""
    from sidecar.hosts import transcripts  # noqa: PLC0415  # likewise

    said = [text for who, text in transcripts.turns(path, host, Path.home()) if who == "assistant"]
    return said[-1] if said else ""
