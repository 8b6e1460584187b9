"""Rules: files in a project that a host reads instead of listening; whether there is one of ours.

What is looked at here costs next to nothing. Whether we may write it is decided by who opens the application.
"""

import os
import stat

from sidecar.storage.prepared import find_top

PLACES = {"windsurf": ".windsurf/rules/threadline.md"}
_SIGN = b"Written by `threadline connect`"
_MOST = 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def are_kept(host: str, root: str) -> bool:
    """Tell whether a host reads a file that says it is ours, in the project of a folder."""
    return host in PLACES and _is_ours(os.path.join(find_top(root), PLACES[host]))


def _is_ours(path: str) -> bool:
    """Look at the beginning of a file; a pipe or a device in its place is not waited for."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return is_plain and _SIGN in os.read(descriptor, _MOST)
    except OSError:
        return False
    finally:
        os.close(descriptor)
