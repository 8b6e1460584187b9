"""Writers are killed, stopped and let loose on one store; nothing acknowledged is lost or doubled."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from protocol.methods import ListSessionsParams
from protocol.settings import Settings
from sidecar.app import now
from sidecar.domain.sessions import Rule
from sidecar.services import browsing, maintenance, recording
from sidecar.store import lines
from sidecar.store.ids import Ids
from sidecar.store.vaults import Vault, open_vault
from tests.support import ROOT, save

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("THREADLINE_KILLS", "200"))
BATCHES = 10
WRITER = [sys.executable, str(Path(__file__).with_name("writer.py"))]


def start(folder: Path, name: str, *options: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*WRITER, str(folder), name, *options],
        cwd=ROOT,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )


def acknowledged(process: "subprocess.Popen[bytes]") -> list[str]:
    """Read what a writer was told is stored, to the last complete line."""
    assert process.stdout is not None
    told = process.stdout.read().decode().split("\n")[:-1]
    process.stdout.close()
    process.wait()
    return [line.split()[0] for line in told]


def opened(folder: Path) -> Vault:
    return open_vault(folder, "p", Ids(now), Rule())


def stored(vault: Vault) -> Counter[str]:
    """Count every event there is by its key, and see that all counts agree."""
    keys: Counter[str] = Counter()
    total = 0
    before = None
    while True:
        page = browsing.list_sessions(vault, ListSessionsParams(limit=1000, before=before))
        for session in page.sessions:
            events = vault.sessions.events(session.session_id)
            assert session.message_count == len(events)
            total += len(events)
            keys.update(str(event.idempotency_key) for event in events)
        before = page.next
        if before is None:
            break
    assert vault.sessions.count_events() == total
    return keys


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_acknowledged_event_survives_kill_9_exactly_once(batch: int, tmp_path: Path) -> None:
    """H1."""
    chance = random.Random(batch)
    promised: list[str] = []
    for kill in range(KILLS // BATCHES):
        options = ["--rewrite"] if chance.random() < 0.5 else []
        writer = start(tmp_path / "vault", f"{batch}.{kill}", *options)
        assert writer.stdout is not None
        first = writer.stdout.readline().decode()
        time.sleep(chance.random() * 0.1)
        writer.send_signal(signal.SIGKILL)
        promised += [first.split()[0], *acknowledged(writer)]
        vault = opened(tmp_path / "vault")
        keys = stored(vault)
        assert [key for key in promised if keys[key] != 1] == []
        assert max(keys.values()) == 1
        _see_only_torn_ends(vault)
        vault.close()
    assert len(promised) > KILLS // BATCHES


def _see_only_torn_ends(vault: Vault) -> None:
    """A kill may cut the line being written, which nobody was told is stored; never another one."""
    for name in vault.damaged_copies():
        *whole, torn = (vault.folder / name).read_bytes().split(b"\n")
        assert all(lines.decode(line) for line in whole)
        assert torn


def test_eight_writers_and_compaction_lose_double_and_reorder_nothing(tmp_path: Path) -> None:
    """H1."""
    opened(tmp_path / "vault").close()
    names = [f"w{number}" for number in range(8)]
    writers = [
        start(tmp_path / "vault", name, "--events", "250", *(["--rewrite"] if name < "w3" else []))
        for name in names
    ]
    promised = [acknowledged(writer) for writer in writers]
    assert [len(keys) for keys in promised] == [250] * 8
    vault = opened(tmp_path / "vault")
    maintenance.maintain(vault, Settings())
    assert stored(vault) == Counter(key for keys in promised for key in keys)
    for session in browsing.list_sessions(vault, ListSessionsParams(limit=1000)).sessions:
        arrivals = [
            str(e.idempotency_key).split("/") for e in vault.sessions.arrivals(session.session_id)
        ]
        for name in names:
            numbers = [int(number) for writer, number in arrivals if writer == name]
            assert numbers == sorted(numbers)
    vault.close()


HOLDER = """
import sys, time
from pathlib import Path
from sidecar.app import now
from sidecar.domain.sessions import Rule
from sidecar.store import lines
from sidecar.store.ids import Ids
from sidecar.store.vaults import open_vault

vault = open_vault(Path(sys.argv[1]), "p", Ids(now), Rule())
with vault.lock.held():
    print("held", flush=True)
    time.sleep(600)
"""


def hold(folder: Path) -> "subprocess.Popen[bytes]":
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    return holder


def test_a_killed_holder_lets_the_next_writer_go_on_within_a_second(tmp_path: Path) -> None:
    """H1."""
    vault = opened(tmp_path / "vault")
    with hold(vault.folder) as holder:
        holder.kill()
        began = time.monotonic()
        (placed,) = recording.ingest(vault, [save(key="a")], "vscode")
        assert time.monotonic() - began < 1
    assert placed.outcome == "stored"


def test_a_stopped_holder_makes_writers_spool_and_merge_later(tmp_path: Path) -> None:
    """H1."""
    vault = opened(tmp_path / "vault")
    recording.ingest(vault, [save(key="before")], "vscode")
    with hold(vault.folder) as holder:
        holder.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        placed = recording.ingest(vault, [save(key="a"), save()], "vscode")
        assert time.monotonic() - began < 5
        assert [event.outcome for event in placed] == ["spooled", "spooled"]
        other = opened(vault.folder)
        assert [
            s.message_count for s in browsing.list_sessions(other, ListSessionsParams()).sessions
        ] == [1]
        other.close()
        holder.kill()
    (later,) = recording.ingest(vault, [save(key="later")], "vscode")
    assert later.outcome == "stored"
    assert stored(vault).total() == 4
    arrivals = [event.idempotency_key for event in vault.sessions.arrivals(str(later.session_id))]
    assert (arrivals[:2], arrivals[-1]) == (["before", "a"], "later")
    (again,) = recording.ingest(vault, [save(key="a")], "vscode")
    assert again.outcome == "duplicate"


class PowerCut:
    """What a power cut would cost, followed through a trace of system calls.

    Everything written is lost until its file is synced, every new or changed name until its folder is.
    """

    CALL = re.compile(r"\d+ +(\w+)\((.*)\) += (-?\d+)")
    PATH = re.compile(r"<(/[^>]*)>")

    def __init__(self) -> None:
        self.unsynced: set[str] = set()
        self.opened: list[str] = []

    def follow(self, line: str) -> str:
        """Take one call into account; give its name and the path it was about."""
        match = self.CALL.match(line)
        if match is None or int(match[3]) < 0:
            return ""
        call, arguments = match[1], match[2]
        path = next(iter(self.PATH.findall(arguments)), "")
        if call == "write":
            self.unsynced.add(path)
        elif call in {"fsync", "fdatasync"}:
            self.unsynced.discard(path)
        elif call == "syncfs":
            self.unsynced.clear()
        elif call.startswith("rename"):
            old, new = re.findall(r'"([^"]*)"', arguments)
            if old in self.unsynced:
                self.unsynced.remove(old)
                self.unsynced.add(new)
            self.unsynced.add(str(Path(new).parent))
        return f"{call} {path}"


@pytest.mark.parametrize("every", [1, 7])
def test_a_power_cut_after_an_acknowledgement_costs_nothing(every: int, tmp_path: Path) -> None:
    """H1: as far as the disk keeps its word."""
    trace = tmp_path / "trace"
    calls = "trace=write,fsync,fdatasync,syncfs,rename,renameat,renameat2"
    strace = ["strace", "-f", "-y", "-s", "4", "-e", calls, "-o", str(trace)]
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    writer = [
        *WRITER,
        str(tmp_path / "vault"),
        "w",
        "--events",
        "30",
        "--session-every",
        str(every),
    ]
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*strace, *writer], cwd=ROOT, env=environment, capture_output=True, check=True)
    disk = PowerCut()
    sessions, vault = str(tmp_path / "vault" / "sessions"), str(tmp_path / "vault" / "vault.jsonl")
    acknowledgements = new_sessions = 0
    for line in trace.read_text().splitlines():
        before = set(disk.unsynced)
        call = disk.follow(line)
        if call == f"write {sessions}/new.draft":
            assert vault not in before, "a session takes events before its record is on the disk"
            new_sessions += 1
        elif call.startswith("write pipe:") or " 1<pipe" in line or "write(1<" in line:
            acknowledgements += 1
            assert not [path for path in disk.unsynced if path.startswith(sessions)], line
    assert acknowledgements == 30
    assert new_sessions == -(-30 // every)


def test_what_a_hook_drops_survives_a_power_cut(tmp_path: Path) -> None:
    """H1."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    code = (
        "from pathlib import Path; from sidecar.store.inbox import Inbox;"
        f"inbox = Inbox(Path({str(tmp_path / 'inbox')!r})); inbox.drop(b'one'); inbox.drop(b'two')"
    )
    trace = tmp_path / "trace"
    calls = "trace=write,openat,fsync"
    strace = ["strace", "-f", "-y", "-e", calls, "-o", str(trace), sys.executable, "-c", code]
    subprocess.run(strace, cwd=ROOT, capture_output=True, check=True)
    disk = PowerCut()
    seen = [call for line in trace.read_text().splitlines() if (call := disk.follow(line))]
    assert f"fsync {tmp_path / 'inbox'}" in seen
    assert not [path for path in disk.unsynced if path.startswith(str(tmp_path))]
