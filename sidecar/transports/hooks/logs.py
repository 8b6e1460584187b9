"""The hooks' log: one line for each event, of what was done or what failed, never a word of what was said."""

import os
import time

from sidecar.storage import spool

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
        from sidecar.domain.rendering import characters  # noqa: PLC0415  # most lines do not need it

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
