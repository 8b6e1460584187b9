"""One run of a hook: its host and event, and the line in the log that says what was done."""

import os
import time
from _collections_abc import Callable

from sidecar.storage import spool
from sidecar.transports.hooks import recognition

_MOST = 256 * 1024


def open_log(home: str) -> int:
    """Open the log for one line; -1 where that fails, which must not disturb the host."""
    try:
        return spool.open_aside(f"{home}/logs/hooks.log", _MOST)
    except (OSError, ValueError):
        return -1


def add(log: int, what: str, done: str) -> None:
    """Append one line in a single write, and close the log."""
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
    """Log a failure."""
    add(open_log(home), what, describe(error))


def describe(error: BaseException) -> str:
    """Return the kind and place of a failure, and the message of those whose message holds no user text."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    code = None if place is None else place.tb_frame.f_code
    where = f" in {code.co_name}:{place.tb_lineno}" if code and place else ""
    is_safe = isinstance(error, OSError) or type(error).__module__ == "protocol.errors"
    return f"failed: {type(error).__name__}{where}" + (f": {error}"[:500] if is_safe else "")


class Call:
    """One run of a hook; its host is known from the command line first, and better from the message."""

    def __init__(self, words: list[str], *, is_process: bool = False) -> None:
        """Read the command line: an agent and an event. A call in a process of its own may fork."""
        self.is_process = is_process
        self.agent, self.event = (*words, "", "")[:2]
        self.host = recognition.find_named(self.agent)
        self.is_answered = False
        self.late: tuple[bytes, Callable[[], None]] | None = None
        """The answer when time runs out, and what is left to do then."""
        self.upkeep: str | None = None
        """Whether maintenance is started afterwards: `usual`, or `due` at once."""
        self.listener: Callable[[], None] | None = None
        """Called when there is an answer."""
        self.began, self._log = time.monotonic(), -1

    def tell_answered(self) -> None:
        """Note that the host is about to get its answer, also for the process that waits for this one."""
        self.is_answered = True
        if self.listener is not None:
            self.listener()

    def open_log(self, home: str) -> None:
        """Open the log early, so that a line can be written whatever happens."""
        self._log = open_log(home)

    def end(self, done: str) -> None:
        """Log what was done; only the first call counts."""
        log, self._log = self._log, -1
        if log >= 0:
            spent = (time.monotonic() - self.began) * 1000
            event = "".join(sign for sign in self.event[:50] if sign.isalnum() or sign in "._-")
            add(log, f"{self.host.name} {event or '-'}", f"{done}, {spent:.0f} ms")

    def fail(self, error: BaseException) -> None:
        """Log what failed."""
        self.end(describe(error))
