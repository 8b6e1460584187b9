"""Machines that share a project, on every engine: a PostgreSQL, a git remote as files, a git remote over HTTP."""

import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from protocol.messages import ReadMessagesParams
from sidecar.code.team_remote import GitEngine
from sidecar.sharing import messages
from sidecar.storage.team import sealing
from sidecar.storage.team.entries import Engine, Facts
from sidecar.storage.team.postgres import PostgresEngine
from sidecar.upkeep import purge
from tests.team.machines import PROJECT, Machine, converge, found
from tests.team.servers import Server, publishing

pytestmark = pytest.mark.slow
Make = Callable[..., Machine]


@pytest.fixture(params=["postgresql", "git", "git over http"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Engine]]:
    """Give what connects a machine, by its name."""
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("server")
        address = found(server.address)
        yield lambda _name: PostgresEngine(address, PROJECT)
        return
    remote = tmp_path / "remote.git"
    for words in (
        ("init", "--bare", "--quiet", str(remote)),
        ("-C", str(remote), "config", "http.receivepack", "true"),
    ):
        subprocess.run(["git", *words], check=True)
    with publishing(tmp_path) as base:
        place = str(remote) if request.param == "git" else f"{base}/remote.git"
        yield lambda name: GitEngine(tmp_path / f"{name}.git", place, PROJECT)


@pytest.fixture
def make(tmp_path: Path, connect: Callable[[str], Engine]) -> Iterator[Make]:
    made: list[Machine] = []

    def machine(name: str, **chosen: Any) -> Machine:
        made.append(Machine(tmp_path / name, lambda: connect(name), **chosen))
        return made[-1]

    yield machine
    for each in made:
        each.close()


def test_what_one_machine_writes_arrives_on_the_others_and_edits_merge(make: Make) -> None:
    """J3."""
    ada, ben, cy = make("ada"), make("ben"), make("cy")
    decision, task = ada.remember("Use SQLite"), ada.plan("Ship it")
    ada.send("hello")
    ada.document("instructions", "Be brief")
    converge(ada, ben, cy)
    assert ben.vault.memories.get(decision.memory_id) is not None
    assert ben.shown() == cy.shown() == ada.shown()
    ben.edit(task.task_id, title="Ship it today")
    cy.edit(task.task_id, status="done")
    converge(ada, ben, cy)
    merged = ada.vault.tasks.get(task.task_id)
    assert merged is not None
    assert (merged.title, merged.status) == ("Ship it today", "done")
    assert ada.export() == ben.export() == cy.export()
    assert ada.shown() == ben.shown() == cy.shown()
    ada.vault.write([ada.vault.tasks.drop(task.task_id)])
    converge(ada, ben, cy)
    assert ben.vault.tasks.get(task.task_id) is None
    assert ada.sync() == (0, 0)


def test_clocks_that_are_a_day_apart_still_converge(make: Make) -> None:
    """J2."""
    ada, ben = make("ada"), make("ben")
    ben.pass_(timedelta(days=1))
    task = ada.plan("First")
    converge(ada, ben)
    ben.edit(task.task_id, title="From tomorrow")
    converge(ben, ada)
    ada.edit(task.task_id, title="After I had seen it")
    converge(ada, ben)
    for machine in (ada, ben):
        kept = machine.vault.tasks.get(task.task_id)
        assert kept is not None
        assert kept.title == "After I had seen it"
    assert ada.export() == ben.export()


def test_a_vault_restored_from_an_old_copy_goes_on_under_another_name(
    make: Make,
) -> None:
    """J2."""
    ada, ben = make("ada"), make("ben")
    ada.plan("Before the copy")
    converge(ada, ben)
    ada.vault.database.checkpoint()
    copy = ada.vault.database.path.read_bytes()
    lost = ada.plan("After the copy")
    converge(ada, ben)
    writer = ada.replica.me().writer
    ada.close()
    ada.vault.database.path.write_bytes(copy)
    for suffix in ("-wal", "-shm"):
        Path(f"{ada.vault.database.path}{suffix}").unlink(missing_ok=True)
    again = make("ada")
    fresh = again.plan("Written by the restored one")
    converge(again, ben)
    assert again.replica.me().writer != writer
    assert again.vault.tasks.get(lost.task_id) == ben.vault.tasks.get(lost.task_id) is not None
    assert ben.vault.tasks.get(fresh.task_id) is not None
    assert again.export() == ben.export()


def test_an_answer_that_got_lost_makes_nothing_twice(make: Make) -> None:
    """J2."""
    ada, ben = make("ada"), make("ben")
    ada.plan("Once")
    # As if the process had died between the server's commit and our own.
    ada.engine.append(ada.replica.outgoing(100, ada.codec.seal))
    ada.plan("Then")
    converge(ada, ben)
    assert ada.export() == ben.export()
    assert sorted(task.title for task in ben.vault.tasks.all()) == ["Once", "Then"]
    assert ada.replica.me().sent == ada.engine.heads()[ada.replica.me().writer]


def test_each_recipient_has_a_receipt_whichever_machine_reads(make: Make) -> None:
    """J3."""
    ada, ben = make("ada"), make("ben")
    message = ada.send("We release")
    converge(ada, ben)
    for machine, agent in ((ada, "cursor"), (ben, "windsurf")):
        machine.pass_()
        read = ReadMessagesParams(agent_id=agent)
        assert len(messages.read(machine.vault, read, agent).messages) == 1
    converge(ada, ben)
    for machine in (ada, ben):
        kept = machine.vault.messages.get(message.message_id)
        assert kept is not None
        assert set(kept.handlings) == {"cursor", "windsurf"}
    assert ada.export() == ben.export()


def test_what_is_forgotten_goes_from_every_machine_and_from_the_log_and_each_confirms(
    make: Make, tmp_path: Path
) -> None:
    """J4."""
    ada, ben = make("ada"), make("ben")
    memory = ada.remember("The heronry key is under the mat")
    kept = ada.remember("Herons are grey")
    converge(ada, ben)
    assert ben.vault.memories.get(memory.memory_id) is not None
    purge.forget(ada.vault, [memory.memory_id], tmp_path / "logs")
    converge(ada, ben)
    for machine in (ada, ben):
        assert b"under the mat" not in machine.export()
        (forgotten,) = machine.vault.memories.some([memory.memory_id]).values()
        assert forgotten.status == "forgotten"
        assert machine.vault.memories.get(kept.memory_id) is not None
        machine.vault.close()
        assert b"under the mat" not in machine.vault.database.path.read_bytes()
        told = machine.replica.documents("confirmations").values()
        assert {each["writer"] for each in told} == {
            ada.replica.me().writer,
            ben.replica.me().writer,
        }
    assert not [entry for entry in ada.engine.since({}, 1000) if b"under the mat" in entry.payload]
    # Who comes later hears nothing of it either.
    cy = make("cy")
    converge(cy, ada, ben)
    assert cy.export() == ada.export() == ben.export()
    assert kept.memory_id in cy.vault.memories


def test_a_team_with_a_key_reads_all_and_the_engine_nothing(make: Make) -> None:
    """J4."""
    key, later = sealing.new_key(), sealing.new_key()
    ada, ben = (make(name, codec=sealing.codec([key])) for name in ("ada", "ben"))
    ada.plan("Sealed heron")
    converge(ada, ben)
    assert [task.title for task in ben.vault.tasks.all()] == ["Sealed heron"]
    assert not [entry for entry in ada.engine.since({}, 1000) if b"heron" in entry.payload]
    ada.codec = sealing.codec([later, key])
    ada.plan("After the rotation")
    converge(ada, ben)
    assert [task.title for task in ben.vault.tasks.all()] == ["Sealed heron"]
    assert "key that this machine does not have" in str(ben.replica.problems())
    ben.codec = sealing.codec([later, key])
    converge(ada, ben)
    assert ada.export() == ben.export()
    assert ben.replica.problems() == {}


def test_a_team_is_set_up_once(connect: Callable[[str], Engine]) -> None:
    """J1."""
    engine = connect("ada")
    if isinstance(engine, GitEngine):
        assert engine.facts() is None
        engine.found(Facts(team_id="herons"))
    engine.update_key_check("checked")
    facts = engine.facts()
    assert facts is not None
    assert facts.key_check == "checked"
    engine.close()
