"""The buffer: by-products are written soon, merged; what fails waits, and nobody waits for it."""

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from protocol.conversations import Agent
from protocol.errors import StorageFailedError
from sidecar.conversations import later
from sidecar.conversations.later import Buffer, MakeOps
from sidecar.storage.collection import Op
from sidecar.storage.database import deadline
from sidecar.storage.vault import Vault
from tests.support import NOON, reopen


@dataclass
class Seconds:
    """A clock that counts seconds, and moves when it is told to."""

    now: float = 0.0
    started: list[Callable[[], None]] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def buffer(self) -> Buffer:
        return Buffer(clock=self, start=self.started.append)


def write(name: str, label: str = "") -> MakeOps:
    agent = Agent(agent_id=name, project_id="p", label=label, first_seen_at=NOON, last_seen_at=NOON)
    return lambda vault: [vault.agents.put(name, agent)]


def labels(vault: Vault) -> dict[str, str]:
    return {key: one.label for key, one in vault.agents.by_id().items()}


def test_it_writes_after_a_pause_the_latest_of_each(vault: Vault) -> None:
    """Part of E5."""
    seconds = Seconds()
    buffer = seconds.buffer()
    buffer.add(vault, "a", write("a", "old"))
    buffer.add(vault, "b", write("b"))
    seconds.now = 2.0
    buffer.add(vault, "a", write("a", "new"))
    assert buffer.step() == 2.5
    seconds.now = 4.4
    assert buffer.step() == pytest.approx(0.1)
    assert labels(vault) == {}
    seconds.now = 4.5
    assert buffer.step() == 0
    assert labels(vault) == {"a": "new", "b": ""}
    assert buffer.step() is None
    assert len(seconds.started) == 1


def test_it_does_not_wait_for_ever_for_a_pause(vault: Vault) -> None:
    """Part of E5."""
    seconds = Seconds()
    buffer = seconds.buffer()
    for number in range(10):
        seconds.now = number
        buffer.add(vault, "a", write("a", str(number)))
    assert buffer.step() == 1.0
    seconds.now = 10.0
    assert buffer.step() == 0
    assert labels(vault) == {"a": "9"}


def test_what_cannot_be_written_waits_longer_and_longer(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of E5."""
    seconds = Seconds()
    buffer = seconds.buffer()

    def full(*_: object, **__: object) -> None:
        raise StorageFailedError("disk full")

    buffer.add(vault, "a", write("a", "old"))
    with monkeypatch.context() as patched:
        patched.setattr(vault, "write", full)
        assert buffer.flush() == 1
        assert buffer.step() == 5.0
        seconds.now = 5.0
        assert buffer.step() == 0
        assert buffer.step() == 10.0
        buffer.add(vault, "b", write("b"))
        buffer.add(vault, "a", write("a", "new"))
    assert buffer.flush() == 0
    assert labels(vault) == {"a": "new", "b": ""}


def test_each_stands_on_what_the_one_before_has_changed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of E5."""
    buffer = Seconds().buffer()

    def longer(vault: Vault) -> list[Op]:
        return write("a", labels(vault).get("a", "") + "+")(vault)

    for key in ("first", "second", "third"):
        buffer.add(vault, key, longer)
    real, calls = vault.write, iter([True, False])

    def sometimes(ops: list[Op]) -> None:
        if not next(calls):
            raise StorageFailedError("disk full")
        real(ops)

    with monkeypatch.context() as patched:
        patched.setattr(vault, "write", sometimes)
        assert buffer.flush() == 3
    assert buffer.flush() == 0
    assert labels(vault) == {"a": "+++"}


def test_what_is_added_while_writing_fails_is_newer(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of E5."""
    buffer = Seconds().buffer()

    def full(*_: object, **__: object) -> None:
        buffer.add(vault, "a", write("a", "new"))
        raise StorageFailedError("disk full")

    buffer.add(vault, "a", write("a", "old"))
    with monkeypatch.context() as patched:
        patched.setattr(vault, "write", full)
        assert buffer.flush() == 1
    assert buffer.flush() == 0
    assert labels(vault) == {"a": "new"}


def test_while_another_holds_the_store_nobody_waits_but_the_buffer(vault: Vault) -> None:
    """Part of E5."""
    other = reopen(vault)
    buffer = Seconds().buffer()
    with other.transaction(), deadline(0.01):
        buffer.add(vault, "a", write("a"))
        assert buffer.flush() == 1
    assert buffer.flush() == 0
    assert labels(other) == {"a": ""}
    other.close()


def test_one_that_cannot_be_made_keeps_no_other_from_the_disk(
    vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    """Part of E5."""
    buffer = Seconds().buffer()

    def broken(_vault: Vault) -> list[Op]:
        raise KeyError("no such thing")

    buffer.add(vault, "a", broken)
    buffer.add(vault, "b", write("b"))
    assert buffer.flush() == 0
    assert labels(vault) == {"b": ""}
    assert "given up" in caplog.text


def test_a_closed_vault_is_written_and_a_forgotten_one_does_not_come_back(
    vault: Vault, tmp_path: Path
) -> None:
    """Part of E5."""
    buffer = Seconds().buffer()
    buffer.add(vault, "a", write("a"))
    vault.close()
    assert buffer.flush() == 0
    other = reopen(vault)
    assert labels(other) == {"a": ""}
    other.close()
    buffer.add(vault, "b", write("b"))
    vault.close()
    shutil.rmtree(vault.folder)
    assert buffer.flush() == 0
    assert not vault.folder.exists()
    assert list(tmp_path.glob("vault*")) == []


def test_what_waits_for_a_project_can_be_given_up(vault: Vault) -> None:
    """Part of H3."""
    buffer = Seconds().buffer()
    buffer.add(vault, "a", write("a"))
    buffer.discard(vault)
    assert buffer.flush() == 0
    assert labels(vault) == {}


def test_it_holds_no_more_than_it_may(vault: Vault) -> None:
    """Part of E5."""
    buffer = Seconds().buffer()
    for number in range(later.MOST + 5):
        buffer.add(vault, str(number), write(f"{number:04}"))
    assert buffer.flush() == 0
    assert sorted(vault.agents.ids()) == [f"{one:04}" for one in range(5, later.MOST + 5)]


def test_its_thread_writes_by_itself_and_goes_when_nothing_waits(vault: Vault) -> None:
    """Part of E5."""
    rested = threading.Event()
    gone = threading.Event()
    seconds = Seconds()

    def rest(left: float) -> None:
        rested.set()
        seconds.now += left

    def start(run: Callable[[], None]) -> None:
        def work() -> None:
            run()
            gone.set()

        threading.Thread(target=work, daemon=True).start()

    buffer = Buffer(clock=seconds, rest=rest, start=start)
    for label in ("first", "second"):
        gone.clear()
        buffer.add(vault, "a", write("a", label))
        assert gone.wait(30)
        assert labels(vault) == {"a": label}
    assert rested.is_set()


def test_many_threads_lose_nothing(vault: Vault) -> None:
    """Part of E5."""
    buffer = Buffer(rest=lambda _left: None, clock=lambda: 0.0)

    def add(name: int) -> None:
        for number in range(20):
            buffer.add(vault, f"{name}/{number}", write(f"{name}/{number}"))
            if number % 7 == 0:
                buffer.flush()

    threads = [threading.Thread(target=add, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert buffer.flush() == 0
    assert len(vault.agents) == 80
