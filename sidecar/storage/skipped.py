"""What of a repository was skipped because it exceeded a limit: a small file that `status` reads.

It is written by whoever skipped something, so that another process can tell.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from protocol.projects import Skipped
from sidecar.storage.files import JsonFile

_NAME = "skipped.json"
_MOST = 50
"""Entries that are kept, the latest first."""
_KEPT_FOR = timedelta(days=30)


def read(folder: Path) -> tuple[Skipped, ...]:
    """Return what was skipped lately in the project of this folder, the latest first; nothing where that cannot be read."""
    return _file(folder).read()


def add(folder: Path, counts: Mapping[tuple[str, str], int], now: datetime) -> None:
    """Add how often inputs were skipped, by path and reason; the caller holds the project's lock."""
    known = {(one.path, one.reason): one for one in read(folder) if now - one.at < _KEPT_FOR}
    for (path, reason), count in counts.items():
        before = known[path, reason].count if (path, reason) in known else 0
        known[path, reason] = Skipped(path=path, reason=reason, count=before + count, at=now)
    latest = sorted(known.values(), key=lambda entry: entry.at, reverse=True)
    _file(folder).write(tuple(latest[:_MOST]))


def forget(folder: Path) -> None:
    """Forget all of it: nobody can tell which path holds words that must go."""
    _file(folder).remove()


def _file(folder: Path) -> JsonFile[tuple[Skipped, ...]]:
    return JsonFile(folder / _NAME, tuple[Skipped, ...], (), is_kept=False)
