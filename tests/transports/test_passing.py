"""Commands that only look leave nothing behind in a folder that was never used."""

import json
import os
import shutil
from pathlib import Path

import pytest

from sidecar.transports.exits import Exit
from tests.support import NOON, Repository, threadline

pytestmark = pytest.mark.slow

LOOKS = (
    *(["agents"], ["checkpoints"], ["context"], ["doctor"], ["documents"], ["graph"], ["inbox"]),
    *(["jobs"], ["memories"], ["receipts"], ["rules"], ["search", "ports"], ["sessions"]),
    *(["stats"], ["status"], ["tasks"], ["verify"], ["worth-knowing"], ["why", "a.py:1"]),
)


@pytest.fixture
def unused(repository: Repository) -> Repository:
    (repository.path / "a.py").write_text("PORT = 8080\n")
    repository.git("add", "-A")
    repository.commit("begin", at=NOON)
    return repository


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("words", LOOKS, ids=lambda words: words[0])
def test_a_look_makes_no_home(unused: Repository, tmp_path: Path, words: list[str]) -> None:
    home = tmp_path / "never" / "made"
    done = threadline(*words, cwd=unused.path, THREADLINE_HOME=str(home))
    assert done.returncode in {Exit.OK, Exit.FAILED}, done.stderr  # `doctor` may find a problem
    assert b"threadline-" not in done.stdout  # no passing folder is named
    assert not home.parent.exists()


@pytest.mark.parametrize("words", [["status"], ["search", "x"], ["why", "a.py:1"]], ids=str)
def test_a_look_makes_no_project(unused: Repository, tmp_path: Path, words: list[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    threadline("remember", "Ports are even", cwd=other)
    home = Path(os.environ["THREADLINE_HOME"])
    before = {path for path in everything(home) if path.startswith("projects")}
    assert threadline(*words, cwd=unused.path).returncode == Exit.OK
    assert {path for path in everything(home) if path.startswith("projects")} == before


def test_a_look_at_a_copy_shows_no_id_of_the_original(unused: Repository, tmp_path: Path) -> None:
    """Part of A8."""
    threadline("remember", "Ports are even", cwd=unused.path)
    copy = tmp_path / "copy"
    shutil.copytree(unused.path, copy)
    ids = [
        json.loads(threadline("status", "--json", cwd=folder).stdout)["projectId"]
        for folder in (unused.path, copy)
    ]
    assert len({*ids}) == 2


def test_all_projects_are_searched_from_anywhere(unused: Repository, tmp_path: Path) -> None:
    """Part of D17."""
    other = tmp_path / "other"
    other.mkdir()
    threadline("remember", "Ports are even", cwd=other)
    found = threadline("search", "ports", "--all-projects", cwd=unused.path)
    assert b"Ports are even" in found.stdout


def test_what_is_known_is_shown_from_the_real_home(unused: Repository) -> None:
    threadline("remember", "Ports are even", cwd=unused.path)
    status = json.loads(threadline("status", "--json", cwd=unused.path).stdout)
    assert status["memories"] == 1
    assert status["folder"].startswith(os.environ["THREADLINE_HOME"])
    inside = unused.path / "deep"
    inside.mkdir()
    assert b"Ports are even" in threadline("search", "ports", cwd=inside).stdout
    named = threadline("search", "ports", "--project", status["projectId"], cwd=Path("/"))
    assert b"Ports are even" in named.stdout


def test_a_home_that_cannot_be_made_is_named(unused: Repository) -> None:
    done = threadline("status", cwd=unused.path, THREADLINE_HOME=str(unused.path / "a.py" / "home"))
    assert done.returncode != Exit.OK
    assert b"a.py" in done.stderr
