"""One file, many threads and processes: steps are whole, readers never wait, and what changed can be asked."""

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.errors import BusyError, StorageFailedError, StoreRefusedError
from sidecar.storage import files
from sidecar.storage.database import Database, deadline, time_left
from sidecar.storage.vault import Vault

SCHEMA = "CREATE TABLE IF NOT EXISTS things (seq INTEGER PRIMARY KEY, name TEXT UNIQUE);\n"


def opened(path: Path, version: int = 1) -> Database:
    return Database(path, SCHEMA, version)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = opened(tmp_path / "file.sqlite")
    yield database
    database.close()


def put(database: Database, name: str) -> None:
    database.execute("INSERT INTO things VALUES (?, ?)", (database.next_seq("things"), name))


class Undone(Exception):  # noqa: N818  # no mistake
    """Ends a transaction."""


@contextlib.contextmanager
def undone(store: Database | Vault) -> Iterator[None]:
    """Do what is inside in a transaction that fails at its end."""
    with contextlib.suppress(Undone), store.transaction():
        yield
        raise Undone


def names(database: Database) -> list[str]:
    return [row[0] for row in database.rows("SELECT name FROM things ORDER BY seq")]


def test_a_transaction_is_stored_whole_or_not_at_all(database: Database, tmp_path: Path) -> None:
    """H1."""
    with database.transaction():
        put(database, "a")
        put(database, "b")
    with undone(database):
        put(database, "c")
    other = opened(tmp_path / "file.sqlite")
    assert names(database) == names(other) == ["a", "b"]
    other.close()


def test_a_part_that_fails_is_undone_alone(database: Database) -> None:
    """H1."""
    with database.transaction():
        put(database, "before")
        with undone(database):
            put(database, "inside")
            with database.transaction():
                put(database, "deeper")
        with database.transaction():
            put(database, "after")
    assert names(database) == ["before", "after"]


def test_an_undone_part_leaves_its_collections_unchanged(database: Database) -> None:
    with database.transaction():
        put(database, "a")
        with undone(database):
            database.next_seq("others")
        assert "others" not in database.revisions()
        assert database.has_touched("things")
    assert set(database.revisions()) == {"", "things"}


def test_nothing_is_written_outside_a_transaction(database: Database) -> None:
    with pytest.raises(RuntimeError, match="outside a transaction"):
        database.execute("DELETE FROM things")
    done = threading.Event()
    errors: list[Exception] = []

    def write() -> None:
        try:
            database.execute("DELETE FROM things")
        except RuntimeError as error:
            errors.append(error)
        done.set()

    with database.transaction():
        threading.Thread(target=write).start()
        assert done.wait(5)
    assert len(errors) == 1


def test_actions_run_once_what_they_follow_is_stored(database: Database, tmp_path: Path) -> None:
    seen: list[list[str]] = []
    other = opened(tmp_path / "file.sqlite")
    with database.transaction():
        put(database, "a")
        database.after_commit(lambda: seen.append(names(other)))
        with undone(database):
            database.after_commit(lambda: seen.append(["of an undone part"]))
        assert seen == []
    assert seen == [["a"]]
    with undone(database):
        database.after_commit(lambda: seen.append(["of what never happened"]))
    database.after_commit(lambda: seen.append(["at once"]))
    assert seen == [["a"], ["at once"]]
    other.close()


def test_readers_never_wait_for_a_writer(database: Database, tmp_path: Path) -> None:
    """H1: neither a thread of the same process nor another process."""
    other = opened(tmp_path / "file.sqlite")
    with database.transaction():
        put(database, "stored")
    with database.transaction():
        put(database, "not yet")
        seen: list[object] = []

        def read() -> None:
            seen.extend([names(database), names(other), database.revisions(), other.sequence()])

        reader = threading.Thread(target=read)
        reader.start()
        reader.join(2)
        assert not reader.is_alive()
        assert seen == [["stored"], ["stored"], {"": 1, "things": 1}, 1]
        assert names(database) == ["stored", "not yet"]
        assert database.revisions()["things"] == database.sequence() == 2
    assert names(other) == ["stored", "not yet"]
    assert other.revisions()["things"] == 2
    other.close()


def test_a_revision_changes_with_every_write_whoever_makes_it(
    database: Database, tmp_path: Path
) -> None:
    other = opened(tmp_path / "file.sqlite")
    seen = [database.revisions().get("things", 0)]
    for number, writer in enumerate([database, other, other, database]):
        with writer.transaction():
            put(writer, f"thing {number}")
        assert database.revisions() == other.revisions()
        seen.append(database.revisions()["things"])
    assert seen == sorted(set(seen))
    with database.transaction():
        pass
    assert other.revisions()["things"] == seen[-1]
    other.close()


def test_a_busy_file_is_waited_for_no_longer_than_the_deadline(
    database: Database, tmp_path: Path
) -> None:
    """H1, H4: all waits of a request together."""
    other = opened(tmp_path / "file.sqlite")
    other.sequence()
    with database.transaction():
        begun = time.monotonic()
        with deadline(0.3):
            for _ in range(3):
                with pytest.raises(BusyError), other.transaction():
                    pytest.fail("two write at once")
            with deadline(60):
                assert time_left() == 0
        assert time.monotonic() - begun < 20
    with other.transaction():
        put(other, "afterwards")
    other.close()


def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    """H6."""
    path = tmp_path / "file.sqlite"
    newer = opened(path, 2)
    with newer.transaction():
        put(newer, "new")
    newer.close()
    before = path.read_bytes()
    ours = opened(path, 1)
    with pytest.raises(StoreRefusedError, match="newer Threadline"):
        names(ours)
    with pytest.raises(StoreRefusedError, match="newer Threadline"), ours.transaction():
        pytest.fail("it was opened")
    ours.close()
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("file")] == [path.name]


def test_a_running_process_writes_no_more_once_another_has_migrated(tmp_path: Path) -> None:
    """H6."""
    path = tmp_path / "file.sqlite"
    old = opened(path, 1)
    with old.transaction():
        put(old, "old")
    new = opened(path, 2)
    with new.transaction():
        put(new, "new")
    with pytest.raises(StoreRefusedError, match="newer Threadline"), old.transaction():
        pytest.fail("it may be written")
    assert names(old) == names(new) == ["old", "new"]
    for one in (old, new):
        one.close()


def test_an_older_file_is_upgraded_in_one_step_with_its_version(tmp_path: Path) -> None:
    """H6."""
    path = tmp_path / "file.sqlite"
    old = opened(path, 1)
    with old.transaction():
        put(old, "old")
    old.close()
    schema = SCHEMA + "CREATE INDEX IF NOT EXISTS later ON things (size);\n"

    def step(database: Database, version: int) -> None:
        assert version == 1
        database.execute("ALTER TABLE things ADD COLUMN size INTEGER")
        database.execute("UPDATE things SET seq = ?, size = 7", (database.next_seq("things"),))
        if is_cut:
            raise KeyboardInterrupt

    for is_cut in (True, False):
        new = Database(path, schema, 2)
        new.upgrade = step
        if is_cut:
            with pytest.raises(KeyboardInterrupt):
                names(new)
        else:
            assert new.rows("SELECT seq, name, size FROM things") == [(2, "old", 7)]
            assert new.sequence() == 2
        new.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_values_that_cannot_be_stored_are_refused_in_words(database: Database) -> None:
    """H4."""
    for value in ("\ud800", 1 << 63):
        with pytest.raises(StorageFailedError, match="nothing was stored"), database.transaction():
            database.execute(
                "INSERT INTO things VALUES (?, ?)", (database.next_seq("things"), value)
            )
    assert names(database) == []


def test_a_removal_is_remembered_for_a_while_only(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.storage.database.REMOVALS_KEPT", 300)
    with database.transaction():
        for number in range(1500):
            database.note_removal("things", str(number))
    (count,) = database.row("SELECT count(*) FROM removals")
    assert 300 <= count <= 300 + 256


def test_a_file_that_was_replaced_is_opened_anew(database: Database, tmp_path: Path) -> None:
    """H1: what is written into a file without a name would be lost."""
    with database.transaction():
        put(database, "a")
    database.close()
    path = tmp_path / "file.sqlite"
    assert names(database) == ["a"]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    assert names(database) == []
    with database.transaction():
        put(database, "b")
    other = opened(path)
    assert names(other) == ["b"]
    other.close()


def test_a_file_at_rest_is_closed_unless_it_is_in_use(database: Database) -> None:
    with database.transaction():
        put(database, "a")
        database.rest()
        assert database.is_open
    database.rest()
    assert not database.is_open
    assert names(database) == ["a"]


def write_some(path: Path, worker: int, count: int) -> int:
    database = opened(path)
    for number in range(count):
        with deadline(60), database.transaction():
            put(database, f"{worker}/{number}")
    database.close()
    return count


def test_processes_that_open_a_new_file_at_once_agree_and_lose_nothing(tmp_path: Path) -> None:
    """H1."""
    path = tmp_path / "file.sqlite"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.starmap(write_some, [(path, worker, 25) for worker in range(4)])
    database = opened(path)
    assert sorted(names(database)) == sorted(f"{w}/{n}" for w in range(4) for n in range(25))
    assert database.sequence() == 100
    assert [row[0] for row in database.rows("SELECT seq FROM things ORDER BY seq")] == list(
        range(1, 101)
    )
    database.close()


KILLED = """
import os, sys
from pathlib import Path
from tests.storage.test_database import opened, put
database = opened(Path(sys.argv[1]))
with database.transaction():
    put(database, "acknowledged")
print("acknowledged", flush=True)
with database.transaction():
    put(database, "never")
    os.kill(os.getpid(), 9)
"""


def test_what_was_acknowledged_survives_a_kill(database: Database, tmp_path: Path) -> None:
    """H1."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "file.sqlite")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "acknowledged\n", done.stderr
    assert names(database) == ["acknowledged"]


MOUNTED = "36 35 {device} / {folder} rw,noatime shared:1 - {kind} server:/export rw\n"


@pytest.mark.skipif(os.name != "posix", reason="mounts are told otherwise")
@pytest.mark.parametrize(
    ("kind", "mode"), [("nfs4", "delete"), ("fuse.sshfs", "delete"), ("ext4", "wal")]
)
def test_a_network_file_system_gets_a_rollback_journal(
    kind: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: row F7: processes on two machines share no memory, which a WAL needs."""
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        MOUNTED.format(device=f"{os.major(device)}:{os.minor(device)}", folder=tmp_path, kind=kind)
    )
    (tmp_path / "vault").mkdir()
    database = Database(tmp_path / "vault" / "v.sqlite", "", 1)
    with database.transaction():
        database.next_seq("things")
    assert database.row("PRAGMA journal_mode") == ("wal",)
    database.close()
    # It was moved there, together with everything in it.
    monkeypatch.setattr(files, "MOUNTS", mounts)
    assert database.row("PRAGMA journal_mode") == (mode,)
    with database.transaction():
        database.next_seq("things")
    assert (database.sequence(), database.is_remote) == (2, mode == "delete")
    assert Path(f"{database.path}-wal").exists() == (mode == "wal")
    database.close()


def test_a_last_resort_gives_way_to_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: row F7: whoever writes again reads what was written."""
    database = Database(tmp_path / "v.sqlite", "", 1)
    with database.transaction():
        database.next_seq("things")
    database.close()

    def refuse(self: Database) -> None:
        raise StorageFailedError(f"cannot write {self.path}: it is read-only")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_open", refuse)
        assert database.sequence() == 1
        with pytest.raises(StorageFailedError), database.transaction():
            pass
    with database.transaction():
        database.next_seq("things")
    assert database.sequence() == 2
    database.close()
