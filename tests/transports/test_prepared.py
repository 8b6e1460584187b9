"""What a conversation is told at its start is prepared before it begins, and read by the real hook process."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from protocol.contexts import ReceiptList
from protocol.forgetting import PurgeReport
from protocol.memories import Evidence, Memory
from protocol.methods import Status
from sidecar.app import Application, now, open_application
from sidecar.code.folder_watcher import Watches
from sidecar.storage import prepared
from sidecar.storage.spool import VARIABLE
from sidecar.storage.vault import Vault
from tests import hooks
from tests.support import NOON, ROOT, Repository, threadline

pytestmark = pytest.mark.slow

ENTRY = "from sidecar.transports.entry import main; raise SystemExit(main())"
RULE = "Webhooks are retried five times"
READY = "told what was ready"
HEAVY = ("msgspec", "tinydb", "pygls", "lsprotocol", "sidecar.app", "sidecar.storage.vault", "json")


class Desk:
    """A repository with a memory, in which conversations begin as a host begins them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.repository = Repository.create(folder / "repository")
        self.repository.write("hooks.py", "def retry():\n    return 5\n")
        self.repository.commit("Retry webhooks", at=NOON)
        self._count = 0
        with closing(self.open()) as app:
            app.call("threadline/scan", {"allAuthors": True})
            self.memory_id = self.remember(app, RULE)

    def remember(self, app: Application, title: str) -> str:
        fields = {"type": "constraint", "title": title, "content": f"{title}.", "importance": 5}
        written: Any = app.call("threadline/memories/write", fields)
        return str(written.memory.memory_id)

    def open(self) -> Application:
        return open_application(
            here=self.repository.path, source="test", environment=self.environment()
        )

    def environment(self) -> dict[str, str]:
        own = {"THREADLINE_HOOK_SECONDS": "30", VARIABLE: str(self.home), "PYTHONPATH": str(ROOT)}
        return {**os.environ, **own}

    def vault(self, app: Application) -> Vault:
        return app.vault(str(self.repository.path))

    def maintain(self) -> None:
        done = threadline("maintain", cwd=self.repository.path)
        assert (done.returncode, done.stderr) == (0, b"")

    def prepare(self) -> None:
        """Let a conversation begin here, so that the next ones are prepared for."""
        assert RULE in self.start()
        self.maintain()

    def start(self, key: str = "", *, source: str = "startup", **environment: str) -> str:
        self._count += 1
        done = self.run(key or f"talk-{self._count}", source, (), environment)
        return done.stdout.decode()

    def run(
        self, key: str, source: str, options: tuple[str, ...], environment: dict[str, str]
    ) -> "subprocess.CompletedProcess[bytes]":
        message = {
            "session_id": key,
            "cwd": str(self.repository.path),
            "hook_event_name": "SessionStart",
            "source": source,
        }
        return subprocess.run(
            [sys.executable, *options, "-c", ENTRY, "hook", "claude-code"],
            input=json.dumps(message).encode(),
            env=self.environment() | environment,
            cwd=self.repository.path,
            capture_output=True,
            check=True,
        )

    def last(self) -> str:
        """Give what the log says of the last hook."""
        return hooks.log(self.home)[-1].partition(": ")[2]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def slow_git(folder: Path) -> dict[str, str]:
    """Put a git first in the path that answers nothing for a minute."""
    folder.mkdir()
    program = folder / "git"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "THREADLINE_HOOK_SECONDS": "2"}


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)


def test_a_start_reads_what_was_prepared_and_loads_nothing_else(desk: Desk) -> None:
    """D15: the second conversation is answered by the standard library alone."""
    built = desk.start()
    desk.maintain()
    done = desk.run("ready", "startup", ("-X", "importtime"), {})
    assert READY in desk.last()
    assert RULE in built
    assert RULE in done.stdout.decode()
    modules = set(re.findall(r"\|\s+(\S+)$", done.stderr.decode(), re.MULTILINE))
    assert not [name for name in modules if f"{name}.".startswith(tuple(f"{h}." for h in HEAVY))]


def test_what_was_given_is_written_down_and_not_told_again(desk: Desk) -> None:
    """D15: part of it; a receipt waits in the inbox, and the conversation has what it was told."""
    desk.prepare()
    told = desk.start("ready")
    assert READY in desk.last()
    with closing(desk.open()) as app:
        found: Any = app.call("threadline/context/receipts", {"sessionKey": "ready"})
        assert isinstance(found, ReceiptList)
        (receipt,) = found.receipts
        assert receipt.project_id == desk.vault(app).project_id
        assert (receipt.host, receipt.agent_id, receipt.times) == ("claude-code", "claude-code", 1)
        assert desk.memory_id in {item.id for item in receipt.items}
        assert receipt.chars <= len(json.loads(told)["hookSpecificOutput"]["additionalContext"])
        talk = desk.vault(app).conversations.get("ready")
        assert talk is not None
        assert (talk.began, talk.given) == ("cold", (desk.memory_id,))
    assert RULE not in desk.start("ready", source="resume")
    assert READY not in desk.last()


def test_who_comes_late_gives_the_last_good_answer(desk: Desk, tmp_path: Path) -> None:
    """D15: nothing can be built where git hangs; the context of the commit before is told, and says so."""
    desk.prepare()
    desk.repository.commit("Go on", at=NOON + timedelta(hours=1))
    told = desk.start("late", **slow_git(tmp_path / "slow"))
    assert RULE in told
    assert "prepared before the latest commits" in told
    assert desk.last().startswith(f"out of time, {READY}")
    with closing(desk.open()) as app:
        found: Any = app.call("threadline/context/receipts", {"sessionKey": "late"})
        assert len(found.receipts) == 1
        status = app.call("threadline/status", {})
        assert isinstance(status, Status)
        assert status.late_hooks == 1
        assert status.last_late_hook is not None
        assert now() - status.last_late_hook < timedelta(minutes=5)
    shown = threadline("status", cwd=desk.repository.path)
    assert b"1 hook ran out of time" in shown.stdout


def test_what_another_commit_made_is_built_where_there_is_time(desk: Desk) -> None:
    """D15: a moved HEAD is never answered from before."""
    desk.prepare()
    desk.repository.commit("Go on", at=NOON + timedelta(hours=1))
    told = desk.start()
    assert RULE in told
    assert "prepared before" not in told
    assert READY not in desk.last()


def test_a_new_memory_does_not_keep_a_start_waiting(desk: Desk) -> None:
    """D15: the vault has moved on, and nothing that is told has changed."""
    desk.prepare()
    with closing(desk.open()) as app:
        desk.remember(app, "Invoices are numbered without a gap")
    told = desk.start()
    assert RULE in told
    assert READY in desk.last()
    desk.maintain()
    assert "numbered without a gap" in desk.start()
    assert READY in desk.last()


@pytest.mark.parametrize("way", ["forget", "purge", "update", "wrong", "pause"])
def test_what_is_taken_back_discards_what_was_prepared(
    desk: Desk, tmp_path: Path, way: str
) -> None:
    """D15: before the answer, so that not even a hook that is late tells it."""
    desk.prepare()
    with closing(desk.open()) as app:
        calls: dict[str, tuple[str, dict[str, object]]] = {
            "forget": ("threadline/memories/forget", {"memoryIds": [desk.memory_id]}),
            "purge": ("threadline/purge", {"phrase": RULE}),
            "update": (
                "threadline/memories/update",
                {"memoryId": desk.memory_id, "title": "Calls are retried", "content": "Twice."},
            ),
            "wrong": (
                "threadline/context/feedback",
                {"memoryId": desk.memory_id, "verdict": "wrong"},
            ),
            "pause": ("threadline/capture/pause", {"duration": "1h"}),
        }
        done = app.call(*calls[way])
        assert not isinstance(done, PurgeReport) or done.verified
        path = desk.vault(app).folder / prepared.CACHE
    rows = subprocess.run(
        [sys.executable, "-c", "import sys; print(open(sys.argv[1], 'rb').read())", str(path)],
        capture_output=True,
        check=True,
    )
    assert RULE.encode() not in rows.stdout
    with closing(sqlite3.connect(path)) as cache:
        assert cache.execute("SELECT made, text FROM prepared").fetchall() == [(0.0, "")]
    desk.repository.commit("Go on", at=NOON + timedelta(hours=1))
    assert RULE not in desk.start(**slow_git(tmp_path / "slow"))


def test_a_record_that_changed_without_us_is_not_told_from_before(
    desk: Desk, tmp_path: Path
) -> None:
    """D15: whoever writes to a record that is quoted makes the quotation void, discarded or not."""
    desk.prepare()
    with closing(desk.open()) as app:
        vault = desk.vault(app)
        memory = vault.memories.get(desk.memory_id)
        assert memory is not None
        vault.write([vault.memories.put(desk.memory_id, memory)])
    desk.repository.commit("Go on", at=NOON + timedelta(hours=1))
    assert RULE not in desk.start(**slow_git(tmp_path / "slow"))


def test_another_project_is_never_told_it(desk: Desk, tmp_path: Path) -> None:
    """D15: another repository in the same folder, and a folder that points to the repository."""
    desk.prepare()
    desk.repository.path.rename(tmp_path / "moved")
    other = Repository.create(desk.repository.path)
    other.commit("Begin anew", at=NOON)
    assert RULE not in desk.start()
    assert RULE not in desk.start(**slow_git(tmp_path / "slow"))
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text(f"gitdir: {tmp_path / 'moved' / '.git'}\n")
    (tmp_path / "moved").rename(tmp_path / "gone")
    desk.repository.path.rename(tmp_path / "other")
    (tmp_path / "gone").rename(desk.repository.path)
    assert RULE in desk.start()
    (thief / ".git").write_text(f"gitdir: {desk.repository.path / '.git'}\n")
    honest, desk.repository = desk.repository, Repository(thief)
    assert RULE not in desk.start()
    desk.repository = honest


def test_a_folder_that_leaves_a_project_is_told_nothing_of_it_any_more(
    desk: Desk, tmp_path: Path
) -> None:
    """D15: to link and to unlink a clone discards what was prepared for either."""
    desk.prepare()
    clone = Repository(tmp_path / "clone")
    desk.repository.git("clone", "--quiet", str(desk.repository.path), str(clone.path))
    with closing(desk.open()) as app:
        vault = desk.vault(app)
        app.call("threadline/projects/link", {"project": str(clone.path)})
        place = prepared.wanted(str(vault.folder))[0]
        assert prepared.read(str(desk.home), vault.project_id, place, "") is None
    desk.repository = clone
    desk.prepare()
    assert RULE in desk.start()
    assert READY in desk.last()
    with closing(desk.open()) as app:
        app.call("threadline/projects/unlink", {"project": str(clone.path)})
    assert RULE not in desk.start()
    assert RULE not in desk.start(**slow_git(tmp_path / "slow"))


@pytest.mark.parametrize("damage", ["garbled", "missing", "locked"])
def test_a_cache_that_cannot_be_read_means_that_nothing_is_prepared(
    desk: Desk, damage: str
) -> None:
    """D15: it is built then, and nobody hears of a failure."""
    desk.prepare()
    with closing(desk.open()) as app:
        path = desk.vault(app).folder / prepared.CACHE
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as held:
        if damage == "garbled":
            path.write_bytes(b"no database" * 1000)
        elif damage == "missing":
            path.unlink()
        else:
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        assert RULE in desk.start()
    assert READY not in desk.last()
    assert not [line for line in hooks.failures(desk.home) if "ready" in line]


def test_what_a_conversation_has_just_said_is_not_passed_over(desk: Desk) -> None:
    """D15: as long as nobody has placed it, a start places it first, and builds."""
    desk.prepare()
    said = {
        "session_id": "talk-1",
        "cwd": str(desk.repository.path),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "From now on, always name the tenant first.",
    }
    subprocess.run(
        [sys.executable, "-c", ENTRY, "hook", "claude-code"],
        input=json.dumps(said).encode(),
        env=desk.environment(),
        check=True,
        capture_output=True,
    )
    assert RULE in desk.start()
    assert READY not in desk.last()


def test_a_message_is_delivered_once_by_whoever_builds(desk: Desk) -> None:
    """D15: what can be given only once is never prepared."""
    desk.prepare()
    with closing(desk.open()) as app:
        letter = {"targetId": "claude-code", "content": "Mind the gap.", "category": "context"}
        app.call("threadline/messages/send", {**letter, "senderId": "cursor"})
    desk.maintain()
    assert "Mind the gap" in desk.start()
    assert READY not in desk.last()
    desk.maintain()
    assert "Mind the gap" not in desk.start()
    assert READY in desk.last()


def test_a_server_prepares_after_a_commit_and_a_command_after_a_write(desk: Desk) -> None:
    """D15: whoever runs prepares; no conversation has to begin for it."""
    desk.prepare()
    with closing(desk.open()) as app:
        vault, place = desk.vault(app), prepared.wanted(str(desk.vault(app).folder))[0]

        def is_latest() -> bool:
            ready = prepared.read(str(desk.home), vault.project_id, place, "")
            return ready is not None and ready.is_latest

        watches = Watches()
        app.workspace.arrange([desk.repository.path], now())
        watcher = threading.Thread(target=app.watch, args=(watches, lambda _: None))
        watcher.start()
        try:
            wait_for(is_latest)
            desk.repository.commit("Go on")
            assert not is_latest()
            wait_for(is_latest)
        finally:
            watches.stop()
            watcher.join()
    title = "Invoices are numbered"
    words = ("remember", title, "--type", "decision")
    assert threadline(*words, cwd=desk.repository.path, THREADLINE_UPKEEP="").returncode == 0
    wait_for(is_latest)


def test_five_hundred_branches_and_many_memories_are_answered_in_time(desk: Desk) -> None:
    """D15: within the deadline that hosts are told, prepared or after a commit."""
    branch_out(desk, 500, 5_000)
    in_time = {"THREADLINE_HOOK_SECONDS": ""}
    desk.start()
    assert RULE in desk.start()
    desk.maintain()
    began = time.monotonic()
    assert RULE in desk.start(**in_time)
    assert time.monotonic() - began < 1.8
    assert READY in desk.last()
    desk.repository.commit("Go on", at=NOON + timedelta(hours=1))
    assert RULE in desk.start(**in_time)


def branch_out(desk: Desk, branches: int, memories: int) -> None:
    """Give a repository branches with a commit each, and memories of these commits."""
    repository, stamp = desk.repository, int(NOON.timestamp())
    head = repository.git("rev-parse", "HEAD")
    stream = "".join(
        f"commit refs/heads/feature-{number}\ncommitter Ada <ada@example.org> {stamp + number} +0000\n"
        f"data <<END\nFeature {number}\nEND\nfrom {head}\n"
        f"M 100644 inline part{number}.py\ndata <<END\ndef part{number}():\n    return {number}\nEND\n\n"
        for number in range(branches)
    )
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=repository.path, input=stream.encode(), check=True
    )
    listed = repository.git("for-each-ref", "--format=%(objectname)", "refs/heads/feature-*")
    tips = listed.splitlines()
    with closing(desk.open()) as app:
        vault, moment = desk.vault(app), now() - timedelta(days=1)
        made = [
            Memory(
                memory_id=vault.ids.next(),
                project_id=vault.project_id,
                type="decision",
                title=f"Part {number} is kept apart for reason {number * 7}",
                content=f"Sentence {number} says why.",
                importance=4,
                confidence=4,
                branch=f"feature-{number % branches}",
                evidence=(Evidence(quote="Feature", commit_sha=tips[number % branches]),),
                occurred_at=moment,
                created_at=moment,
                updated_at=moment,
            )
            for number in range(memories)
        ]
        vault.write([vault.memories.put(one.memory_id, one) for one in made])
