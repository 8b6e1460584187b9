"""What of a repository was skipped because it exceeded a limit: a small file that `status` reads.

It is written by whoever skipped something, so that another process can tell.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from protocol.projects import Skipped
from sidecar.storage import files

_NAME = "skipped.json"
_MOST = 50
"""Entries that are kept, the latest first."""
_KEPT_FOR = timedelta(days=30)


def read(folder: Path) -> tuple[Skipped, ...]:
    """Give what was skipped lately in the project of this folder, the latest first; nothing where that cannot be read."""
    try:
        data = files.read(folder / _NAME) or b"[]"
        return msgspec.json.decode(data, type=tuple[Skipped, ...])
    except (msgspec.DecodeError, OSError):
        return ()


def add(folder: Path, counts: Mapping[tuple[str, str], int], now: datetime) -> None:
    """Add how often inputs were skipped, by path and reason; the caller holds the project's lock."""
    known = {(one.path, one.reason): one for one in read(folder) if now - one.at < _KEPT_FOR}
    for (path, reason), count in counts.items():
        before = known[path, reason].count if (path, reason) in known else 0
        known[path, reason] = Skipped(path=path, reason=reason, count=before + count, at=now)
    files.replace(folder / _NAME, msgspec.json.encode(_latest([*known.values()])))


def forget(folder: Path) -> None:
    """Forget all of it: nobody can tell which path holds words that must go."""
    (folder / _NAME).unlink(missing_ok=True)


def _latest(entries: Sequence[Skipped]) -> list[Skipped]:
    return sorted(entries, key=lambda one: one.at, reverse=True)[:_MOST]
