"""Do slow work in a child process, so that a hook ends in time whatever happens there.

A Python timer fires only between two bytecodes: not while a file of gigabytes is read, or while a system call does not
return. The process that the host waits for does nothing but wait, and so can always end, with exit code 0.
"""

import os
import select
import sys
import time
from _collections_abc import Callable

_SIGKILL = 9
_ANSWERED = b"."


class Child:
    """The end of the pipe on which the working process reports to the waiting one."""

    def __init__(self, pipe: int) -> None:
        """Take the pipe; -1 where nobody waits."""
        self._pipe = pipe

    def tell_answered(self) -> None:
        """Report that the host is about to get its answer."""
        if self._pipe >= 0:
            os.write(self._pipe, _ANSWERED)


def split(deadline: float, give_up: Callable[[str], None]) -> Child:
    """Fork, and return only in the child, which is killed at this moment of the monotonic clock.

    The parent ends when the child does. If the child crashes or is late without having answered, the parent calls
    `give_up`, which answers plainly. On Windows, which has no fork, the process itself goes on.
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
    """Wait for a child; return whether it ended in time, and whether it answered."""
    is_answered = False
    while (left := deadline - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            if not os.read(pipe, 1):
                return True, is_answered
            is_answered = True
    return False, is_answered


def _limit(deadline: float) -> None:
    import resource  # noqa: PLC0415  # not on every system

    seconds = int(max(0.0, deadline - time.monotonic())) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
