"""Processes by name: our own, one that has ended, one that nobody has waited for, and nonsense."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


class _Windows:
    """What Windows answers about processes."""

    def __init__(self, code: int, *, handle: int = 7, error: int = 0) -> None:
        self.code, self.handle, self.error, self.is_closed = code, handle, error, False

    def OpenProcess(self, *_: int) -> int:  # noqa: N802  # as Windows calls it
        return self.handle

    def GetLastError(self) -> int:  # noqa: N802
        return self.error

    def GetExitCodeProcess(self, _handle: int, place: Any) -> int:  # noqa: N802
        place._obj.value = self.code
        return 1

    def CloseHandle(self, _handle: int) -> None:  # noqa: N802
        self.is_closed = True


@pytest.mark.parametrize(
    ("system", "is_alive"),
    [
        (_Windows(259), True),
        (_Windows(0), False),
        (_Windows(0, handle=0, error=87), False),  # there is none of this number
        (_Windows(0, handle=0, error=5), True),  # somebody else's
    ],
)
def test_windows_is_asked_and_never_told_to_end_it(
    system: _Windows, is_alive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=system), raising=False)
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("it would end there"))
    result = processes.is_alive(4711)
    monkeypatch.undo()  # pytest itself asks for the platform
    assert result == is_alive
    assert system.is_closed == bool(system.handle)
