"""Three machines, each with a home of its own, as people use them: commands, servers, real processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.storage.team import sealing
from tests.support import ROOT, Repository
from tests.team.servers import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
"""Some fifty processes one after the other: minutes where a machine is busy."""


class Person:
    """Somebody with a clone and a home of their own."""

    def __init__(self, folder: Path, origin: Path) -> None:
        self.folder = folder / "code"
        folder.mkdir()
        subprocess.run(["git", "clone", "-q", str(origin), str(self.folder)], check=True)
        self.environment = os.environ | {
            "HOME": str(folder),
            "THREADLINE_HOME": str(folder / "home"),
            "THREADLINE_UPKEEP": "off",
        }

    def run(self, *words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "sidecar.transports.entry", *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def ask(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def call(self, method: str, **params: Any) -> Any:
        return json.loads(self.run("call", f"threadline/{method}", json.dumps(params)))


@pytest.fixture(params=["postgresql", "git"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("server")
        return server.address
    remote = tmp_path / "memory.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    return str(remote)


@pytest.fixture
def people(tmp_path: Path, repository: Repository) -> Callable[[str], Person]:
    repository.commit("Begin")
    return lambda name: Person(tmp_path / name, repository.path)


def test_three_machines_share_what_was_chosen_and_nothing_else(
    people: Callable[[str], Person], place: str
) -> None:
    """J1, J3, J4. Part of J5."""
    ada, ben, cy = (people(name) for name in ("ada", "ben", "cy"))
    ada.run("remember", "--type", "decision", "Use advisory locks, we run no Redis")
    ada.run("remember", "--type", "fact", "Only mine")
    begun = ada.ask("team", "init", place, "--encrypt", "--person", "Ada")
    assert begun["preview"]["counts"] == {"memories": 1}
    ada.run("scan")
    assert [each["teamId"] for each in ada.call("sessions/list")["sessions"]] == [begun["teamId"]]
    assert "team preview" in ada.run("team", "push", code=4)
    assert ada.ask("team", "push", "--yes")["sent"] > 0
    for person in (ben, cy):
        words = ("team", "join", begun["address"], "--set")
        assert "not the team's key" in person.run(*words, sealing.new_key(), code=4)
        assert person.ask("team", "status")["teamId"] == "personal"
        person.run("team", "join", begun["address"], "--set", begun["key"], "--yes")
    ada.run("tasks", "add", "Ship it")
    ada.run("send", "cursor", "hello")
    (ada.folder / "notes.md").write_text("Be brief")
    ada.run("documents", "edit", "instructions", "notes.md")
    for person in (ada, ben, cy):
        person.run("team", "push", "--yes")
    (found,) = ben.call("memories/list")["memories"]
    assert found["title"].startswith("Use advisory locks")
    assert found["teamId"] == begun["teamId"]
    (task,) = ben.ask("tasks")["tasks"]
    ben.call("tasks/update", taskId=task["taskId"], title="Ship it today", note="from Ben")
    cy.call("tasks/update", taskId=task["taskId"], status="in_progress", note="from Cy")
    for person in (ben, cy, ada, ben, cy):
        person.run("team", "push")
    (merged,) = ada.ask("tasks")["tasks"]
    assert (merged["title"], merged["status"]) == ("Ship it today", "in_progress")
    assert {note["text"] for note in merged["notes"]} == {"from Ben", "from Cy"}
    assert ada.run("team", "export") == ben.run("team", "export") == cy.run("team", "export")
    (message,) = cy.call("messages/read", agentId="cursor")["messages"]
    assert message["content"] == "hello"
    ada.run("forget", found["memoryId"])
    for person in (ada, ben, cy, ada):
        person.run("team", "push")
    status = ada.ask("team", "status")
    assert {member["person"] for member in status["members"]} >= {"Ada"}
    (erasure,) = status["erasures"]
    assert len(erasure["confirmed"]) == 3
    assert erasure["missing"] == []
    assert "advisory" not in ben.run("search", "advisory locks")
    assert "Ada" in ben.run("team", "history", task["taskId"])
    assert ben.ask("team", "leave")["teamId"] == begun["teamId"]
    assert ben.ask("team", "status")["teamId"] == "personal"
    (left,) = ben.ask("tasks")["tasks"]
    assert left["teamId"] == "personal"
