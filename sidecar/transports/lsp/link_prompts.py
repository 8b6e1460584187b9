"""What an editor asks its person about a folder that matches another project, and what the answer does."""

import logging
from pathlib import Path
from typing import Any

from lsprotocol.types import MessageType
from msgspec import Struct

from protocol.errors import ThreadlineError
from protocol.projects import LinkFolderParams, Project
from sidecar.app import Application

SHARE = "Share Its Memory"
APART = "Keep Apart"

_log = logging.getLogger(__name__)


class Question(Struct, frozen=True):
    """What a person is asked about a folder."""

    folder: Path
    other: Project
    message: dict[str, Any]
    """The params of `window/showMessageRequest`."""


class Links:
    """Asks about each folder once; called from threads, since git may have to be asked."""

    def __init__(self, app: Application) -> None:
        """Ask nothing yet."""
        self._app = app

    def ask(self, folder: Path) -> Question | None:
        """Return what the person is to be asked about a folder, noted as asked, or None."""
        try:
            located = self._app.located(str(folder))
            own = located.project
            fresh = [offer for offer in located.offers if offer.project_id not in own.asked]
            if not fresh:
                return None
            from sidecar.upkeep import linking  # noqa: PLC0415  # few need it

            linking.note_asked(self._app.home, own, fresh)
        except ThreadlineError as error:
            _log.warning("%s", error)
            return None
        text = (
            f"Threadline: {folder.name} has the root commit and remote of {fresh[0].name}, which is remembered "
            "already. Share its memory with this folder?"
        )
        actions = [{"title": title} for title in (SHARE, APART)]
        message = {"type": MessageType.Info.value, "message": text, "actions": actions}
        return Question(folder, fresh[0], message)

    def answer(self, question: Question, answer: object) -> str:
        """Do what the person chose and say so; a prompt that was closed is answered by nothing."""
        title = answer.get("title") if isinstance(answer, dict) else None
        if title not in {SHARE, APART}:
            return ""
        params = LinkFolderParams(
            project=str(question.folder),
            to=question.other.project_id if title == SHARE else None,
            refuse=title == APART,
        )
        from sidecar.handlers import projects  # noqa: PLC0415  # few need it

        linked = projects.link(self._app, params)
        return f"{question.folder} is {linked.outcome}: its memory is {linked.project_id}"
