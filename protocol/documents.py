"""Documents: what a project wants its agents to know, as Markdown."""

from protocol.values import Record, Timestamp

SOUL = "soul"
KNOWN = (SOUL, "instructions", "skills", "checks")
"""Names that every vault understands; others may be added."""


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
