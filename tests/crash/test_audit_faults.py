"""Faults that an audit found, row by row: each row has a test that names it."""

import contextlib
import errno
import json
import logging
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from protocol.errors import BusyError, Code, StorageFailedError, StoreRefusedError
from protocol.methods import ListSessionsParams, SessionParams
from protocol.settings import Settings
from sidecar.app import now
from sidecar.capture import record, timeline
from sidecar.capture.rules.sessions import Rule
from sidecar.code import folder_watcher
from sidecar.storage import snapshots, spool
from sidecar.storage.database import PATIENCE
from sidecar.storage.home import Home
from sidecar.storage.locks import Lock
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import NAME, Vault
from sidecar.transports.exits import Exit
from sidecar.upkeep import export, maintenance
from tests.crash import writers
from tests.crash.accounts import account, commit, events_of, fill, moment, opened, something
from tests.crash.scenes import PROJECT, project
from tests.crash.theatre import (
    FAIL,
    FOREVER,
    KILL_AFTER,
    KILL_BEFORE,
    LOCK,
    MKDIR,
    OPEN,
    READ,
    READ_ONLY,
    RENAME,
    SYNC,
    WRITE,
    Theatre,
)
from tests.memory.test_remember import write
from tests.support import ROOT, Repository, save

pytestmark = pytest.mark.slow

MEMORIES = 96


def homely(folder: Path) -> Home:
    return Home(folder / "home", Ids(now), Rule())


def kept(folder: Path, memories: int = MEMORIES) -> Path:
    """Make a home with a project that has memories and events, close it, and return the vault's folder."""
    with contextlib.closing(homely(folder)) as home:
        home.put(project())
        vault = home.vault(PROJECT)
        record.ingest(vault, [something(n, moment(n)) for n in range(24)], "test")
        for number in range(memories):
            write(vault, f"Fact number {number} is about {number * 7} bridges")
        vault.snapshot()
    return folder / "home" / "projects" / PROJECT


def page_size(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA page_size").fetchone()[0])


def root_of(path: Path, table: str) -> int:
    """Return the number of a table's first page; only for files that this process has not open."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return int(connection.execute(query, (table,)).fetchone()[0])


def overwrite(path: Path, number: int, size: int) -> None:
    """Fill a page with garbage."""
    with path.open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(os.urandom(size))


def test_a_failed_sync_that_another_process_reads_past_loses_nothing_and_brings_nothing_back(
    theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F1."""
    prepared = tmp_path / "prepared"
    theatre.play("endure", "prepare", prepared)
    for at in (2, 4, 7):
        stage = tmp_path / str(at)
        shutil.copytree(prepared, stage)
        fault = [FAIL, at, errno.EIO, SYNC, 1]
        answer = theatre.ask("endure", "act", stage, fault=fault, reader=True)
        assert (answer.status, answer.reader) == (-9, 0), answer.error
        theatre.play("endure", "verify", stage, given=answer.acknowledged)


def test_a_lost_vault_comes_back_from_its_snapshot_and_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """H1: row F2."""
    folder = kept(tmp_path)
    for path in folder.glob(f"{NAME}*"):
        path.unlink()
    with contextlib.closing(homely(tmp_path)) as home, caplog.at_level(logging.ERROR):
        vault = home.vault(PROJECT)
        assert len(vault.memories) == MEMORIES
        assert sum(account(vault).values()) == 24
    assert "was damaged (missing)" in caplog.text
    assert [done.completed for done in snapshots.reports(folder)] == [MEMORIES + 24 + 4 + 1]


def test_a_lost_vault_without_a_snapshot_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """H1: row F2."""
    folder = kept(tmp_path)
    shutil.rmtree(folder / snapshots.FOLDER)
    (folder / NAME).unlink()
    with contextlib.closing(homely(tmp_path)) as home, caplog.at_level(logging.ERROR):
        assert len(home.vault(PROJECT).memories) == 0
    assert "was damaged (missing)" in caplog.text


def test_a_main_file_lost_beside_its_wal_costs_nothing_that_the_wal_holds(tmp_path: Path) -> None:
    """H1: row F2."""
    folder = tmp_path / "vault"
    writer = writers.start(folder, "w", "--events", "40")
    for _ in range(40):
        writers.hear(writer)
    wal = folder / f"{NAME}-wal"
    saved = (folder / NAME).read_bytes(), wal.read_bytes() if wal.exists() else b""
    writers.end(writer)
    # As if it had been killed before it closed.
    wal.write_bytes(saved[1])
    (folder / NAME).unlink()
    vault = opened(folder)
    assert len(events_of(vault)) == (40 if saved[1] else 0)
    vault.close()


def test_a_rolled_back_vault_is_noticed_and_made_whole_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """H1: row F3."""
    folder = kept(tmp_path, memories=3)
    shutil.copy(folder / NAME, tmp_path / "older")
    with contextlib.closing(homely(tmp_path)) as home:
        vault = home.vault(PROJECT)
        for number in range(3):
            write(vault, f"Later fact {number} is about {number * 5} towers")
        vault.snapshot()
    shutil.copy(tmp_path / "older", folder / NAME)
    with contextlib.closing(homely(tmp_path)) as home, caplog.at_level(logging.ERROR):
        vault = home.vault(PROJECT)
        assert len(vault.memories) == len(vault.memories.all()) == 6
        account(vault)
    assert "rolled back" in caplog.text


def test_a_deleted_wal_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """H1: row F3: SQLite itself takes it for an older state that is whole."""
    folder = kept(tmp_path, memories=3)
    program = (
        "import os, sys; from pathlib import Path; from tests.crash.test_audit_faults import *\n"
        "home = homely(Path(sys.argv[1])); vault = home.vault(PROJECT)\n"
        "write(vault, 'Only in the log is this about towers'); home.note_seen(vault); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True)
    (folder / f"{NAME}-wal").unlink()
    with contextlib.closing(homely(tmp_path)) as home, caplog.at_level(logging.ERROR):
        assert len(home.vault(PROJECT).memories) == 3
    assert "rolled back" in caplog.text
    assert len(snapshots.reports(folder)) == 1


def test_a_flipped_bit_in_a_compressed_session_costs_one_block(tmp_path: Path) -> None:
    """H1: row F4."""
    vault = opened(tmp_path / "vault")
    window = Rule().window / 400
    texts = [os.urandom(3000).hex() for _ in range(300)]
    events = [commit(n, text, at=moment(0) + n * window) for n, text in enumerate(texts)]
    record.ingest(vault, events, "test")
    maintenance.maintain(vault, Settings())
    (session,) = vault.sessions.timeline()
    maintenance.compact(vault, SessionParams(session_id=session.session_id))
    query = "SELECT number, count FROM blocks ORDER BY number"
    counts = dict(vault.database.rows(query))
    assert len(counts) > 20
    with vault.transaction():
        data = bytearray(vault.database.row("SELECT data FROM blocks WHERE number = 5")[0])
        data[len(data) // 2] ^= 1
        vault.database.execute("UPDATE blocks SET data = ? WHERE number = 5", (bytes(data),))
    assert len(vault.sessions.arrivals(session.session_id)) == 300 - counts[5]
    assert any("block 5 of" in finding.what for finding in vault.verify())
    vault.close()


@pytest.mark.parametrize("which", ["leaf", "root"])
def test_a_bad_page_costs_a_few_rows_and_with_a_snapshot_none(tmp_path: Path, which: str) -> None:
    """H1: rows F4, F5: SQLite hides all that is below a bad page; what is salvaged is more than 95 %."""
    folder = tmp_path / "vault"
    count = 1500
    keys = Counter(fill(folder, count))
    path = folder / NAME
    size, root = page_size(path), root_of(path, "events")
    assert (path.read_bytes()[(root - 1) * size]) == 5, "the root is an interior page"
    number = root
    if which == "leaf":
        page = path.read_bytes()[(root - 1) * size : root * size]
        cell = int.from_bytes(page[12:14], "big")
        number = int.from_bytes(page[cell : cell + 4], "big")
    shutil.copytree(folder, tmp_path / "copied")
    overwrite(path, number, size)
    vault = opened(folder)
    vault.recover("a test")
    found = account(vault)
    assert max(found.values()) == 1
    assert not found - keys
    assert len(found) > count * 0.95
    vault.close()

    vault = opened(tmp_path / "copied")
    vault.snapshot()
    vault.close()
    overwrite(tmp_path / "copied" / NAME, number, size)
    vault = opened(tmp_path / "copied")
    events_of(vault)
    vault.keep_safe()
    assert account(vault) == keys
    vault.close()


def test_stale_rows_beside_their_compressed_block_cost_and_double_nothing(tmp_path: Path) -> None:
    """H1: row F4: pages that a compaction has freed still hold some of its rows."""
    folder = tmp_path / "vault"
    keys = Counter(fill(folder, 120))
    vault = opened(folder)
    maintenance.maintain(vault, Settings())
    for session in vault.sessions.timeline():
        maintenance.compact(vault, SessionParams(session_id=session.session_id))
    record.ingest(vault, [commit(1000, "x" * 3000, at=moment(1000))], "test")
    keys["commit:1000"] += 1
    vault.recover("a test")
    assert account(vault) == keys
    vault.close()


def command(
    theatre: Theatre, folder: Path, *words: str, stdin: str = "", **faults: str
) -> tuple[int, str]:
    """Run the command line in a process of its own, with faults."""
    finished = subprocess.run(
        [sys.executable, "-m", "sidecar.transports.entry", *words],
        input=stdin.encode(),
        cwd=folder / "repository",
        env=dict(os.environ)
        | {"PYTHONPATH": str(ROOT), "THREADLINE_HOME": str(folder / "home")}
        | ({"LD_PRELOAD": str(theatre.library)} if faults else {})
        | faults,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return finished.returncode, (finished.stdout + finished.stderr).decode()


def projected(folder: Path) -> Path:
    """Make a repository with a home that knows it; return the vault's folder."""
    repository = Repository.create(folder / "repository")
    repository.commit("Begin with harbours")
    finished = subprocess.run(
        [sys.executable, "-m", "sidecar.transports.entry", "scan", "--all-authors"],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT), "THREADLINE_HOME": str(folder / "home")},
        capture_output=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr.decode()
    (vault,) = (folder / "home" / "projects").iterdir()
    return vault


@pytest.mark.parametrize("name", ["cache.sqlite", "snapshots/hourly.sqlite", "pauses.json"])
def test_an_unreadable_file_that_may_be_lost_stops_no_command(
    name: str, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: rows F5, F12."""
    vault = projected(tmp_path)
    assert command(theatre, tmp_path, "maintain")[0] == 0
    fault = f"{vault / name}|{FAIL}|1|{errno.EIO}|{READ}|{FOREVER}"
    writing = ["remember", "Quays are built of granite"]
    for words in (["status"], ["search", "harbours"], ["sessions"], writing, ["enrich"]):
        status, said = command(theatre, tmp_path, *words, FAULTS=fault)
        assert (status, "Traceback" in said) == (0, False), said


@pytest.mark.parametrize("name", ["cache.sqlite", "snapshots", "inbox", "../../inbox"])
def test_maintenance_that_fails_fails_no_command(
    name: str, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F5: what nobody asked for meets a full disk, and nothing else is stopped."""
    place = os.path.normpath(projected(tmp_path) / name)
    fault = f"{place}|{FAIL}|1|{errno.ENOSPC}|{WRITE | OPEN | MKDIR}|{FOREVER}"
    for words in (["status"], ["sessions"], ["search", "harbours"]):
        status, said = command(theatre, tmp_path, *words, FAULTS=fault)
        assert (status, "Traceback" in said) == (0, False), f"{words}: {said}"


FULL = (errno.ENOSPC, WRITE | MKDIR)
FIXED = (errno.EROFS, READ_ONLY)


def leave_wal(folder: Path) -> None:
    """Let a process die with an event and a memory that only the WAL holds."""
    program = (
        "import os, sys; from pathlib import Path; from tests.crash.test_audit_faults import *\n"
        "home = homely(Path(sys.argv[1])); (project,) = home.projects(); vault = home.vault(project.project_id)\n"
        "record.ingest(vault, [something(2, now())], 'test')\n"
        "write(vault, 'The quays are built of granite'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(folder)], cwd=ROOT, check=True)


@pytest.mark.parametrize("with_wal", [False, True])
@pytest.mark.parametrize(("number", "kinds"), [FULL, FIXED])
def test_a_disk_that_takes_nothing_can_be_read(
    number: int, kinds: int, with_wal: bool, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F7: what is in the WAL is read, too, and nothing is written."""
    vault = projected(tmp_path)
    if with_wal:
        leave_wal(tmp_path)
    assert (vault / f"{NAME}-wal").exists() == with_wal
    before = (vault / NAME).read_bytes()
    fault = f"{tmp_path / 'home'}|{FAIL}|1|{number}|{kinds}|{FOREVER}"
    status, said = command(theatre, tmp_path, "status", "--json", FAULTS=fault)
    assert (status, "Traceback" in said) == (0, False), said
    told = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert told["events"] == 1 + with_wal
    for words in (["sessions"], ["search", "harbours"]):
        status, said = command(theatre, tmp_path, *words, FAULTS=fault)
        assert (status, "Traceback" in said) == (0, False), said
    status, said = command(theatre, tmp_path, "remember", "Nobody keeps this", FAULTS=fault)
    assert (status, "nothing was stored" in said) == (Exit.STORAGE_FAILED, True), said
    assert (vault / NAME).read_bytes() == before


@pytest.mark.parametrize(("number", "kinds"), [FULL, FIXED])
def test_a_start_is_told_of_a_disk_that_takes_nothing(
    number: int, kinds: int, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F7: that nothing can be heard or logged keeps nobody from telling."""
    projected(tmp_path)
    leave_wal(tmp_path)
    fault = f"{tmp_path / 'home'}|{FAIL}|1|{number}|{kinds}|{FOREVER}"
    message = {
        "session_id": "s",
        "cwd": str(tmp_path / "repository"),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    status, said = command(
        theatre,
        tmp_path,
        "hook",
        "claude-code",
        stdin=json.dumps(message),
        FAULTS=fault,
        THREADLINE_HOOK_SECONDS="30",
    )
    assert status == 0
    assert "granite" in said


def test_readers_never_wait_for_a_stopped_writer(tmp_path: Path) -> None:
    """H1: row F8."""
    fill(tmp_path / "vault", 12)
    with writers.start(tmp_path / "vault", "h", "--hold") as holder:
        assert writers.hear(holder) == ["held"]
        holder.send_signal(signal.SIGSTOP)
        vault = opened(tmp_path / "vault")
        began = time.monotonic()
        assert len(timeline.list_sessions(vault, ListSessionsParams()).sessions) == 2
        read = time.monotonic() - began
        with pytest.raises(BusyError):
            write(vault, "Nobody can remember this")
        waited = time.monotonic() - began - read
        holder.kill()
    vault.close()
    assert read < PATIENCE
    assert PATIENCE - 0.5 < waited < 7 * PATIENCE


def test_a_clock_that_goes_back_delays_nothing(tmp_path: Path) -> None:
    """H1: row F9."""
    moments = [now()]
    vault = Vault(tmp_path / "vault", "p", Ids(lambda: moments[-1]), Rule())
    record.ingest(vault, [save(key="before")], "test")
    moments.append(now() - timedelta(days=1))
    began = time.monotonic()
    (placed,) = record.ingest(vault, [save(key="after")], "test")
    maintenance.maintain(vault, Settings())
    assert placed.outcome == "stored"
    assert time.monotonic() - began < 7 * PATIENCE
    assert sum(account(vault).values()) == 2
    vault.close()


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"not a number", b"9" * 30, b"-1"])
def test_a_damaged_done_file_blocks_no_hook(content: bytes, tmp_path: Path) -> None:
    """H1: row F10."""
    home = str(tmp_path / "home")
    spool.drop(home, "s", b"line")
    batches = spool.Batches(home)
    (name,) = batches.names()
    Path(f"{spool.folder(home)}/{name}.done").write_bytes(content)
    lines = [line for _, line in batches.lines(name)]
    assert lines == [b"line"]
    batches.done(name)
    batches.close()


def test_an_unreadable_key_index_doubles_nothing(tmp_path: Path) -> None:
    """H1: row F13: keys are a part of the transaction, and of no cache."""
    folder = tmp_path / "vault"
    fill(folder, 12)
    for path in folder.glob("cache.sqlite*"):
        path.write_bytes(b"nothing")
    vault = opened(folder)
    for number in range(12):
        (placed,) = record.ingest(vault, [something(number, moment(number))], "test")
        assert placed.outcome == "duplicate"
    assert max(account(vault).values()) == 1
    vault.close()


def test_a_damaged_record_does_not_abort_an_export(tmp_path: Path) -> None:
    """H1: row F14."""
    vault = opened(tmp_path / "vault")
    record.ingest(vault, [something(n, moment(n)) for n in range(18)], "test")
    maintenance.maintain(vault, Settings())
    first, *others = vault.sessions.timeline()
    maintenance.compact(vault, SessionParams(session_id=first.session_id))
    with vault.transaction():
        vault.database.execute("UPDATE blocks SET data = zeroblob(100)")
        vault.database.execute(
            "UPDATE events SET sum = sum + 1 WHERE seq = (SELECT min(seq) FROM events)"
        )
    lines = list(export.export(vault, project()))
    assert sum(b'"table":"events"' in line for line in lines) == 18 - first.message_count - 1
    assert len(others) == 2
    vault.close()


def test_an_export_names_what_it_leaves_out_and_ends_with_another_code(
    theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F14."""
    vault = projected(tmp_path)
    with contextlib.closing(sqlite3.connect(vault / NAME)) as connection, connection:
        connection.execute("UPDATE events SET sum = sum + 1")
        (event,) = connection.execute("SELECT id FROM events").fetchone()
    target = tmp_path / "export.jsonl"
    status, said = command(theatre, tmp_path, "export", str(target))
    assert (status, event in said) == (Exit.FAILED, True), said
    lines = [json.loads(line) for line in target.read_bytes().splitlines()]
    assert [line["table"] for line in lines] == ["threadline", "sessions", "end"]


def test_a_session_whose_pages_cannot_be_read_does_not_abort_an_export(tmp_path: Path) -> None:
    """H1: row F14."""
    folder = tmp_path / "vault"
    fill(folder, 1500)
    path = folder / NAME
    size = page_size(path)
    page = path.read_bytes()[(root_of(path, "events") - 1) * size :][:size]
    cell = int.from_bytes(page[12:14], "big")
    overwrite(path, int.from_bytes(page[cell : cell + 4], "big"), size)
    vault = opened(folder)
    # Nobody mends it meanwhile.
    vault.database.on_damage = None
    gone: list[str] = []
    lines = list(export.export(vault, project(), gone))
    assert gone
    assert 1000 < sum(b'"table":"events"' in line for line in lines) < 1500
    vault.close()


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[1]", None])
def test_settings_that_cannot_be_read_stop_nothing(
    content: bytes | None, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F15: in place of what they say, the defaults are used."""
    projected(tmp_path)
    path = tmp_path / "home" / "settings.json"
    path.write_bytes(b"{}" if content is None else content)
    fault = {"FAULTS": f"{path}|{FAIL}|1|{errno.EIO}|{READ | OPEN}|{FOREVER}"}
    for words in (["status"], ["remember", "Quays are built of granite"]):
        status, said = command(theatre, tmp_path, *words, **({} if content else fault))
        assert (status, "Traceback" in said) == (0, False), said


def test_a_newer_vault_refuses_itself_and_no_other_project(tmp_path: Path) -> None:
    """H1: row F15."""
    with contextlib.closing(homely(tmp_path)) as home:
        for number in range(3):
            record.ingest(home.vault(f"{number:020x}"), [save(key="k")], "test")
    path = tmp_path / "home" / "projects" / f"{1:020x}" / NAME
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for name in (tmp_path / "home").glob("home.sqlite*"):
        name.unlink()
    with contextlib.closing(homely(tmp_path)) as home:
        home.projects()
        assert [home.vault(f"{number:020x}").sessions.count_events() for number in (0, 2)] == [1, 1]
        with pytest.raises(StoreRefusedError, match="newer"):
            record.ingest(home.vault(f"{1:020x}"), [save(key="l")], "test")
    assert path.read_bytes() == before


def test_a_failure_after_the_commit_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: row F17: the event is stored; that its batch could not be deleted costs nothing, and doubles nothing."""
    vault = opened(tmp_path / "vault")
    with writers.start(vault.folder, "h", "--hold") as holder:
        assert writers.hear(holder) == ["held"]
        (placed,) = record.ingest(vault, [save(key="waits")], "test")
        assert placed.outcome == "spooled"
        holder.kill()

    def refuse(self: Path, missing_ok: bool = False) -> None:  # noqa: ARG001  # as Path has it
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        (placed,) = record.ingest(vault, [save(key="next")], "test")
    assert placed.outcome == "stored"
    assert account(vault) == Counter({"waits": 1, "next": 1})
    record.drain(vault)
    assert account(vault) == Counter({"waits": 1, "next": 1})
    vault.close()


@pytest.mark.parametrize(("number", "kind"), [(errno.EMFILE, OPEN), (errno.ENOLCK, LOCK)])
def test_short_descriptors_and_locks_are_told_with_a_code_and_lose_nothing(
    number: int, kind: int, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F18."""
    stage = tmp_path / "stage"
    theatre.play("endure", "prepare", stage)
    answer = theatre.ask("endure", "act", stage, fault=[FAIL, 3, number, kind, 6])
    assert answer.status == -9, answer.error
    codes = {int(line.split("|")[2]) for line in answer.acknowledged if "|" in line}
    assert codes <= {int(Code.STORAGE_FAILED), int(Code.BUSY)}
    theatre.play("endure", "verify", stage, given=answer.acknowledged)


def test_enriching_says_who_is_waited_for(theatre: Theatre, tmp_path: Path) -> None:
    """H1: row F16."""
    vault = projected(tmp_path)
    with Lock(vault / "running").held():
        process = subprocess.Popen(
            [sys.executable, "-m", "sidecar.transports.entry", "enrich"],
            cwd=tmp_path / "repository",
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        assert select.select([process.stderr], [], [], 10 * PATIENCE)[0], "nobody was named"
        said = process.stderr.readline().decode()
    assert process.wait(60) == 0
    process.stderr.close()
    assert f"waiting for process {os.getpid()}" in said
    assert command(theatre, tmp_path, "status")[0] == 0


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EMFILE, OPEN), (errno.ENFILE, OPEN), (errno.ENOLCK, LOCK)]
)
def test_no_prompt_is_lost_where_descriptors_or_locks_are_short(
    number: int, kind: int, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F18: what is short for a moment is waited for; a line without a lock gets a file of its own."""
    projected(tmp_path)
    message = {
        "session_id": "s",
        "cwd": str(tmp_path / "repository"),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Build the quays of granite",
    }
    span = FOREVER if kind == LOCK else 3
    inbox = tmp_path / "home" / "inbox"
    status, _ = command(
        theatre, tmp_path, "hook", "claude-code", stdin=json.dumps(message),
        FAULTS=f"{inbox}|{FAIL}|1|{number}|{kind}|{span}", THREADLINE_HOOK_SECONDS="30",
    )  # fmt: skip
    assert status == 0
    assert any(b"granite" in path.read_bytes() for path in inbox.glob("*.jsonl"))


def test_locks_that_there_are_none_of_are_told_with_a_code(
    theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F18."""
    with Lock(tmp_path / "held").held():
        assert Lock(tmp_path / "held").holder() == str(os.getpid())
    projected(tmp_path)
    fault = f"{tmp_path / 'home'}|{FAIL}|1|{errno.ENOLCK}|{LOCK}|{FOREVER}"
    for words in (["status"], ["remember", "Quays"]):
        began = time.monotonic()
        command(theatre, tmp_path, *words)
        usual = time.monotonic() - began
        began = time.monotonic()
        status, said = command(theatre, tmp_path, *words, FAULTS=fault)
        # SQLite takes it for a lock that somebody else holds.
        assert (status, "Traceback" in said) == (Exit.BUSY, False), said
        assert time.monotonic() - began < 1.5 * PATIENCE + 2 * usual


@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_an_export_to_a_full_disk_leaves_nothing(
    form: list[str], theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F19."""
    projected(tmp_path)
    place = tmp_path / "elsewhere"
    place.mkdir()
    fault = f"{place}|{FAIL}|1|{errno.ENOSPC}|{WRITE}|{FOREVER}"
    target = str(place / "export.jsonl")
    status, said = command(theatre, tmp_path, "export", *form, target, FAULTS=fault)
    assert (status, "Traceback" in said, list(place.iterdir())) == (Exit.STORAGE_FAILED, False, [])
    assert command(theatre, tmp_path, "export", *form, target)[0] == 0
    assert command(theatre, tmp_path, "export", *form, target)[0] == Exit.USAGE


def test_a_killed_export_leaves_nothing_under_its_name(theatre: Theatre, tmp_path: Path) -> None:
    """H1: row F19."""
    projected(tmp_path)
    fault = f"{tmp_path / 'elsewhere'}|{KILL_AFTER}|1|0|{WRITE}|1"
    status, _ = command(theatre, tmp_path, "export", str(tmp_path / "elsewhere"), FAULTS=fault)
    assert status == -signal.SIGKILL
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="who wakes is told by /proc")
def test_a_watcher_rarely_wakes_where_nothing_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: row F20."""
    monkeypatch.setattr(folder_watcher, "IDLE", 3.0)
    watched = folder_watcher.Watches()
    watched.wait([tmp_path], [])
    before = switches()
    assert watched.wait([tmp_path], [])
    assert switches() - before < 20


def switches() -> int:
    """Tell how often this thread has waited for something."""
    lines = Path("/proc/thread-self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))


@pytest.mark.parametrize("words", [["status"], ["serve"], ["mcp"]])
def test_an_interruption_during_imports_prints_no_traceback(
    words: list[str], tmp_path: Path
) -> None:
    """H1: row F21."""
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "sidecar.transports.entry", *words],
        cwd=tmp_path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = b""
    for line in process.stderr:
        said += line
        if b"msgspec" in line:
            process.send_signal(signal.SIGINT)
            break
    said += process.communicate(timeout=60)[1]
    assert process.returncode == Exit.INTERRUPTED
    assert b"Traceback" not in said


def test_a_killed_connect_leaves_no_draft_once_it_is_run_again(
    theatre: Theatre, tmp_path: Path
) -> None:
    """H1: row F21."""
    projected(tmp_path)
    place = tmp_path / "repository"
    fault = f"{place}|{KILL_BEFORE}|1|0|{RENAME}|1"
    words = ("connect", "cursor", "--project")
    assert command(theatre, tmp_path, *words, FAULTS=fault)[0] == -signal.SIGKILL
    (draft,) = place.rglob("*.threadline-draft")
    os.utime(draft, (0, 0))
    assert command(theatre, tmp_path, *words)[0] == 0
    assert not list(place.rglob("*.threadline-draft"))


def test_an_index_that_is_lost_is_made_anew_by_whoever_writes_first(tmp_path: Path) -> None:
    """H1: row F2, of the home: within a transaction, too."""
    kept(tmp_path, memories=1)
    for path in (tmp_path / "home").glob("home.sqlite*"):
        path.unlink()
    with contextlib.closing(homely(tmp_path)) as home:
        began = time.monotonic()
        with home.transaction():
            assert [found.project_id for found in home.projects()] == [PROJECT]
        assert time.monotonic() - began < 7 * PATIENCE


def test_nothing_is_promised_before_the_first_sync(tmp_path: Path, theatre: Theatre) -> None:
    """H1: row F1: a disk that can sync nothing acknowledges nothing."""
    stage = tmp_path / "stage"
    theatre.play("endure", "prepare", stage)
    answer = theatre.ask("endure", "act", stage, fault=[FAIL, 1, errno.EIO, SYNC, FOREVER])
    assert answer.status == -9, answer.error
    assert [line for line in answer.acknowledged if "|" not in line][:-3] == []
    theatre.play("endure", "verify", stage, given=answer.acknowledged)


__all__ = [
    "PROJECT",
    "StorageFailedError",
    "datetime",
    "homely",
    "now",
    "record",
    "something",
    "write",
]
