"""The documents point at what is there."""

import re

import pytest

from tests.support import ROOT

IGNORED = {"__pycache__"}


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
