"""What is brought in from before: the history, past conversations that other tools have kept."""

import os
import re
import stat
import sys
from argparse import Namespace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from protocol.errors import InvalidParamsError, ThreadlineError
from protocol.methods import ScanParams
from sidecar.app import Application
from sidecar.conversations.imports.backfill import READERS, Brought
from sidecar.handlers import capture
from sidecar.handlers.imports import Imports
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit

_AGO = re.compile(r"(\d+) ?(?:(h)(?:ours?)?|(d)(?:ays?)?|(w)(?:eeks?)?|(m)onths?)(?: ago)?")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}


def history(app: Application, options: Namespace) -> Exit:
    """Import what was committed, and say what else could be imported."""
    params = ScanParams(
        project=options.path or options.project,
        since=options.since,
        author=options.author,
        all_authors=not options.mine,
        line_counts=options.line_counts,
    )
    with screens.progress("importing commits") as progress:
        result = capture.scan_history(app, params, progress)
    if options.json:
        print(calls.encode(result))
        return Exit.OK
    whose = "everyone's" if result.author is None else result.author.strip("<>") + "'s"
    screens.say(
        f"{screens.plural(result.found, 'commit')} ({whose}): {result.imported:,} imported into "
        f"{screens.plural(result.sessions, 'session')}, {result.already_known:,} known before"
    )
    if not result.found and result.author is not None and not options.author:
        screens.say("nothing of yours is here; without --mine everyone's commits are imported")
    if options.is_offering:
        offer(app, params.project)
    return Exit.OK


def is_host(source: str | None) -> bool:
    """Return whether an import is of another tool's conversations, or a question for what there is."""
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
    if kept := waiting(app, reference):
        what = screens.plural(sum(count for _, _, count in kept), "past conversation")
        names = ", ".join(label for _, label, _ in kept)
        screens.say(f"{what} about this repository found ({names}); `threadline import` lists them")


def waiting(app: Application, reference: str | None) -> list[tuple[str, str, int]]:
    """Return which tools have kept conversations about this repository that are not imported: name, label, number."""
    try:
        counts = _imports(app).count(app.project(reference))
    except (ThreadlineError, OSError, ValueError):
        return []
    return [(count.host, READERS[count.host].label, count.here) for count in counts if count.here]


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
