"""Hovers and lenses: what memory knows of code, in LSP's own words for it, for every editor."""

import logging
import os
import re
import threading
from typing import Annotated, Any, TypeVar

import msgspec
from cachetools import LRUCache
from lsprotocol import types
from msgspec import Meta, Struct

from protocol.errors import ThreadlineError
from protocol.explanations import Explanation, FileStory
from sidecar.app import Application
from sidecar.hosts import client_names
from sidecar.text import paths
from sidecar.transports.addresses import path_of

SHOW_FILE = "threadline.showFile"
"""Shows what is known about a file, in an editor that has no page for it."""

_EXPLAIN, _ABOUT = "threadline/lines/explain", "threadline/files/about"
_COMMAND = re.compile(r"[A-Za-z][\w.-]{0,199}")
_SHOWN = 64
"""Lenses that are compared when something has changed."""
_TOP = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}

_MARKDOWN, _PLAIN = types.MarkupKind.Markdown.value, types.MarkupKind.PlainText.value

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Story = tuple[str, FileStory]
"""The root of a working tree, and what is known about a file in it."""
_Number = Annotated[int, Meta(ge=0, lt=2**31)]


class _Document(Struct):
    uri: str


class _Position(Struct):
    line: _Number
    character: _Number


class _Hover(Struct, rename="camel"):
    text_document: _Document
    position: _Position


class _Lens(Struct, rename="camel"):
    text_document: _Document


class Insights:
    """Answers for the files of the workspace; what is wrong with params is raised, all else is silence."""

    def __init__(self, app: Application) -> None:
        """Serve a client that can show plain text."""
        self._app = app
        self._kind = _PLAIN
        self._links: dict[str, str] = {}
        self._show = SHOW_FILE
        self._mutex = threading.Lock()
        self._shown: LRUCache[str, str | None] = LRUCache(_SHOWN)

    def meet(self, capabilities: object, options: object) -> None:
        """Take over how the client shows text, and which commands of its own it wants to be led to."""
        formats = _at(capabilities, "textDocument", "hover", "contentFormat")
        offered = formats if isinstance(formats, list) else []
        commands = _at(options, "commands") if client_names.is_vscode(self._app.source) else None
        self._kind = next((one for one in offered if one in (_MARKDOWN, _PLAIN)), _PLAIN)
        self._links = {
            kind: name
            for kind, name in (commands.items() if isinstance(commands, dict) else ())
            if isinstance(name, str) and _COMMAND.fullmatch(name)
        }
        self._show = self._links.get("file", SHOW_FILE)

    def hover(self, params: object) -> object:
        """Return what is behind the line under the pointer."""
        from sidecar.context.rules import explanations  # noqa: PLC0415  # loaded once somebody points

        asked = msgspec.convert(params, _Hover)
        place = self._place(asked.text_document.uri) if self._app.settings.hover else None
        if place is None:
            return None
        line = asked.position.line + 1
        found = self._ask(_EXPLAIN, place | {"line": line, "limit": 20}, Explanation)
        style = explanations.Style(is_markdown=self._kind == _MARKDOWN, links=self._links)
        text = None if found is None else explanations.hover(found, style)
        return None if text is None else {"contents": {"kind": self._kind, "value": text}}

    def lenses(self, params: object) -> object:
        """Return the lens above a file with how much is known about it."""
        uri = msgspec.convert(params, _Lens).text_document.uri
        story, title = self._title(uri)
        with self._mutex:
            self._shown[uri] = title
        if story is None or title is None:
            return []
        command = {"title": title, "command": self._show, "arguments": [_named(story)]}
        return [{"range": _TOP, "command": command}]

    def have_changed(self) -> bool:
        """Return whether a lens that was asked for would say something else now; each time, that is told once."""
        with self._mutex:
            shown = dict(self._shown)
        now = {uri: self._title(uri)[1] for uri in shown}
        with self._mutex:
            self._shown.update({uri: now[uri] for uri in now if uri in self._shown})
        return now != shown

    def describe(self, params: object) -> tuple[FileStory, str]:
        """Return what is known about a file, for machines and in words."""
        from sidecar.context.rules import explanations  # noqa: PLC0415  # likewise

        story = self._app.call(_ABOUT, params)
        assert isinstance(story, FileStory)  # noqa: S101  # for the type checker; the table says so
        return story, explanations.summary(story)

    def _title(self, uri: str) -> tuple[_Story | None, str | None]:
        from sidecar.context.rules import explanations  # noqa: PLC0415  # likewise

        place = self._place(uri) if self._app.settings.code_lens else None
        found = None if place is None else self._ask(_ABOUT, place | {"limit": 1}, FileStory)
        if place is None or found is None:
            return None, None
        return (place["project"], found), explanations.lens(found)

    def _place(self, uri: str) -> dict[str, Any] | None:
        """Return the checkout and path of a URI; None outside the workspace."""
        try:
            path = path_of(uri)
            found = None if path is None else self._app.workspace.find(path)
        except (OSError, ValueError, RecursionError):
            return None
        if path is None or found is None:
            return None
        return {"project": str(found[0]), "path": paths.read(os.fsencode(path))}

    def _ask(self, method: str, params: dict[str, Any], kind: type[_T]) -> _T | None:
        """Ask a method of ours; whoever only points at something wants to hear of no problem."""
        try:
            found = self._app.call(method, params)
        except ThreadlineError as error:
            _log.info("%s: %s", method, error)
            return None
        return found if isinstance(found, kind) else None


def _named(found: _Story) -> dict[str, str]:
    """Return a file for a command; by the project's id where its folder has a name that is no text."""
    folder, story = found
    is_text = paths.read(os.fsencode(folder)) == folder
    return {"project": folder if is_text else story.project_id, "path": story.path}


def _at(found: object, *names: str) -> object:
    """Return what stands at a place in what a client said; None where nothing does."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found
