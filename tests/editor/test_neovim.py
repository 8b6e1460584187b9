"""A real Neovim, headless: it attaches, saves, commits, and asks a request of ours."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, Repository

pytestmark = pytest.mark.slow

NVIM = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

SCRIPT = Path(__file__).with_name("neovim.lua")


@pytest.mark.skipif(NVIM is None, reason="no nvim here")
def test_neovim_attaches_saves_commits_and_asks(repository: Repository, tmp_path: Path) -> None:
    """G7."""
    repository.commit("before", name="hello.py")
    serve = [sys.executable, "-c", "from sidecar.transports.entry import main; main()", "serve"]
    done = subprocess.run(
        [NVIM or "", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {SCRIPT}"],
        cwd=repository.path,
        env=dict(os.environ)
        | {
            "PYTHONPATH": str(ROOT),
            "SERVE": json.dumps(serve),
            "PLUGIN": str(ROOT / "editors" / "neovim"),
            "FILE": str(repository.path / "hello.py"),
            "SEEN": str(tmp_path / "seen"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
        },
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "seen").read_text().splitlines()
    seen: dict[str, Any] = {line["name"]: line["value"] for line in map(json.loads, lines)}
    assert "failed" not in seen, seen
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
