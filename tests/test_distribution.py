"""What is given to others: the pins of what runs, and the extension in every editor of a machine."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from protocol.settings import Settings
from sidecar.projects.rules import settings
from tests.support import NOON, ROOT, Repository
from tools import pin

pytestmark = pytest.mark.slow

SCRIPT = ROOT / "editors" / "install.sh"


def add_editor(folder: Path, name: str, ending: str = "exit 0") -> None:
    """Put a program on the PATH that writes down how it was called."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    calls = folder / f"{name}.calls"
    program.write_text(f"#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$@\" >> '{calls}'\n{ending}\n")
    program.chmod(0o755)


def install(folder: Path, applications: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), "/usr/bin", "/bin"])
    return subprocess.run(
        [str(SCRIPT), "my extension.vsix"],
        env={"PATH": path, "APPLICATIONS": str(applications)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_extension_is_installed_into_every_editor_that_is_there(tmp_path: Path) -> None:
    """Part of G1."""
    names = (
        "code",
        "code-insiders",
        "codium",
        "cursor",
        "windsurf",
        "devin-desktop",
        "antigravity",
        "kiro",
    )
    for name in names:
        add_editor(tmp_path / "bin", name)
    done = install(tmp_path / "bin", tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(names)
    for name in names:
        calls = (tmp_path / "bin" / f"{name}.calls").read_text()
        assert calls == "--install-extension\nmy extension.vsix\n--force\n"


def test_one_editor_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    add_editor(tmp_path / "bin", "code", "echo no room left >&2; exit 3")
    add_editor(tmp_path / "bin", "kiro")
    done = install(tmp_path / "bin", tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"VS Code: not installed; {tmp_path}/bin/code said:",
        "    no room left",
        "Kiro: installed",
    ]


def test_a_machine_without_editors_is_told_so(tmp_path: Path) -> None:
    done = install(tmp_path / "bin", tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("no editor was found on this machine")


def test_an_application_on_a_mac_is_found_without_the_path(tmp_path: Path) -> None:
    inside = tmp_path / "Cursor.app" / "Contents" / "Resources" / "app" / "bin"
    add_editor(inside, "cursor")
    assert install(tmp_path / "bin", tmp_path).stdout == "Cursor: installed\n"


def test_what_runs_is_pinned_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of G1."""
    monkeypatch.setattr("sys.argv", ["pin.py", str(tmp_path / "pins")])
    pin.main()
    pins = (tmp_path / "pins").read_text().splitlines()
    names = {pin.normalise(line.partition("==")[0]) for line in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {pin.normalise(re.split(r"[<>=]", line)[0]) for line in project["dependencies"]}
    assert needed <= names
    # Needed by what we need, one of them as an extra of it.
    assert {"anyio", "h11", "cryptography"} <= names
    assert not {"pytest", "ruff", "mypy", "numpy", "hypothesis"} & names
    assert all("==" in line for line in pins)


def test_the_sidecar_knows_every_setting_that_the_extension_offers() -> None:
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    offered = manifest["contributes"]["configuration"]["properties"]
    values = {name: setting["default"] for name, setting in offered.items()}
    assert settings.read(values, Settings()) == (Settings(), [])


@pytest.mark.parametrize(
    ("schema", "folder"),
    [("vendor.github-workflows", "workflows"), ("vendor.github-issue-forms", "ISSUE_TEMPLATE")],
)
def test_workflows_and_issue_forms_are_valid(schema: str, folder: str) -> None:
    """K2."""
    files = sorted(str(path) for path in (ROOT / ".github" / folder).glob("*.yml"))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert files
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run_shows_what_was_found_in_eighty_columns(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of K1: the main job on any repository, up to the dashboard."""
    (repository.path / "client.py").write_text(
        "# We do not retry here on purpose, because the billing service charges twice for it.\nRETRIES = 0\n"
    )
    repository.git("add", "-A")
    repository.commit("client: Do not retry", at=NOON)
    done = subprocess.run(
        ["make", "--silent", "--assume-old=.venv/.ready", "run", f"REPOSITORY={repository.path}"],
        cwd=ROOT,
        env={**os.environ, "THREADLINE_HOME": str(tmp_path / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found, _, told = done.stdout.partition("What an assistant that starts here would be told")
    assert "billing service charges twice" in " ".join(found.split())
    assert "<!-- threadline:memory -->" in told
    lines = [line for line in done.stdout.splitlines() if "http://" not in line and "/" not in line]
    assert max(map(len, lines)) <= 80
