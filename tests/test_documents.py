"""The documents point at what is there, and name commands that exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.transports.cli import parser
from tests.support import ROOT
from tools import reference

IGNORED = {"__pycache__"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "llms.txt")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def mentioned(document: str) -> set[str]:
    """Collect what a document names as a path of the project."""
    text = (ROOT / document).read_text()
    quoted = re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:toml|txt))`", text)
    linked = re.findall(r"\]\(([\w./-]+)\)", text)
    return {path.rstrip("/") for path in [*quoted, *linked]}


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md", "SECURITY.md"])
def test_every_path_a_document_names_exists(document: str) -> None:
    paths = mentioned(document)
    assert paths
    missing = [path for path in sorted(paths) if not _exists(path)]
    assert missing == []


def _exists(path: str) -> bool:
    return path.startswith("threadline/") or (ROOT / path).exists()


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = [
        path.relative_to(ROOT).as_posix()
        for top in ("sidecar", "protocol", "tests", "benchmarks", "tools")
        for path in (ROOT / top, *(ROOT / top).iterdir())
        if path.is_dir() and path.name not in IGNORED
    ]
    assert [room for room in rooms if f"`{room}/`" not in text] == []
    assert len(text.splitlines()) < 330


def test_no_committed_file_names_a_registry() -> None:
    for name in ("constraints.txt", "pyproject.toml", "Makefile"):
        assert "://" not in (ROOT / name).read_text()


def test_the_readme_can_be_read_in_four_minutes() -> None:
    """Part of K1."""
    assert len((ROOT / "README.md").read_text().split()) < 900


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_in_a_page_is_one(page: Path) -> None:
    """Part of K1."""
    text = page.read_text()
    shown = re.findall(r"^ {4}(?:\$ )?(threadline .*)$", text, re.MULTILINE)
    quoted = re.findall(r"`(threadline [^`]*)`", text)
    for line in [*shown, *quoted]:
        _, *words = shlex.split(line.replace("\\|", "|").partition(" > ")[0], comments=True)
        if len(words) == 1:
            words.append("--help")
        if "…" not in line:
            _parse(words)


def _parse(words: list[str]) -> None:
    if "--help" not in words:
        parser.build().parse_args(words)
        return
    with pytest.raises(SystemExit, match="0"):
        parser.build().parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_in_a_page_leads_somewhere(page: Path) -> None:
    """Part of K1."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_reference_is_fresh() -> None:
    """Part of K1."""
    kept = {name: (reference.FOLDER / name).read_text() for name in reference.pages()}
    assert kept == reference.pages()


@pytest.mark.slow
def test_the_pages_are_built_without_a_warning(tmp_path: Path) -> None:
    """Part of K1."""
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "docs", str(tmp_path)]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "assistants.html").exists()
