"""A process that makes memory is killed at every write it does; what it was about is made exactly once."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.enrichment import ListJobsParams
from protocol.events import NewEvent
from sidecar.domain.sessions import Rule
from sidecar.services import browsing, recording
from sidecar.services.enrichment import jobs, running
from sidecar.store import files
from sidecar.store.ids import Ids
from sidecar.store.vaults import Vault, open_vault
from tests.services.test_enrichment import DECISION, commit, silent, tools
from tests.support import FixedClock

pytestmark = pytest.mark.slow

EVENTS = (
    commit("Lock jobs in the database", f"{DECISION}.\n\nTODO: document the lock.", number=1),
    commit(
        "Add a worker that takes jobs", "It must never hold a lock over a network call.", number=2
    ),
    NewEvent(
        kind="capture", text="We will keep the jobs table small, so finished jobs are deleted."
    ),
)
MOST_WRITES = 40


def opened(folder: Path) -> Vault:
    return open_vault(folder, "p", Ids(FixedClock()), Rule())


def prepared(folder: Path) -> str:
    vault = opened(folder)
    placed = recording.ingest(vault, EVENTS, "test")
    vault.close()
    return str(placed[0].session_id)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def dying(number: int, manner: str) -> Callable[..., None]:
    """Make an `append` that does not survive its n-th call."""
    real = files.append
    count = 0

    def append(descriptor: int, data: bytes, path: Path) -> None:
        nonlocal count
        count += 1
        if count == number and manner == "torn":
            os.write(descriptor, data[: len(data) // 2])
        if count == number and manner != "after":
            die()
        real(descriptor, data, path)
        if count == number:
            die()

    return append


def run_and_die(folder: Path, number: int, manner: str) -> bool:
    """Make memory in a child that is killed on the way; tell whether it was."""
    child = os.fork()
    if child == 0:
        try:
            files.append = dying(number, manner)
            running.start(opened(folder), None, tools(), silent)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def contents(vault: Vault) -> list[tuple[str, str]]:
    return sorted((one.type, one.content) for one in vault.memories.all())


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("reference") / "vault"
    prepared(folder)
    vault = opened(folder)
    assert running.start(vault, None, tools(), silent).status == "completed"
    return contents(vault)


@pytest.mark.parametrize("manner", ["before", "after", "torn"])
def test_killed_at_any_write_it_is_made_exactly_once(
    tmp_path: Path, expected: list[tuple[str, str]], manner: str
) -> None:
    """Part of C3 and H1."""
    stages: set[str] = set()
    for number in range(1, MOST_WRITES):
        folder = tmp_path / str(number)
        session_id = prepared(folder)
        was_killed = run_and_die(folder, number, manner)
        vault = opened(folder)
        stages |= _mended(vault)
        job = running.start(vault, session_id, tools(), silent)
        assert job.status == "completed", job.error
        assert contents(vault) == expected
        assert len(vault.jobs) == 1
        assert vault.batches.all() == []
        assert browsing.get_session(vault, session_id).enrichment_status == "completed"
        assert vault.sessions.count_events() == len(EVENTS)
        vault.close()
        if not was_killed:
            break
    assert stages == {"enrich", "embed", "dedup", "drift"}
    assert number > 10


def _mended(vault: Vault) -> set[str]:
    """See that an interrupted job says so; tell at which stage it was."""
    found = jobs.list_jobs(vault, ListJobsParams()).jobs
    failed: list[Any] = [job for job in found if job.status == "failed"]
    assert all("interrupted" in str(job.error) for job in failed)
    assert all(job.status in {"failed", "pending", "completed"} for job in found)
    return {stage.name for job in failed for stage in job.stages if stage.status == "failed"}
