"""Processes of this machine: a name for our own, and whether another is still there."""

import os
from pathlib import Path


def own_name() -> str:
    """Name this process so that a later one with the same number is not taken for it."""
    return _name(os.getpid()) or str(os.getpid())


def is_running(name: str) -> bool:
    """Tell whether the process of this name has not ended."""
    number, _, began = name.partition("@")
    if not began:
        return is_alive(int(number)) if number.isdigit() else False
    return _name(int(number)) == name


def is_alive(process: int) -> bool:
    """Tell whether there is a process of this number."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _name(process: int) -> str | None:
    """Name a process by its number and the moment it began, where the system tells."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return f"{process}@{facts.rpartition(')')[2].split()[19]}"
