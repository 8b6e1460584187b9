"""Whether several processes can share a vault: copies, checkpoints and a kill -9 must cost nothing."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks import stores, writers
from benchmarks.timing import Row, in_words
from sidecar.capture import record
from sidecar.storage.vault import Vault

COUNT = 500
_COPIER, _VICTIM = "copier", "victim"
_NAMES = (_COPIER, "second", "third", _VICTIM)
_COPY_EVERY = 250
_PATIENCE = 120
_ROOT = Path(__file__).resolve().parent.parent


def share(folder: Path) -> Iterator[Row]:
    """Let four processes write, kill one midway, let it say everything again, and count.

    Nothing is measured a second time here: what is lost once is lost.
    """
    place = folder / "vault"
    stores.open_store(place).close()
    begun = time.perf_counter()
    _write_all(place)
    elapsed = time.perf_counter() - begun
    vault = stores.open_store(place)
    record.drain(vault)
    lost, doubled = _count(place, _found(vault))
    vault.close()
    yield Row(
        what=f"{len(_NAMES)} processes x {COUNT:,} writes, copies, kill -9",
        ours=f"{lost} lost, {doubled} doubled",
        baseline=f"in {in_words(elapsed)}",
        ratio="",
        gate="0 lost, 0 doubled",
        verdict="MISSED" if lost or doubled else "holds",
        is_missed=bool(lost or doubled),
    )


def _write_all(place: Path) -> None:
    processes = {name: _start(place, name) for name in _NAMES}
    try:
        _await_half(processes[_VICTIM], writers.acknowledged(place, _VICTIM))
        processes[_VICTIM].kill()
        processes[_VICTIM].wait()
        processes[_VICTIM] = _start(place, _VICTIM)
        for name, process in processes.items():
            if process.wait(_PATIENCE) != 0:
                raise RuntimeError(f"the writer {name} failed with exit code {process.returncode}")
    finally:
        for process in processes.values():
            process.kill()


def _start(place: Path, name: str) -> "subprocess.Popen[bytes]":
    copy_every = _COPY_EVERY if name == _COPIER else 0
    arguments = (str(place), name, str(COUNT), str(copy_every))
    return subprocess.Popen([sys.executable, "-m", "benchmarks.writers", *arguments], cwd=_ROOT)


def _await_half(process: "subprocess.Popen[bytes]", acknowledged: Path) -> None:
    while process.poll() is None:
        if acknowledged.exists() and acknowledged.read_bytes().count(b"\n") >= COUNT // 2:
            return
        time.sleep(0.005)
    raise RuntimeError(f"the victim was done before it could be killed: {process.returncode}")


def _found(vault: Vault) -> "Counter[str | None]":
    """Count how often each write is there, looking at the events themselves."""
    found: Counter[str | None] = Counter(vault.agents.ids())
    for session in vault.sessions.timeline():
        found.update(event.idempotency_key for event in vault.sessions.arrivals(session.session_id))
    return found


def _count(place: Path, found: "Counter[str | None]") -> tuple[int, int]:
    """Count the acknowledged writes that are missing, and the writes that are there more than once."""
    notes = [writers.acknowledged(place, name).read_text().split() for name in _NAMES]
    promised = {key for keys in notes for key in keys}
    lost = sum(key not in found for key in promised)
    return lost, sum(times - 1 for times in found.values())
