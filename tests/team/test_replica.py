"""What a vault notes for its team, in the transaction that changes something; without a team nothing."""

import contextlib
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from protocol.tasks import TaskNote
from sidecar.storage.team import merge
from sidecar.storage.team.entries import LIMIT, Engine
from sidecar.storage.team.replica import Replica, Team, write_team
from sidecar.storage.vault import Vault
from tests.team.machines import PROJECT, Machine


def nowhere() -> Engine:
    return None  # type: ignore[return-value]  # these tests send nothing


def told(machine: Machine) -> list[dict[str, object]]:
    rows = machine.vault.database.rows("SELECT change FROM team_outbox ORDER BY sequence")
    changes = [msgspec.json.decode(row[0]) for row in rows]
    return [change for change in changes if change["collection"] not in {"members", ""}]


def test_without_a_team_nothing_is_loaded_asked_or_kept(vault: Vault) -> None:
    """J1."""
    tables = vault.database.rows("SELECT name FROM sqlite_master WHERE name LIKE 'team%'")
    assert tables == []
    script = (
        "import sys; from pathlib import Path; from sidecar.storage.vault import Vault;"
        "from sidecar.storage.ulids import Ids; from sidecar.capture.rules.sessions import Rule;"
        "from datetime import datetime, UTC; from protocol.documents import Document;"
        f"v = Vault(Path({str(vault.folder)!r}), 'p', Ids(lambda: datetime.now(UTC)), Rule());"
        "asked = []; rows = v.database.rows;"
        "v.database.rows = lambda query, values=(): asked.append(query) or rows(query, values);"
        "now = datetime.now(UTC);"
        "v.write([v.documents.put('a', Document(name='a', project_id='p', content='c', created_at=now, updated_at=now))]);"
        "assert not [query for query in asked if 'team' in query], asked;"
        "assert not [name for name in sys.modules if 'storage.team' in name or name == 'psycopg'];"
        "v.close()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert b"teamId" not in (vault.documents.table.raw().__next__()[1])


def test_a_change_and_what_is_told_of_it_are_one_transaction(tmp_path: Path) -> None:
    """J2."""
    ada = Machine(tmp_path / "ada", nowhere)
    task = ada.plan("Kept")
    with contextlib.suppress(RuntimeError), ada.vault.transaction():
        renamed = msgspec.structs.replace(task, title="x")
        ada.vault.write([ada.vault.tasks.put(task.task_id, renamed)])
        raise RuntimeError
    (change,) = told(ada)
    assert (change["collection"], change["id"]) == ("tasks", task.task_id)
    ada.edit(task.task_id, status="done")
    assert told(ada)[1]["fields"] == {"status": "done"}
    ada.vault.write([ada.vault.tasks.drop(task.task_id)])
    assert told(ada)[2]["fields"] == {"$deleted": True}
    ada.vault.close()


@pytest.mark.parametrize(
    ("share", "titles"),
    [
        ("decisions", {"decided"}),
        ("memories", {"decided", "a fact"}),
        ("everything", {"decided", "a fact", "a session", "proposed"}),
    ],
)
def test_what_is_shared_is_the_persons_choice(tmp_path: Path, share: str, titles: set[str]) -> None:
    """J4."""
    ada = Machine(tmp_path / "ada", nowhere, share=share)
    ada.remember("decided")
    ada.remember("a fact", type="fact")
    ada.remember("a session", type="episodic")
    ada.remember("proposed", status="proposed")
    ada.remember("only for me, everywhere", type="preference", scope="user")
    assert {change["fields"]["title"] for change in told(ada)} == titles  # type: ignore[index]
    ada.vault.close()


def test_what_leaves_is_redacted_again_and_says_nothing_of_this_machine(tmp_path: Path) -> None:
    """J4."""
    ada = Machine(tmp_path / "ada", nowhere)
    secret = "AKIA" + "IOSFODNN7EXAMPLF"
    memory = ada.remember(f"Key {secret}", verdict="gone", status="stale")
    ada.remember("Gone here only", verdict="gone", status="stale")
    (first, second) = told(ada)
    assert secret not in str(first)
    assert second["fields"]["status"] == "active"  # type: ignore[index]
    assert not {"verdict", "checkedAt", "projectId", "teamId"} & set(second["fields"])  # type: ignore[call-overload]
    kept = ada.vault.memories.peek(memory.memory_id)
    assert kept is not None
    assert kept["teamId"] == "t"
    ada.vault.close()


def test_joining_tells_all_there_is_with_the_times_of_its_changes(tmp_path: Path) -> None:
    ada = Machine(tmp_path / "ada", nowhere)
    own = ada.replica
    (tmp_path / "ada" / "team.json").unlink()
    own.drop()
    first = ada.remember("first")
    ada.pass_()
    ada.document("soul", "calm")
    team = Team(team_id="t", address="", project=PROJECT)
    write_team(ada.vault.folder, team)
    replica = Replica(ada.vault, team)
    assert [name for name, _, _ in replica.preview()] == ["memories", "documents"]
    replica.make()
    replica.make()
    assert [change["id"] for change in told(ada)] == [first.memory_id, "soul"]
    records = replica.records()
    assert merge.export(records)
    stamps = [
        records[key]["createdAt"][0].clock
        for key in (("memories", first.memory_id), ("documents", "soul"))
    ]
    assert stamps[0] < stamps[1]
    ada.vault.close()


def test_a_change_that_is_too_large_for_one_entry_becomes_several(tmp_path: Path) -> None:
    ada = Machine(tmp_path / "ada", nowhere)
    notes = tuple(
        TaskNote(at=ada.clock() + number * timedelta(seconds=1), text="x" * 5000)
        for number in range(200)
    )
    ada.plan("Long", notes=notes)
    rows = ada.vault.database.rows("SELECT length(change) FROM team_outbox")
    assert len(rows) > 2
    assert max(length for (length,) in rows) < LIMIT
    (kept,) = ada.replica.documents("tasks").values()
    assert len(kept["notes"]) == 200
    ada.vault.close()


def test_a_file_that_names_no_team_keeps_nobody_from_writing(tmp_path: Path) -> None:
    """J2."""
    ada = Machine(tmp_path / "ada", nowhere)
    (ada.vault.folder / "team.json").write_bytes(b"{")
    ada.plan("Written")
    assert len(ada.vault.tasks) == 1
    ada.vault.close()
