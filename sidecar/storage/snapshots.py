"""Copies of a vault in its good days, and what becomes of a bad one: kept aside, salvaged, completed, reported."""

import contextlib
import itertools
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from protocol.errors import StorageFailedError
from protocol.values import Record
from sidecar.storage import files, salvage
from sidecar.storage.database import Database
from sidecar.storage.locks import Lock
from sidecar.storage.salvage import Block, Removal, Row
from sidecar.storage.verification import Finding, check, check_all

FOLDER, DAMAGED = "snapshots", "damaged"
REPORT = "report.json"
_SLOTS = (
    ("hourly", timedelta(hours=1)),
    ("daily", timedelta(days=1)),
    ("weekly", timedelta(days=7)),
)
_PAGES, _BREATH = 256, 0.005
_SUFFIXES = ("", "-wal", "-shm")

_log = logging.getLogger(__name__)


class Report(Record, frozen=True, kw_only=True):
    """What was done about a damaged or missing file."""

    reason: str
    at: datetime
    kept: str
    """The folder with the files as they were found, beside the vault."""
    salvaged: int
    """Documents that were read from the damaged files."""
    completed: int
    """Documents that came from a snapshot."""


# Snapshots


def snapshots(folder: Path) -> list[Path]:
    """Return the snapshots of a vault, the newest first."""
    found = [path for path in (folder / FOLDER).glob("*.sqlite") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def is_due(folder: Path, now: datetime) -> bool:
    """Whether the hourly snapshot is older than an hour, or missing."""
    return _age(folder / FOLDER / "hourly.sqlite", now) >= _SLOTS[0][1]


def take(database: Database, folder: Path, now: datetime, name: str | None = None) -> Path:
    """Copy a vault while others write; a copy takes the place of an older one only after it was verified."""
    with _copied(database, folder) as draft:
        findings = check(draft)
        if findings:
            raise StorageFailedError(f"the copy of {database.path} is damaged: {findings[0].what}")
        if name is None:
            _rotate(draft.parent, now)
        target = draft.with_name(f"{name or _SLOTS[0][0]}.sqlite")
        draft.replace(target)
        files.sync_folder(draft.parent)
    return target


def verify(
    database: Database, folder: Path, columns: Mapping[str, tuple[str, ...]]
) -> list[Finding]:
    """Return all that is wrong with a vault, looked at in a copy: nothing is written to the file itself."""
    with _copied(database, folder) as draft:
        return check_all(draft, columns)


@contextlib.contextmanager
def _copied(database: Database, folder: Path) -> Iterator[Path]:
    place = files.ensure_folder(folder / FOLDER)
    draft = place / "new.draft"
    # One at a time: whoever comes second would take the place of the copy that the first one verifies.
    with Lock(folder / "copying").held(), files.refusing(place):
        try:
            remove(draft)
            os.close(files.open_private(draft, os.O_RDWR | os.O_CREAT))
            with (
                database.translated,
                contextlib.closing(sqlite3.connect(database.path)) as source,
                contextlib.closing(sqlite3.connect(draft)) as target,
            ):
                source.backup(target, pages=_PAGES, sleep=_BREATH)
                target.execute("PRAGMA journal_mode = DELETE")
            yield draft
        finally:
            draft.unlink(missing_ok=True)


def _rotate(place: Path, now: datetime) -> None:
    for (younger, _), (older, age) in reversed(list(itertools.pairwise(_SLOTS))):
        source, target = place / f"{younger}.sqlite", place / f"{older}.sqlite"
        if source.exists() and _age(target, now) >= age:
            source.replace(target)


def _age(path: Path, now: datetime) -> timedelta:
    try:
        return now - datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:
        return timedelta.max


# Recovery


def sources(folder: Path) -> list[Path]:
    """Return the files of an earlier recovery that was cut short."""
    unfinished = [
        path
        for path in (folder / DAMAGED).glob("*")
        if path.is_dir() and not (path / REPORT).exists()
    ]
    return [path / "vault.sqlite" for path in sorted(unfinished)]


def reports(folder: Path) -> list[Report]:
    """Return what was done about damage so far, the latest last."""
    found: list[Report] = []
    for path in sorted((folder / DAMAGED).glob(f"*/{REPORT}")):
        with contextlib.suppress(msgspec.DecodeError, OSError):
            found.append(msgspec.json.decode(path.read_bytes(), type=Report))
    return found


def set_aside(path: Path) -> Path:
    """Move a vault's files away, all together; return where they are now."""
    place = files.ensure_folder(path.parent / DAMAGED) / files.stamp()
    files.ensure_folder(place)
    for suffix in _SUFFIXES:
        source = Path(f"{path}{suffix}")
        if os.path.lexists(source):
            source.rename(place / source.name)
    files.sync_folder(path.parent)
    return place


def remove(path: Path) -> None:
    """Delete a database file and what lies beside it."""
    for suffix in _SUFFIXES:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def gather(
    damaged: Iterable[Path], good: Sequence[Path], collections: Sequence[str]
) -> tuple[list[Row], list[Block], int]:
    """Return the newest form of every document that is whole anywhere, all blocks, and how many came from copies."""
    rows: dict[tuple[str, str], tuple[Row, bool]] = {}
    gone: dict[tuple[str, str], int] = {}
    blocks: dict[Block, None] = {}
    for path, is_copy in [*((path, False) for path in damaged), *((path, True) for path in good)]:
        for item in salvage.salvage(path, collections):
            if isinstance(item, Block):
                blocks[item] = None
                continue
            key = (item.collection, item.identifier)
            if isinstance(item, Removal):
                gone[key] = max(item.seq, gone.get(key, 0))
            elif key not in rows or item.seq > rows[key][0].seq:
                rows[key] = (item, is_copy)
    kept = [(row, is_copy) for key, (row, is_copy) in rows.items() if row.seq > gone.get(key, 0)]
    kept.sort(key=lambda pair: pair[0].seq)
    return [row for row, _ in kept], list(blocks), sum(is_copy for _, is_copy in kept)


def finish(place: Path, reason: str, salvaged: int, completed: int) -> Report:
    """Note beside the damaged files what was done about them."""
    report = Report(
        reason=reason,
        at=datetime.now(UTC),
        kept=f"{DAMAGED}/{place.name}",
        salvaged=salvaged,
        completed=completed,
    )
    files.replace(place / REPORT, msgspec.json.encode(report))
    _log.error(
        "the vault was damaged (%s): %d records salvaged, %d completed from a snapshot; the files as they were are in %s",
        reason, salvaged, completed, place,
    )  # fmt: skip
    return report


def remove_all(folder: Path) -> int:
    """Delete every copy, also of damaged files, for good; return how many files that were."""
    import shutil  # noqa: PLC0415  # it loads much that few need

    found = [path for path in folder.rglob("*.corrupt.*") if path.is_file()]
    for name in (FOLDER, DAMAGED):
        found += [path for path in (folder / name).rglob("*") if path.is_file()]
    for path in found:
        path.unlink(missing_ok=True)
    # After a power cut they must not be back.
    for place in {path.parent for path in found}:
        files.sync_folder(place)
    for name in (FOLDER, DAMAGED):
        shutil.rmtree(folder / name, ignore_errors=True)
    return len(found)
