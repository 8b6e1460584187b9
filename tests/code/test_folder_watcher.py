"""Folders that tell when something changes in them, and what happens where they cannot."""

import logging
import threading
import time
from pathlib import Path

import pytest

from sidecar.code import folder_watcher
from sidecar.code.folder_watcher import Watches


def waited(watching: Watches, places: list[Path], quiet: list[Path]) -> threading.Thread:
    """Wait in the background, from the moment the watch stands."""
    watching.wait(places, quiet)
    thread = threading.Thread(target=watching.wait, args=(places, quiet), daemon=True)
    thread.start()
    return thread


def test_a_change_ends_the_wait(tmp_path: Path) -> None:
    watching = Watches()
    thread = waited(watching, [tmp_path], [])
    (tmp_path / "new").write_text("x")
    thread.join(folder_watcher.IDLE / 2)
    assert not thread.is_alive()


def test_in_a_quiet_folder_only_a_new_folder_counts(tmp_path: Path) -> None:
    watching = Watches()
    thread = waited(watching, [], [tmp_path])
    (tmp_path / "file").write_text("x")
    (tmp_path / "file").write_text("y")
    thread.join(0.5)
    assert thread.is_alive()
    (tmp_path / ".git").mkdir()
    thread.join(folder_watcher.IDLE / 2)
    assert not thread.is_alive()


def test_stopping_ends_the_wait(tmp_path: Path) -> None:
    watching = Watches()
    thread = waited(watching, [tmp_path], [])
    watching.stop()
    thread.join(2)
    assert not thread.is_alive()
    assert not watching.wait([tmp_path], [])


def test_another_set_of_folders_is_looked_at_at_once(tmp_path: Path) -> None:
    watching = Watches()
    (tmp_path / "a").mkdir()
    began = time.monotonic()
    assert watching.wait([tmp_path], [])
    assert watching.wait([tmp_path / "a", tmp_path / "nowhere"], [])
    assert time.monotonic() - began < folder_watcher.IDLE


@pytest.mark.slow
def test_too_many_folders_are_looked_at_in_turn_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Part of B1: no more watches than a system can spare."""
    many = [tmp_path / str(number) for number in range(folder_watcher.LIMIT + 1)]
    for folder in many:
        folder.mkdir()
    watching = Watches()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert watching.wait(many, [])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
