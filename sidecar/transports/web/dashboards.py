"""Dashboards that run: where they are, and what programs must show there, for this user's eyes alone."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from sidecar.storage import files

_FOLDER = "dashboards"


class Dashboard(msgspec.Struct, frozen=True, kw_only=True):
    """One that runs, or did."""

    address: str
    token: str
    """What programs send as `Authorization: Bearer`."""
    process: str
    """The name of its process."""


def announce(home: Path, port: int, dashboard: Dashboard) -> Path:
    """Write down where a dashboard is, in a file that only this user can read."""
    folder = files.ensure_folder(home / _FOLDER)
    path = folder / f"{port}.json"
    files.replace(path, msgspec.json.encode(dashboard))
    return path


def withdraw(path: Path) -> None:
    """Take back what was announced."""
    with contextlib.suppress(OSError):
        path.unlink()


def tidy(home: Path, is_running: Callable[[str], bool]) -> None:
    """Remove what dashboards left behind that could not take it back."""
    for path in (home / _FOLDER).glob("*.json"):
        with contextlib.suppress(msgspec.DecodeError, OSError):
            found = msgspec.json.decode(files.read(path) or b"{}", type=Dashboard)
            if not is_running(found.process):
                withdraw(path)
