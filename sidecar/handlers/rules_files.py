"""Handlers for rules files."""

import os
from pathlib import Path

from protocol.contexts import ContextParams
from protocol.errors import ConflictError
from protocol.projects import ProjectParams
from protocol.rules import (
    RulesChange,
    RulesChanges,
    RulesList,
    RulesParams,
    Target,
    WriteRulesParams,
)
from sidecar.code import checkouts
from sidecar.context.rules import fitting, rendering
from sidecar.handlers import connections
from sidecar.handlers.context import Dialogue
from sidecar.hosts import rules_writer
from sidecar.project import Projects

_ALL = 100_000
"""Characters of what is chosen from: more than fits into any file."""


def list_files(projects: Projects, params: ProjectParams) -> RulesList:
    """Return which files are there."""
    return rules_writer.list_files(_tools(projects, params.project))


def write(projects: Projects, params: WriteRulesParams) -> RulesChange:
    """Write one file."""
    return rules_writer.write(_tools(projects, params.project), params)


def refresh(projects: Projects, params: RulesParams) -> RulesChanges:
    """Renew those that are there."""
    return rules_writer.refresh(_tools(projects, params.project), params)


def remove(projects: Projects, params: RulesParams) -> RulesChanges:
    """Remove those that are there."""
    return rules_writer.remove(_tools(projects, params.project), params)


def _tools(projects: Projects, reference: str | None) -> rules_writer.Tools:
    def tell(target: Target, most: int) -> str:
        """Return what holds for every conversation; nothing is noted of that."""
        asked = ContextParams(
            project=reference, agent_id=target, max_response_chars=_ALL, preview=True
        )
        context = fitting.keep(projects.part(Dialogue).start(asked))
        return rendering.render(context, most, projects.home.fence_key()).text

    return rules_writer.Tools(
        root=str(_root(projects, reference)), ledger=connections.ledger(projects), tell=tell
    )


def _root(projects: Projects, reference: str | None) -> Path:
    """Find the root of the working tree; in git's own folders nothing is written."""
    place = Path(os.path.realpath(projects.folder(reference)))
    found = projects.checkout(place)
    if ".git" in place.parts or (found is None and checkouts.is_bare(place)):
        raise ConflictError(f"{place} has no working tree to write into", field="project")
    return place if found is None else Path(os.path.realpath(found.folder))
