"""Stores of Threadline 0.1: journals of JSON Lines, read once into a vault and kept beside it."""

import logging
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from protocol.events import Event
from sidecar.capture.rules import sessions
from sidecar.storage import blocks, files

if TYPE_CHECKING:
    from sidecar.storage.vault import Vault


JOURNAL = "vault.jsonl"
_KEPT = "format-0.1"
_HEAD = len(b'{"sum":"00000000",')
_SESSION = re.compile(r"([0-7][0-9A-HJKMNP-TV-Z]{25})\.(?:jsonl|events\.z)")
_MAGIC = b"threadline archive 1\n"
_PARTS = (JOURNAL, "sessions", "archives", "cache", "lock")

_log = logging.getLogger(__name__)


def is_there(folder: Path) -> bool:
    """Whether a folder holds a store of 0.1 that was not read yet."""
    return (folder / JOURNAL).is_file()


def load(vault: "Vault") -> None:
    """Read an old store into a new vault, in one transaction, and move the old files aside."""
    documents = _documents(vault.folder / JOURNAL)
    events = {session_id: list(_events(path)) for session_id, path in _journals(vault.folder)}
    with vault.transaction():
        for (collection, identifier), document in documents.items():
            if collection not in {"sessions", "unsettled", "caches"} and hasattr(vault, collection):
                _put(getattr(vault, collection), identifier, document)
        for session_id, found in events.items():
            _put_session(vault, session_id, documents.get(("sessions", session_id)), found)
    place = files.ensure_folder(vault.folder / _KEPT)
    for name in _PARTS:
        if (vault.folder / name).exists():
            (vault.folder / name).rename(place / name)
    count = sum(map(len, events.values()))
    _log.warning(
        "%s: %d events and %d records of 0.1 were taken over", vault.folder, count, len(documents)
    )


def _put(collection: Any, identifier: str, document: dict[str, Any]) -> None:  # noqa: ANN401  # of any kind
    try:
        collection.restore(identifier, msgspec.json.encode(document))
    except msgspec.DecodeError as error:
        _log.warning("%s %s cannot be read: %s", collection.name, identifier, error)


def _put_session(vault: "Vault", session_id: str, document: Any, found: list[Event]) -> None:  # noqa: ANN401
    from protocol.sessions import Session  # noqa: PLC0415  # only old stores need it

    if not found:
        return
    if document is None:
        record = sessions.restore(session_id, vault.project_id, found, vault.rule)
    else:
        record = msgspec.convert(document, Session)
    is_compacted = record.status == "compacted"
    vault.sessions.put(
        msgspec.structs.replace(record, status="closed" if is_compacted else record.status), found
    )
    kept = vault.sessions.get(session_id)
    if is_compacted and kept is not None:
        vault.sessions.compact(kept)


def _journals(folder: Path) -> Iterator[tuple[str, Path]]:
    for place in ("archives", "sessions"):
        for path in sorted((folder / place).glob("*")):
            if match := _SESSION.fullmatch(path.name):
                yield match[1], path


def _events(path: Path) -> Iterator[Event]:
    if path.suffix == ".z":
        documents = blocks.unpack(path.read_bytes().removeprefix(_MAGIC)) or []
        yield from (msgspec.json.decode(body, type=Event) for body in documents)
        return
    for (collection, _), document in _documents(path).items():
        if collection == "events":
            yield msgspec.convert(document, Event)


def _documents(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what the lines of a journal add up to; a line with a wrong checksum is left out."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for line in path.read_bytes().split(b"\n"):
        body = line[_HEAD:]
        if line[8:16] != b"%08x" % zlib.crc32(body):
            continue
        for collection, identifier, document in msgspec.json.decode(line).get("ops", ()):
            if document is None:
                found.pop((collection, identifier), None)
            else:
                found[collection, identifier] = document
    return found
