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
from protocol.methods import CloseSessionParams, ListSessionsParams
from sidecar.services import browsing, recording
from sidecar.store import files
from sidecar.store.vaults import Vault
from tests.support import ROOT, reopen, save


def paths_below(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


def test_everything_is_private_whatever_the_umask(vault: Vault) -> None:
    """H5."""
    previous = os.umask(0)
    try:
        recording.ingest(vault, [save(key="a")], "vscode")
        vault.inbox.drop(b"{}")
        browsing.close_session(vault, CloseSessionParams())
    finally:
        os.umask(previous)
    modes = {path: path.stat().st_mode & 0o777 for path in paths_below(vault.folder)}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_open_modes_are_tightened(vault: Vault) -> None:
    """H5."""
    recording.ingest(vault, [save()], "vscode")
    (vault.folder / "vault.jsonl").chmod(0o644)
    vault.folder.chmod(0o755)
    reopen(vault).close()
    assert (vault.folder / "vault.jsonl").stat().st_mode & 0o777 == 0o600
    assert vault.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["vault.jsonl", "lock", "sessions", "inbox", "cache"])
def test_a_planted_link_is_not_followed(name: str, vault: Vault, tmp_path: Path) -> None:
    """H1, H5."""
    vault.close()
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "target"
    target.write_text("precious")
    planted = vault.folder / name
    if planted.is_dir():
        planted.rename(tmp_path / "moved")
    planted.unlink(missing_ok=True)
    planted.symlink_to(outside if name in {"sessions", "inbox", "cache"} else target)
    with pytest.raises(StoreRefusedError):
        _use_all(vault)
    assert [path.name for path in outside.iterdir()] == ["target"]
    assert target.read_text() == "precious"


def _use_all(vault: Vault) -> None:
    other = reopen(vault)
    try:
        recording.ingest(other, [save(key="k")], "vscode")
        other.inbox.drop(b"{}")
        browsing.close_session(other, CloseSessionParams())
    finally:
        other.close()


def test_a_link_in_a_session_journals_place_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    """H1, H5."""
    (placed,) = recording.ingest(vault, [save()], "vscode")
    vault.close()
    journal = vault.folder / "sessions" / f"{placed.session_id}.jsonl"
    target = tmp_path / "target"
    journal.rename(target)
    before = target.read_bytes()
    journal.symlink_to(target)
    with pytest.raises(StoreRefusedError):
        _use_all(vault)
    assert target.read_bytes() == before


@pytest.mark.parametrize("name", ["cache/keys", "inbox/current.jsonl", "vault.jsonl", "lock"])
def test_a_pipe_in_a_files_place_blocks_nobody(name: str, vault: Vault) -> None:
    """H1, H5."""
    recording.ingest(vault, [save(key="a")], "vscode")
    vault.close()
    (vault.folder / name).unlink(missing_ok=True)
    os.mkfifo(vault.folder / name)
    with pytest.raises(StoreRefusedError):
        _use_all(vault)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a store to someone else")
@pytest.mark.parametrize("name", ["", "vault.jsonl", "lock"])
def test_a_store_of_another_user_is_refused(name: str, vault: Vault) -> None:
    """H5."""
    vault.lock.close()
    recording.ingest(vault, [save()], "vscode")
    vault.close()
    os.chown(vault.folder / name, 12345, 12345)
    with pytest.raises(StoreRefusedError, match="12345"):
        reopen(vault)


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
    recording.ingest(vault, [save(key="old")], "vscode")
    (journal,) = (vault.folder / "sessions").iterdir()
    size = journal.stat().st_size
    with limited(size + 40):
        for attempt in range(5):
            with pytest.raises(StorageFailedError, match="nothing was stored"):
                recording.ingest(vault, [save("x" * 200, key=f"new {attempt}")], "vscode")
        assert _count(vault) == 1
    other = reopen(vault)
    assert _count(other) == 1
    assert other.damaged_copies() == []
    recording.ingest(other, [save(key="new 0")], "vscode")
    assert _count(vault) == 2
    other.close()


def test_a_disk_full_at_a_new_session_leaves_no_trace_of_it(vault: Vault) -> None:
    """H1."""
    vault.journal.prepare()
    with limited(600), pytest.raises(StorageFailedError):
        recording.ingest(vault, [save("x" * 2000)], "vscode")
    assert browsing.list_sessions(vault, ListSessionsParams()).sessions == ()
    recording.ingest(vault, [save()], "vscode")
    assert _count(vault) == 1
    assert _count(reopen(vault)) == 1


def _count(vault: Vault) -> int:
    page = browsing.list_sessions(vault, ListSessionsParams())
    return sum(session.message_count for session in page.sessions)


READ_ONLY = """
import os
import sys
from pathlib import Path
from protocol.errors import StorageFailedError
from sidecar.services import recording
from sidecar.domain.sessions import Rule
from sidecar.store.ids import Ids
from sidecar.store.vaults import open_vault
from tests.support import FixedClock, save

os.setegid(65534)
os.seteuid(65534)
folder = Path(sys.argv[1])
vault = open_vault(folder, "p", Ids(FixedClock()), Rule())
recording.ingest(vault, [save(key="a")], "vscode")
recording.ingest(vault, [save(key="later", at=FixedClock().now.replace(hour=2))], "vscode")
for path in (folder, folder / "sessions"):
    path.chmod(0o500)
try:
    recording.ingest(vault, [save(key="b", at=FixedClock().now.replace(hour=7))], "vscode")
    print("acknowledged")
except StorageFailedError:
    print("refused")
for path in (folder, folder / "sessions"):
    path.chmod(0o700)
recording.ingest(vault, [save(key="b", at=FixedClock().now.replace(hour=7))], "vscode")
print(vault.sessions.count_events())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become a user whom modes bind")
def test_a_read_only_folder_stores_nothing_and_recovers() -> None:
    """H1."""
    with _folder_of_nobody() as folder:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder / "vault")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.split() == ["refused", "3"], done.stderr


@contextmanager
def _folder_of_nobody() -> Iterator[Path]:
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
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("file")] == ["file"]
