"""The home's own secret: made once, private, the same for everybody."""

import multiprocessing
import os
import resource
import threading
from pathlib import Path

import pytest

from protocol.errors import StoreRefusedError
from sidecar.domain.sessions import Rule
from sidecar.store.homes import Home
from sidecar.store.ids import Ids
from tests.support import FixedClock

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
    other.lock.patience = 0.05
    with home.lock.held():
        key = other.fence_key()
    assert len(key) == 32
    assert other.fence_key() != key


def test_the_key_stands_in_no_other_file(home: Home) -> None:
    key = home.fence_key()
    home.vault("0" * 20)
    home.projects()
    others = [
        path for path in home.folder.rglob("*") if path.is_file() and path.name != "fence.key"
    ]
    assert others
    for path in others:
        data = path.read_bytes()
        assert key not in data
        assert key.hex().encode() not in data
