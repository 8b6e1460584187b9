"""Calls: which host runs a hook, at which event, and the one line in the log that says what came of it."""

import os
import time
from _collections_abc import Callable

from sidecar.storage import spool
from sidecar.transports.hooks import hosts

_MOST = 256 * 1024


def open_log(home: str) -> int:
    """Open the log to add a line to it; -1 where there can be none, which is nobody's business."""
    try:
        return spool.open_aside(f"{home}/logs/hooks.log", _MOST)
    except (OSError, ValueError):
        return -1


def add(log: int, what: str, done: str) -> None:
    """Write one line, at once and as a whole, and close the log."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{stamp} {os.getpid()} hook {what}: {' '.join(done.split())}"
    if not (line.isascii() and line.isprintable()):
        from sidecar.text import characters  # noqa: PLC0415  # most lines do not need it

        line = characters.visible(line)
    try:
        os.write(log, f"{line}\n".encode("utf-8", "replace"))
        os.close(log)
    except OSError:
        return


def complain(home: str, what: str, error: BaseException) -> None:
    """Write down that something failed."""
    add(open_log(home), what, describe(error))


def describe(error: BaseException) -> str:
    """Describe a failure by its kind and place; an error of the system's or of ours says more, and is safe to show."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    code = None if place is None else place.tb_frame.f_code
    where = f" in {code.co_name}:{place.tb_lineno}" if code and place else ""
    is_safe = isinstance(error, OSError) or type(error).__module__ == "protocol.errors"
    return f"failed: {type(error).__name__}{where}" + (f": {error}"[:500] if is_safe else "")


_LONGEST = 50


class Call:
    """One run of a hook: known by the command line at first, and better by its message."""

    def __init__(self, words: list[str], *, is_process: bool = False) -> None:
        """Take the words of the command line: an agent, and an event; a process of its own may be split."""
        self.is_process = is_process
        self.agent, self.event = (*words, "", "")[:2]
        self.host = hosts.NAMES.get(self.agent.lower(), hosts.UNKNOWN)
        self.is_answered = False
        self.late: tuple[bytes, Callable[[], None]] | None = None
        """What is answered where there is no time for more, and what is left to do then."""
        self.upkeep: str | None = None
        """Whether what hooks leave is looked after afterwards: `usual`, or `due` at once."""
        self.listener: Callable[[], None] | None = None
        """Who else is to know that there is an answer."""
        self.began, self._log = time.monotonic(), -1

    def tell_answered(self) -> None:
        """Note that the host is about to get its answer, also for a process that waits for this one."""
        self.is_answered = True
        if self.listener is not None:
            self.listener()

    def open_log(self, home: str) -> None:
        """Have the log at hand, so that a line can be written whatever happens."""
        self._log = open_log(home)

    def end(self, done: str) -> None:
        """Say in the log what was done; only the first of several endings counts."""
        log, self._log = self._log, -1
        if log >= 0:
            spent = (time.monotonic() - self.began) * 1000
            add(log, f"{self.host} {_name(self.event)}", f"{done}, {spent:.0f} ms")

    def fail(self, error: BaseException) -> None:
        """Say in the log what failed."""
        self.end(describe(error))


def _name(event: str) -> str:
    """Give the name of an event as one word."""
    return "".join(one for one in event[:_LONGEST] if one.isalnum() or one in "._-") or "-"
