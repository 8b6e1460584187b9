"""Whether a process is still running."""

import os
from pathlib import Path

_LOOK, _DENIED, _RUNNING = 0x1000, 5, 259
"""Windows: the right to ask how a process is, the refusal of it, and the exit code of one that has not ended."""


def own_name() -> str:
    """Return a name of this process that a later one with the same number will not have."""
    return _name(os.getpid()) or str(os.getpid())


def is_running(name: str) -> bool:
    """Return whether the process of this name is still running."""
    number, _, began = name.partition("@")
    if not number.isdecimal():
        return False
    return _name(int(number)) == name if began else is_alive(int(number))


def is_alive(process: int) -> bool:
    """Return whether there is a process of this number."""
    if os.name != "posix":
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return _facts(process)[:1] != ["Z"]


def _is_alive_on_windows(process: int) -> bool:
    """Ask Windows for a process: `os.kill` would end it there. One that we may not look at is there."""
    import ctypes  # noqa: PLC0415  # of no use elsewhere

    system = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]  # Windows alone has it
    handle = system.OpenProcess(_LOOK, 0, process)
    if not handle:
        return bool(system.GetLastError() == _DENIED)
    code = ctypes.c_ulong()
    try:
        return (
            bool(system.GetExitCodeProcess(handle, ctypes.byref(code))) and code.value == _RUNNING
        )
    finally:
        system.CloseHandle(handle)


def _name(process: int) -> str | None:
    facts = _facts(process)
    return f"{process}@{facts[19]}" if facts else None


def _facts(process: int) -> list[str]:
    """Return what the system says about a process, its state first; empty where it says nothing."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
