"""`threadline verify` finds what any part of a vault says that another part does not, and changes nothing."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from protocol.methods import SessionParams
from protocol.settings import Settings
from sidecar.capture import record
from sidecar.storage import snapshots, verification
from sidecar.storage.vault import NAME
from sidecar.transports.exits import Exit
from sidecar.upkeep import maintenance
from tests.crash.accounts import moment, opened, something
from tests.storage.test_collection import memory
from tests.support import Repository, threadline

DAMAGE = {
    "UPDATE words_data SET block = zeroblob(8) WHERE id > 10": "words",
    "INSERT INTO words (words) VALUES ('delete-all')": "words",
    "UPDATE texts SET text = text || ' and more' WHERE rowid = 1": "texts",
    "INSERT INTO texts (id, kind, at, author, origin, session, title, text, files, extra) VALUES ('nobody', 'commit', 0, '', '', '', '', 'words', '', '')": "texts",
    "UPDATE sessions SET count = count + 1 WHERE id = (SELECT min(id) FROM sessions)": "sessions",
    "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)": "sessions",
    "DELETE FROM blocks": "sessions",
    "UPDATE blocks SET data = zeroblob(100)": "blocks",
    "UPDATE tallies SET events = events + 1": "tallies",
    "DELETE FROM keys WHERE key = 'save:0'": "keys",
    "DELETE FROM keys WHERE key = 'save:18'": "keys",
    "UPDATE keys SET session = 'another' WHERE key = 'save:18'": "keys",
    "INSERT INTO keys VALUES ('commit:never', 'another', 'nobody')": "keys",
    "UPDATE state SET seq = 3": "state",
    "UPDATE collections SET revision = 1 WHERE name = 'memories'": "memories",
    "UPDATE memories SET sum = sum + 1": "memories",
    "UPDATE memories SET status = 'archived'": "memories",
    "UPDATE events SET sessionId = 'another' WHERE seq = (SELECT max(seq) FROM events)": "events",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a vault with memories, open and compacted sessions, and close it."""
    vault = opened(tmp_path_factory.mktemp("prepared") / "vault")
    record.ingest(vault, [something(n, moment(n)) for n in range(24)], "test")
    maintenance.maintain(vault, Settings())
    first = vault.sessions.timeline()[0]
    maintenance.compact(vault, SessionParams(session_id=first.session_id))
    vault.write([vault.memories.put("m", memory("m"))])
    vault.close()
    return vault.folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    """Give a copy of it that may be damaged."""
    return shutil.copytree(prepared, tmp_path / "vault")


def verified(folder: Path) -> list[verification.Finding]:
    vault = opened(folder)
    with contextlib.closing(vault):
        return vault.verify()


def test_a_whole_vault_passes_and_is_left_as_it_is(folder: Path) -> None:
    """H7."""
    before = (folder / NAME).read_bytes()
    assert verified(folder) == []
    assert (folder / NAME).read_bytes() == before
    assert snapshots.snapshots(folder) == []
    assert not list((folder / snapshots.FOLDER).iterdir())


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_disagrees_is_named(folder: Path, statement: str) -> None:
    """H7."""
    with contextlib.closing(sqlite3.connect(folder / NAME)) as connection, connection:
        connection.execute(statement)
    before = (folder / NAME).read_bytes()
    places = {finding.where for finding in verified(folder)}
    assert DAMAGE[statement] in places
    assert (folder / NAME).read_bytes() == before


def test_restoring_makes_whole_what_is_derived(folder: Path) -> None:
    """H7."""
    with contextlib.closing(sqlite3.connect(folder / NAME)) as connection, connection:
        connection.execute("DELETE FROM keys")
        connection.execute("DELETE FROM texts WHERE rowid < 5")
        connection.execute("UPDATE sessions SET count = 77")
    vault = opened(folder)
    with contextlib.closing(vault):
        assert vault.verify()
        vault.recover("a test")
        assert vault.verify() == []
        assert vault.sessions.count_events() == 24


@pytest.mark.slow
def test_damage_is_named_by_the_command_and_ended_by_restoring(
    repository: Repository, tmp_path: Path
) -> None:
    """H7: `status` counts what is there, before and after."""
    repository.commit("Build a bridge")
    assert threadline("scan", "--all-authors", cwd=repository.path).returncode == Exit.OK
    assert threadline("maintain", cwd=repository.path).returncode == Exit.OK
    assert b"all is well: 1 sessions, 1 events" in threadline("verify", cwd=repository.path).stdout
    (path,) = tmp_path.glob(f"home/projects/*/{NAME}")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    told = threadline("verify", cwd=repository.path)
    assert (told.returncode, b"words: " in told.stdout) == (Exit.FAILED, True)
    assert b"hourly" in threadline("restore", "--list", cwd=repository.path).stdout
    assert threadline("restore", cwd=repository.path).returncode == Exit.OK
    assert threadline("verify", cwd=repository.path).returncode == Exit.OK
    status = json.loads(threadline("status", "--json", cwd=repository.path).stdout)
    assert (status["sessions"], status["events"], len(status["snapshots"])) == (1, 1, 1)
    assert "asked for" in status["recoveries"][0]
