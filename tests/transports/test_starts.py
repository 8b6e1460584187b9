"""Starts: a host waits for the first answer, so nothing is loaded, run or read for it that it does not need."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sidecar.app import open_application
from sidecar.storage.spool import VARIABLE
from tests import hooks
from tests.support import NOON, ROOT, Repository

pytestmark = pytest.mark.slow

ENTRY = "from sidecar.transports.entry import main; raise SystemExit(main())"
RULE = "Webhooks are retried five times"
TASK = "Describe the retries of webhooks"
NEEDLESS = (
    *("httpx", "lsprotocol", "mcp", "numpy", "pygls", "rich", "snowballstemmer"),
    *("asyncio", "concurrent", "ctypes", "dataclasses", "email", "socket", "ssl"),
    *("tree_sitter", "watchfiles", "zoneinfo"),
    *("sidecar.transports.cli", "sidecar.transports.lsp", "sidecar.search.embeddings.bert"),
    *("sidecar.memory.llm.servers", "sidecar.code.saved_files", "sidecar.hosts.contents"),
    *("sidecar.memory.extract.compose", "sidecar.hosts.connect"),
    *("sidecar.memory.pipeline", "sidecar.memory.readers"),
    *("sidecar.upkeep.purge", "sidecar.upkeep.export"),
)
"""What no start event needs, whatever has happened before."""
ASKING = (
    *("hashlib", "importlib.metadata", "inspect", "shutil", "subprocess", "tempfile"),
    *("sidecar.code.symbols", "sidecar.tasks.rules.completion"),
)
"""What is needed only where something has to be found out."""


class Starts:
    """A repository with a memory, and conversations that begin in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.repository = Repository.create(folder / "repository")
        self.repository.write("hooks.py", "def retry():\n    return 5\n")
        self.repository.commit("Retry webhooks", at=NOON)
        self._count = 0
        with closing(
            open_application(
                here=self.repository.path, source="test", environment=self.environment()
            )
        ) as app:
            app.call("threadline/scan", {"allAuthors": True})
            memory = {
                "type": "constraint",
                "title": RULE,
                "content": f"{RULE}.",
                "files": ["hooks.py"],
                "importance": 5,
            }
            app.call("threadline/memories/write", memory)
            app.call("threadline/tasks/create", {"tasks": [{"title": TASK}]})
            self.repository.commit(TASK, at=datetime.now(UTC))
            app.call("threadline/scan", {"allAuthors": True})

    def environment(self) -> dict[str, str]:
        patient = {"THREADLINE_HOOK_SECONDS": "30"}
        return {**os.environ, **patient, VARIABLE: str(self.home), "PYTHONPATH": str(ROOT)}

    def begin(self, **environment: str) -> set[str]:
        """Let a conversation begin, see that it is told the memory and what seems done, and name the modules that were loaded for it.

        One that a busy machine has cut off is begun again.
        """
        told = modules = ""
        for _ in range(5):
            told, modules = self._try(environment)
            if told:
                break
        assert RULE in told
        assert told.count(TASK) > 1
        return set(re.findall(r"\|\s+(\S+)$", modules, re.MULTILINE))

    def _try(self, environment: dict[str, str]) -> tuple[str, str]:
        self._count += 1
        folder = str(self.repository.path)
        message = {
            "session_id": f"s{self._count}",
            "cwd": folder,
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", ENTRY, "hook", "claude-code"],
            input=json.dumps(message).encode(),
            env=self.environment() | environment,
            cwd=folder,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    return Starts(tmp_path)


def loaded(modules: set[str], needless: tuple[str, ...]) -> list[str]:
    roots = tuple(f"{name}." for name in needless)
    return sorted(name for name in modules if f"{name}.".startswith(roots))


def test_a_start_loads_nothing_that_it_does_not_need(starts: Starts) -> None:
    """Part of F2."""
    first = starts.begin()
    again = starts.begin()
    starts.repository.write(
        "hooks.py", "def retry():\n    return 5\n\n\ndef more():\n    return 6\n"
    )
    starts.repository.commit("Do more", at=NOON)
    moved = starts.begin()
    assert [loaded(one, NEEDLESS) for one in (first, again, moved)] == [[], [], []]
    assert loaded(again, ASKING) == []


def test_where_nothing_has_happened_a_start_asks_no_other_program(
    starts: Starts, tmp_path: Path
) -> None:
    """Part of F2."""
    starts.begin()
    starts.begin(PATH=str(tmp_path))
    assert (len(hooks.log(starts.home)), hooks.failures(starts.home)) == (2, [])
    assert [path.name for path in (starts.home / "logs").glob("*")] == ["hooks.log"]
