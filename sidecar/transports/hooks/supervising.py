"""Supervising: what may take long is done in a child, so that a hook ends in time whatever happens in there.

A timer of Python's own rings only between two steps of Python: not while a file of gigabytes is read, or a system call
does not return. The process that the host waits for does nothing but wait, and so can always end, with exit code 0.
"""

import os
import select
import sys
import time
from _collections_abc import Callable

_SIGKILL = 9
_ANSWERED = b"."


class Child:
    """What the process that does the work tells the one that waits for it."""

    def __init__(self, pipe: int) -> None:
        """Stand at the end of a pipe; -1 where nobody waits."""
        self._pipe = pipe

    def tell_answered(self) -> None:
        """Say that the host is about to get its answer, and needs no other."""
        if self._pipe >= 0:
            os.write(self._pipe, _ANSWERED)


def split(deadline: float, give_up: Callable[[str], None]) -> Child:
    """Go on in a child, until this moment of the monotonic clock; returns only there.

    The process that was called ends when the child does. Where the child has crashed or is late without having
    answered, the host gets its plain answer by `give_up`. Where a system has no fork, nobody is split.
    """
    if sys.platform == "win32":
        return Child(-1)
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(mine)
        _limit(deadline)
        return Child(its)
    try:
        os.close(its)
        is_over, is_answered = _wait(mine, deadline)
        if is_over:
            os.waitpid(child, 0)
        else:
            os.kill(child, _SIGKILL)
        if not is_answered:
            give_up("crashed" if is_over else "out of time")
    finally:
        os._exit(0)


def _wait(pipe: int, deadline: float) -> tuple[bool, bool]:
    """Wait for the end of a child; tell whether it came in time, and whether there was an answer."""
    is_answered = False
    while (left := deadline - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            if not os.read(pipe, 1):
                return True, is_answered
            is_answered = True
    return False, is_answered


def _limit(deadline: float) -> None:
    """Let the system end a child that works on although nobody waits for it any more."""
    import resource  # noqa: PLC0415  # not on every system

    seconds = int(max(0.0, deadline - time.monotonic())) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
