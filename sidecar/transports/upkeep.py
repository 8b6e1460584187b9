"""Upkeep: where no server runs, somebody must place what hooks leave and prepare what they tell; a short-lived process does it."""

import os
import sys
import time
from _collections_abc import Mapping

_SWITCH = "THREADLINE_UPKEEP"
"""Set to `off` where somebody else runs `threadline maintain`."""
_LOCK = "upkeep"
_EVERY = 60.0
"""Seconds between two runs."""


def begin(home: str, environment: Mapping[str, str], *, is_due: bool = False) -> None:
    """Start `threadline maintain` on its own, unless it ran a moment ago and nothing is due; it ends by itself."""
    is_recent = not is_due and _age(f"{home}/{_LOCK}") < _EVERY
    if environment.get(_SWITCH) == "off" or is_recent:
        return
    # Without -P the folder that a host works in could bring modules of its own.
    command = [sys.executable, "-P", "-m", "sidecar.transports.entry", "maintain"]
    if sys.platform == "win32":
        import subprocess  # noqa: PLC0415  # only needed here

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        subprocess.Popen(  # noqa: S603
            command, creationflags=flags, stdin=-3, stdout=-3, stderr=-3, close_fds=True
        )
        return
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    os.posix_spawn(command[0], command, dict(environment), file_actions=nothing, setsid=True)


def _age(path: str) -> float:
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return _EVERY
