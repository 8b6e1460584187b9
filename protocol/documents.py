"""Documents: what a project wants its agents to know, as Markdown."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.links import Neighbour
from protocol.projects import ProjectParams
from protocol.values import Name, Record, Text, Timestamp

SOUL = "soul"
KNOWN = (SOUL, "instructions", "skills", "checks")
"""Names that every vault understands; others may be added."""
VERSIONS = 20
"""Versions of a document that can be read, the latest among them."""
DocumentOutcome = Literal["created", "updated", "unchanged"]
DocumentName = Annotated[str, Meta(max_length=100, pattern=r"^\w[\w .-]*$(?!\n)")]


class Document(Record, frozen=True, kw_only=True):
    """A text that belongs to a vault."""

    name: str
    project_id: str
    content: str
    agent_editable: bool = False
    """Whether agents may change it, too."""
    version: int = 1
    """Counts its changes: whoever writes says which one was read."""
    agent_id: str | None = None
    """The agent that changed it last; null where a person did."""
    created_at: Timestamp
    updated_at: Timestamp
    team_id: str | UnsetType = UNSET
    """The team that its project is in; absent without one."""


class ShownDocument(Document, frozen=True, kw_only=True):
    """A document with what surrounds it."""

    versions: tuple[int, ...] = ()
    """The versions that can be read, the latest first."""
    links: tuple[Neighbour, ...] = ()
    """What it is linked with."""


class DocumentEntry(Record, frozen=True, kw_only=True):
    """What there is to say of a document without its text."""

    name: str
    version: int
    """0: ours, since nobody has written one."""
    agent_editable: bool
    """Whether agents may change it, too."""
    agent_id: str | None
    """The agent that changed it last; null where a person did."""
    chars: int
    """How long it is."""
    updated_at: Timestamp | None
    """When it was changed last; null where it is ours."""


class DocumentList(Record, frozen=True, kw_only=True):
    """Documents: those that every vault understands first, then the others by name."""

    documents: tuple[DocumentEntry, ...]


class ReadDocumentParams(ProjectParams, frozen=True, kw_only=True):
    """Which document to read."""

    name: Name
    """`soul`, `instructions`, `skills`, `checks`, or a name of the project's own."""
    version: Annotated[int, Meta(ge=0)] | None = None
    """An earlier version, one of the last 20; the latest where absent."""


class WriteDocumentParams(ProjectParams, frozen=True, kw_only=True):
    """A document as it is to be from now on."""

    name: DocumentName
    """`soul`, `instructions`, `skills`, `checks`, or a name of the project's own: letters, digits, blanks, dots, dashes."""
    content: Text | None = None
    """Markdown, in at most 100,000 characters; as it was where absent."""
    agent_id: Name | None = None
    """The agent that writes; absent where a person does."""
    agent_editable: bool | None = None
    """Whether agents may change it, too, which only people decide; as it was where absent."""
    expected_version: Annotated[int, Meta(ge=0)] | None = None
    """The version that was read, 0 for none: where it is another by now, nothing is changed."""


class WrittenDocument(Record, frozen=True, kw_only=True):
    """What became of a document that was to be written."""

    outcome: DocumentOutcome
    """`unchanged`: it said so already."""
    document: ShownDocument
