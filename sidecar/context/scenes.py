"""One request for context: who asks, and where."""

from collections.abc import Callable, Collection

from msgspec import Struct

from protocol.contexts import ContextParams
from protocol.settings import Settings
from sidecar.conversations.rules.conversations import Who
from sidecar.conversations.spooled import Observation
from sidecar.memory.codebases import Code
from sidecar.search.meanings import Meanings
from sidecar.search.recall import Recall
from sidecar.storage.vault import Vault
from sidecar.tasks.open_tasks import Look

_MINUTE = 60
"""Seconds for which it is still the same time."""


class Scene(Struct, frozen=True):
    """All that an answer depends on beside the memory itself."""

    vault: Vault
    params: ContextParams
    who: Who
    name: Callable[[], str]
    """Tells what the project is called."""
    settings: Settings
    recall: Recall
    meanings: Meanings
    code: Code | None
    place: object
    """Where the code's history stood when this began."""
    branch: str | None
    look: Look
    """How to look at the working tree."""
    summary: Callable[[], str | None]
    """Reads what the host's own compaction has left of the conversation."""
    hand: Callable[[Collection[str]], Collection[str]]
    """Notes that messages are given to who asks; names those that somebody else was given in the meantime."""
    is_noted: bool = True
    """Whether it is written down who was given what: not while capture is paused."""
    most_branches: int | None = None
    """How many branches are looked at that nobody has looked at before, where somebody waits."""
    unplaced: tuple[Observation, ...] = ()
    """What hooks have heard and nobody has placed yet."""
    personal: Vault | None = None
    """The person's own memory; None where there is none."""
    is_offered: bool = False
    """Whether the person is still to be asked if this folder is a copy of another project."""

    def minute(self) -> int:
        """Tell the time as exactly as answers depend on it."""
        return int(self.vault.clock().timestamp()) // _MINUTE
