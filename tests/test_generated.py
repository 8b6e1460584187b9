"""The generated files say what the protocol and the table of agents say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from tools import modules

READY = (
    *("agent-plugin", "claude-code", "claude-code-lsp", "codex", "copilot", "cursor", "gemini-cli"),
    *("openclaw", "opencode", "skills", "windsurf"),
)
"""Folders with files that are made from the table of agents."""


def generate(root: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(root / "tools" / "generate.py"), *options],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(root)},
    )


def test_the_committed_files_are_fresh() -> None:
    done = generate(ROOT, "--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "protocol/schema.json",
        "editors/vscode/shared/protocol.generated.ts",
        "editors/claude-code/hooks/hooks.json",
        "server.json",
        "threadline.cdx.json",
    ],
)
@pytest.mark.parametrize("content", [None, "", "// old\n"])
def test_a_stale_or_missing_file_is_noticed(path: str, content: str | None, tmp_path: Path) -> None:
    copy = _copy(tmp_path)
    (copy / path).unlink()
    if content is not None:
        (copy / path).write_text(content)
    done = generate(copy, "--check")
    assert done.returncode == 1
    assert f"{path} is stale" in done.stderr


def test_a_generator_that_crashes_is_noticed(tmp_path: Path) -> None:
    copy = _copy(tmp_path)
    (copy / "protocol" / "broken.py").write_text("raise RuntimeError\n")
    assert generate(copy, "--check").returncode != 0


def _copy(folder: Path) -> Path:
    """Copy what the generator reads and writes."""
    for path in [
        *ROOT.glob("protocol/*"),
        *ROOT.glob("tools/*.py"),
        *(ROOT / name for name in ("pyproject.toml", "constraints.txt", "server.json")),
        ROOT / "threadline.cdx.json",
        ROOT / "editors" / "vscode" / "package.json",
        ROOT / "sidecar" / "__init__.py",
        *ROOT.glob("sidecar/text/*.py"),
        *ROOT.glob("sidecar/hosts/**/*[!c]"),
        *ROOT.glob("editors/vscode/shared/*"),
        *(path for name in READY for path in ROOT.glob(f"editors/{name}/**/*")),
    ]:
        if path.is_file():
            target = folder / "copy" / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder / "copy"


def test_the_list_of_modules_is_fresh() -> None:
    """Run `python tools/modules.py` where this fails."""
    assert modules.PAGE.read_text() == modules.page() + "\n"
