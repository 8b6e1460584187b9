"""The power goes: what was not synced is gone, torn or in another order; everything acknowledged before is there."""

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.crash import disks
from tests.crash.theatre import CHANGES, COUNT, EVERYTHING, Theatre, report

pytestmark = pytest.mark.slow

CUTS = int(os.environ.get("THREADLINE_CUTS", "60" if EVERYTHING else "8"))
SCENES = ["open", "ingest", "enrich", "compact", "forget", "import", "snapshot", "recover", "hear"]


@pytest.mark.parametrize("scene", SCENES)
def test_what_was_acknowledged_survives_a_power_cut(
    scene: str, theatre: Theatre, tmp_path: Path
) -> None:
    """H1: as far as the disk keeps its word."""
    stage, record = tmp_path / "stage", tmp_path / "record"
    theatre.play(scene, "prepare", stage)
    before = tmp_path / "before"
    shutil.copytree(stage, before)
    told = [COUNT, 0, 0, CHANGES, 0]
    done = theatre.play(scene, "act", stage, fault=told, record=str(record)).acknowledged
    wanted = theatre.play(scene, "verify", stage, given=done).result
    operations = disks.read(record)
    assert [note.data.decode() for note in operations if note.kind == disks.NOTE] == done
    shutil.rmtree(stage)
    shutil.copytree(before, stage)
    for number in range(CUTS):
        chance = random.Random(f"{scene} {number}")
        disk, given = disks.Disk(stage), list[str]()
        for operation in operations[: chance.randrange(1, len(operations) + 1)]:
            if operation.kind == disks.NOTE:
                given.append(operation.data.decode())
            else:
                disk.follow(operation)
        cut = tmp_path / f"cut{number}"
        disks.write(disk.after_cut(chance), stage, cut)
        for extra in tmp_path.glob("stage.*"):
            if extra.is_file():
                shutil.copy(extra, cut.with_name(cut.name + extra.suffix))
        seen = theatre.ask(scene, "verify", cut, given=given)
        assert seen.status == 0, f"cut {number} after {given}:\n{seen.error}"
        assert seen.result == wanted, f"cut {number} after {given}"
        shutil.rmtree(cut)
    report(cuts=CUTS)
