"""The skills that plugins carry are well-formed, and name only tools, types and commands that exist."""

import re
from pathlib import Path
from typing import get_args

import pytest

from protocol.memories import MemoryType
from sidecar.transports.cli import parser
from sidecar.transports.mcp.tools import TOOLS
from tests.support import ROOT

SKILLS = sorted((ROOT / "editors" / "skills").glob("*/SKILL.md"))
_ARGUMENTS = {"filesAtHand", "sessionSummary", "doneWhen", "handoff", "memory"}
_TOKENS = 5_000


def test_there_are_the_four_skills() -> None:
    assert [path.parent.name for path in SKILLS] == ["handoff", "recall", "remember", "why"]


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.parent.name)
def test_a_skill_has_the_form_that_hosts_read(path: Path) -> None:
    """Part of C15."""
    _, front, body = path.read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields["name"] == path.parent.name
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,63}", fields["name"])
    assert 1 <= len(fields["description"]) <= 1024
    assert fields.keys() <= {"name", "description", "license", "compatibility", "metadata"}
    # A plain scalar of YAML ends at a colon followed by a space.
    assert all(": " not in value for value in fields.values())
    assert len(body.splitlines()) < 500
    assert len(body) / 4 < _TOKENS


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.parent.name)
def test_a_skill_names_only_what_exists(path: Path) -> None:
    """Part of C15."""
    quoted = re.findall(r"`([^`\n]+)`", path.read_text())
    words = {word for word in quoted if re.fullmatch(r"\w+", word)} - {"threadline"}
    assert words <= {tool.name for tool in TOOLS} | set(get_args(MemoryType)) | _ARGUMENTS
    commands = [word.split()[1:] for word in quoted if word.startswith("threadline ")]
    for command in commands:
        assert parser.build().parse_args([command[0], "x"]).command == command[0]
