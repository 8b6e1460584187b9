"""Handlers for what is captured: events, the history of a repository, pauses."""

import contextlib

from protocol import methods
from protocol.capture import CaptureState
from protocol.errors import ThreadlineError
from protocol.projects import ProjectParams
from sidecar.capture import pause, record, scan
from sidecar.code import commits, processes
from sidecar.handlers.background import Background
from sidecar.handlers.hook_ingest import Hearing
from sidecar.handlers.workspaces import Workspace
from sidecar.project import Projects
from sidecar.projects.progress import Tell
from sidecar.projects.repositories import own_commits


def ingest(projects: Projects, params: methods.IngestParams) -> methods.IngestResult:
    """Record events; while capture is paused they are dropped."""
    vault = projects.vault(params.project)
    if projects.is_paused(vault):
        dropped = [methods.PlacedEvent(outcome="dropped") for _ in params.events]
        return methods.IngestResult(project_id=vault.project_id, events=tuple(dropped))
    placed = record.ingest(vault, params.events, params.source or projects.source)
    if any(event.commit for event in params.events):
        projects.part(Background).check(params.project)
    return methods.IngestResult(project_id=vault.project_id, events=tuple(placed))


def scan_history(projects: Projects, params: methods.ScanParams, tell: Tell) -> methods.ScanResult:
    """Import a repository's history, telling how far it is."""
    folder = projects.repository(params.project)
    vault = projects.vault(params.project)
    author = params.author or (None if params.all_authors else own_commits(folder))
    scanned = scan.scan(
        vault,
        commits.history(folder, since=params.since, author=author),
        lambda wanted: commits.read(folder, wanted, line_counts=params.line_counts),
        tell,
    )
    projects.part(Workspace).begin(folder)
    projects.part(Background).check(params.project)
    return methods.ScanResult(
        project_id=vault.project_id,
        author=author,
        found=scanned.found,
        imported=scanned.imported,
        already_known=scanned.found - scanned.imported,
        sessions=scanned.sessions,
    )


def pause_capture(projects: Projects, params: methods.PauseParams) -> CaptureState:
    """Record nothing for a while; what happened until now is recorded first."""
    catch_up(projects, params.project)
    projects.part(Hearing).place_soon()
    projects.part(Background).settle()
    return pause.pause(projects.vault(params.project), params.duration, processes.own_name())


def resume_capture(projects: Projects, params: ProjectParams) -> CaptureState:
    """Record again."""
    catch_up(projects, params.project)
    return pause.resume(projects.vault(params.project))


def catch_up(projects: Projects, reference: str | None) -> None:
    """Settle what was committed so far in a project that is watched, before a pause begins or ends."""
    with contextlib.suppress(ThreadlineError):
        projects.part(Workspace).settle(projects.folder(reference))
