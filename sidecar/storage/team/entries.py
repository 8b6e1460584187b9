"""The shared log: one writer per machine, each entry one change of one record, chained by hashes. Pure rules."""

import re
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from protocol.errors import ConflictError

LIMIT = 1024 * 1024
"""Bytes of one entry's payload."""
AHEAD = timedelta(days=2)
"""How far a machine's clock may be ahead of ours: two machines may each be a day off."""

_CLOCK = re.compile(r"[0-9]{13}-[0-9a-f]{6}")
_NAME = re.compile(r"[0-9A-Za-z._/ -]{1,64}")


class Entry(Struct, frozen=True, kw_only=True):
    """One change of one record, as it travels."""

    project: str
    writer: str
    sequence: int
    """From 1, without gaps."""
    clock: str
    """A hybrid logical clock; it sorts as text, and grows along a log."""
    previous: str
    """The hash of the entry before; empty for the first."""
    digest: str
    """The hash of the payload, which stays when the payload is withdrawn."""
    payload: bytes
    """The change as JSON, or sealed; empty once it was withdrawn."""

    @property
    def header(self) -> bytes:
        """Return what identifies the entry, without its payload."""
        return msgspec.json.encode(
            [self.project, self.writer, self.sequence, self.clock, self.previous]
        )

    @property
    def hash(self) -> str:
        """Return the hash of header and payload: the next entry names it."""
        return hashed(self.header + self.digest.encode())


class Change(Struct, frozen=True, kw_only=True):
    """What an entry says: fields of a record, with their new values."""

    collection: str
    id: str
    fields: dict[str, Any]
    """A field that is gone has the value `ABSENT`."""


ABSENT: dict[str, bool] = {"$absent": True}
"""Stands for a field that a record no longer has."""


class Head(Struct, frozen=True):
    """How far a log is known."""

    sequence: int = 0
    hash: str = ""
    clock: str = ""


class DivergedError(ConflictError):
    """The engine has entries of our own log that this machine has not sent."""


class Facts(Struct, frozen=True, kw_only=True):
    """What an engine says of a team."""

    team_id: str
    key_check: str = ""
    """What only a holder of the team's key can read; empty where nothing is encrypted."""


class Engine(Protocol):
    """Where logs are kept; all logs of one project, for the machines of one team."""

    def append(self, entries: list[Entry]) -> None:
        """Add entries of one writer, durably; raises DivergedError where the log has other ones there."""

    def since(self, cursor: dict[str, int], limit: int) -> list[Entry]:
        """Return up to `limit` entries behind the cursor, each log in its order."""

    def heads(self) -> dict[str, int]:
        """Return the last sequence number of each writer."""

    def withdraw(self, places: list[tuple[str, int]]) -> None:
        """Empty the payloads of entries by writer and number, as far as this machine may."""

    def notified(self, seconds: float) -> bool:
        """Wait for news no longer than this; False where none came or the engine cannot tell."""

    def facts(self) -> Facts | None:
        """Return what the engine says of the team; None where nobody has set it up."""

    def found(self, facts: Facts) -> str:
        """Set a team up; return the address that its members use."""

    def update_key_check(self, key_check: str) -> None:
        """Let members tell whether their key is the current one."""

    def close(self) -> None:
        """Give the connection back."""


def hashed(data: bytes) -> str:
    """Return the hash that entries are chained by."""
    return blake2b(data, digest_size=32).hexdigest()


def encode(value: Any) -> bytes:  # noqa: ANN401  # any JSON value
    """Write a value as JSON, in one way only."""
    return msgspec.json.encode(value, order="deterministic")


def tick(last: str, now: datetime) -> str:
    """Return a clock after `last`, and at `now` where that is later."""
    stamp = f"{max(int(now.timestamp() * 1000), 0):013d}"
    if stamp > last[:13]:
        return f"{stamp}-000000"
    return f"{last[:13]}-{int(last[14:], 16) + 1:06x}"


def moment(clock: str) -> datetime:
    """Return the time that a clock shows."""
    return datetime.fromtimestamp(int(clock[:13]) / 1000, UTC)


def head_of(entry: Entry) -> Head:
    """Return how far a log is known once this entry is."""
    return Head(entry.sequence, entry.hash, entry.clock)


def refusal(entry: Entry, project: str, head: Head, now: datetime) -> str | None:
    """Return why an entry is not to be believed after the ones before it; None where it is."""
    if not _NAME.fullmatch(entry.writer) or not _CLOCK.fullmatch(entry.clock):
        return "its header is malformed"
    follows = entry.sequence == head.sequence + 1 and entry.previous == head.hash
    has_hash = not entry.payload or hashed(entry.payload) == entry.digest
    reasons = {
        f"it is of the project {entry.project}": entry.project != project,
        f"it does not follow entry {head.sequence} as it is known here": not follows,
        f"it is larger than {LIMIT:,} bytes": len(entry.payload) > LIMIT,
        "its payload does not have its hash": not has_hash,
        "its clock goes back": entry.clock <= head.clock,
        f"its clock is ahead: {moment(entry.clock):%Y-%m-%d}": moment(entry.clock) > now + AHEAD,
    }
    return next((reason for reason, is_true in reasons.items() if is_true), None)


def read(payload: bytes) -> Change:
    """Read a change; raises msgspec.DecodeError (a ValueError) for anything else."""
    return msgspec.json.decode(payload, type=Change)
