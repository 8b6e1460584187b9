"""Two versions on one machine, each installed from its own wheel, with one vault between them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocol.errors import Code
from protocol.versions import VERSION
from sidecar.storage import vault
from sidecar.transports.exits import Exit
from tests.lsp_client import RawClient
from tests.support import NOON, ROOT, Repository
from tests.test_release import PACKAGES, copy_sources

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / PACKAGES).is_dir(), reason="the extension's packages are missing"
    ),
]
NEXT = "9.9.9"


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def install(sources: Path, version: str) -> Path:
    """Build a wheel and install it, without what it needs; give the folder to put on the path."""
    wheel = f"dist/threadline-{version}-py3-none-any.whl"
    subprocess.run(["make", "--silent", wheel], cwd=sources, check=True, timeout=600)
    target = sources / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", target, wheel], cwd=sources, check=True, timeout=600)
    return target


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """This version, and one that comes later and has changed the store."""
    this, later = tmp_path_factory.mktemp("this"), tmp_path_factory.mktemp("later")
    copy_sources(this)
    copy_sources(later)
    replace(later / "protocol" / "versions.py", f'"{VERSION}"', f'"{NEXT}"')
    store = later / "sidecar" / "storage" / "vault.py"
    replace(store, f"\nVERSION = {vault.VERSION}\n", f"\nVERSION = {vault.VERSION + 1}\n")
    step = f"{vault.VERSION}: lambda database: None"
    replace(
        store,
        "STEPS: dict[int, Callable[[Database], None]] = {",
        f"STEPS: dict[int, Callable[[Database], None]] = {{{step}, ",
    )
    return install(this, VERSION), install(later, NEXT)


def run(program: Path, *words: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from sidecar.transports.entry import main; raise SystemExit(main())",
            *words,
        ],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(program)},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_newer_one_migrates_and_the_older_one_says_what_to_do(
    programs: tuple[Path, Path], repository: Repository
) -> None:
    """Part of H6."""
    old, new = programs
    repository.commit("begin", at=NOON)
    here = repository.path
    assert run(old, "--version", cwd=here).stdout == f"{VERSION}\n"
    assert run(new, "--version", cwd=here).stdout == f"{NEXT}\n"
    assert run(old, "remember", "Ports are even", cwd=here).returncode == Exit.OK
    editor = RawClient(here, root=old)
    editor.initialize(rootUri=here.as_uri())
    assert editor.request(1, "threadline/memories/list", {})["result"]["total"] == 1

    written = run(new, "remember", "Never call billing from tests", cwd=here)
    assert written.returncode == Exit.OK, written.stderr
    listed = json.loads(run(new, "memories", "--json", cwd=here).stdout)
    assert listed["total"] == 2

    # The older command line: one sentence, which program is meant, nothing written.
    for words in (("search", "ports"), ("remember", "lost"), ("status",), ("scan",)):
        refused = run(old, *words, cwd=here)
        assert refused.returncode == Exit.STORE_REFUSED, refused.stderr
        assert f"upgrade this one, which is {VERSION} in {old}" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert json.loads(run(new, "memories", "--json", cwd=here).stdout) == listed

    # The older sidecar of an editor that is still open: it answers with a code and goes on, so nobody restarts it.
    note = {"type": "fact", "title": "lost", "content": "lost"}
    for number in range(2, 5):
        answer = editor.request(number, "threadline/memories/write", note)
        assert answer["error"]["code"] == Code.STORE_REFUSED
    assert editor.process.poll() is None
    editor.close()

    # A hook of the older one keeps what it hears, and the newer one places it.
    heard = {"session_id": "s", "cwd": str(here), "prompt": "Ports must stay even, always."}
    hook = run(old, "hook", "claude-code", "UserPromptSubmit", cwd=here, stdin=json.dumps(heard))
    assert (hook.returncode, hook.stderr) == (0, "")
    assert "Ports must stay even, always." in run(new, "search", "must stay even", cwd=here).stdout
