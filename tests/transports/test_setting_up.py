"""`threadline init` and `threadline leave`, as a person runs them: everything in one go, and back."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.transports.exits import Exit
from tests.support import NOON, Repository, threadline

pytestmark = pytest.mark.slow


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A user who has Claude Code and Cursor, with settings of their own."""
    home = tmp_path / "user"
    (home / ".cursor").mkdir(parents=True)
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "opus" // mine\n}\n')
    return home


@pytest.fixture
def worked(repository: Repository) -> Repository:
    (repository.path / "client.py").write_text(
        "# We do not retry here on purpose, because the billing service charges twice.\nRETRIES = 0\n"
    )
    repository.git("add", "-A")
    repository.commit("client: Do not retry", at=NOON)
    return repository


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_all_of_it_is_set_up_and_undone(user: Path, worked: Repository) -> None:
    """Part of K1."""
    before = tree(user), tree(worked.path)
    begun = threadline("init", "--yes", "--json", cwd=worked.path, HOME=str(user))
    assert begun.returncode == Exit.OK, begun.stderr
    assert json.loads(begun.stdout) == {
        "done": ["history", "memory", "assistants", "rules: agents", "rules: cursor"],
        "declined": [],
        "failed": [],
    }
    assert b"1 commit (everyone's): 1 imported" in begun.stderr
    assert b"hook claude-code" in (user / ".claude" / "settings.json").read_bytes()
    assert (worked.path / "AGENTS.md").exists()
    again = threadline("init", "--yes", cwd=worked.path, HOME=str(user))
    assert b"0 imported" in again.stderr
    left = threadline("leave", "--yes", cwd=worked.path, HOME=str(user))
    assert left.returncode == Exit.OK, left.stderr
    home = os.environ["THREADLINE_HOME"]
    assert f"what was recorded stays in {home}".encode() in left.stderr
    assert b"threadline purge --everything" in left.stderr
    assert (tree(user), tree(worked.path)) == before
    status = json.loads(threadline("status", "--json", cwd=worked.path, HOME=str(user)).stdout)
    assert status["events"] == 1


def test_without_a_terminal_nothing_is_done_unasked(user: Path, worked: Repository) -> None:
    refused = threadline("init", cwd=worked.path, HOME=str(user))
    assert refused.returncode == Exit.USAGE
    assert b"--yes agrees to all of them" in refused.stderr


def test_each_step_is_asked_for(user: Path, worked: Repository) -> None:
    before = tree(user), tree(worked.path)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sidecar.transports.entry", "init"],
        cwd=worked.path,
        env={**os.environ, "HOME": str(user)},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.write(ours, b"y\nn\nn\nn\nn\n")
    _, errors = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == Exit.OK
    assert errors.count(b"[y/N]") == 5
    assert b"1 imported" in errors
    assert (tree(user), tree(worked.path)) == before


def test_leaving_one_project_unasked_unplugs_no_other(
    user: Path, worked: Repository, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    other.commit("begin", at=NOON)
    for folder in (worked.path, other.path):
        threadline("init", "--yes", cwd=folder, HOME=str(user))
    left = threadline("leave", "--yes", cwd=worked.path, HOME=str(user))
    assert b"assistants stay connected for your other projects" in left.stderr
    assert b"hook claude-code" in (user / ".claude" / "settings.json").read_bytes()
    assert not (worked.path / "AGENTS.md").exists()


def test_leaving_where_nothing_was_set_up_says_so(user: Path, worked: Repository) -> None:
    left = threadline("leave", "--yes", cwd=worked.path, HOME=str(user))
    assert left.returncode == Exit.OK
    assert b"nothing was changed" in left.stderr
