"""Handlers for teams: what needs the project's folder, and who stays in touch while a server runs."""

import threading

from protocol.teams import InitTeamParams, JoinTeamParams, TeamBegun
from sidecar.project import Projects
from sidecar.storage.vault import Vault
from sidecar.upkeep import team


def init(projects: Projects, params: InitTeamParams) -> TeamBegun:
    """Set up a team for a project, and join it."""
    return team.init(projects.vault(params.project), params, projects.folder(params.project))


def join(projects: Projects, params: JoinTeamParams) -> TeamBegun:
    """Join a team that somebody has set up."""
    return team.join(projects.vault(params.project), params, projects.folder(params.project))


class Contact:
    """Exchanges with teams in threads of its own, one for each project that has a team."""

    def __init__(self, _projects: Projects) -> None:
        self._threads: dict[str, threading.Thread] = {}
        self._stop = threading.Event()

    def keep(self, vault: Vault) -> None:
        """Stay in touch with a project's team."""
        running = self._threads.get(vault.project_id)
        if running is None or not running.is_alive():
            running = threading.Thread(
                target=team.keep_in_touch, args=(vault, self._stop), daemon=True
            )
            self._threads[vault.project_id] = running
            running.start()

    def end(self) -> None:
        """Let go, briefly waiting for what is on its way."""
        self._stop.set()
        for thread in self._threads.values():
            thread.join(_PATIENCE)


_PATIENCE = 2.0
"""Seconds for the last exchange; what it does not send waits."""
