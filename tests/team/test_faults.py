"""What goes wrong between machines: kills, two processes, lost tables, cut and rewritten logs, many machines."""

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from protocol.errors import ConflictError
from protocol.teams import InitTeamParams, JoinTeamParams
from sidecar.code.team_remote import GitEngine
from sidecar.storage.database import Database
from sidecar.storage.team import entries, merge, sync
from sidecar.storage.team.entries import Change, Entry, Head
from sidecar.storage.team.merge import Value
from sidecar.storage.team.postgres import PostgresEngine
from sidecar.storage.team.replica import read_team, write_team
from sidecar.upkeep import team
from tests.support import FixedClock, Repository
from tests.team.machines import PROJECT, Machine, converge, found
from tests.team.servers import Server

pytestmark = pytest.mark.slow


@pytest.fixture
def address(server: Server) -> str:
    return found(server.address)


def machine(folder: Path, address: str) -> Machine:
    return Machine(folder, lambda: PostgresEngine(address, PROJECT))


def dying(number: int, work: Callable[[], object]) -> bool:
    """Do work in a process that dies at its n-th write; True where it came to its end."""
    child = os.fork()
    if child == 0:
        left = [number]

        def wrap(method: str) -> None:
            original = getattr(Database, method)

            def write(self: Database, *given: object) -> object:
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)
                return original(self, *given)

            setattr(Database, method, write)

        try:
            for name in ("execute", "execute_all", "_commit"):
                wrap(name)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, 9}
    return code == 0


def test_a_machine_killed_at_any_write_of_push_and_pull_loses_and_doubles_nothing(
    tmp_path: Path, address: str
) -> None:
    """J2."""
    ada = machine(tmp_path / "ada", address)
    task = ada.plan("From Ada")
    ada.remember("Decided")
    ada.sync()
    ada.close()
    ben = machine(tmp_path / "ben", address)
    ben.plan("From Ben")
    ben.close()
    number = 0
    while not dying(number, lambda: machine(tmp_path / "ben", address).sync()):
        number += 1
    assert number > 15
    ada, ben = machine(tmp_path / "ada", address), machine(tmp_path / "ben", address)
    converge(ada, ben)
    assert ada.export() == ben.export()
    assert ada.shown() == ben.shown()
    assert sorted(each.title for each in ben.vault.tasks.all()) == ["From Ada", "From Ben"]
    assert task.task_id in ben.vault.tasks
    # One entry for the member and one for the task: what was sent again is the same entry.
    assert ben.engine.heads()[ben.replica.me().writer] == 2
    ada.close()
    ben.close()


def test_two_processes_of_one_machine_send_everything_once(tmp_path: Path, address: str) -> None:
    """J2."""
    ada, ben = machine(tmp_path / "ada", address), machine(tmp_path / "ben", address)
    for number in range(30):
        ada.plan(f"Task {number}")
    ada.close()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                machine(tmp_path / "ada", address).sync()
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    ada = machine(tmp_path / "ada", address)
    converge(ada, ben)
    assert len(ben.vault.tasks) == 30
    assert ada.export() == ben.export()
    assert ada.engine.heads()[ada.replica.me().writer] == 31
    ada.close()
    ben.close()


def test_a_vault_whose_tables_are_lost_takes_part_again_under_a_new_name(
    tmp_path: Path, address: str
) -> None:
    """J2."""
    ada, ben = machine(tmp_path / "ada", address), machine(tmp_path / "ben", address)
    task = ada.plan("Old title")
    converge(ada, ben)
    ada.vault.snapshot()
    ben.edit(task.task_id, title="New title")
    converge(ben, ada)
    writer = ada.replica.me().writer
    ada.vault.recover("asked for")
    assert not ada.replica.is_made
    ada.plan("After the recovery")
    converge(ada, ben)
    assert ada.replica.me().writer != writer
    kept = ben.vault.tasks.get(task.task_id)
    assert kept is not None
    assert kept.title == "New title"
    assert ada.export() == ben.export()
    assert ada.shown() == ben.shown()
    ada.close()
    ben.close()


def test_a_message_arrives_within_two_seconds_where_the_engine_notifies(
    tmp_path: Path, address: str
) -> None:
    """J3."""
    stop = threading.Event()
    ada, ben = machine(tmp_path / "ada", address), machine(tmp_path / "ben", address)
    for each in (ada, ben):
        kept = read_team(each.vault.folder)
        assert kept is not None
        write_team(each.vault.folder, msgspec.structs.replace(kept, address=address))
    threads = [
        threading.Thread(target=team.keep_in_touch, args=(each.vault, stop)) for each in (ada, ben)
    ]
    for thread in threads:
        thread.start()
    try:
        wait(lambda: len(ben.replica.documents("members")) == 2, 20)
        sent = time.monotonic()
        ada.send("hello")
        wait(lambda: len(ben.vault.messages) == 1, 20)
        assert time.monotonic() - sent < 2
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
    ada.close()
    ben.close()


def wait(is_so: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        threading.Event().wait(0.02)


def test_a_rewritten_or_cut_git_log_is_reported_and_stops_only_that_log(tmp_path: Path) -> None:
    """Part of J5."""
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)

    def join(name: str) -> Machine:
        place = tmp_path / f"{name}.git"
        return Machine(tmp_path / name, lambda: GitEngine(place, str(remote), PROJECT))

    ada, ben, cy = join("ada"), join("ben"), join("cy")
    ada.plan("Kept")
    converge(ada, ben, cy)
    ref = f"refs/threadline/{PROJECT}/{ada.replica.me().writer}"
    other = f"refs/threadline/{PROJECT}/{cy.replica.me().writer}"
    subprocess.run(["git", "-C", str(remote), "update-ref", ref, other], check=True)
    cy.plan("Honest")
    cy.sync()
    ben.sync()
    assert list(ben.replica.problems()) == [ada.replica.me().writer]
    assert {task.title for task in ben.vault.tasks.all()} == {"Kept", "Honest"}
    # Its owner still has its own log, and puts it back.
    subprocess.run(["git", "-C", str(remote), "update-ref", "-d", ref], check=True)
    ada.plan("After the accident")
    converge(ada, ben, cy)
    assert ben.replica.problems() == {}
    assert ada.export() == ben.export() == cy.export()
    for each in (ada, ben, cy):
        each.close()


def test_the_remote_of_the_code_is_used_only_if_that_is_meant(
    tmp_path: Path, repository: Repository
) -> None:
    """J1."""
    remote = tmp_path / "code.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    repository.git("remote", "add", "origin", str(remote))
    ada = Machine(tmp_path / "ada", lambda: GitEngine(tmp_path / "x.git", str(remote), PROJECT))
    own = ada.replica
    (ada.vault.folder / "team.json").unlink()
    own.drop()
    given = InitTeamParams(address=str(remote))
    with pytest.raises(ConflictError, match="--yes"):
        team.init(ada.vault, given, repository.path)
    begun = team.init(
        ada.vault, InitTeamParams(address=str(remote), allow_origin=True), repository.path
    )
    with pytest.raises(ConflictError, match="already"):
        team.join(ada.vault, JoinTeamParams(address=begun.address), repository.path)
    ada.close()


def test_two_hundred_machines_with_fifty_thousand_entries_converge(
    tmp_path: Path, address: str
) -> None:
    """Part of J5."""
    chance = random.Random(7)
    engine = PostgresEngine(address, PROJECT)
    records: dict[tuple[str, str], dict[str, list[Value]]] = {}
    told: list[tuple[Entry, Change]] = []
    for number in range(200):
        log, head = [], Head()
        for _ in range(250):
            change = Change(
                collection="future-kind",
                id=f"r{chance.randrange(5000)}",
                fields={chance.choice(("title", "status", "notes")): chance.randrange(100)},
            )
            payload = entries.encode(change)
            clock = entries.tick(head.clock or "0" * 13 + "-000000", FixedClock()())
            entry = Entry(
                project=PROJECT,
                writer=f"w{number:03}",
                sequence=head.sequence + 1,
                clock=clock,
                previous=head.hash,
                digest=entries.hashed(payload),
                payload=payload,
            )
            head = entries.head_of(entry)
            log.append(entry)
            told.append((entry, change))
        engine.append(log)
    engine.close()
    chance.shuffle(told)
    for entry, change in told:
        key = (change.collection, change.id)
        before = [value for kept in records.get(key, {}).values() for value in kept]
        records[key] = merge.settle([*before, *merge.values_of(entry, change)])
    ada = machine(tmp_path / "ada", address)
    assert sync.pull(ada.vault, ada.replica, ada.engine) == 50_000
    heard = {key: kept for key, kept in ada.replica.records().items() if key[0] == "future-kind"}
    assert merge.export(heard) == merge.export(records)
    ada.close()
    shutil.rmtree(tmp_path / "ada")
