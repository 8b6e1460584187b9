"""Whether a process is still running."""

import os
from pathlib import Path


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
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return _facts(process)[:1] != ["Z"]


def _name(process: int) -> str | None:
    facts = _facts(process)
    return f"{process}@{facts[19]}" if facts else None


def _facts(process: int) -> list[str]:
    """Return what the system says about a process, its state first; empty where it says nothing."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
