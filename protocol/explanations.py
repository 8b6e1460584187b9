"""Explanations: why a line of code is as it is, and what is known about a file."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.memories import Memory
from protocol.projects import ProjectParams
from protocol.sessions import Session
from protocol.values import Record, Timestamp

Reason = Literal["commit", "symbol", "file"]
FilePath = Annotated[str, Meta(min_length=1, max_length=4096)]
Most = Annotated[int, Meta(ge=1, le=100)]


class ExplainParams(ProjectParams, frozen=True, kw_only=True):
    """Which line to explain."""

    path: FilePath
    """The file, from the root of the working tree, or where it is on this machine."""
    line: Annotated[int, Meta(ge=1, le=2**31)]
    """Counted from 1, in the file as it is on the disk; in the latest commit where it is not there."""
    limit: Most = 10
    """The most memories to give."""


class LineOrigin(Record, frozen=True, kw_only=True):
    """The commit that wrote a line."""

    sha: str
    subject: str
    author_name: str
    authored_at: Timestamp
    path: str
    """What the file was called in that commit."""
    line: int
    """Which line it was there."""
    replaces: tuple[str, ...] = ()
    """Earlier forms of the same commit, as far as they were recorded."""


class Behind(Record, frozen=True, kw_only=True):
    """A memory that has to do with a line."""

    memory: Memory
    why: Reason
    """`commit`: it was made from the commit that wrote the line. `symbol`: it speaks of the function or class
    around the line. `file`: it speaks of the file."""


class NoteInCode(Record, frozen=True, kw_only=True):
    """A comment that explains something, as it stands in the file."""

    line: int
    text: str


class Explanation(Record, frozen=True, kw_only=True):
    """Why a line is as it is, as far as that is known; nothing of it is known of lines that nobody committed."""

    project_id: str
    path: str
    """From the root of the working tree."""
    line: int
    symbol: str | None = None
    """The function, class or other name that the line belongs to."""
    origin: LineOrigin | None = None
    session: Session | None = None
    """The session in which that commit was made."""
    memories: tuple[Behind, ...] = ()
    """The nearest first: those of the commit, of the symbol, of the file."""
    total: int = 0
    """How many there are in all."""
    notes: tuple[NoteInCode, ...] = ()
    """Comments near the line that explain something, the nearest first."""


class AboutParams(ProjectParams, frozen=True, kw_only=True):
    """Which file to tell about."""

    path: FilePath
    """From the root of the working tree, or where it is on this machine."""
    limit: Most = 20
    """The most memories, and the most sessions, to give."""


class FileStory(Record, frozen=True, kw_only=True):
    """What is known about a file, also under the names it had before."""

    project_id: str
    path: str
    """From the root of the working tree."""
    memories: tuple[Memory, ...] = ()
    """Those that matter most first."""
    memory_count: int = 0
    sessions: tuple[Session, ...] = ()
    """The latest first."""
    session_count: int = 0
    notes: tuple[NoteInCode, ...] = ()
    """Comments of the file that explain something, in their order."""
