"""The catalogue of memories, in the deletable cache: so that a new process finds without reading them all.

It holds hashes and numbers, no words. One file has what every question needs, another the hashes of words, which
outweigh the rest; a stamp that both begin with tells that they belong together. What is damaged, of another machine
or of another edition is no catalogue: it is made anew. To forget a memory is to write both files anew without it.
"""

import logging
import os
import sys
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

import msgspec

from protocol.errors import StorageFailedError, StoreRefusedError
from sidecar.domain.recall import catalogues
from sidecar.domain.recall.catalogues import Catalogue, Glossary, Library
from sidecar.store import files
from sidecar.store.locks import Lock

T = TypeVar("T")

NAME, WORDS = "catalogue", "words"
_HEADER, _STAMP, _SUM = 64, 16, 4
_BODY = _HEADER + _STAMP + _SUM
_PART = 4
"""Beyond this part of all memories it takes less to make a catalogue anew than to take memories out of it."""

_log = logging.getLogger(__name__)


class Catalogues:
    """The catalogue of one project on the disk; whoever writes it holds the store's lock."""

    def __init__(self, folder: Path, lock: Lock) -> None:
        """Name the folder of both files and the store's lock."""
        self._paths = folder / NAME, folder / WORDS
        self._lock = lock

    def read(self) -> tuple[Library, bytes] | None:
        """Give what was written and its stamp; None where nothing is there that can be used."""
        return _read(self._paths[0], Library)

    def read_words(self, stamp: bytes) -> Glossary | None:
        """Give the words that belong to a catalogue; None where they cannot be used, so that nothing of it can."""
        found = _read(self._paths[1], Glossary)
        return found[0] if found is not None and found[1] == stamp else None

    def write(self, library: Library, glossary: Glossary | None) -> None:
        """Put a catalogue in place of the one that is there; one without words serves whoever asks without words."""
        stamp = os.urandom(_STAMP)
        files.ensure_folder(self._paths[0].parent)
        for path, part in zip(self._paths, (library, glossary), strict=True):
            if part is None:
                path.unlink(missing_ok=True)
            else:
                body = msgspec.msgpack.encode(part)
                files.replace(path, _header() + stamp + _sum(body) + body)

    def remove(self, memory_ids: Collection[str]) -> None:
        """Take memories off the disk; nothing of them stays in the files, or the files do not stay."""
        with self._lock.held():
            stay = self._is_rewritten(set(memory_ids))
            drafts = [path.with_name(f"{path.name}.draft") for path in self._paths]
            for path in drafts if stay else (*self._paths, *drafts):
                with files.refusing(path):
                    path.unlink(missing_ok=True)

    def _is_rewritten(self, gone: set[str]) -> bool:
        """Write the files without some memories, where they can be read and it is worth the while."""
        found = self.read()
        glossary = None if found is None else self.read_words(found[1])
        if found is None or glossary is None:
            return False
        gone &= found[0].fingerprints.keys()
        if not gone or len(gone) * _PART > len(found[0].fingerprints):
            return not gone
        try:
            self.write(*_without(found[0], glossary, gone))
        except (StorageFailedError, StoreRefusedError):
            return False
        return True


def _without(library: Library, glossary: Glossary, gone: set[str]) -> tuple[Library, Glossary]:
    living, retired = Catalogue(library.living), Catalogue(library.retired)
    living.learn_words(glossary.living)
    retired.learn_words(glossary.retired)
    for memory_id in gone:
        living.drop(memory_id)
        retired.drop(memory_id)
    kept = {key: one for key, one in library.fingerprints.items() if key not in gone}
    return (
        Library(fingerprints=kept, living=living.pack(), retired=retired.pack()),
        Glossary(
            stemming=glossary.stemming,
            living=living.pack_words(),
            retired=retired.pack_words(),
        ),
    )


def _read(path: Path, kind: type[T]) -> tuple[T, bytes] | None:
    try:
        data = files.read(path)
    except (StorageFailedError, StoreRefusedError) as error:
        _log.warning("%s; memories are catalogued anew", error)
        return None
    if data is None or data[:_HEADER] != _header():
        return None
    body = memoryview(data)[_BODY:]
    if data[_BODY - _SUM : _BODY] != _sum(body):
        return None
    try:
        return msgspec.msgpack.decode(body, type=kind), data[_HEADER : _HEADER + _STAMP]
    except msgspec.DecodeError:
        return None


def _header() -> bytes:
    name = f"threadline catalogue 1 {sys.byteorder} {catalogues.edition():016x} "
    return name.encode().ljust(_HEADER - 1, b".") + b"\n"


def _sum(body: "bytes | memoryview") -> bytes:
    return zlib.crc32(body).to_bytes(_SUM, "little")
