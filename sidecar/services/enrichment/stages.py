"""What a stage of enrichment is: it prepares, then lands in one line of the journal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from protocol.jobs import Job, ProviderName
from sidecar.domain.drafts import Draft, FileDiff, Reading
from sidecar.services.drift.codebases import Code
from sidecar.services.meanings import Meanings
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

Count = Callable[[int, int], None]
"""Hears how far one stage is."""


Begin = Callable[[Sequence[str]], None]
"""Hears which events are read next."""


@dataclass(frozen=True)
class Read:
    """What a reader made of some events."""

    drafts: tuple[Draft, ...]
    parked: tuple[str, ...] = ()
    """Events that it could not read, whatever was tried."""
    tokens: int = 0


class Reader(Protocol):
    """Reads events and proposes memory: our own rules, or a model."""

    name: ProviderName

    def read(self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin) -> Read:
        """Propose what is worth keeping of some events of one session."""


@dataclass(frozen=True)
class Tools:
    """What enrichment needs of the world."""

    reader: Reader
    diffs: Callable[[Sequence[str]], Mapping[str, tuple[FileDiff, ...]]]
    """Reads from git what commits changed; a commit that is gone has no entry."""
    meanings: Meanings
    code: Code | None = None
    """The repository as it is now; none where there is none."""


@dataclass(frozen=True)
class Task:
    """One stage's share of a job."""

    vault: Vault
    job: Job
    tools: Tools
    tell: Count


@dataclass(frozen=True)
class Landed:
    """What a stage writes when it is done."""

    job: Job
    ops: tuple[Op, ...] = ()
    note: str = ""


Land = Callable[[Job], Landed]
"""Decides under the lock what is written."""
Stage = Callable[[Task], Land]
