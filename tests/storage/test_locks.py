"""A lock is patient for a while, and never kept by someone who has gone."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from protocol.errors import BusyError, StorageFailedError, StoreRefusedError
from sidecar.storage import locks
from sidecar.storage.database import deadline
from sidecar.storage.locks import Lock


def test_a_lock_can_be_taken_again_by_its_holder(tmp_path: Path) -> None:
    lock, other = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    with lock.held():
        with lock.held():
            pass
        assert not other.is_free()
        assert not lock.is_free()
    assert other.is_free()
    assert lock.is_free()


def test_a_waiter_gets_the_lock_when_it_is_let_go(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    order: list[str] = []

    def wait() -> None:
        with deadline(10), second.held():
            order.append("second")

    with first.held():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.1)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_who_has_lost_patience_does_not_keep_the_lock_later(tmp_path: Path) -> None:
    """H4."""
    holder, impatient = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    with holder.held(), deadline(0.05):
        for _ in range(3):
            with pytest.raises(BusyError), impatient.held():
                pytest.fail("the lock is not free")
    with holder.held():
        pass
    with impatient.held():
        pass


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    lock, inside, most = Lock(tmp_path / "lock"), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(100):
            with deadline(30), lock.held():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


HOLD = """
import sys, time
from pathlib import Path
from sidecar.storage.locks import Lock
with Lock(Path(sys.argv[1])).held():
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_free_once_its_holder_is_killed(tmp_path: Path) -> None:
    """H1."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        lock = Lock(tmp_path / "lock")
        assert not lock.is_free()
        holder.kill()
    with lock.held():
        pass


def test_a_link_in_a_locks_place_is_refused(tmp_path: Path) -> None:
    """H5."""
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(StoreRefusedError), Lock(tmp_path / "lock").held():
        pytest.fail("the link was followed")
    assert not (tmp_path / "target").exists()


def test_locks_that_the_system_has_none_of_are_a_failure_with_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: row F18."""

    def refuse(_descriptor: int) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(locks, "_try_lock", refuse)
    with (
        pytest.raises(StorageFailedError, match=os.strerror(errno.ENOLCK)),
        Lock(tmp_path / "l").held(),
    ):
        pass
    with pytest.raises(StorageFailedError):
        Lock(tmp_path / "l").is_free()
