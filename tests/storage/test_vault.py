"""A vault is brought to a newer version after a copy was kept, and a newer one is left alone."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator

import pytest

from protocol.errors import StoreRefusedError
from protocol.memories import Memory
from sidecar.capture import record
from sidecar.storage import snapshots, vault
from sidecar.storage.database import Database
from sidecar.storage.vault import NAME, Vault
from tests.storage.test_collection import memory
from tests.support import NOON, reopen, save


def migrated(database: Database) -> None:
    """Add a column that is looked up, and fill it."""
    database.execute("ALTER TABLE jobs ADD COLUMN extra")
    database.execute(
        "UPDATE memories SET status = 'stale', seq = ?", (database.next_seq("memories"),)
    )


@pytest.fixture
def filled(vault: Vault) -> Vault:
    record.ingest(vault, [save(key="a", at=NOON)], "vscode")
    vault.write([vault.memories.put("m", memory("m"))])
    vault.close()
    return vault


@pytest.fixture
def _next_version(filled: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not filled.database.is_open
    monkeypatch.setattr(vault, "VERSION", vault.VERSION + 1)
    monkeypatch.setitem(vault.STEPS, vault.VERSION - 1, migrated)


@pytest.mark.usefixtures("_next_version")
def test_an_older_vault_is_migrated_after_a_copy_was_kept(filled: Vault) -> None:
    """H6."""
    other = reopen(filled)
    assert other.database.rows("SELECT id, status FROM memories") == [("m", "stale")]
    assert other.sessions.count_events() == 1
    (kept,) = snapshots.snapshots(filled.folder)
    assert kept.name == f"version-{vault.VERSION - 1}.sqlite"
    assert kept.stat().st_mode & 0o777 == 0o600
    with contextlib.closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == vault.VERSION - 1
        assert connection.execute("SELECT status FROM memories").fetchall() == [("active",)]
    other.close()
    # Opened again, it is as it is: nothing is copied a second time.
    stamp = kept.stat().st_mtime_ns
    again = reopen(filled)
    assert again.sessions.count_events() == 1
    assert kept.stat().st_mtime_ns == stamp
    again.close()


@pytest.mark.usefixtures("_next_version")
def test_an_interrupted_migration_is_finished_at_the_next_opening(
    filled: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H6."""

    def cut(database: Database) -> None:
        migrated(database)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(vault.STEPS, vault.VERSION - 1, cut)
        other = reopen(filled)
        with pytest.raises(KeyboardInterrupt):
            other.sessions.count()
        other.close()
    other = reopen(filled)
    assert other.database.rows("SELECT status FROM memories") == [("stale",)]
    other.close()


def test_a_newer_vault_is_refused_and_left_alone(filled: Vault) -> None:
    """H6."""
    path = filled.folder / NAME
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {vault.VERSION + 1}")
    before = path.read_bytes()
    other = reopen(filled)
    with pytest.raises(StoreRefusedError, match="newer Threadline"):
        other.memories.get("m")
    with pytest.raises(StoreRefusedError, match="newer Threadline"):
        record.ingest(other, [save()], "vscode")
    other.close()
    assert path.read_bytes() == before
    assert not (filled.folder / snapshots.DAMAGED).exists()


def test_every_version_has_its_step() -> None:
    """H6."""
    assert sorted(vault.STEPS) == list(range(1, vault.VERSION))


def test_opening_builds_nothing_that_was_not_asked_for(filled: Vault) -> None:
    other = reopen(filled)
    assert not other.database.is_open
    assert other.memories.get("m") is not None
    assert not other.cache.database.path.exists()
    other.close()


@pytest.fixture
def holder(vault: Vault) -> Iterator[Vault]:
    """Give a vault in the midst of a transaction of another thread."""
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with vault.transaction():
            vault.write([vault.memories.put("held", memory("held"))])
            inside.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(5)
    yield vault
    done.set()
    thread.join()


def test_reading_goes_on_while_another_thread_writes(holder: Vault) -> None:
    """H1."""
    seen: list[Memory | int | None] = []

    def read() -> None:
        seen.extend(
            [holder.memories.get("held"), len(holder.memories.by_id()), holder.sessions.count()]
        )

    reader = threading.Thread(target=read)
    reader.start()
    reader.join(5)
    assert seen == [None, 0, 0]
