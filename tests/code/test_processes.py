"""Processes by name: our own, one that has ended, one that nobody has waited for, and nonsense."""

import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.code import processes


def test_our_own_process_runs() -> None:
    assert processes.is_running(processes.own_name())


def test_a_later_process_of_the_same_number_is_another() -> None:
    number, _, _ = processes.own_name().partition("@")
    assert not processes.is_running(f"{number}@1")


def test_a_process_that_ended_is_gone_even_if_nobody_waited_for_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    if Path("/proc").is_dir():
        while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            pass
        assert not processes.is_alive(child.pid)
    child.wait()
    assert not processes.is_alive(child.pid)


@pytest.mark.parametrize("name", ["", "abc", "abc@x", "@", "1e3", "²"])
def test_what_is_no_name_runs_nowhere(name: str) -> None:
    assert not processes.is_running(name)
