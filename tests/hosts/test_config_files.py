"""Files of other programs: whose they are, where links lead, and that they are replaced whole."""

import os
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from protocol.errors import StorageFailedError
from sidecar.hosts import config_files
from sidecar.hosts.contents import Sight
from tests.support import NOON, ROOT


def look(path: Path, *inside: Path) -> Sight:
    return config_files.look(str(path), [str(each) for each in inside or (path.parent,)])


def test_a_new_file_is_made_with_its_folders_as_any_other(tmp_path: Path) -> None:
    plain = tmp_path / "user" / "plain"
    plain.parent.mkdir()
    plain.write_bytes(b"")
    path = plain.parent / "a" / "b" / "x.json"
    folders = (str(path.parent.parent), str(path.parent))
    assert config_files.find_missing(str(path)) == folders
    made = config_files.write(look(path, tmp_path), b"{}")
    assert made == folders
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    config_files.delete(look(path, tmp_path), made)
    assert list(plain.parent.iterdir()) == [plain]


def test_a_replaced_file_keeps_its_mode_and_leaves_no_draft(tmp_path: Path) -> None:
    """Part of F3."""
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    config_files.write(look(path), b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert not [each for each in tmp_path.iterdir() if "draft" in each.name]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """Part of F3."""
    target = tmp_path / "dotfiles" / "mcp.json"
    target.parent.mkdir()
    target.write_bytes(b"old")
    path = tmp_path / "mcp.json"
    path.symlink_to(target)
    config_files.write(look(path), b"new")
    assert path.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_must_not_be_touched_is_refused_with_its_reason(tmp_path: Path) -> None:
    """Part of F3."""
    home, outside = tmp_path / "h", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (outside / "x").write_bytes(b"theirs")
    (home / "away").symlink_to(outside / "x")
    (home / "dangling").symlink_to(home / "nothing")
    (home / "round").symlink_to(home / "round")
    (home / "folder").mkdir()
    (home / "fixed").write_bytes(b"")
    (home / "fixed").chmod(0o444)
    (home / "one").write_bytes(b"")
    os.link(home / "one", home / "two")
    os.mkfifo(home / "pipe")
    (home / "file").write_bytes(b"")
    refusals = {
        "away": "outside your home",
        "dangling": "which is not there",
        "round": "",
        "folder": "no plain file",
        "fixed": "read-only",
        "one": "hard links",
        "pipe": "no plain file",
        "file/below": "no folder",
        "../outside/x": "outside your home",
    }
    for name, reason in refusals.items():
        refusal = look(home / name, home).refusal
        assert refusal is not None, name
        assert reason in refusal


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    """Part of F3."""
    path = tmp_path / "x"
    path.write_bytes(b"")
    os.chown(path, 12345, -1)
    assert "belongs to user 12345" in str(look(path).refusal)


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Part of F3."""
    path = tmp_path / "x"
    path.write_bytes(b"old")
    seen, absent = look(path), look(tmp_path / "y")
    path.write_bytes(b"theirs")
    (tmp_path / "y").write_bytes(b"theirs")
    for sight in (seen, absent):
        with pytest.raises(StorageFailedError, match="meanwhile"):
            config_files.write(sight, b"ours")
    with pytest.raises(StorageFailedError, match="meanwhile"):
        config_files.delete(seen)
    assert path.read_bytes() == b"theirs"


def test_few_copies_are_kept_and_those_that_are_needed_stay(tmp_path: Path) -> None:
    """Part of F3."""
    path = tmp_path / "x.json"
    path.write_bytes(b"content")
    path.chmod(0o600)
    first = config_files.back_up(look(path), NOON)
    assert Path(first).name == "x.json.threadline-backup-20260302T120000000000Z"
    assert stat.S_IMODE(Path(first).stat().st_mode) == 0o600
    (tmp_path / "x.json.threadline-backup-mine").write_bytes(b"")
    for second in range(1, 7):
        latest = config_files.back_up(look(path), NOON + timedelta(seconds=second), [first, None])
    names = sorted(each.name for each in tmp_path.iterdir() if "backup" in each.name)
    assert len(names) == 5
    assert Path(first).name in names
    assert config_files.read_backup(latest) == b"content"
    config_files.forget_backup(latest)
    assert config_files.read_backup(latest) is None


@pytest.mark.slow
def test_this_installation_starts_from_anywhere(tmp_path: Path) -> None:
    """Part of F3."""
    (tmp_path / "protocol").mkdir()
    (tmp_path / "protocol" / "__init__.py").write_text("raise SystemExit('not ours')")
    via_module = [sys.executable, "-P", "-m", "sidecar.transports.entry"]
    program = config_files.find_program()
    for words in (program.words, program.for_hooks, via_module):
        assert Path(words[0]).is_absolute()
        done = subprocess.run(
            [*words, "--version"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() == "0.1.0", done.stderr


def test_a_program_that_is_replaced_beside_itself_is_named_by_what_leads_to_it(
    tmp_path: Path,
) -> None:
    """Part of G1."""
    scripts = []
    for name in ("0.1.0-a", "0.2.0-b"):
        script = tmp_path / name / "bin" / "threadline"
        script.parent.mkdir(parents=True)
        script.write_text("")
        scripts.append(str(script))
    old, new = scripts
    assert config_files.find_lasting(new) == new
    (tmp_path / "current").symlink_to(tmp_path / "0.2.0-b")
    assert config_files.find_lasting(new) == str(tmp_path / "current" / "bin" / "threadline")
    assert config_files.find_lasting(old) == old


def test_an_interpreter_that_two_environments_share_is_named_by_its_own(tmp_path: Path) -> None:
    """Part of G1: in an environment, the interpreter is a link to that of the machine."""
    pythons = []
    for name in ("mine", "theirs"):
        python = tmp_path / name / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
        pythons.append(str(python))
    mine, theirs = pythons
    (tmp_path / "current").symlink_to(tmp_path / "theirs")
    assert config_files.find_lasting(mine) == mine
    assert config_files.find_lasting(theirs) == str(tmp_path / "current" / "bin" / "python")
