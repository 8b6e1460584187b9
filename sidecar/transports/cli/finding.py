"""Which sessions, files, texts and records a command means."""

import os
import posixpath
import sys
from argparse import Namespace
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from protocol.errors import InvalidParamsError, NotFoundError
from protocol.methods import SessionPage
from protocol.sessions import Session
from sidecar.app import Application, now
from sidecar.storage.collection import Collection

_AT_ONCE = 1000
_CANDIDATES = 5
"""Ids that are listed where one would do."""
Table = Literal["memories", "tasks", "messages", "links", "receipts"]
_ONE: dict[Table, str] = {
    "memories": "memory",
    "tasks": "task",
    "messages": "message",
    "links": "link",
    "receipts": "receipt",
}


def every(app: Application, options: Namespace) -> list[Session]:
    """List all sessions, newest first."""
    found: list[Session] = []
    before: str | None = None
    while True:
        page = page_of(app, options, limit=_AT_ONCE, before=before)
        found += page.sessions
        before = page.next
        if before is None:
            return found


def page_of(app: Application, options: Namespace, **more: object) -> SessionPage:
    """List one page of sessions."""
    result = app.call("threadline/sessions/list", {"project": options.project, **more})
    assert isinstance(result, SessionPage)  # noqa: S101  # for the type checker; the table says so
    return result


def resolve(app: Application, options: Namespace) -> Session:
    """Find the one session whose id begins or ends as the user typed."""
    sessions = {session.session_id: session for session in every(app, options)}
    return sessions[pick(sessions, options.session, "session")]


def pick(ids: Iterable[str], wanted: str, noun: str, nouns: str = "") -> str:
    """Return the one id that is, begins or ends as the user typed; what fits several is refused, and they are listed."""
    typed = wanted.upper()
    fitting = [
        name for name in ids if name.upper().startswith(typed) or name.upper().endswith(typed)
    ]
    exact = [name for name in fitting if name.upper() == typed]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if not fitting:
        raise NotFoundError(f"no {noun} with an id that begins or ends with {wanted}")
    more = f" and {len(fitting) - _CANDIDATES} more" if len(fitting) > _CANDIDATES else ""
    listed = ", ".join(sorted(fitting, reverse=True)[:_CANDIDATES])
    raise NotFoundError(
        f"{len(fitting)} {nouns or noun + 's'} have an id that begins or ends with {wanted}: {listed}{more}"
    )


def wanted(app: Application, options: Namespace) -> list[str | None]:
    """Return the sessions to make memory from; None stands for the active or latest one."""
    if options.session:
        return [resolve(app, options).session_id]
    if not options.all:
        return [None]
    unread = [one for one in every(app, options) if one.enrichment_status != "completed"]
    return [one.session_id for one in reversed(unread)]


def compactable(app: Application, options: Namespace) -> list[str]:
    """Name the closed sessions to compact: the one that is named, or all of a certain age."""
    if options.session:
        return [resolve(app, options).session_id]
    if options.older_than is None or options.older_than < 0:
        raise InvalidParamsError("name a session, or say --older-than DAYS")
    limit = now() - timedelta(days=options.older_than)
    closed = [one for one in every(app, options) if one.status == "closed"]
    return [one.session_id for one in closed if one.last_event_at < limit]


def path_of(app: Application, options: Namespace, name: str) -> str:
    """Spell a path as the repository does: from its root, wherever the user is."""
    root = app.root(options.project)
    here = Path.cwd() / name
    if root is not None and (here.exists() or here.is_absolute()):
        real = Path(os.path.normpath(here))
        if real.is_relative_to(root):
            return real.relative_to(root).as_posix()
    return posixpath.normpath(name)


def text_of(name: str) -> str:
    """Read a file of the user's, or standard input for `-`."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode()
    except OSError as error:
        raise NotFoundError(f"cannot open {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidParamsError(f"{name} is not UTF-8: {error.reason}") from error


def memory_id(app: Application, options: Namespace, wanted: str) -> str:
    """Find the one memory whose id begins or ends as the user typed."""
    return identify(app, options, "memories", wanted)


def identify(app: Application, options: Namespace, table: Table, wanted: str) -> str:
    """Find the one record of a table whose id begins or ends as the user typed."""
    vault = app.vault(options.project)
    shelves: dict[Table, Collection[Any]] = {
        "memories": vault.memories,
        "tasks": vault.tasks,
        "messages": vault.messages,
        "links": vault.links,
        "receipts": vault.receipts,
    }
    return pick(shelves[table].ids(), wanted, _ONE[table], table)
