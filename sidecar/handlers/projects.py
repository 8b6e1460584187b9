"""Handlers for which folder belongs to which project."""

import logging

from protocol.methods import ListProjectsParams, ProjectList
from protocol.projects import LinkedFolder, LinkFolderParams, Project, ProjectParams, Standing
from sidecar.code import checkouts
from sidecar.handlers import capture
from sidecar.handlers.background import Background
from sidecar.handlers.hook_ingest import Hearing
from sidecar.handlers.workspaces import Workspace
from sidecar.project import Projects
from sidecar.projects import locate
from sidecar.upkeep import linking

_log = logging.getLogger(__name__)


def list_projects(projects: Projects, params: ListProjectsParams) -> ProjectList:
    """List the workspace's projects first, then all others if they are asked for."""
    found = [*here(projects), *(projects.home.projects() if params.everywhere else ())]
    return ProjectList(projects=tuple({one.project_id: one for one in found}.values()))


def here(projects: Projects) -> list[Project]:
    """Return the projects of the workspace."""
    ids = [vault.project_id for vault in projects.part(Workspace).vaults()]
    found = [locate.by_id(projects.home, project_id) for project_id in ids]
    # Where there are none, nobody has looked for repositories yet.
    return found or [
        projects.project(str(folder)) for folder in projects.folders or [projects.here]
    ]


def explain(projects: Projects, params: ProjectParams) -> Standing:
    """Return why a folder belongs to its project."""
    return linking.explain(projects.home, projects.located(params.project))


def link(projects: Projects, params: LinkFolderParams) -> LinkedFolder:
    """Let a folder share the memory of the project it matches, or refuse that; all it has heard comes along."""
    capture.catch_up(projects, params.project)
    projects.part(Hearing).place_soon()
    projects.part(Background).settle()
    located = projects.located(params.project)
    trees = list(checkouts.find(projects.folder(params.project), _log.warning))
    linked = linking.link(projects.home, located, params, trees)
    projects.forget_project(located.project.project_id)
    return linked


def unlink(projects: Projects, params: ProjectParams) -> LinkedFolder:
    """Return a folder a memory of its own again."""
    capture.catch_up(projects, params.project)
    projects.part(Background).settle()
    located = projects.located(params.project)
    unlinked = linking.unlink(projects.home, located)
    projects.forget_project(located.project.project_id)
    return unlinked
