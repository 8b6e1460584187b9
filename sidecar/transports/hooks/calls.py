"""Calls: which host runs a hook, at which event, and the one line in the log that says what came of it."""

import time
from _collections_abc import Callable

from sidecar.transports.hooks import hosts, logs

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
        self._log = logs.open_log(home)

    def end(self, done: str) -> None:
        """Say in the log what was done; only the first of several endings counts."""
        log, self._log = self._log, -1
        if log >= 0:
            spent = (time.monotonic() - self.began) * 1000
            logs.add(log, f"{self.host} {_name(self.event)}", f"{done}, {spent:.0f} ms")

    def fail(self, error: BaseException) -> None:
        """Say in the log what failed."""
        self.end(logs.describe(error))


def _name(event: str) -> str:
    """Give the name of an event as one word."""
    return "".join(one for one in event[:_LONGEST] if one.isalnum() or one in "._-") or "-"
