"""A vault opens whatever happened to its files, and keeps what is good."""

import errno
import logging
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from protocol.errors import StorageFailedError, StoreRefusedError
from protocol.methods import ListSessionsParams
from protocol.sessions import Session
from protocol.settings import Settings
from sidecar.domain.sessions import Rule
from sidecar.services import browsing, maintenance, recording
from sidecar.store import journals, lines, migrations
from sidecar.store.ids import Ids
from sidecar.store.lines import Op
from sidecar.store.vaults import Vault, open_vault
from tests.support import HOUR, NOON, FixedClock, reopen, save


def listed(vault: Vault) -> tuple[Session, ...]:
    return browsing.list_sessions(vault, ListSessionsParams(limit=1000)).sessions


def filled(vault: Vault, clock: FixedClock) -> tuple[Session, ...]:
    """Fill a vault with five sessions of ten events; the last one is still active."""
    for number in range(5):
        start = NOON + number * 5 * HOUR
        clock.now = start
        events = [
            save(f"file-{i}", at=start + timedelta(minutes=i), key=f"{number}/{i}")
            for i in range(10)
        ]
        recording.ingest(vault, events, "vscode")
    return listed(vault)


def test_closed_sessions_are_settled_and_need_no_look_at_their_events(
    vault: Vault, clock: FixedClock
) -> None:
    """H1: what a session says is derived from its events, and written down once it is closed."""
    expected = filled(vault, clock)
    shutil.rmtree(vault.folder / "sessions")
    (vault.folder / "sessions").mkdir(mode=0o700)
    assert [s.message_count for s in expected] == [10] * 5
    assert listed(reopen(vault)) == expected[1:]


def test_a_crash_between_two_files_loses_nothing(vault: Vault, clock: FixedClock) -> None:
    """H1: the events are on the disk, what was written about them is not."""
    expected = filled(vault, clock)
    path = vault.folder / "vault.jsonl"
    vault.close()
    whole = path.read_bytes()
    for cut in range(whole.count(b"\n"), 0, -1):
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:cut]))
        shutil.rmtree(vault.folder / "cache", ignore_errors=True)
        other = reopen(vault)
        facts = [(s.session_id, s.started_at, s.message_count, s.files_modified) for s in expected]
        seen = listed(other)
        assert [
            (s.session_id, s.started_at, s.message_count, s.files_modified) for s in seen
        ] == facts
        repeated = [save("again", key=f"{n}/{i}") for n in range(5) for i in range(10)]
        placed = recording.ingest(other, repeated, "vscode")
        assert {event.outcome for event in placed} == {"duplicate"}
        other.close()


def test_a_session_without_an_event_is_forgotten(vault: Vault) -> None:
    """H1: the crash came before the first event was written."""
    recording.ingest(vault, [save()], "vscode")
    (journal,) = (vault.folder / "sessions").iterdir()
    journal.unlink()
    assert listed(reopen(vault)) == ()
    recording.ingest(vault, [save()], "vscode")
    assert [s.message_count for s in listed(vault)] == [1]


def test_a_disk_that_fills_up_after_the_event_is_stored_is_no_failure(
    vault: Vault, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: whoever is told that nothing was stored will send it again."""
    recording.ingest(vault, [save(key="a")], "vscode")
    clock.pass_(5 * HOUR)

    def refuse(*_: Any) -> None:
        raise StorageFailedError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(vault.sessions._keys, "add", refuse)
        (placed,) = recording.ingest(vault, [save(key="b")], "vscode")
    assert placed.outcome == "stored"
    assert [session.message_count for session in listed(vault)] == [1, 1]
    other = reopen(vault)
    again = recording.ingest(other, [save(key="a"), save(key="b")], "vscode")
    assert [event.outcome for event in again] == ["duplicate", "duplicate"]
    monkeypatch.setattr(other.journal, "rewrite", refuse)
    for number in range(journals.SLACK + 5):
        other.journal.append([("t", "k", {"n": number})], durable=False)
    assert other.journal.rows("t").documents == {"k": {"n": journals.SLACK + 4}}


def test_a_store_that_cannot_be_written_can_be_read(
    vault: Vault, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1."""
    before = filled(vault, clock)
    vault.close()
    real = os.open

    def read_only(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", read_only)
    other = reopen(vault)
    assert listed(other) == before
    with pytest.raises(StorageFailedError):
        recording.ingest(other, [save()], "vscode")


def test_a_session_is_seen_as_soon_as_its_first_event_is_there(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: another process looks between the session's record and its first event."""
    reader = reopen(vault)
    append = vault.sessions._events.append

    def look_first(*arguments: Any) -> None:
        assert listed(reader) == ()
        append(*arguments)

    monkeypatch.setattr(vault.sessions._events, "append", look_first)
    recording.ingest(vault, [save()], "vscode")
    assert len(listed(reader)) == 1
    recording.ingest(reader, [save()], "vscode")
    assert [session.message_count for session in listed(vault)] == [2]


def delete(path: Path) -> None:
    path.unlink()


def become_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def garble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


@pytest.mark.parametrize("damage", [delete, become_folder, empty, zero, garble])
def test_sessions_come_back_from_their_events_when_the_vaults_journal_is_lost(
    damage: Callable[[Path], None],
    vault: Vault,
    clock: FixedClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """H1."""
    before = filled(vault, clock)
    vault.close()
    damage(vault.folder / "vault.jsonl")
    with caplog.at_level(logging.WARNING):
        after = listed(reopen(vault))
    facts = [(s.session_id, s.started_at, s.message_count, s.files_modified) for s in before]
    assert [(s.session_id, s.started_at, s.message_count, s.files_modified) for s in after] == facts
    assert len(caplog.records) == (damage is not delete)
    assert len(list(vault.folder.glob("vault.jsonl.corrupt.*"))) == (damage is not delete)


@pytest.mark.parametrize("damage", [delete, become_folder, empty, zero, garble])
def test_a_journal_lost_under_an_open_vault_is_made_anew(
    damage: Callable[[Path], None], vault: Vault, clock: FixedClock
) -> None:
    """H1."""
    before = filled(vault, clock)
    damage(vault.folder / "vault.jsonl")
    recording.ingest(vault, [save("new", at=clock.now)], "vscode")
    for seen in (listed(vault), listed(reopen(vault))):
        assert {session.session_id for session in before} <= {
            session.session_id for session in seen
        }
        assert sum(session.message_count for session in seen) == 51


def test_a_vault_whose_folder_was_removed_begins_anew(vault: Vault) -> None:
    """H1."""
    recording.ingest(vault, [save()], "vscode")
    shutil.rmtree(vault.folder)
    recording.ingest(vault, [save(), save()], "vscode")
    assert [s.message_count for s in listed(reopen(vault))] == [2]


def cut_at_a_line(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:104])


@pytest.mark.parametrize("damage", [delete, become_folder, empty, zero, garble, cut_at_a_line])
@pytest.mark.parametrize("name", ["inbox/current.jsonl", "cache/keys", "lock"])
def test_a_vault_opens_and_works_when_another_file_is_damaged(
    name: str, damage: Callable[[Path], None], vault: Vault, clock: FixedClock
) -> None:
    """H1."""
    before = filled(vault, clock)
    vault.inbox.drop(b"{}")
    vault.close()
    damage(vault.folder / name)
    other = reopen(vault)
    maintenance.maintain(other, Settings())
    assert listed(other) == before
    repeated = recording.ingest(other, [save(key="0/0"), save(key="4/9")], "vscode")
    assert [event.outcome for event in repeated] == ["duplicate", "duplicate"]
    assert [e.outcome for e in recording.ingest(other, [save(key="new")], "vscode")] == ["stored"]


@pytest.mark.parametrize("damage", [delete, become_folder, empty, zero, garble])
def test_a_damaged_session_journal_is_kept_aside_and_the_session_goes_on(
    damage: Callable[[Path], None], vault: Vault, clock: FixedClock
) -> None:
    """H1."""
    active = filled(vault, clock)[0]
    vault.close()
    damage(vault.folder / "sessions" / f"{active.session_id}.jsonl")
    other = reopen(vault)
    recording.ingest(other, [save(at=clock.now)], "vscode")
    assert len(listed(other)) == 5
    assert listed(other)[0].message_count == 1
    assert len(other.damaged_copies()) == (damage is not delete)


def test_a_copy_left_beside_a_session_journal_is_nobodys(vault: Vault, clock: FixedClock) -> None:
    """H1."""
    before = filled(vault, clock)
    journal = vault.folder / "sessions" / f"{before[0].session_id}.jsonl"
    shutil.copy(journal, journal.with_name(f"{before[0].session_id} (copy).jsonl"))
    vault.close()
    assert listed(reopen(vault)) == before


def test_an_older_store_is_migrated_after_a_backup(
    vault: Vault, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H6."""
    before = filled(vault, clock)
    vault.close()
    monkeypatch.setattr(journals, "FORMAT", journals.FORMAT + 1)

    def step(op: Op) -> Op:
        table, key, document = op
        if table == "events" and document is not None:
            document = document | {"agentId": "migrated"}
        return (table, key, document)

    other = open_vault(vault.folder, "p", Ids(clock), Rule(), {journals.FORMAT - 1: step})
    assert listed(other) == before
    events = [e for s in before for e in other.sessions.events(s.session_id)]
    assert {event.agent_id for event in events} == {"migrated"}
    assert len(events) == 50
    backup = vault.folder / "backups" / f"format-{journals.FORMAT - 1}"
    old = (backup / "vault.jsonl").read_bytes().split(b"\n")[0]
    assert old + b"\n" == lines.encode_header(journals.FORMAT - 1)
    other.close()
    monkeypatch.setattr(journals, "FORMAT", journals.FORMAT - 1)
    with pytest.raises(StoreRefusedError, match="newer Threadline"):
        reopen(vault)


def test_an_interrupted_migration_is_finished_at_the_next_opening(
    vault: Vault, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H6."""
    before = filled(vault, clock)
    vault.close()
    monkeypatch.setattr(journals, "FORMAT", journals.FORMAT + 1)
    calls = 0

    def step(op: Op) -> Op:
        nonlocal calls
        calls += 1
        if calls == 25:
            raise KeyboardInterrupt
        table, key, document = op
        if table == "events" and document is not None:
            assert "migrated" not in document
            document = document | {"migrated": 1}
        return (table, key, document)

    with pytest.raises(KeyboardInterrupt):
        open_vault(vault.folder, "p", Ids(clock), Rule(), {journals.FORMAT - 1: step})
    other = open_vault(vault.folder, "p", Ids(clock), Rule(), {journals.FORMAT - 1: step})
    assert listed(other) == before
    assert [s.message_count for s in listed(other)] == [10] * 5


def test_no_step_is_missing() -> None:
    """H6."""
    assert sorted(migrations.STEPS) == list(range(1, journals.FORMAT))
