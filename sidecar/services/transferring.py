"""Transferring: a project's whole memory as JSON Lines, out and in again without a difference.

The first line names the project, the last one counts; between them stand the sessions, each followed by
its events in the order they arrived.
"""

from collections.abc import Iterable, Iterator

import msgspec

from protocol.errors import InvalidParamsError
from protocol.events import Event
from protocol.projects import Project
from protocol.sessions import Session
from protocol.values import Params, Record
from sidecar.store import journals
from sidecar.store.homes import Home
from sidecar.store.vaults import Vault


class Beginning(Params, frozen=True, kw_only=True, tag_field="table", tag="threadline"):
    """The first line."""

    format: int
    project: Project


class SessionLine(Params, frozen=True, kw_only=True, tag_field="table", tag="sessions"):
    """A session; its events follow."""

    record: Session


class EventLine(Params, frozen=True, kw_only=True, tag_field="table", tag="events"):
    """An event of the session above it."""

    record: Event


class Ending(Params, frozen=True, kw_only=True, tag_field="table", tag="end"):
    """The last line: a file without it was cut off."""

    sessions: int
    events: int


class Moved(Record, frozen=True, kw_only=True):
    """What an import found in its file."""

    project_id: str
    sessions: int
    events: int


Line = Beginning | SessionLine | EventLine | Ending
_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def export(vault: Vault, project: Project) -> Iterator[bytes]:
    """Write everything kept for a project, one line each."""
    yield msgspec.json.encode(Beginning(format=journals.FORMAT, project=project))
    sessions = events = 0
    for entry in vault.sessions.timeline():
        session = vault.sessions.get(entry.session_id)
        if session is not None:
            sessions += 1
            yield msgspec.json.encode(SessionLine(record=session))
            for event in vault.sessions.arrivals(entry.session_id):
                events += 1
                yield msgspec.json.encode(EventLine(record=event))
    yield msgspec.json.encode(Ending(sessions=sessions, events=events))


def load(home: Home, lines: Iterable[bytes], into: Project | None) -> Moved:
    """Read an export into its own project, or into another; what is already there stays as it is."""
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    number, first = next(numbered, (1, b""))
    beginning = _decode(number, first)
    if not isinstance(beginning, Beginning):
        raise InvalidParamsError("line 1 does not begin an export of Threadline", field="line 1")
    if beginning.format > journals.FORMAT:
        raise InvalidParamsError(
            f"written by a newer Threadline (format {beginning.format} > {journals.FORMAT}); upgrade this one",
            field="line 1",
        )
    project = into or beginning.project
    if into is None and project.project_id not in {p.project_id for p in home.projects()}:
        home.put(project)
    vault = home.vault(project.project_id)
    sessions = events = 0
    for session, own in _sessions(numbered):
        _put(vault, session, own)
        sessions += 1
        events += len(own)
    return Moved(project_id=project.project_id, sessions=sessions, events=events)


def _sessions(numbered: Iterator[tuple[int, bytes]]) -> Iterator[tuple[Session, list[Event]]]:
    """Read session after session with its events; a file without its last line was cut off."""
    session: Session | None = None
    own: list[Event] = []
    sessions = events = number = 0
    for number, raw in numbered:
        line = _decode(number, raw)
        if isinstance(line, EventLine) and session and line.record.session_id == session.session_id:
            own.append(line.record)
            events += 1
            continue
        if session is not None:
            yield session, own
        if isinstance(line, Ending) and (line.sessions, line.events) == (sessions, events):
            return
        if not isinstance(line, SessionLine):
            raise InvalidParamsError(f"line {number} is out of place", field=f"line {number}")
        session, own, sessions = line.record, [], sessions + 1
    if session is not None:
        yield session, own
    raise InvalidParamsError(
        f"the file is cut off after line {number}; what it holds is imported, import it again when it is whole",
        field=f"line {number}",
    )


def _put(vault: Vault, session: Session, events: list[Event]) -> None:
    owned = msgspec.structs.replace(session, project_id=vault.project_id)
    with vault.lock.held():
        vault.sessions.put(owned, events)


def _decode(number: int, line: bytes) -> Line:
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidParamsError(f"line {number}: {error}", field=f"line {number}") from error
