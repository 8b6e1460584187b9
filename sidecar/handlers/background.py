"""What is done in threads of its own: tasks checked after commits, contexts prepared, memory looked after."""

import contextlib
import logging
import threading
from collections import Counter
from pathlib import Path

from protocol.errors import ThreadlineError
from sidecar.code import skips
from sidecar.project import Projects
from sidecar.storage import prepared, skipped
from sidecar.storage.vault import TEAM, Vault
from sidecar.tasks.checks import Checks
from sidecar.upkeep import maintenance

_CALM = 1.0
"""Seconds that a server waits after something happened until it prepares what conversations are told."""

_log = logging.getLogger(__name__)


class Background:
    """One for a process; where there is nothing to do, no thread runs and nothing is loaded."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._checks = Checks(lambda folder: self.check(str(folder)))
        self._preparing = Checks(
            lambda folder: self.prepare(projects.home.vault(folder.name)), _CALM
        )
        self.tending: dict[str, threading.Thread] = {}

    def want_check(self, folder: Path) -> None:
        """Check the tasks of a working tree soon."""
        self._checks.want(folder)

    def want_contexts(self, vault: Vault) -> None:
        """Prepare the contexts of a project soon."""
        self._preparing.want(vault.folder)

    def stay_in_touch(self, vault: Vault) -> None:
        """Exchange with a project's team for as long as this process runs; nothing is loaded without one."""
        if (vault.folder / TEAM).exists():
            from sidecar.handlers.team import Contact  # noqa: PLC0415  # few are in one

            self._projects.part(Contact).keep(vault)

    def lose_touch(self) -> None:
        """Exchange with teams no more."""
        contact = self._projects.existing("Contact")
        if contact is not None:
            contact.end()

    def settle(self) -> None:
        """Write what still waits; nothing waits where nobody has asked for memory."""
        self._checks.settle()
        self.note_skips()
        dialogue = self._projects.existing("Dialogue")
        if dialogue is not None:
            dialogue.close()

    def check(self, reference: str | None) -> None:
        """Complete the tasks that turn out to be done, if there are any; a project that is nowhere has none."""
        with contextlib.suppress(ThreadlineError):
            kept = self._projects.vault(reference).tasks.all()
            if any(task.done_when and task.status != "done" for task in kept):
                from sidecar.handlers import sharing  # noqa: PLC0415  # needed late

                sharing.complete_tasks(self._projects, reference)

    def note_skips(self) -> None:
        """Write down, for each project, what was skipped of its repository since this was last done."""
        counts: dict[str, Counter[tuple[str, str]]] = {}
        for skip, count in skips.take().items():
            counts.setdefault(skip.folder, Counter())[skip.path, skip.reason] += count
        for folder, own in counts.items():
            try:
                vault = self._projects.vault(folder)
                with vault.transaction():
                    skipped.add(vault.folder, own, self._projects.home.ids.clock())
            except (ThreadlineError, OSError) as error:
                # A repository that git may not read has no project; then the log is all there is.
                what = "; ".join(f"{path}: {reason}" for path, reason in own)
                _log.info("skipped in %s: %s (%s)", folder, what, error)

    def prepare(self, vault: Vault) -> None:
        """Write what the next conversations are told, where hooks will ask for it and what they would read is outdated.

        Where no hook has asked, nothing is loaded; while capture is paused, nothing is prepared.
        """
        wanted = vault.prepared.wanted()
        if not wanted or not vault.exists or self._projects.is_paused(vault):
            return
        home = self._projects.home.folder
        for folder, host in wanted:
            ready = prepared.read(str(home), vault.project_id, (folder, host), "")
            if ready is not None and ready.is_latest:
                continue
            try:
                self._prepare(vault, folder, host)
            except ThreadlineError as error:
                _log.warning("no context was prepared for %s: %s", folder, error)

    def _prepare(self, vault: Vault, folder: str, host: str) -> None:
        from sidecar.handlers.context import Dialogue  # noqa: PLC0415  # needed late

        projects = self._projects
        if not Path(folder).is_dir() or projects.project(folder).project_id != vault.project_id:
            vault.prepared.forget(folder, host)
        elif made := projects.part(Dialogue).draft(folder, host, projects.home.folder):
            vault.prepared.put(folder, host, made)

    def is_unprepared(self) -> bool:
        """Whether hooks would find something else than what is prepared, in a project that was asked for here."""
        home = str(self._projects.home.folder)
        return any(
            (ready := prepared.read(home, vault.project_id, place, "")) is None
            or not ready.is_latest
            for vault in self._projects.opened()
            for place in vault.prepared.wanted()
        )

    def tend(self, vault: Vault) -> None:
        """Let memory look after itself in a thread of its own: capture must not wait for it."""
        can_learn = self._projects.meanings.absence is None
        if not maintenance.is_wanting(vault, self._projects.settings, can_learn=can_learn):
            return
        running = self.tending.get(vault.project_id)
        if running is None or not running.is_alive():
            running = threading.Thread(target=self._tend, args=(vault,), daemon=True)
            self.tending[vault.project_id] = running
            running.start()

    def _tend(self, vault: Vault) -> None:
        from sidecar.handlers import enrichment  # noqa: PLC0415  # needed late

        try:
            enrichment.tend(self._projects, vault)
        except ThreadlineError as error:
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001  # the boundary of the thread
            _log.exception("memory could not be looked after")
