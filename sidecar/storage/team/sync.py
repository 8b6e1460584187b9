"""Exchange a vault's log with an engine: send what waits, take over what others have told."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sidecar.storage import erasure
from sidecar.storage.team import entries as rules
from sidecar.storage.team.entries import Change, DivergedError, Engine, Entry, Head
from sidecar.storage.team.replica import MEMBERS, Replica, Seal

if TYPE_CHECKING:
    from sidecar.storage.vault import Vault

AT_ONCE = 1000
"""Entries in one request and one transaction."""
_TRIES = 3
_BLOCKED = 1 << 62
_REFRESH = timedelta(hours=1)
"""How often a machine tells that it takes part, at most."""

_NOTED = timedelta(minutes=5)
"""How often a look that brought nothing is noted: each note is a write to the disk."""

Open = Callable[[bytes, bytes], bytes]
"""Reads a payload back, given its entry's header; raises ValueError where it cannot."""

_log = logging.getLogger(__name__)


class Codec(Struct, frozen=True):
    """How payloads are written and read."""

    seal: Seal
    open: Open


def _read_plain(_header: bytes, payload: bytes) -> bytes:
    if payload[:1] != b"{":
        raise ValueError("it is sealed with a key that this machine does not have")
    return payload


PLAIN = Codec(seal=lambda _header, change: change, open=_read_plain)


def pull(vault: "Vault", replica: Replica, engine: Engine, codec: Codec = PLAIN) -> int:
    """Take over all that others have told; return how many entries. What is not believed stops only its own log."""
    count = 0
    blocked: dict[str, int] = {}
    while True:
        me = replica.me()
        cursor = {writer: head.sequence for writer, head in replica.cursors().items()}
        behind = engine.since(cursor | {me.writer: me.sent} | blocked, AT_ONCE)
        fresh = [entry for entry in behind if entry.writer not in blocked]
        if own := [entry for entry in fresh if entry.writer == me.writer]:
            _meet_own(vault, replica, own, codec)
        others = [entry for entry in fresh if entry.writer != me.writer]
        believed, refused = _examine(replica, others, codec, vault.clock())
        for writer, problem in refused.items():
            blocked[writer] = _BLOCKED
            if replica.report(writer, problem):
                _log.warning("an entry of %s is refused: %s", writer, problem)
        count += _take(vault, replica, believed)
        if not fresh:
            if count or not me.pulled or _is_past(me.pulled, _NOTED, vault.clock()):
                replica.note_pulled()
            return count


def push(vault: "Vault", replica: Replica, engine: Engine, codec: Codec = PLAIN) -> int:
    """Send all that waits; return how many entries."""
    count = 0
    for _ in range(_TRIES):
        try:
            while entries := replica.outgoing(AT_ONCE, codec.seal):
                engine.append(entries)
                replica.confirm(rules.head_of(entries[-1]))
                count += len(entries)
            break
        except DivergedError:
            # Either we were killed before we heard that it worked, or another has our name.
            pull(vault, replica, engine, codec)
    if places := replica.withdrawals():
        engine.withdraw(places)
        replica.withdrawn(places)
    return count


def sync(vault: "Vault", replica: Replica, engine: Engine, codec: Codec = PLAIN) -> tuple[int, int]:
    """Take over and send; return how many entries came and went. Nothing is sent before the person has agreed."""
    received = pull(vault, replica, engine, codec)
    if not replica.team.is_approved:
        return received, 0
    replica.confirm_erasures()
    _refresh(vault, replica)
    return received, push(vault, replica, engine, codec)


def _refresh(vault: "Vault", replica: Replica) -> None:
    """Tell that this machine takes part, once in a while."""
    seen = replica.document(MEMBERS, replica.me().writer) or {}
    if _is_past(seen.get("seenAt"), _REFRESH, vault.clock()):
        with vault.transaction():
            replica.note_member()


def _is_past(moment: Any, after: timedelta, now: datetime) -> bool:  # noqa: ANN401  # what a member wrote
    try:
        return datetime.fromisoformat(moment) + after <= now
    except (TypeError, ValueError, OverflowError):
        # Any member may have written into the record that this stands in.
        return True


def _meet_own(vault: "Vault", replica: Replica, own: list[Entry], codec: Codec) -> None:
    """Judge entries under our own name that we do not know to be sent: confirm them, or go on under another name."""
    with vault.transaction():
        # Another process of this machine may have confirmed them meanwhile, or taken another name.
        me = replica.me()
        unknown = [entry for entry in own if entry.writer == me.writer and entry.sequence > me.sent]
        waiting = {entry.sequence: entry for entry in replica.outgoing(len(own), codec.seal)}
        if unknown and all(waiting.get(entry.sequence) == entry for entry in unknown):
            replica.confirm(rules.head_of(unknown[-1]))
        elif unknown:
            new = replica.retire()
            told = "the log of %s has entries that this machine did not write; it goes on as %s"
            _log.warning(told, me.writer, new)


def _examine(
    replica: Replica, entries: list[Entry], codec: Codec, now: datetime
) -> tuple[list[tuple[Entry, Change | None]], dict[str, str]]:
    """Return the entries that are believed, with what they say, and why a log cannot be read on."""
    heads, project = replica.cursors(), replica.team.project
    believed: list[tuple[Entry, Change | None]] = []
    refused: dict[str, str] = {}
    for entry in entries:
        head = heads.get(entry.writer, Head())
        if entry.writer in refused:
            continue
        problem = rules.refusal(entry, project, head, now)
        try:
            if problem is None:
                believed.append((entry, _change(entry, codec)))
                heads[entry.writer] = rules.head_of(entry)
        except ValueError as error:
            problem = str(error)
        if problem is not None:
            refused[entry.writer] = f"entry {entry.sequence}: {problem}"
    return believed, refused


def _change(entry: Entry, codec: Codec) -> Change | None:
    """Read what an entry says; None where it was withdrawn."""
    return rules.read(codec.open(entry.header, entry.payload)) if entry.payload else None


def _take(vault: "Vault", replica: Replica, believed: list[tuple[Entry, Change | None]]) -> int:
    """Merge entries in one transaction, those that another process has merged meanwhile left out."""
    if not believed:
        return 0
    erased: list[str] = []
    with vault.transaction():
        known = replica.cursors()
        fresh = [
            (entry, change)
            for entry, change in believed
            if entry.sequence > known.get(entry.writer, Head()).sequence
        ]
        # In the order in which it was said, whoever said it: what refers to something comes after it.
        for entry, change in sorted(fresh, key=lambda pair: (pair[0].clock, pair[0].writer)):
            if change is not None and replica.take(entry, change):
                erased.append(change.id)
        for writer, head in {entry.writer: rules.head_of(entry) for entry, _ in fresh}.items():
            replica.advance(writer, head)
        if erased:
            vault.database.note_erasure()
        # It came from the team: nobody has to be told.
        vault.database.count_as_noted()
    if erased:
        vault.vectors.remove(erased)
        vault.passages.clear()
        vault.prepared.discard()
        erasure.settle(vault)
    return len(fresh)
