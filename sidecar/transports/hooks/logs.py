"""The hooks' log: one line for each failure, never a word of what was said."""

import os
import time

from sidecar.store import overheard

_MOST = 256 * 1024


def complain(home: str, what: str, error: BaseException) -> None:
    """Write down that something failed; where not even that works, it is nobody's business."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{stamp} {os.getpid()} hook {what}: {_told(error)}\n"
    try:
        overheard.keep_aside(f"{home}/logs/hooks.log", line.encode("utf-8", "replace"), _MOST)
    except (OSError, ValueError):
        return


def _told(error: BaseException) -> str:
    """Describe a failure by its kind and place; an error of the system's or of ours says more, and is safe to show."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    code = None if place is None else place.tb_frame.f_code
    where = f" in {code.co_name}:{place.tb_lineno}" if code and place else ""
    is_safe = isinstance(error, OSError) or type(error).__module__ == "protocol.errors"
    return f"{type(error).__name__}{where}" + (f": {error}"[:500] if is_safe else "")
