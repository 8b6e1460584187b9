"""All projects of a user: their index, their vaults, and the home's own secret."""

import multiprocessing
import os
import resource
import threading
from pathlib import Path

import pytest

from protocol.errors import StoreRefusedError
from protocol.projects import Project
from sidecar.capture import record
from sidecar.capture.rules.sessions import Rule
from sidecar.storage import snapshots
from sidecar.storage.database import deadline
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import NAME
from sidecar.text.token_counts import Spending
from tests.support import NOON, FixedClock, holding, save

PROCESSES = 4


def opened(folder: Path) -> Home:
    return Home(folder, Ids(FixedClock()), Rule())


def test_the_fence_key_is_made_once_and_is_private(home: Home) -> None:
    """Part of D11."""
    previous = os.umask(0)
    try:
        key = home.fence_key()
    finally:
        os.umask(previous)
    file = home.folder / "fence.key"
    assert len(key) == 32
    assert file.read_bytes() == key
    assert file.stat().st_mode & 0o777 == 0o600
    assert home.fence_key() == key
    assert opened(home.folder).fence_key() == key


def test_every_home_has_a_key_of_its_own(tmp_path: Path) -> None:
    assert opened(tmp_path / "a").fence_key() != opened(tmp_path / "b").fence_key()


def test_reading_the_key_writes_nothing(home: Home) -> None:
    home.fence_key()
    before = (home.folder / "fence.key").stat()
    assert home.fence_key()
    after = (home.folder / "fence.key").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("damaged", [b"", b"short", bytes(32), b"x" * 33])
def test_a_damaged_key_is_made_anew(damaged: bytes, home: Home) -> None:
    (home.folder / "fence.key").write_bytes(damaged)
    key = home.fence_key()
    assert len(key) == 32
    assert key != damaged
    assert opened(home.folder).fence_key() == key


def test_a_folder_in_its_place_is_moved_away(home: Home) -> None:
    (home.folder / "fence.key").mkdir()
    assert opened(home.folder).fence_key() == home.fence_key()


def test_a_planted_link_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "known").write_bytes(b"k" * 32)
    (home.folder / "fence.key").symlink_to(tmp_path / "known")
    with pytest.raises(StoreRefusedError):
        home.fence_key()


def test_threads_that_make_it_at_once_agree(home: Home) -> None:
    start = threading.Barrier(8)
    keys: list[bytes] = []

    def make() -> None:
        start.wait()
        keys.append(home.fence_key())

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


def make_key(folder: Path) -> bytes:
    return opened(folder).fence_key()


@pytest.mark.slow
def test_processes_that_make_it_at_once_agree(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for turn in range(20):
            keys = pool.map(make_key, [tmp_path / f"home-{turn}"] * PROCESSES, chunksize=1)
            assert len(set(keys)) == 1


def test_a_full_disk_leaves_a_key_all_the_same(home: Home) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        key = home.fence_key()
        assert len(key) == 32
        assert home.fence_key() == key
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert opened(home.folder).fence_key() == home.fence_key() != key


def test_whoever_cannot_wait_has_a_key_all_the_same(home: Home) -> None:
    other = opened(home.folder)
    with home.lock.held(), deadline(0.05):
        key = other.fence_key()
    assert len(key) == 32
    assert other.fence_key() != key


def test_the_key_stands_in_no_other_file(home: Home) -> None:
    key = home.fence_key()
    home.put(project(1))
    home.close()
    others = [
        path for path in home.folder.rglob("*") if path.is_file() and path.name != "fence.key"
    ]
    assert others
    for path in others:
        data = path.read_bytes()
        assert key not in data
        assert key.hex().encode() not in data


def project(number: int) -> Project:
    return Project(
        project_id=f"{number:020x}",
        name=f"project {number}",
        folders=(f"/work/{number}",),
        created_at=NOON,
    )


def test_projects_are_known_to_every_process(home: Home) -> None:
    """A8."""
    known = [project(number) for number in range(3)]
    for one in known:
        home.put(one)
    other = opened(home.folder)
    assert other.projects() == home.projects() == known
    other.close()


@pytest.mark.parametrize("damage", ["delete", "garble", "empty"])
def test_a_lost_index_is_made_anew_from_the_vaults(home: Home, damage: str) -> None:
    """H1."""
    for number in range(3):
        home.put(project(number))
    home.close()
    path = home.folder / "home.sqlite"
    if damage == "delete":
        path.unlink()
    else:
        path.write_bytes(os.urandom(8192) if damage == "garble" else b"")
    other = opened(home.folder)
    assert other.projects() == [project(number) for number in range(3)]
    other.put(project(3))
    assert len(other.projects()) == 4
    other.close()


def test_what_was_spent_is_added_up_by_all(home: Home) -> None:
    other = opened(home.folder)
    spent = [own.spend(lambda before: before or Spending(day=NOON.date())) for own in (home, other)]
    assert spent[0] == spent[1]
    other.close()


def test_only_the_latest_eight_vaults_have_open_files(home: Home) -> None:
    """H1: thirty folders must not use up the descriptors of a server."""
    before = _descriptors()
    for number in range(30):
        record.ingest(home.vault(f"{number:020x}"), [save()], "test")
    is_open = [home.vault(f"{number:020x}").database.is_open for number in range(30)]
    # To ask for a vault moves it to the front without opening it.
    assert sum(is_open) <= 8
    assert _descriptors() - before < 100
    assert home.vault(f"{0:020x}") is home.vault(f"{0:020x}")
    assert [home.vault(f"{n:020x}").sessions.count_events() for n in range(30)] == [1] * 30


def _descriptors() -> int:
    """Count the open files of this process, where that can be known."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_a_vault_that_is_written_is_not_closed_by_others(home: Home) -> None:
    first = home.vault(f"{0:020x}")
    with first.transaction():
        record.ingest(first, [save()], "test")
        for number in range(1, 12):
            home.vault(f"{number:020x}").sessions.count()
        assert first.database.is_open
        record.ingest(first, [save()], "test")
    assert first.sessions.count_events() == 2


def test_a_vault_that_was_rolled_back_is_noticed(home: Home) -> None:
    """H1."""
    name = f"{1:020x}"
    vault = home.vault(name)
    record.ingest(vault, [save(key="first")], "test")
    vault.close()
    old = (vault.folder / NAME).read_bytes()
    record.ingest(vault, [save(key="second")], "test")
    home.note_seen(vault)
    home.close()
    (vault.folder / NAME).write_bytes(old)
    other = opened(home.folder)
    assert other.vault(name).sessions.count_events() == 1
    (report,) = snapshots.reports(vault.folder)
    assert "rolled back" in report.reason
    assert (vault.folder / report.kept / NAME).exists()
    other.close()


def test_a_vault_that_is_missing_is_noticed(home: Home) -> None:
    """H1."""
    name = f"{1:020x}"
    vault = home.vault(name)
    record.ingest(vault, [save()], "test")
    vault.snapshot()
    home.close()
    (vault.folder / NAME).unlink()
    other = opened(home.folder)
    assert other.vault(name).sessions.count_events() == 1
    assert [report.reason for report in snapshots.reports(vault.folder)] == ["missing"]
    other.close()


def test_a_dropped_project_leaves_no_word_in_the_index(home: Home) -> None:
    """H3."""
    home.put(project(1))
    home.put(project(2))
    home.drop(project(1).project_id)
    assert home.projects() == [project(2)]
    home.close()
    left = [name for name in holding(home.folder, b"project 1") if name.startswith("home.sqlite")]
    assert left == []
