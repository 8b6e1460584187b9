"""Handlers that tell how things stand."""

import contextlib
import os
from datetime import datetime

import msgspec

from protocol.diagnosis import Diagnosis
from protocol.errors import ThreadlineError
from protocol.methods import NoParams, Status, Version
from protocol.projects import ProjectParams
from protocol.versions import VERSION
from sidecar.capture import pause, timeline
from sidecar.capture.rules import sessions
from sidecar.code import git, lineage, processes
from sidecar.handlers import connections
from sidecar.handlers.background import Background
from sidecar.memory import health
from sidecar.project import Projects
from sidecar.storage import spool
from sidecar.upkeep import doctor


def version(_projects: Projects, _: NoParams) -> Version:
    """Return which program answers."""
    return Version(version=VERSION, process=os.getpid())


def status(projects: Projects, params: ProjectParams) -> Status:
    """Return what is recorded of a project, and what is wrong."""
    project = projects.project(params.project)
    vault = projects.vault(project)
    with contextlib.suppress(ThreadlineError):
        git.check(projects.folder(params.project))
    projects.part(Background).note_skips()
    home = str(projects.home.folder)
    state = pause.state(vault, processes.is_running)
    told = health.report(vault, project, state, projects.meanings, spool.count_parked(home))
    late, last_late = spool.count_late(home)
    return msgspec.structs.replace(
        told,
        late_hooks=late,
        last_late_hook=datetime.fromisoformat(last_late) if last_late else None,
    )


def examine(projects: Projects, params: ProjectParams) -> Diagnosis:
    """Look for whatever keeps Threadline from working here."""

    def ask_git() -> None:
        git.ask(projects.folder(params.project), "version")
        git.check(projects.folder(params.project))

    def find_unrecorded() -> str | None:
        head = lineage.head(projects.folder(params.project))
        vault = projects.vault(params.project)
        is_known = not head or timeline.holder(vault, sessions.commit_key(head))
        return None if is_known else head

    return doctor.examine(
        projects.home.folder,
        ask_git,
        lambda: status(projects, params),
        find_unrecorded,
        lambda level: connections.prepare(projects, level, params.project),
    )
