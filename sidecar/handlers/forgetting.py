"""Handlers that remove something from everything on the disk, and prove it."""

from collections.abc import Callable

import msgspec

from protocol.forgetting import ForgetParams, PurgeParams, PurgeReport
from sidecar.handlers import connections
from sidecar.handlers.context import Dialogue
from sidecar.hosts.rules_writer import Needles
from sidecar.project import Projects
from sidecar.projects import personal
from sidecar.storage.vault import Vault
from sidecar.upkeep import purge as purging


def forget(projects: Projects, params: ForgetParams) -> PurgeReport:
    """Remove memories."""
    vault = projects.vault(params.project)
    clear = _find_rules(projects, vault, purging.of_memories(vault, params.memory_ids))
    # What still waits may say what is about to be forgotten.
    projects.part(Dialogue).buffer.flush()
    logs, who = projects.home.logs, params.agent_id
    return clear(purging.forget(vault, params.memory_ids, logs, agent_id=who))


def purge(projects: Projects, params: PurgeParams) -> PurgeReport:
    """Remove a memory, a path, a phrase or everything."""
    vault, logs = projects.vault(params.project), projects.home.logs
    clear = _find_rules(projects, vault, purging.of_request(vault, params))
    buffer = projects.part(Dialogue).buffer
    if params.everything:
        buffer.discard(vault)
        projects.forget_project(vault.project_id)
        return clear(purging.forget_everything(projects.home, vault))
    buffer.flush()
    if params.memory_id is not None:
        return clear(purging.forget(vault, [params.memory_id], logs))
    if params.path is not None:
        return clear(purging.forget_path(vault, params.path, logs))
    return clear(purging.forget_phrase(vault, params.phrase or "", logs))


def _find_rules(
    projects: Projects, vault: Vault, needles: Needles
) -> Callable[[PurgeReport], PurgeReport]:
    """Find the files in which assistants read of a project, to be emptied once something of it is forgotten.

    What was prepared of the person's own memory, in any project, is discarded at once.
    """
    if personal.is_personal(vault):
        for project in projects.home.projects():
            projects.home.vault(project.project_id).prepared.discard()
    clear = connections.find_rules(projects, vault, needles)

    def report(done: PurgeReport) -> PurgeReport:
        stuck = clear()
        return msgspec.structs.replace(
            done, remaining=(*done.remaining, *stuck), verified=done.verified and not stuck
        )

    return report
