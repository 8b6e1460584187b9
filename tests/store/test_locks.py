"""The lock is fair, patient for a while, and never kept by someone who has gone."""

import threading
from pathlib import Path

import pytest

from protocol.errors import BusyError
from sidecar.store.locks import Lock


def test_a_lock_can_be_taken_again_by_its_holder(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    with lock.held(), lock.held():
        assert lock.turn == 1
    assert lock.turn is None
    with lock.held():
        assert lock.turn == 2


def test_a_waiter_gets_the_lock_when_it_is_let_go(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock", patience=10)
    order: list[str] = []

    def wait() -> None:
        with second.held():
            order.append("second")

    with first.held():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.1)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_who_has_lost_patience_does_not_keep_the_lock_later(tmp_path: Path) -> None:
    holder = Lock(tmp_path / "lock")
    impatient = Lock(tmp_path / "lock", patience=0.05)
    third = Lock(tmp_path / "lock", patience=5)
    with holder.held():
        for _ in range(3):
            with pytest.raises(BusyError), impatient.held():
                pytest.fail("the lock is not free")
    with third.held(), pytest.raises(BusyError), impatient.held():
        pytest.fail("the lock is not free")
    with impatient.held():
        assert impatient.turn == 1
    with third.held():
        assert third.turn == 2


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(200):
            with lock.held():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_deleted_lock_excludes_all_the_same(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock", patience=0.05)
    with first.held():
        pass
    with second.held():
        pass
    (tmp_path / "lock").unlink()
    with first.held(), pytest.raises(BusyError), second.held():
        pytest.fail("two hold the lock at once")
