"""Processes are killed at every file operation they do; nothing acknowledged is lost, nothing is doubled or half there."""

import shutil
from pathlib import Path

import pytest

from tests.crash.theatre import (
    CHANGES,
    KILL_AFTER,
    KILL_BEFORE,
    TEAR,
    Theatre,
    points,
    report,
)

pytestmark = pytest.mark.slow

MOST = 4
"""Operations at which a scene is cut short where not every one is tried."""
SCENES = [
    "open",
    "ingest",
    "enrich",
    "compact",
    "forget",
    "import",
    "snapshot",
    "recover",
    "migrate",
    "hear",
    "checkpoint",
    "end",
    "track",
    "turn",
]
WITH_READER = ["ingest", "enrich", "compact", "snapshot", "migrate", "track", "turn"]


def cut_short(theatre: Theatre, scene: str, folder: Path, *, is_read: bool = False) -> int:
    """Kill a scene at operation after operation; return how many kills there were."""
    good = folder / "good"
    count = theatre.operations(scene, good)
    wanted = theatre.play(scene, "verify", good).result
    prepared = folder / "prepared"
    theatre.play(scene, "prepare", prepared)
    kills = 0
    for manner in (KILL_BEFORE, TEAR, KILL_AFTER):
        for number in points(count, MOST):
            stage = folder / f"{manner}-{number}"
            _copy(prepared, stage)
            fault = [manner, number, 0, CHANGES, 0]
            cut = theatre.ask(scene, "act", stage, fault=fault, reader=is_read)
            # How many operations there are may differ a little between runs.
            assert cut.status in {-9, 0}, cut.error
            assert cut.reader == 0
            kills += cut.status == -9
            seen = theatre.play(scene, "verify", stage, given=cut.acknowledged).result
            assert seen == wanted, f"killed at operation {number} ({fault})"
            shutil.rmtree(stage)
    assert kills >= MOST
    return kills


def _copy(prepared: Path, stage: Path) -> None:
    shutil.copytree(prepared, stage)
    for extra in prepared.parent.glob(f"{prepared.name}.*"):
        if extra.is_file():
            shutil.copy(extra, stage.with_name(stage.name + extra.suffix))


@pytest.mark.parametrize("scene", SCENES)
def test_killed_at_any_file_operation_it_loses_and_doubles_nothing(
    scene: str, theatre: Theatre, tmp_path: Path
) -> None:
    """H1. Part of C3, E2, E5, F4, F5 and H6."""
    report(kills=cut_short(theatre, scene, tmp_path))


@pytest.mark.parametrize("scene", WITH_READER)
def test_killed_beside_a_reader_it_loses_and_doubles_nothing(
    scene: str, theatre: Theatre, tmp_path: Path
) -> None:
    """H1."""
    report(kills=cut_short(theatre, scene, tmp_path, is_read=True))
