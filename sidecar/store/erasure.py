"""Erasure: what is forgotten leaves every file of the store, and the bytes are searched again.

A journal holds what was, not only what is; so a file that may hold what is forgotten is written anew from
its living documents. Copies that nobody writes to (damaged originals, backups) are deleted whole.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sidecar.domain import forgetting
from sidecar.domain.forgetting import Scrub
from sidecar.store import archives, files, lines, skipped
from sidecar.store.events import TABLE
from sidecar.store.lines import Document, Kept
from sidecar.store.vaults import CORRUPT, Vault

_CACHE = "cache"
"""The folder of what holds no words: hashes and numbers."""
Needles = Sequence["re.Pattern[bytes]"]
"""The bytes that must stand nowhere afterwards."""


class Erased(Struct, frozen=True, kw_only=True):
    """What was changed on the way."""

    documents: Counter[str]
    """How many documents of each table were changed or removed."""
    rewritten: int
    deleted: int


def erase(vault: Vault, scrub: Scrub, needles: Needles) -> Erased:
    """Take out of every file of a project what is to be forgotten; the caller holds its lock."""
    counts: Counter[str] = Counter()

    def change(table: str, document: Document) -> Document | None:
        changed = scrub(table, document)
        counts[table] += changed != document
        return changed

    vault.journal.change(change, lambda table, name: forgetting.rename(scrub, table, name))
    sessions = vault.sessions.rewrite(change, lambda data: _holds(data, needles))
    vault.sessions.restate(sessions)
    # What was restated may have been written on top of lines that still told the old.
    vault.journal.rewrite()
    skipped.forget(vault.folder)
    deleted = _delete_copies(vault.folder, needles)
    return Erased(documents=counts, rewritten=1 + len(sessions), deleted=deleted)


def search(folder: Path, needles: Needles) -> tuple[int, list[str]]:
    """Read every file below a folder; tell how many there are, and in which the words still stand."""
    found = [path for path in _files(folder) if path.parent.name != _CACHE]
    return len(found), [str(path.relative_to(folder)) for path in found if _says(path, needles)]


def scrub_logs(folder: Path, needles: Needles) -> int:
    """Take lines out of logs that hold what is forgotten; tell how many files that changed."""
    found = [path for path in _files(folder) if _has(path, needles)]
    for path in found:
        kept = [
            line
            for line in path.read_bytes().splitlines(keepends=True)
            if not _holds(line, needles)
        ]
        files.replace(path, b"".join(kept))
    return len(found)


def _delete_copies(folder: Path, needles: Needles) -> int:
    copies = [path for path in _files(folder) if CORRUPT in path.name and _has(path, needles)]
    for path in copies:
        path.unlink()
    backups = [
        backup
        for backup in (folder / "backups").glob("*")
        if any(_has(path, needles) for path in _files(backup))
    ]
    for backup in backups:
        shutil.rmtree(backup)
    return len(copies) + len(backups)


def _says(path: Path, needles: Needles) -> bool:
    """Tell whether somebody's words stand in a file; the names of our own fields are nobody's."""
    data = _read(path)
    if not _holds(data, needles):
        return False
    if path.name.endswith(archives.SUFFIX):
        events: list[Document] = msgspec.json.decode(data)
        said = [text for event in events for text in forgetting.texts(TABLE, event)]
    elif path.suffix == ".jsonl" and path.parent.name != "inbox":
        decoded = [lines.decode(raw) for raw in data.split(b"\n")[:-1]]
        if None in decoded:
            return True
        ops = [op for line in decoded if line for op in line.ops]
        said = [text for op in ops for text in _said(*op)]
    else:
        return True
    return any(_holds(text.encode("utf-8", "replace"), needles) for text in said)


def _said(table: str, identifier: str, document: Kept | None) -> list[str]:
    """Give all words of an operation that somebody wrote, also the name of what it sets."""
    named = {forgetting.NAMED[table]: identifier} if table in forgetting.NAMED else {}
    kept = {} if document is None else lines.read(document)
    return forgetting.texts(table, named) + forgetting.texts(table, kept)


def _has(path: Path, needles: Needles) -> bool:
    return _holds(_read(path), needles)


def _read(path: Path) -> bytes:
    """Give the bytes of a file, readable; none where it is gone by now."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return b""
    return (archives.unpack(data) or data) if path.name.endswith(archives.SUFFIX) else data


def _holds(data: bytes, needles: Needles) -> bool:
    return any(needle.search(data) for needle in needles)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
