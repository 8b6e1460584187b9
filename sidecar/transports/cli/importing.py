"""`threadline import`: an export of ours, or what other tools have kept of past conversations."""

import os
import re
import stat
import sys
from argparse import Namespace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from protocol.errors import InvalidParamsError, ThreadlineError
from sidecar.app import Application
from sidecar.conversations.imports.backfill import READERS, Brought
from sidecar.handlers.imports import Imports
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit

_AGO = re.compile(r"(\d+) ?(?:(h)(?:ours?)?|(d)(?:ays?)?|(w)(?:eeks?)?|(m)onths?)(?: ago)?")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}


def is_host(source: str | None) -> bool:
    """Tell whether an import is of another tool's conversations, or a question for what there is."""
    return source in READERS or (source is None and not _has_input())


def conversations(app: Application, options: Namespace) -> Exit:
    """Import what a host has kept, or list what was found."""
    if options.source is None:
        return _list(app, options)
    imports, project = _imports(app), app.project(options.project)
    app.hearing.place()
    label = READERS[options.source].label
    since = _moment(options.since) if options.since else None
    wanted = app.home.projects() if options.all_projects else [project]
    with screens.progress(f"reading conversations of {label}") as progress:
        brought = imports.bring(
            options.source, wanted, progress, since=since, is_trial=options.dry_run
        )
    if options.json:
        print(calls.encode(brought))
    else:
        screens.say(_told(brought, label, is_trial=options.dry_run))
    return Exit.OK


def offer(app: Application, reference: str | None) -> None:
    """Say in one line what could be imported; nothing where there is nothing, or where that cannot be told."""
    try:
        counts = _imports(app).count(app.project(reference))
    except (ThreadlineError, OSError, ValueError):
        return
    found = [one for one in counts if one.here]
    if found:
        what = screens.plural(sum(one.here for one in found), "past conversation")
        names = ", ".join(READERS[one.host].label for one in found)
        screens.say(f"{what} about this repository found ({names}); `threadline import` lists them")


def _list(app: Application, options: Namespace) -> Exit:
    counts = _imports(app).count(app.project(options.project))
    if options.json:
        print(calls.encode(tuple(counts)))
        return Exit.OK
    found = [one for one in counts if one.here or one.imported or one.elsewhere]
    for one in found:
        what = screens.plural(one.here, "new conversation")
        way = f"; `threadline import {one.host}`" if one.here else ""
        screens.say(
            f"{READERS[one.host].label}: {what} about this repository, {one.imported:,} imported,"
            f" {one.elsewhere:,} about others{way}"
        )
    if not found:
        names = ", ".join(reader.label for reader in READERS.values())
        screens.say(f"no past conversations were found (looked for {names})")
    return Exit.OK


def _imports(app: Application) -> Imports:
    return Imports(app.home, Path.home(), app.vault)


def _told(brought: Brought, label: str, *, is_trial: bool) -> str:
    verb = "would be imported" if is_trial else "imported"
    text = (
        f"{screens.plural(brought.turns, 'turn')} of {screens.plural(brought.conversations, 'conversation')}"
        f" of {label} {verb}, {brought.known:,} known before"
    )
    return (
        f"{text}, {screens.plural(brought.damaged, 'damaged line')} skipped"
        if brought.damaged
        else text
    )


def _moment(said: str) -> datetime:
    """Read a date, or how long ago."""
    ago = _AGO.fullmatch(said.strip().lower())
    if ago:
        unit = next(filter(None, ago.groups()[1:]))
        return datetime.now(UTC) - timedelta(days=int(ago[1]) * _DAYS[unit])
    try:
        read = datetime.fromisoformat(said)
    except ValueError:
        raise InvalidParamsError(
            f"--since {said!r} is no date; write 2026-05-01, or 3 weeks", field="since"
        ) from None
    return read if read.tzinfo else read.astimezone()


def _has_input() -> bool:
    if sys.stdin is None:
        return False
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISCHR(kind) and bool(sys.stdin.buffer.peek(1))  # type: ignore[union-attr]  # it is buffered
