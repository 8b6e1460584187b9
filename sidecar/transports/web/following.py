"""Following: what changes in projects that someone looks at and nobody works in here."""

import logging
import threading
from collections.abc import Callable

from protocol.methods import Change
from sidecar.app import Application
from sidecar.capture.changes import Follower
from sidecar.code import processes
from sidecar.code.folder_watcher import Watches
from sidecar.projects import locate
from sidecar.storage.vault import Vault

_MOST = 8
"""How many projects are followed at once; the one that was looked at first is left for a new one."""

_log = logging.getLogger(__name__)


class Neighbours:
    """The projects beside those of the workspace, each followed in a thread of its own."""

    def __init__(self, app: Application, tell: Callable[[Change], None]) -> None:
        """Follow none yet; `tell` is called from threads of ours."""
        self._app = app
        self._tell = tell
        self._watches: dict[str, Watches] = {}
        self._mutex = threading.Lock()

    def follow(self, project_id: str) -> None:
        """Follow the changes of a project, unless it is followed already."""
        if any(vault.project_id == project_id for vault in self._app.workspace.vaults()):
            return
        with self._mutex:
            if project_id in self._watches:
                return
            vault = self._app.vault(locate.by_id(self._app.home, project_id))
            follower = Follower(vault, processes.is_running)
            watches = self._watches[project_id] = Watches()
            for oldest in [*self._watches][:-_MOST]:
                self._watches.pop(oldest).stop()
        threading.Thread(target=self._run, args=(vault, follower, watches), daemon=True).start()

    def stop(self) -> None:
        """Follow none any more."""
        with self._mutex:
            for watches in self._watches.values():
                watches.stop()

    def _run(self, vault: Vault, follower: Follower, watches: Watches) -> None:
        try:
            self._watch(vault, follower, watches)
        except Exception:  # noqa: BLE001  # the boundary of the watcher's loop
            _log.exception("%s is not followed any more", vault.project_id)
        finally:
            with self._mutex:
                if self._watches.get(vault.project_id) is watches:
                    del self._watches[vault.project_id]

    def _watch(self, vault: Vault, follower: Follower, watches: Watches) -> None:
        places = [vault.folder / name for name in ("", "sessions", "inbox")]
        is_on = True
        while is_on:
            for change in follower.changes():
                self._tell(change)
            is_on = watches.wait(places, ()) and vault.folder.is_dir()
