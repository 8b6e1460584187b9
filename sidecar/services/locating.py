"""Locating: from the facts about a folder to the project whose memory it shares."""

from collections.abc import Callable, Iterable

from protocol.errors import NotFoundError
from protocol.projects import Project
from sidecar.domain import identities
from sidecar.domain.identities import Facts
from sidecar.store.homes import Home

Believe = Callable[[str, str | None], Iterable[str]]
Ask = Callable[[Believe], Facts]
"""Gives the facts of a folder; it may ask which root commits to expect there."""


def locate(home: Home, ask: Ask) -> Project:
    """Find the project of a folder, or begin one; what the facts tell anew is remembered."""
    projects = home.projects()
    facts = ask(lambda folder, remote: identities.believed_roots(folder, remote, projects))
    project = identities.match(facts, projects)
    if project is None:
        project = identities.found(facts, home.ids.clock())
        home.put(project)
    learned = identities.learn(project, facts)
    if learned != project or project.project_id not in home.vault(project.project_id).projects:
        with home.lock.held():
            learned = identities.learn(by_id(home, project.project_id), facts)
            home.put(learned)
    return learned


def by_id(home: Home, project_id: str) -> Project:
    """Find a project by its id."""
    for project in home.projects():
        if project.project_id == project_id:
            return project
    raise NotFoundError(f"no project {project_id} here", field="project")
