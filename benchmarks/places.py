"""Folders to measure in, spread over the disk."""

import contextlib
import os
import struct
import sys
from pathlib import Path

_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
_TOP_OF_HIERARCHIES = 0x00020000


def spread(folder: Path) -> None:
    """Let new folders in this one be put far away from each other, where the system can.

    For minutes ext4 is up to fifty times as slow to create a file in a region where many were deleted,
    by an earlier run or by tests. A new folder usually lands in its parent's region; below one that is
    marked as the top of unrelated hierarchies (`chattr +T`) its name decides, so let that be random.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            _mark(folder)


def _mark(folder: Path) -> None:
    import fcntl  # noqa: PLC0415  # Windows has none

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        raw = fcntl.ioctl(descriptor, _GET_FLAGS, struct.pack("i", 0))
        flags: int = struct.unpack("i", raw)[0]
        fcntl.ioctl(descriptor, _SET_FLAGS, struct.pack("i", flags | _TOP_OF_HIERARCHIES))
    finally:
        os.close(descriptor)
