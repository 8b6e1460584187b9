"""Teams: one memory on many machines."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.projects import ProjectParams
from protocol.values import Name, Record, Timestamp

Share = Literal["decisions", "memories", "everything"]
"""What leaves a machine: accepted decisions, constraints and preferences; all accepted memories; also proposals and
summaries. Tasks, messages and documents always do."""
Address = Annotated[str, Meta(min_length=1, max_length=2000)]


class BeginTeamParams(ProjectParams, frozen=True, kw_only=True):
    """Where a team keeps what it shares."""

    address: Address
    """A PostgreSQL-wire address (`postgresql://…`), or a git remote."""
    share: Share = "decisions"
    """What leaves this machine."""
    person: Name | None = None
    """Who works here; the name that git knows where absent."""
    approve: bool = False
    """Send at once what `preview` shows; without it nothing is sent before `team/push` with `approve`."""
    allow_origin: bool = False
    """Use a git remote although it is the one the code is pushed to."""


class InitTeamParams(BeginTeamParams, frozen=True, kw_only=True):
    """A team to set up."""

    encrypt: bool = False
    """Encrypt what leaves, with a key that the server never sees."""


class JoinTeamParams(BeginTeamParams, frozen=True, kw_only=True):
    """A team to join."""

    key: Annotated[str, Meta(max_length=200)] | None = None
    """The team's key, if it has one."""


class PushParams(ProjectParams, frozen=True, kw_only=True):
    """Whether what is shown by `preview` may leave."""

    approve: bool = False
    """The person has seen what is shared."""


class TeamKeyParams(ProjectParams, frozen=True, kw_only=True):
    """What to do with the team's key; without anything it is shown."""

    key: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """A key that a member has made, to be used from now on."""
    rotate: bool = False
    """Make a new key, with which all that follows is encrypted."""


class SharedItem(Record, frozen=True, kw_only=True):
    """Something that is shared."""

    collection: str
    id: str
    title: str


class TeamPreview(Record, frozen=True, kw_only=True):
    """What is shared, or would be."""

    counts: dict[str, int]
    """How many of each kind."""
    items: tuple[SharedItem, ...] = ()


class TeamBegun(Record, frozen=True, kw_only=True):
    """A team that this machine is part of now."""

    team_id: str
    address: str
    """What the other members join; it may hold a password."""
    key: str | None = None
    """The team's key, which is told here once."""
    key_place: str | None = None
    """Where it is kept."""
    preview: TeamPreview


class TeamSynced(Record, frozen=True, kw_only=True):
    """What came and went."""

    received: int = 0
    """Changes of others that were taken over."""
    sent: int = 0
    """Changes of this machine that were sent."""
    waiting: int = 0
    """Changes that wait to be sent."""
    problems: tuple[str, ...] = ()
    """Which logs cannot be read on, and why."""


class TeamMember(Record, frozen=True, kw_only=True):
    """A machine that takes part."""

    writer: str
    person: str
    machine: str
    seen_at: Timestamp
    is_me: bool = False
    behind: int = 0
    """Changes of ours that it had not seen when it was last heard of."""


class TeamErasure(Record, frozen=True, kw_only=True):
    """Something that was purged, and where."""

    collection: str
    id: str
    confirmed: tuple[str, ...] = ()
    """The machines that have it no more."""
    missing: tuple[str, ...] = ()
    """Those that have not said so."""


class TeamStatus(Record, frozen=True, kw_only=True):
    """How a project stands with its team."""

    team_id: str = "personal"
    address: str | None = None
    """Without its password."""
    share: Share | None = None
    is_approved: bool = False
    """Whether what is shared may leave; before that nothing is sent."""
    is_encrypted: bool = False
    waiting: int = 0
    """Changes that wait to be sent."""
    pulled_at: Timestamp | None = None
    """When all that others have told was last taken over."""
    members: tuple[TeamMember, ...] = ()
    erasures: tuple[TeamErasure, ...] = ()
    problems: tuple[str, ...] = ()
    """Which logs cannot be read on, and why."""


class TeamLeft(Record, frozen=True, kw_only=True):
    """A team that this machine is no longer part of; all records stay here."""

    team_id: str
    unsent: int = 0
    """Changes that nobody will hear of."""


class TeamKey(Record, frozen=True, kw_only=True):
    """The team's key."""

    key: str
    place: str
    """Where it is kept."""


class HistoryParams(ProjectParams, frozen=True, kw_only=True):
    """A record that is shared."""

    id: Name
    """Its id, or a document's name."""


class SaidValue(Record, frozen=True, kw_only=True):
    """What a field was set to."""

    field: str
    value: str
    """As JSON."""
    person: str
    machine: str
    at: Timestamp
    is_current: bool
    """Whether it holds; otherwise a later one does."""


class TeamHistory(Record, frozen=True, kw_only=True):
    """Who has set what of a record, and when: the latest first, also what did not prevail."""

    values: tuple[SaidValue, ...]
