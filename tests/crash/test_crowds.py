"""Many processes on one vault, many vaults in one process, and some that are stopped, killed or late."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol.errors import StorageFailedError
from protocol.methods import ListSessionsParams
from protocol.settings import Settings
from sidecar.app import now
from sidecar.capture import record, timeline
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.database import PATIENCE
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.upkeep import maintenance
from tests.crash import writers
from tests.crash.accounts import account, fill, moment, opened
from tests.crash.theatre import EVERYTHING, report
from tests.support import ROOT, save

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("THREADLINE_KILLS", "10"))
BATCHES = 2
EACH = 250
MOST_DESCRIPTORS = 200
FOLDERS, SESSIONS = (30, 40) if EVERYTHING else (30, 6)
RECOVERING = (
    "import sys; from pathlib import Path; from tests.crash.accounts import opened;"
    "opened(Path(sys.argv[1])).recover('asked for')"
)
# How long a loaded machine may take for what waits for nothing: hangs are caught, slowness is not.
SLACK = 20.0
"""Seconds that a busy machine may add to a wait."""


def test_eight_writers_lose_double_and_reorder_nothing(tmp_path: Path) -> None:
    """H1."""
    opened(tmp_path / "vault").close()
    crowd = [
        writers.start(tmp_path / "vault", f"w{number}", "--events", str(EACH))
        for number in range(8)
    ]
    said = [writers.end(writer) for writer in crowd]
    assert [len(lines) for lines in said] == [EACH] * 8
    vault = opened(tmp_path / "vault")
    maintenance.maintain(vault, Settings())
    assert account(vault) == Counter(key for lines in said for key, *_ in lines)
    for session in timeline.list_sessions(vault, ListSessionsParams(limit=1000)).sessions:
        arrivals = [
            str(event.idempotency_key).split("/")
            for event in vault.sessions.arrivals(session.session_id)
        ]
        for name in {name for name, _ in arrivals}:
            numbers = [int(number) for writer, number in arrivals if writer == name]
            assert numbers == sorted(numbers)
    vault.close()
    waits = sorted(float(wait) for lines in said for _, _, wait in lines)
    late = sum(outcome != "stored" for lines in said for _, outcome, _ in lines)
    report(
        events=len(waits),
        spooled=late,
        p50_ms=round(1000 * waits[len(waits) // 2], 2),
        p95_ms=round(1000 * waits[len(waits) * 95 // 100], 2),
        most_ms=round(1000 * waits[-1], 2),
    )
    assert waits[-1] < PATIENCE + SLACK


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_acknowledged_event_survives_kill_9_at_any_moment_exactly_once(
    batch: int, tmp_path: Path
) -> None:
    """H1."""
    chance = random.Random(batch)
    promised: list[str] = []
    for kill in range(max(KILLS // BATCHES, 1)):
        pair = [writers.start(tmp_path / "vault", f"{batch}.{kill}.{name}") for name in "ab"]
        promised += [writers.hear(writer)[0] for writer in pair]
        # Not a wait for something: the moment of the kill is what is random.
        time.sleep(chance.random() * 0.2)
        promised += [words[0] for writer in pair for words in writers.kill(writer)]
        vault = opened(tmp_path / "vault")
        record.drain(vault)
        keys = account(vault)
        vault.close()
        assert [key for key in promised if keys[key] != 1] == []
        assert max(keys.values()) == 1
    report(kills=2 * max(KILLS // BATCHES, 1), acknowledged=len(promised))


def test_a_killed_holder_lets_the_next_writer_go_on_within_a_second(tmp_path: Path) -> None:
    """H1."""
    vault = opened(tmp_path / "vault")
    vault.sessions.count()
    with writers.start(vault.folder, "h", "--hold") as holder:
        assert writers.hear(holder) == ["held"]
        holder.kill()
        holder.wait()
        began = time.monotonic()
        (placed,) = record.ingest(vault, [save(key="a")], "vscode")
        assert time.monotonic() - began < SLACK
    assert placed.outcome == "stored"
    vault.close()


def test_a_stopped_writer_delays_others_no_longer_than_the_deadline_and_readers_not_at_all(
    tmp_path: Path,
) -> None:
    """H1."""
    vault = opened(tmp_path / "vault")
    record.ingest(vault, [save(key="before")], "vscode")
    with writers.start(vault.folder, "h", "--hold") as holder:
        assert writers.hear(holder) == ["held"]
        holder.send_signal(signal.SIGSTOP)
        reading = _seconds(lambda: timeline.list_sessions(vault, ListSessionsParams()))
        opening = _seconds(opened(vault.folder).sessions.count_events)
        began = time.monotonic()
        placed = record.ingest(vault, [save(key="a"), save()], "vscode")
        waited = time.monotonic() - began
        assert [event.outcome for event in placed] == ["spooled", "spooled"]
        assert vault.sessions.count_events() == 1
        holder.kill()
    assert PATIENCE - 0.5 < waited < PATIENCE + SLACK
    assert max(reading, opening) < PATIENCE
    (later,) = record.ingest(vault, [save(key="later")], "vscode")
    assert later.outcome == "stored"
    assert vault.sessions.count_events() == 4
    (again,) = record.ingest(vault, [save(key="a")], "vscode")
    assert again.outcome == "duplicate"
    vault.close()
    report(waited_s=round(waited, 2), read_ms=round(1000 * max(reading, opening), 1))


def _seconds(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


def test_many_projects_in_one_process_stay_below_two_hundred_descriptors(tmp_path: Path) -> None:
    """H1: row F6 of the audit."""
    home = Home(tmp_path / "home", Ids(now), Rule())
    most = 0
    for session in range(SESSIONS):
        for folder in range(FOLDERS):
            vault = home.vault(f"{folder:020x}")
            key = f"{folder}/{session}"
            event = save(key, at=moment(6 * session), key=key)
            (placed,) = record.ingest(vault, [event], "test")
            assert placed.outcome == "stored"
            vault.cache.put("name", [session])
            most = max(most, len(list(Path("/proc/self/fd").iterdir())))
    assert most < MOST_DESCRIPTORS
    for folder in range(FOLDERS):
        assert home.vault(f"{folder:020x}").sessions.count() == SESSIONS
    home.close()
    report(descriptors=most, folders=FOLDERS, sessions=SESSIONS)


def test_who_has_an_old_file_open_takes_nothing_from_the_new_one(tmp_path: Path) -> None:
    """H1: a vault is recovered while others have it open; none of them deletes the new WAL or writes to the old one."""
    folder = tmp_path / "vault"
    keys = Counter(fill(folder, 12))
    late = writers.start(folder, "late", "--follow")
    keys[writers.order(late)[0]] += 1
    subprocess.run([sys.executable, "-c", RECOVERING, str(folder)], cwd=ROOT, check=True)
    new = writers.start(folder, "new", "--follow")
    for _ in range(3):
        keys[writers.order(new)[0]] += 1
    keys[writers.order(late)[0]] += 1
    keys.update(words[0] for words in writers.end(late))
    keys[writers.order(new)[0]] += 1
    writers.kill(new)
    vault = opened(folder)
    assert account(vault) == keys
    vault.close()


def test_a_commit_to_a_file_that_was_moved_away_is_not_acknowledged(tmp_path: Path) -> None:
    """H1: whoever is in the middle of a transaction when a vault is recovered is told, and tries again."""
    folder = tmp_path / "vault"
    keys = Counter(fill(folder, 12))
    vault = opened(folder)
    with pytest.raises(StorageFailedError, match="unknown"), vault.transaction():  # noqa: PT012
        record.ingest(vault, [save(key="between")], "test")
        subprocess.run([sys.executable, "-c", RECOVERING, str(folder)], cwd=ROOT, check=True)
    record.ingest(vault, [save(key="between")], "test")
    assert account(vault) == keys + Counter(["between"])
    vault.close()


def test_two_that_find_the_same_damage_recover_it_once(tmp_path: Path) -> None:
    """H1."""
    folder = tmp_path / "vault"
    keys = Counter(fill(folder, 60))
    with (folder / "vault.sqlite").open("r+b") as file:
        file.write(b"nothing of a database")
    crowd = [writers.start(folder, f"w{number}", "--events", "20") for number in range(4)]
    said = [words[0] for writer in crowd for words in writers.end(writer)]
    assert len(said) == 80
    vault = opened(folder)
    record.drain(vault)
    assert account(vault) == keys + Counter(said)
    assert len(list((folder / "damaged").iterdir())) == 1
    vault.close()


def test_snapshots_taken_by_several_processes_at_once_are_all_whole(tmp_path: Path) -> None:
    """H1."""
    folder = tmp_path / "vault"
    fill(folder, 60)
    copying = (
        "import sys; from pathlib import Path; from tests.crash.accounts import check_copies, opened;"
        "vault = opened(Path(sys.argv[1]));"
        "[(vault.snapshot(), check_copies(vault.folder)) for _ in range(8)]"
    )
    crowd = [
        subprocess.Popen([sys.executable, "-c", copying, str(folder)], cwd=ROOT) for _ in range(4)
    ]
    assert [copier.wait() for copier in crowd] == [0] * 4
