"""Doctor: what is wrong on this machine or with this project, and what mends it."""

import contextlib
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from protocol.connections import ConnectParams, Level
from protocol.diagnosis import Diagnosis, Finding, State
from protocol.errors import Code, ThreadlineError
from protocol.memories import MemoryHealth
from protocol.methods import Status
from protocol.versions import VERSION
from sidecar.hosts import connect
from sidecar.hosts.connect import Tools

_LITTLE = 200 * 1024 * 1024
"""Bytes of free disk below which writing may soon fail."""
_FIXES = {
    Code.BUSY: "wait a moment, or end the process that holds it",
    Code.STORE_REFUSED: "upgrade Threadline",
    Code.STORAGE_FAILED: "make the folder writable, or run `threadline restore`",
}
_STANDINGS: dict[State, str] = {
    "ok": "is connected",
    "note": "is installed and not connected",
    "problem": "is connected, but not as this version does it",
}


def examine(
    home: Path,
    git: Callable[[], None],
    status: Callable[[], Status],
    head: Callable[[], str | None],
    tools: Callable[[Level], Tools],
) -> Diagnosis:
    """Look at the program, git, the project's store and every installed assistant; change nothing.

    `head` returns the commit that is checked out and not recorded, if there is one.
    """
    findings = [
        Finding(
            about="program",
            state="ok",
            text=f"Threadline {VERSION} on Python {platform.python_version()}, {platform.system()}",
        ),
        *_examine_home(home),
        _attempt("git", git, "git works here"),
    ]
    try:
        findings += examine_store(status(), head())
    except ThreadlineError as error:
        fix = _FIXES.get(error.code)
        findings.append(Finding(about="store", state="problem", text=str(error), fix=fix))
    return Diagnosis(findings=(*findings, *_examine_assistants(tools)))


def examine_store(status: Status, unrecorded: str | None) -> list[Finding]:
    """Return what a project's status says about its condition; `unrecorded` is a commit that is missing from it."""
    damage = [*_examine_files(status)]
    kept = f"{status.events:,} events and {status.memories:,} memories in {status.folder}"
    well = kept if status.events or status.memories else "nothing is kept for this folder yet"
    return [
        *(damage or [Finding(about="store", state="ok", text=well)]),
        *_examine_capture(status, unrecorded),
        *_examine_hooks(status),
        *_examine_memory(status.memory_health),
    ]


def _examine_files(status: Status) -> Iterator[Finding]:
    if status.recoveries:
        yield _problem("store", status.recoveries[-1], "threadline verify")
    if status.damaged_copies:
        text = f"damaged files are kept aside: {', '.join(status.damaged_copies)}"
        yield _note("store", text, "threadline verify, then delete them")
    if status.journal != "wal":
        text = "on a network file system readers wait for writers"
        yield _note("store", text, "set THREADLINE_HOME to a local folder")
    if status.events and not status.snapshots:
        yield _note("store", "there is no snapshot yet", "threadline maintain")


def _examine_capture(status: Status, unrecorded: str | None) -> Iterator[Finding]:
    if status.capture.paused:
        yield _note("capture", "capture is paused", "threadline resume")
    elif not status.events:
        yield _note("capture", "nothing is recorded yet", "threadline scan")
    elif unrecorded:
        text = f"the commit that is checked out, {unrecorded[:8]}, is not recorded"
        yield _note("capture", text, "threadline watch --once, or open the folder in your editor")


def _examine_hooks(status: Status) -> Iterator[Finding]:
    if status.waiting:
        yield _note(
            "hooks", f"events that wait to be placed: {status.waiting:,}", "threadline maintain"
        )
    if status.parked_events:
        text = f"events that failed three times and are kept aside: {status.parked_events:,}"
        yield _problem("hooks", text, "see logs/parked.jsonl in the home folder")
    if status.late_hooks:
        text = f"hooks that ran out of time lately: {status.late_hooks:,}"
        fix = "threadline maintain; on a slow machine set THREADLINE_HOOK_SECONDS"
        yield _problem("hooks", text, fix)


def _examine_memory(health: MemoryHealth) -> Iterator[Finding]:
    if health.unprocessed_sessions:
        text = f"sessions not read for memory yet: {health.unprocessed_sessions:,}"
        yield _note("memory", text, "threadline enrich --all")
    if health.failed_jobs:
        yield _problem(
            "memory", f"jobs that failed: {health.failed_jobs:,}", "threadline enrich --retry"
        )
    if health.semantic_absence:
        reason, _, remedy = health.semantic_absence.partition("; run ")
        fix = remedy.strip("`") or "pip install 'threadline[semantic]'"
        yield _note("memory", f"search by words only: {reason}", fix)


def _note(about: str, text: str, fix: str) -> Finding:
    return Finding(about=about, state="note", text=text, fix=fix)


def _problem(about: str, text: str, fix: str) -> Finding:
    return Finding(about=about, state="problem", text=text, fix=fix)


def _examine_home(home: Path) -> Iterator[Finding]:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < _LITTLE:
        text = f"only {free / 1_000_000:,.0f} MB are free on the disk of {place}"
        yield _problem("home", text, "free some space")
    if not os.access(place, os.W_OK):
        text = f"{place} is not writable"
        yield _problem("home", text, "make it writable, or set THREADLINE_HOME")


def _attempt(about: str, act: Callable[[], None], well: str) -> Finding:
    try:
        act()
    except ThreadlineError as error:
        return Finding(about=about, state="problem", text=str(error))
    return Finding(about=about, state="ok", text=well)


def _examine_assistants(tools: Callable[[Level], Tools]) -> Iterator[Finding]:
    """Return for each assistant that is installed whether it is connected, and as this version would do it."""
    places: dict[Level, Tools] = {"user": tools("user")}
    with contextlib.suppress(ThreadlineError):
        # Without git there is no project, and the finding about git says so.
        places["project"] = tools("project")
    rows = places["user"].ledger.rows().values()
    for agent in connect.find(places["user"]):
        known = {row.path for row in rows if agent.agent in row.agents}
        if not agent.installed and not known:
            continue
        plans = [
            connect.connect(at, ConnectParams(agents=(agent.agent,), level=level, dry_run=True))
            for level, at in places.items()
        ]
        changes = [change for plan in plans for change in plan.files if change.path in known]
        is_current = all(change.action == "unchanged" for change in changes)
        state: State = "note" if not changes else "ok" if is_current else "problem"
        fix = None if state == "ok" else f"threadline connect {agent.agent}"
        text = f"{agent.label} {_STANDINGS[state]}"
        yield Finding(about=agent.agent, state=state, text=text, fix=fix)
