"""A real Neovim, headless: it attaches, saves, commits, and asks a request of ours."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import NOON, ROOT, Repository, threadline

pytestmark = pytest.mark.slow

NVIM = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

SCRIPT = Path(__file__).with_name("neovim.lua")
INSIGHT = Path(__file__).with_name("insight.lua")
DECISION = "Use advisory locks instead of Redis because we run no Redis in production"


def drive(script: Path, file: Path, tmp_path: Path) -> dict[str, Any]:
    """Let a Neovim edit a file as a script says; give what it saw, by name."""
    serve = [sys.executable, "-c", "from sidecar.transports.entry import main; main()", "serve"]
    done = subprocess.run(
        [NVIM or "", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}"],
        cwd=file.parent,
        env=dict(os.environ)
        | {
            "PYTHONPATH": str(ROOT),
            "SERVE": json.dumps(serve),
            "PLUGIN": str(ROOT / "editors" / "neovim"),
            "FILE": str(file),
            "SEEN": str(tmp_path / "seen"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
        },
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "seen").read_text().splitlines()
    seen = {line["name"]: line["value"] for line in map(json.loads, lines)}
    assert "failed" not in seen, seen
    return seen


@pytest.mark.skipif(NVIM is None, reason="no nvim here")
def test_neovim_attaches_saves_commits_and_asks(repository: Repository, tmp_path: Path) -> None:
    """G7."""
    repository.commit("before", name="hello.py")
    seen = drive(SCRIPT, repository.path / "hello.py", tmp_path)
    assert (seen["attached"], seen["told of the save"], seen["told of the commit"]) == (
        True,
        True,
        True,
    )
    (saved,) = seen["after the save"]["sessions"]
    assert (saved["source"], saved["messageCount"]) == ("neovim", 1)
    (committed,) = seen["after the commit"]["sessions"]
    assert committed["messageCount"] == 2
    assert committed["headCommitSha"] == repository.git("rev-parse", "HEAD")
    assert seen["said"][-1] == "Threadline: repository: 2 events in 1 sessions, capture paused"


@pytest.mark.skipif(NVIM is None, reason="no nvim here")
def test_neovim_shows_hovers_and_lenses_with_its_own_means(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of D13."""
    repository.write("hello.py", "x = 1\n")
    repository.commit(DECISION, at=NOON, name="other.py")
    assert threadline("scan", cwd=repository.path).returncode == 0
    assert threadline("enrich", "--all", cwd=repository.path).returncode == 0
    threadline("review", "--all-of", "decision", "--accept", cwd=repository.path)
    seen = drive(INSIGHT, repository.path / "hello.py", tmp_path)
    assert seen["hover"][0].startswith("- **Use advisory locks instead of Redis**")
    assert any(line.startswith("commit ") for line in seen["hover"])
    (lens,) = seen["lenses"]
    assert lens["command"]["command"] == "threadline.showFile"
    assert lens["command"]["title"] in seen["shown"]
    assert seen["message"].startswith(f"hello.py: {lens['command']['title']}")
