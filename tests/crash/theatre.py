"""How tests order scenes: kill, fail, record; each answer says what was acknowledged and what is there."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import ROOT

SOURCE = Path(__file__).with_name("faults.c")
EVERYTHING = bool(os.environ.get("THREADLINE_EVERYTHING"))
"""Whether every operation is tried, as `make crash` does, and not only a sample."""

OPEN, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, READ, LOCK, CHANGE = (
    1 << bit for bit in range(10)
)
CHANGES = OPEN | WRITE | SYNC | TRUNCATE | RENAME | UNLINK | MKDIR
READ_ONLY = CHANGE | WRITE | TRUNCATE | RENAME | UNLINK | MKDIR
"""What no process may do on a read-only file system."""
COUNT, KILL_BEFORE, KILL_AFTER, TEAR, FAIL = range(5)
FOREVER = 1 << 30


class Answer(NamedTuple):
    """What came of a part of a scene."""

    status: int
    """Of the process; less than zero where a signal ended it."""
    acknowledged: list[str]
    result: Any
    operations: int
    """How many file operations there were."""
    error: str
    reader: int


def build(folder: Path) -> Path:
    """Compile what is loaded before the C library."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        reason = "faults at exact file operations need Linux and a C compiler (`apt install gcc`)"
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail(reason)
        pytest.skip(reason)
    library = folder / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class Theatre:
    """A process that plays scenes; see `stage.py`."""

    def __init__(self, library: Path) -> None:
        self.library = library
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.stage"],
            cwd=ROOT,
            env=dict(os.environ) | {"LD_PRELOAD": str(library), "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, scene: str, part: str, folder: Path, **more: Any) -> Answer:
        """Play a part of a scene; how it ended is for the caller to judge."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"scene": scene, "part": part, "folder": str(folder)} | more
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Answer(**{"error": "", "reader": 0} | answer)

    def play(self, scene: str, part: str, folder: Path, **more: Any) -> Answer:
        """Play a part that must not fail."""
        answer = self.ask(scene, part, folder, **more)
        assert answer.status == 0, f"{scene}.{part} in {folder}:\n{answer.error}"
        return answer

    def operations(self, scene: str, folder: Path, kinds: int = CHANGES) -> int:
        """Count the file operations of a scene that goes well."""
        self.play(scene, "prepare", folder)
        return self.play(scene, "act", folder, fault=[COUNT, 0, 0, kinds, 0]).operations

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=10)


def points(count: int, most: int) -> list[int]:
    """Choose at which of so many operations something happens: all, or a spread that fits into a moment."""
    if EVERYTHING or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + index * (count - 1) // (most - 1) for index in range(most)})


def named(number: int) -> str:
    """Return the name of an error of the operating system."""
    return errno.errorcode[number]


def report(**figures: Any) -> None:
    """Add figures to the file that THREADLINE_FIGURES names, one line for each test."""
    path = os.environ.get("THREADLINE_FIGURES")
    if path:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition("::")[2].partition(" ")[0]
        with Path(path).open("a") as file:
            file.write(json.dumps({"test": test} | figures) + "\n")
