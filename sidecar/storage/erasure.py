"""Erasure: what is forgotten leaves the vault, its full-text index, cache and copies, and the bytes are searched again."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.errors import BusyError
from sidecar.privacy import scrubbing
from sidecar.privacy.scrubbing import Scrub
from sidecar.storage import files, skipped, snapshots, texts
from sidecar.storage.vault import KINDS, NAME, Vault

Needles = Sequence["re.Pattern[bytes]"]
"""The bytes that must stand nowhere afterwards."""
_SEARCH = """
import os, re, sys
needles = [re.compile(bytes.fromhex(line)) for line in sys.stdin.read().split()]
for name in sys.argv[1:]:
    try:
        with open(name, "rb") as file:
            data = file.read()
            os.fsync(file.fileno())
    except FileNotFoundError:
        continue
    if any(needle.search(data) for needle in needles):
        print(name)
for folder in {os.path.dirname(name) for name in sys.argv[1:]} if os.name == "posix" else ():
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
"""
"""Run in a child: to open and close the vault's file here would drop the locks of our own connection.

What was cut off or deleted is synced, too: after a power cut it must not come back.
"""


class Erased(Struct, frozen=True, kw_only=True):
    """What was changed on the way."""

    documents: Counter[str]
    """How many documents of each collection were changed or removed."""
    rewritten: int


def erase(vault: Vault, scrub: Scrub) -> Erased:
    """Take out of a vault what is to be forgotten, inside a transaction; `settle` takes it off the disk."""
    counts: Counter[str] = Counter()

    for name in KINDS:
        collection = getattr(vault, name)
        counts[name] += collection.rewrite(
            scrub, lambda table, key: scrubbing.rename(scrub, table, key)
        )
    counts["events"], touched = vault.sessions.rewrite(scrub)
    vault.sessions.restate(touched)
    counts["sessions"] = vault.sessions.records.rewrite(scrub, lambda _table, key: key)
    vault.database.note_erasure()
    texts.rebuild(vault.database)
    return Erased(documents=counts, rewritten=1 + len(touched))


def settle(vault: Vault) -> tuple[int, bool]:
    """Leave no byte of what was erased in any file; return how many copies went, and False where a reader is in the way."""
    skipped.forget(vault.folder)
    deleted = snapshots.remove_all(vault.folder)
    with vault.database.exclusive() as connection:
        connection.execute("VACUUM")
    try:
        is_done = vault.database.checkpoint()
    except BusyError:
        is_done = False
    vault.cache.trying(vault.cache.database.checkpoint, False)  # noqa: FBT003  # what it returns otherwise
    return deleted, is_done


def search(vault: Vault, needles: Needles) -> tuple[int, list[str]]:
    """Read every file of a vault, and what is compressed or indexed in it; return how many, and where the words are."""
    count, found = search_files(vault.folder, needles)
    ours = {vault.database.path.name, f"{vault.database.path.name}-wal"}
    # The names of our own fields are nobody's words: the vault itself is judged by what its documents say.
    remaining = [name for name in found if name not in ours]
    return count, remaining + [f"{NAME}: {name}" for name in said_in(vault, needles)]


def search_files(folder: Path, needles: Needles) -> tuple[int, list[str]]:
    """Read every file below a folder; return how many there are, and in which the words still stand."""
    found = [path for path in _files(folder) if not path.name.endswith("-shm")]
    patterns = "\n".join(needle.pattern.hex() for needle in needles)
    finished = subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-c", _SEARCH, *map(str, found)],
        input=patterns.encode(),
        capture_output=True,
        check=True,
    )
    named = finished.stdout.decode("utf-8", "surrogateescape").splitlines()
    return len(found), [str(Path(name).relative_to(folder)) for name in named]


def said_in(vault: Vault, needles: Needles) -> list[str]:
    """Return the collections in whose texts the words still stand; the names of our own fields do not count."""
    remaining: list[str] = []
    for name in KINDS:
        collection = getattr(vault, name)
        for key, body, _ in collection.table.raw():
            named = {scrubbing.NAMED[name]: key} if name in scrubbing.NAMED else {}
            words = scrubbing.texts(name, msgspec.json.decode(body)) + scrubbing.texts(name, named)
            if any(
                needle.search(text.encode("utf-8", "replace"))
                for text in words
                for needle in needles
            ):
                remaining.append(name)
                break
    if any(vault.sessions.say(needle) for needle in needles):
        remaining.append("events")
    for row in vault.database.rows("SELECT author, title, text, files, extra FROM texts"):
        if any(
            needle.search(part.encode("utf-8", "replace")) for part in row for needle in needles
        ):
            remaining.append("texts")
            break
    return remaining


def scrub_logs(folder: Path, needles: Needles) -> int:
    """Take lines out of logs that hold what is forgotten; return how many files that changed."""
    count = 0
    for path in _files(folder):
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not any(needle.search(line) for needle in needles)]
        if len(kept) != len(lines):
            files.replace(path, b"".join(kept))
            count += 1
    return count


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
