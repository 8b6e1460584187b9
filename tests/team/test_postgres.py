"""Machines that share a project through a real PostgreSQL."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from protocol.errors import TeamFailedError
from protocol.projects import ProjectParams
from sidecar.storage.team import postgres
from sidecar.storage.team.postgres import PostgresEngine
from sidecar.storage.team.replica import CONFIRMATIONS, MEMBERS
from sidecar.upkeep import team
from tests.team.machines import PROJECT, Machine, converge, found
from tests.team.servers import Proxy, Server, pooling

pytestmark = pytest.mark.slow
Make = Callable[..., Machine]


@pytest.fixture
def address(server: Server) -> str:
    return found(server.address)


@pytest.fixture
def make(tmp_path: Path, address: str) -> Iterator[Make]:
    made: list[Machine] = []

    def machine(name: str, place: str = address, **chosen: Any) -> Machine:
        made.append(Machine(tmp_path / name, lambda: PostgresEngine(place, PROJECT), **chosen))
        return made[-1]

    yield machine
    for each in made:
        each.close()


def test_a_team_sees_only_its_own_rows(server: Server, make: Make) -> None:
    """J4."""
    ada = make("ada")
    ada.remember("Only for us")
    ada.sync()
    other = found(server.address)
    with psycopg.connect(other, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM threadline.entries").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO threadline.heads (team, project, writer, sequence) VALUES ('x', 'p', 'w', 1)"
            )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM threadline.entries")
    assert make("ben", other).sync()[0] == 0


def test_a_pooler_in_transaction_mode_is_enough(server: Server, address: str, make: Make) -> None:
    """Part of J5."""
    settings = psycopg.conninfo.conninfo_to_dict(address)
    with pooling(server, str(settings["user"]), str(settings["password"])) as pooled:
        ada, ben = make("ada", pooled), make("ben", pooled)
        for number in range(20):
            ada.plan(f"Task {number}")
        converge(ada, ben)
        assert ada.export() == ben.export()
        ada.close()
        ben.close()


def test_news_are_told_at_once_where_the_server_can(make: Make) -> None:
    """J3."""
    ada, ben = make("ada"), make("ben")
    converge(ada, ben)
    assert not ben.engine.notified(0.01)
    ada.send("hello")
    ada.sync()
    assert ben.engine.notified(2)
    ben.sync()
    assert [message.content for message in ben.vault.messages.all()] == ["hello"]


def test_what_is_written_offline_is_sent_once_the_server_is_back(
    server: Server, make: Make
) -> None:
    """J2."""
    ada, ben = make("ada"), make("ben")
    converge(ada, ben)
    server.stop("immediate")
    try:
        task = ada.plan("While it was down")
        with pytest.raises(TeamFailedError):
            ada.sync()
        assert ada.replica.waiting() == 1
    finally:
        server.start()
    # Its connection is dead, which it learns when it uses it; the next one works.
    with pytest.raises(TeamFailedError):
        ben.sync()
    converge(ada, ben)
    assert ben.vault.tasks.get(task.task_id) == ada.vault.tasks.get(task.task_id)
    assert ada.replica.waiting() == 0


def test_a_malicious_entry_is_refused_reported_once_and_stops_nobody_else(
    make: Make, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    """J2."""
    ada, ben, cy = make("ada"), make("ben"), make("cy")
    converge(ada, ben, cy)
    ada.plan("Forged on the way")
    ada.sync()
    ben.plan("Honest")
    ben.sync()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "UPDATE threadline.entries SET payload = 'evil' WHERE writer = %s AND sequence = %s",
            (ada.replica.me().writer, ada.replica.me().sent),
        )
    for _ in range(3):
        cy.sync()
    assert [task.title for task in cy.vault.tasks.all()] == ["Honest"]
    assert len([record for record in caplog.records if "refused" in record.message]) == 1
    (problem,) = cy.replica.problems().values()
    assert "hash" in problem


def test_every_query_is_an_index_scan_at_a_hundred_thousand_entries(address: str) -> None:
    """Part of J5."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO threadline.entries SELECT current_user::text, %s, 'w' || n %% 50, n / 50 + 1, 'c', '', '', ''"
            " FROM generate_series(1, 100000) AS n",
            (PROJECT,),
        )
        connection.execute(
            "INSERT INTO threadline.heads SELECT current_user::text, 'p' || n, 'w', 1 FROM generate_series(1, 5000) AS n"
        )
    role = psycopg.conninfo.conninfo_to_dict(address)["user"]
    with psycopg.connect(address, autocommit=True) as connection:
        for query, values in (
            (postgres.HEADS, (role, "p7")),
            (postgres.SINCE, (role, PROJECT, "w7", 1990, 1000)),
            (postgres._WITHDRAW, (role, PROJECT, "w7", [3, 4])),
        ):
            plan = str(connection.execute("EXPLAIN " + query, values).fetchall())
            assert "Index Scan" in plan or "Bitmap Index Scan" in plan, plan
            assert "Seq Scan" not in plan


def test_a_client_works_on_while_a_newer_one_adds_to_the_tables(server: Server, make: Make) -> None:
    """Part of J5."""
    ada, ben = make("ada"), make("ben")
    ada.plan("Before")
    converge(ada, ben)
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute(
            "ALTER TABLE threadline.entries ADD COLUMN later text NOT NULL DEFAULT ''"
        )
    try:
        ada.plan("After")
        converge(ada, ben)
        assert ada.export() == ben.export()
    finally:
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute("ALTER TABLE threadline.entries DROP COLUMN later")


def test_connections_that_break_anywhere_lose_and_double_nothing(
    server: Server, address: str, make: Make
) -> None:
    """J2."""
    proxy = Proxy(server.port)
    ada = make("ada", address.replace(f":{server.port}/", f":{proxy.port}/"))
    ben = make("ben")
    for number in range(10):
        ada.plan(f"Task {number}")
    broken = 0
    for allowed in range(1500, 40_000, 1500):
        proxy.left = allowed
        try:
            ada.sync()
        except TeamFailedError:
            broken += 1
        ada.engine.close()
    assert broken > 2
    converge(ben)
    assert len(ben.vault.tasks) == 10
    proxy.left = 1_000_000
    converge(ada, ben)
    assert ada.export() == ben.export()
    assert ben.engine.heads()[ada.replica.me().writer] == 11
    proxy.close()


def test_a_server_that_falls_silent_is_hung_up_on(
    address: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J2: a stopped server keeps nobody waiting, and nothing is lost by it."""
    monkeypatch.setattr(postgres, "_SILENCE", 1.0)
    ada = make("ada", address)
    ada.sync()
    ada.plan("Wait for nobody")
    engine = ada.engine
    assert isinstance(engine, PostgresEngine)
    connection = engine._connection
    assert connection is not None
    backend = connection.info.backend_pid
    os.kill(backend, signal.SIGSTOP)
    try:
        with pytest.raises(TeamFailedError):
            ada.sync()
    finally:
        os.kill(backend, signal.SIGCONT)
    ben = make("ben", address)
    converge(ada, ben)
    assert len(ben.vault.tasks) == 1


def test_nonsense_in_the_logs_own_records_stops_nobody(make: Make) -> None:
    """Part of J3: any member can write into the record that says who takes part."""
    ada, ben = make("ada"), make("ben")
    converge(ada, ben)
    mine = ada.replica.me().writer
    with ben.vault.transaction():
        ben.replica.tell(MEMBERS, mine, {"seenAt": 7, "heads": "many", "person": None})
        ben.replica.tell(CONFIRMATIONS, "x", {"writer": []})
        ben.replica.tell(MEMBERS, "nobody", {"machine": "x"})
    converge(ben, ada)
    told = team.status(ada.vault, ProjectParams())
    assert {member.machine for member in told.members} == {"ada", "ben"}
    assert told.problems == ()
