"""Older stores become newer ones, journal by journal, after a complete copy was put aside."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from sidecar.store import files, journals
from sidecar.store.journals import Journal
from sidecar.store.lines import Op
from sidecar.store.locks import Lock

Step = Callable[[Op], Op | None]
"""Turns an operation of one format into the next; None drops it."""

STEPS: Mapping[int, Step] = {}
"""By the format they start from; format 1 is the first."""

_log = logging.getLogger(__name__)


def migrate(folder: Path, main: Journal, lock: Lock, steps: Mapping[int, Step]) -> None:
    """Bring all journals of a store to today's format; the caller holds its lock.

    The main journal comes last: while it is old the store is, so an interrupted run starts again, and
    passes over the journals that are done.
    """
    backup = _back_up(folder, main.format)
    _log.warning(
        "migrating %s to format %d; the old store is kept in %s", folder, journals.FORMAT, backup
    )
    for path in sorted((folder / "sessions").glob("*.jsonl")):
        journal = Journal(path, lock)
        journal.refresh()
        _upgrade(journal, steps)
        journal.close()
    _upgrade(main, steps)


def _upgrade(journal: Journal, steps: Mapping[int, Step]) -> None:
    for version in range(journal.format, journals.FORMAT):
        for name, rows in list(journal.tables.items()):
            for key, document in list(rows.documents.items()):
                rows.put(key, None)
                op = steps[version]((name, key, document))
                if op is not None:
                    table, identifier, changed = op
                    journal.rows(table).put(identifier, changed)
    if journal.format < journals.FORMAT:
        journal.rewrite()


def _back_up(folder: Path, version: int) -> Path:
    """Copy the whole store beside itself; the copy has its name only when it is complete."""
    backup = folder / "backups" / f"format-{version}"
    if not backup.exists():
        import shutil  # noqa: PLC0415  # it loads much that few need

        files.ensure_folder(backup.parent)
        draft = backup.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(folder, draft, ignore=shutil.ignore_patterns("backups", "cache", "lock"))
        draft.rename(backup)
        files.sync_folder(backup.parent)
    return backup
