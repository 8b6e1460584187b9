"""Handlers for rules files."""

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

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
from sidecar.code.checkouts import Checkout
from sidecar.context.rules import fitting, rendering
from sidecar.handlers.context import Dialogue
from sidecar.hosts import rules_writer
from sidecar.storage.home import Home
from sidecar.storage.ledgers import Ledger

_ALL = 100_000
"""Characters of what is chosen from: more than fits into any file."""


class Guidance(Struct, frozen=True):
    """Serves the methods about rules files."""

    home: Home
    dialogue: Dialogue
    place: Callable[[str | None], Path]
    """Gives a folder of the project that a request names."""
    checkout: Callable[[Path], Checkout | None]
    """Finds the working tree that a folder is in."""

    def list_files(self, params: ProjectParams) -> RulesList:
        """Tell which files are there."""
        return rules_writer.list_files(self._tools(params.project))

    def write(self, params: WriteRulesParams) -> RulesChange:
        """Write one file."""
        return rules_writer.write(self._tools(params.project), params)

    def refresh(self, params: RulesParams) -> RulesChanges:
        """Renew those that are there."""
        return rules_writer.refresh(self._tools(params.project), params)

    def remove(self, params: RulesParams) -> RulesChanges:
        """Remove those that are there."""
        return rules_writer.remove(self._tools(params.project), params)

    def _tools(self, reference: str | None) -> rules_writer.Tools:
        def tell(target: Target, most: int) -> str:
            return self._tell(reference, target, most)

        return rules_writer.Tools(
            root=str(self._root(reference)),
            ledger=Ledger(self.home.folder, self.home.lock),
            tell=tell,
        )

    def _root(self, reference: str | None) -> Path:
        """Find the root of the working tree; in git's own folders nothing is written."""
        place = Path(os.path.realpath(self.place(reference)))
        found = self.checkout(place)
        if ".git" in place.parts or (found is None and checkouts.is_bare(place)):
            raise ConflictError(f"{place} has no working tree to write into", field="project")
        return place if found is None else Path(os.path.realpath(found.folder))

    def _tell(self, reference: str | None, target: Target, most: int) -> str:
        """Tell what holds for every conversation; nothing is noted of that."""
        asked = ContextParams(
            project=reference, agent_id=target, max_response_chars=_ALL, preview=True
        )
        context = fitting.keep(self.dialogue.start(asked))
        return rendering.render(context, most, self.dialogue.around.key()).text
