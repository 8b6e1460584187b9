"""Private files: links are not followed, strangers are refused, a full disk is told and survived."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from protocol.errors import StorageFailedError, StoreRefusedError
from protocol.methods import CloseSessionParams
from sidecar.capture import record, timeline
from sidecar.storage import files
from sidecar.storage.vault import NAME, Vault
from tests.support import ROOT, reopen, save


def test_everything_is_private_whatever_the_umask(vault: Vault) -> None:
    """H5."""
    previous = os.umask(0)
    try:
        record.ingest(vault, [save(key="a")], "vscode")
        vault.cache.put("name", 1)
        vault.defer(b"{}")
        vault.snapshot()
        timeline.close_session(vault, CloseSessionParams())
    finally:
        os.umask(previous)
    modes = {path: path.stat().st_mode & 0o777 for path in [vault.folder, *vault.folder.rglob("*")]}
    assert {NAME, f"{NAME}-wal", "cache.sqlite"} <= {path.name for path in modes}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_open_modes_are_tightened(vault: Vault) -> None:
    """H5."""
    record.ingest(vault, [save()], "vscode")
    vault.close()
    (vault.folder / NAME).chmod(0o644)
    other = reopen(vault)
    record.ingest(other, [save()], "vscode")
    assert (vault.folder / NAME).stat().st_mode & 0o777 == 0o600
    other.close()
    vault.folder.chmod(0o755)
    files.ensure_folder(vault.folder)
    assert vault.folder.stat().st_mode & 0o777 == 0o700


def use_all(vault: Vault) -> None:
    other = reopen(vault)
    try:
        record.ingest(other, [save(key="k")], "vscode")
        other.defer(b"{}")
        with other.running.held():
            pass
    finally:
        other.close()


@pytest.mark.parametrize("name", [NAME, "running", "inbox"])
def test_a_planted_link_is_not_followed(name: str, vault: Vault, tmp_path: Path) -> None:
    """H1, H5."""
    record.ingest(vault, [save(key="a")], "vscode")
    vault.close()
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "target"
    target.write_text("precious")
    planted = vault.folder / name
    if planted.is_dir():
        planted.rename(tmp_path / "moved")
    planted.unlink(missing_ok=True)
    planted.symlink_to(outside if name == "inbox" else target)
    with pytest.raises((StoreRefusedError, OSError)):
        use_all(vault)
    assert [path.name for path in outside.iterdir()] == ["target"]
    assert target.read_text() == "precious"


def test_a_link_in_the_caches_place_is_no_cache(vault: Vault, tmp_path: Path) -> None:
    """H5."""
    target = tmp_path / "target"
    target.write_text("precious")
    vault.cache.database.path.symlink_to(target)
    vault.cache.put("name", 1)
    assert vault.cache.get("name", int) is None
    assert target.read_text() == "precious"


@pytest.mark.parametrize("name", [NAME, "running"])
def test_a_pipe_in_a_files_place_blocks_nobody(name: str, vault: Vault) -> None:
    """H1, H5."""
    record.ingest(vault, [save(key="a")], "vscode")
    vault.close()
    (vault.folder / name).unlink(missing_ok=True)
    os.mkfifo(vault.folder / name)
    with pytest.raises(StoreRefusedError):
        use_all(vault)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a store to someone else")
def test_a_vault_of_another_user_is_refused(vault: Vault) -> None:
    """H5."""
    record.ingest(vault, [save()], "vscode")
    vault.close()
    os.chown(vault.folder / NAME, 12345, 12345)
    with pytest.raises(StoreRefusedError, match="12345"):
        reopen(vault).sessions.count()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to someone else")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    """H5."""
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, 12345)
    with pytest.raises(StoreRefusedError, match="12345"):
        files.ensure_folder(tmp_path / "theirs")


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_stores_nothing_keeps_the_old_and_recovers(vault: Vault) -> None:
    """H1."""
    record.ingest(vault, [save(key="old")], "vscode")
    log = vault.folder / f"{NAME}-wal"
    with (
        limited(log.stat().st_size + 40),
        pytest.raises(StorageFailedError, match="nothing was stored"),
    ):
        record.ingest(vault, [save("x" * 200, key="new 0")], "vscode")
    assert vault.sessions.count_events() == 1
    other = reopen(vault)
    assert other.sessions.count_events() == 1
    assert other.damaged_copies() == []
    record.ingest(other, [save(key="new 0")], "vscode")
    record.ingest(vault, [save(key="new 1")], "vscode")
    assert vault.sessions.count_events() == other.sessions.count_events() == 3
    other.close()


READ_ONLY = """
import os
import sys
from pathlib import Path
from protocol.errors import StorageFailedError
from sidecar.capture import record as recording
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from tests.support import FixedClock, save

os.setegid(65534)
os.seteuid(65534)
folder = Path(sys.argv[1])
vault = Vault(folder, "p", Ids(FixedClock()), Rule())
recording.ingest(vault, [save(key="a")], "vscode")
vault.close()
for path in (folder / "vault.sqlite", folder):
    path.chmod(0o500 if path == folder else 0o400)
try:
    recording.ingest(vault, [save(key="b")], "vscode")
    print("acknowledged")
except StorageFailedError:
    print("refused")
for path in (folder, folder / "vault.sqlite"):
    path.chmod(0o700 if path == folder else 0o600)
recording.ingest(vault, [save(key="b")], "vscode")
print(vault.sessions.count_events())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become a user whom modes bind")
def test_a_read_only_folder_stores_nothing_and_recovers() -> None:
    """H1."""
    with folder_of_nobody() as folder:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder / "vault")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.split() == ["refused", "2"], done.stderr


@contextmanager
def folder_of_nobody() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, 65534, 65534)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def test_a_replace_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """H1."""
    path = tmp_path / "file"
    files.replace(path, b"old")
    with limited(1000), pytest.raises(StorageFailedError):
        files.replace(path, b"x" * 5000)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("file")] == ["file"]


@pytest.mark.parametrize(("refusals", "is_replaced"), [(3, True), (100, False)])
def test_windows_is_given_time_to_let_go_of_a_file(
    refusals: int, is_replaced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There, a file that somebody reads cannot be replaced at that moment."""
    path, draft = tmp_path / "folders.json", tmp_path / "draft"
    path.write_text("old")
    draft.write_text("new")
    waiting = iter(range(refusals))
    really = os.replace

    def replace(source: Path, target: Path) -> None:
        if next(waiting, None) is not None:
            raise PermissionError(13, "it is being used by another process", str(target))
        really(source, target)

    monkeypatch.setattr(files, "_PAUSE", 0)
    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(os, "name", "nt")
    try:
        files._put(draft, path)
        outcome = True
    except PermissionError:
        outcome = False
    monkeypatch.undo()
    assert outcome == is_replaced
    assert path.read_text() == ("new" if is_replaced else "old")
