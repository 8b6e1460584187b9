"""`threadline import` as a user runs it: other tools' conversations, and exports, told apart without asking."""

import json
from pathlib import Path

import pytest

from sidecar.transports.exits import Exit
from tests.support import Repository, threadline

pytestmark = pytest.mark.slow

SAID = "The parser must never keep a file open, because Windows cannot delete it then."


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be somebody with one past conversation about this repository."""
    repository.commit("feat: begin")
    line = {
        "type": "user",
        "uuid": "a",
        "timestamp": "2026-03-04T10:00:00.000Z",
        "cwd": str(repository.path),
        "message": {"role": "user", "content": SAID},
    }
    path = tmp_path / "user" / ".claude" / "projects" / "x" / "talk.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line) + "\n")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))


def test_what_was_found_is_listed_and_then_imported_and_searched(repository: Repository) -> None:
    """C16."""
    threadline("status", cwd=repository.path)
    listed = threadline("import", cwd=repository.path)
    assert b"Claude Code: 1 new conversation about this repository" in listed.stderr
    trial = threadline("import", "claude-code", "--dry-run", cwd=repository.path)
    assert b"1 turn of 1 conversation of Claude Code would be imported" in trial.stderr
    done = threadline("import", "claude-code", "--json", cwd=repository.path)
    assert json.loads(done.stdout) == {
        "conversations": 1,
        "turns": 1,
        "known": 0,
        "damaged": 0,
    }
    found = threadline("search", "parser", "keeps", "file", "open", cwd=repository.path)
    assert SAID.encode() in b" ".join(found.stdout.split())
    again = threadline("import", cwd=repository.path)
    assert b"0 new conversations about this repository, 1 imported" in again.stderr


def test_it_is_offered_in_one_line_by_scan_sessions_and_connect(repository: Repository) -> None:
    """Part of C16."""
    offer = b"1 past conversation about this repository found (Claude Code)"
    for command in (["sessions"], ["scan"], ["connect", "cursor"]):
        done = threadline(*command, cwd=repository.path)
        assert (done.returncode, done.stderr.count(offer)) == (Exit.OK, 1)
    threadline("import", "claude-code", cwd=repository.path)
    assert offer not in threadline("scan", cwd=repository.path).stderr


def test_an_export_is_read_from_a_file_and_from_standard_input(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of H6. A host's name is one of a file where it is written as a path."""
    threadline("scan", cwd=repository.path)
    export = threadline("export", cwd=repository.path).stdout
    (repository.path / "codex").write_bytes(export)
    other = str(tmp_path / "other")
    for words, stdin in ((["./codex"], b""), (["-"], export), ([], export)):
        done = threadline("import", *words, cwd=repository.path, stdin=stdin, THREADLINE_HOME=other)
        assert b"1 sessions" in done.stderr, done.stderr


def test_a_date_that_is_none_is_refused(repository: Repository) -> None:
    done = threadline("import", "codex", "--since", "someday", cwd=repository.path)
    assert (done.returncode, b"someday" in done.stderr) == (Exit.USAGE, True)
