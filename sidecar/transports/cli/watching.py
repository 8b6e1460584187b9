"""`threadline watch`: the same capture as an editor's, without one, shown as it comes."""

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from protocol import conversions
from protocol.errors import ThreadlineError
from protocol.events import Event
from protocol.methods import Change
from sidecar.app import Application, now
from sidecar.code.folder_watcher import Watches
from sidecar.handlers import projects

_log = logging.getLogger(__name__)

Show = Callable[[Event], None]

_LATEST = 10
"""Sessions that are looked at: what is picked up late may belong to an earlier one."""


class Viewer:
    """Shows each event of the workspace's projects once, if it is new."""

    def __init__(self, app: Application, show: Show) -> None:
        """Take what is recorded before the workspace is looked at for known."""
        self._app = app
        self._show = show
        self._known = {_version(event) for event in self._events()}

    def show_news(self) -> int:
        """Show what came since the last time; tell how much that was."""
        news = [event for event in self._events() if _version(event) not in self._known]
        for event in news:
            self._known.add(_version(event))
            self._show(event)
        return len(news)

    def show_change(self, change: Change) -> None:
        """Show what is new in a project that has changed."""
        if change.what == "sessions":
            self.show_news()

    def _events(self) -> Iterator[Event]:
        for project in projects.here(self._app):
            vault = self._app.vault(project)
            for session in list(itertools.islice(vault.sessions.newest(), _LATEST))[::-1]:
                yield from vault.sessions.arrivals(session.session_id)


def watch(app: Application, folder: Path, show: Show) -> None:
    """Record and show what happens in a folder until Ctrl-C."""
    since = now()
    viewer = _begin(app, folder, show)
    conversions.prepare()
    stop = threading.Event()
    for root in app.workspace.roots():
        threading.Thread(target=_follow, args=(app, root, since, stop), daemon=True).start()
    try:
        app.watch(Watches(), viewer.show_change)
    finally:
        stop.set()


def look(app: Application, folder: Path, show: Show) -> int:
    """Record and show what happened in a folder since it was last looked at; tell how much."""
    viewer = _begin(app, folder, show)
    app.workspace.look()
    return viewer.show_news()


def _follow(app: Application, root: Path, since: datetime, stop: threading.Event) -> None:
    """Record saves for as long as that works; commits are seen all the same."""
    try:
        app.follow_saves(root, since, stop)
    except (ThreadlineError, OSError) as error:
        _log.warning("saves in %s are not seen any more: %s", root, error)


def _begin(app: Application, folder: Path, show: Show) -> Viewer:
    app.workspace.arrange([folder])
    return Viewer(app, show)


def _version(event: Event) -> tuple[str, str | None]:
    return event.event_id, event.commit.sha if event.commit else None
