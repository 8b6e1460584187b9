"""Requests about forgetting: what is removed everywhere, and proof that it is gone."""

from typing import Annotated

from msgspec import Meta

from protocol.projects import ProjectParams
from protocol.values import Name, Record, Ulid


class ForgetParams(ProjectParams, frozen=True, kw_only=True):
    """Which memories to forget."""

    memory_ids: Annotated[tuple[Ulid, ...], Meta(min_length=1, max_length=50)]
    agent_id: Name | None = None
    """The agent that does it; absent where a person does."""


class PurgeParams(ProjectParams, frozen=True, kw_only=True):
    """What to remove from everything that is kept; exactly one of them."""

    memory_id: Ulid | None = None
    path: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    """A file or folder, relative to the repository: no event and no memory names it any more."""
    phrase: Annotated[str, Meta(min_length=4, max_length=10_000)] | None = None
    """Words that must stand nowhere any more, such as a secret; case counts."""
    everything: bool = False
    """The project's whole memory."""

    def __post_init__(self) -> None:
        """Refuse to guess."""
        if sum([bool(self.memory_id), bool(self.path), bool(self.phrase), self.everything]) != 1:
            raise ValueError("name one of `memoryId`, `path`, `phrase` and `everything`")


class PurgeReport(Record, frozen=True, kw_only=True):
    """What was removed, and what a second search of all bytes found."""

    memories: int
    """Memories that were removed, or from which words were taken."""
    events: int
    """Events that were removed, or from which words were taken."""
    files_rewritten: int
    files_deleted: int
    files_searched: int
    """Files whose bytes were read again afterwards."""
    remaining: tuple[str, ...]
    """Files in which it still stands."""
    said_elsewhere: bool = False
    """Events or other memories say the same words, and still do; `purge` removes those, too."""
    verified: bool
    """Nothing of it is left in any file of ours."""
