"""What it costs to import a history, against git's own reading of it."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import histories, places
from benchmarks.histories import Commit
from benchmarks.timing import Duel, Go, Row, judge, timed
from protocol.methods import ScanParams
from sidecar.app import Application, open_application
from sidecar.handlers.capture import scan_history
from sidecar.projects.progress import untold
from sidecar.storage.spool import VARIABLE

_SIZES = {1_000: 9, 10_000: 5}
"""Commits, and in how many rounds they are imported."""
_GATE = 3.0


def scan(folder: Path, history: Path | None) -> Iterator[Row]:
    """Time imports of a real history, or of an invented one where there is none."""
    places.spread(folder)
    largest = max(_SIZES)
    commits = histories.invent(largest) if history is None else histories.read(history, largest)
    for size, rounds in _SIZES.items():
        part = commits[:size]
        repository = folder / f"{size} commits"
        histories.build(part, repository)
        what = f"import {len(part):,} commits vs git log"
        ours = _import(repository, folder, part)
        # Git reads a small invented history in less time than it takes to start; that says nothing.
        gate = None if history is None and size < largest else _GATE
        yield judge(Duel(what, ours, _read(repository), rounds, gate))


def _import(repository: Path, folder: Path, commits: Sequence[Commit]) -> Go:
    def go() -> float:
        # A fresh place each time, and none is removed before the end: `places` says why.
        home = tempfile.mkdtemp(dir=folder)
        os.sync()
        application = open_application(
            here=repository, source="benchmark", environment={VARIABLE: home}
        )
        application.project(None)
        seconds = timed(lambda: _scan(application, len(commits)))
        application.close()
        return seconds

    return go


def _scan(application: Application, count: int) -> None:
    scanned = scan_history(application, ScanParams(all_authors=True), untold)
    if scanned.imported != count:
        raise RuntimeError(f"{scanned.imported} of {count} commits were imported")


def _read(repository: Path) -> Go:
    command = ["git", "-C", str(repository), "log", "--name-status", "-z"]

    def read() -> None:
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            descriptor = process.stdout.fileno() if process.stdout else -1
            while os.read(descriptor, 1 << 16):
                pass
        if process.returncode != 0:
            raise RuntimeError(f"git log failed with exit code {process.returncode}")

    def go() -> float:
        os.sync()
        return timed(read)

    return go
