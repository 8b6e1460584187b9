"""Export a project as JSON Lines and import it again."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from protocol.checkpoints import Checkpoint
from protocol.contexts import Feedback, Receipt
from protocol.conversations import Agent, Conversation
from protocol.documents import Document
from protocol.errors import InvalidParamsError, StorageFailedError
from protocol.events import Event
from protocol.jobs import Job
from protocol.links import Link
from protocol.memories import Memory
from protocol.messages import Message
from protocol.projects import Project
from protocol.sessions import Session
from protocol.tasks import Task
from protocol.turns import KeptTurn
from protocol.values import Params, Record
from sidecar.memory.rules.drafts import Processed
from sidecar.privacy import cleaning
from sidecar.storage import vault as storage_vault
from sidecar.storage.collection import Collection, Op
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from sidecar.text import characters


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


class MemoryLine(Params, frozen=True, kw_only=True, tag_field="table", tag="memories"):
    """A memory; they stand after the sessions."""

    record: Memory


class JobLine(Params, frozen=True, kw_only=True, tag_field="table", tag="jobs"):
    """An enrichment job."""

    record: Job


class ProcessedLine(Params, frozen=True, kw_only=True, tag_field="table", tag="processed"):
    """Which events of a session were read for good."""

    record: Processed


class Kept(Params, frozen=True, kw_only=True, tag_field="table"):
    """A record with the name under which it is kept."""

    key: str


class TaskLine(Kept, frozen=True, kw_only=True, tag="tasks"):
    """A task."""

    record: Task


class MessageLine(Kept, frozen=True, kw_only=True, tag="messages"):
    """A message, and who has read it."""

    record: Message


class DocumentLine(Kept, frozen=True, kw_only=True, tag="documents"):
    """A document."""

    record: Document


class RevisionLine(Kept, frozen=True, kw_only=True, tag="revisions"):
    """What a document said before."""

    record: Document


class LinkLine(Kept, frozen=True, kw_only=True, tag="links"):
    """A link between two items."""

    record: Link


class AgentLine(Kept, frozen=True, kw_only=True, tag="agents"):
    """An agent that was here."""

    record: Agent


class ConversationLine(Kept, frozen=True, kw_only=True, tag="conversations"):
    """A conversation."""

    record: Conversation


class CheckpointLine(Kept, frozen=True, kw_only=True, tag="checkpoints"):
    """A conversation's saved state."""

    record: Checkpoint


class TurnLine(Kept, frozen=True, kw_only=True, tag="turns"):
    """What was said in a conversation."""

    record: KeptTurn


class ReceiptLine(Kept, frozen=True, kw_only=True, tag="receipts"):
    """What was given to a conversation."""

    record: Receipt


class FeedbackLine(Kept, frozen=True, kw_only=True, tag="feedback"):
    """What somebody thinks of a memory."""

    record: Feedback


class Ending(Params, frozen=True, kw_only=True, tag_field="table", tag="end"):
    """The last line: a file without it was cut off."""

    sessions: int
    events: int
    others: int = 0
    """Lines that belong to no session."""


class Moved(Record, frozen=True, kw_only=True):
    """What an import found in its file."""

    project_id: str
    sessions: int
    events: int
    memories: int


KeptLine = (
    TaskLine
    | MessageLine
    | DocumentLine
    | RevisionLine
    | LinkLine
    | AgentLine
    | ConversationLine
    | CheckpointLine
    | TurnLine
    | ReceiptLine
    | FeedbackLine
)
Other = MemoryLine | JobLine | ProcessedLine | KeptLine
Line = Beginning | SessionLine | EventLine | Other | Ending
Whole = tuple[Session, list[Event]]
_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def export(vault: Vault, project: Project, missing: list[str] | None = None) -> Iterator[bytes]:
    """Write everything kept for a project, one line each; what is hidden in a text stands there as an escape of JSON.

    What cannot be read is left out, and named in `missing`.
    """
    lines = _lines(vault, project, [] if missing is None else missing)
    return map(characters.escaped_json, map(msgspec.json.encode, lines))


def _lines(vault: Vault, project: Project, missing: list[str]) -> Iterator[Line]:
    yield Beginning(format=storage_vault.VERSION, project=project)
    sessions = events = 0
    for session in vault.sessions.timeline():
        try:
            arrivals = vault.sessions.arrivals(session.session_id)
        except (StorageFailedError, msgspec.DecodeError) as error:
            missing.append(f"session {session.session_id}: {error}")
            continue
        sessions += 1
        yield SessionLine(record=session)
        for event in arrivals:
            events += 1
            yield EventLine(record=event)
    others = list(_others(vault))
    yield from others
    missing += [
        f"{name} {key}: its checksum is wrong" for name, key in sorted(vault.storage.damaged)
    ]
    yield Ending(sessions=sessions, events=events, others=len(others))


def _others(vault: Vault) -> Iterator[Other]:
    yield from (MemoryLine(record=record) for record in vault.memories.all())
    yield from (JobLine(record=record) for record in vault.jobs.all())
    yield from (ProcessedLine(record=record) for record in vault.processed.all())
    for line, shelf in _shelves(vault).items():
        yield from (line(key=key, record=record) for key, record in shelf.by_id().items())


def _shelves(vault: Vault) -> dict[type[KeptLine], Collection[Any]]:
    return {
        TaskLine: vault.tasks,
        MessageLine: vault.messages,
        DocumentLine: vault.documents,
        RevisionLine: vault.revisions,
        LinkLine: vault.links,
        AgentLine: vault.agents,
        ConversationLine: vault.conversations,
        CheckpointLine: vault.checkpoints,
        TurnLine: vault.turns,
        ReceiptLine: vault.receipts,
        FeedbackLine: vault.feedback,
    }


def load(home: Home, lines: Iterable[bytes], into: Project | None) -> Moved:
    """Read an export into its own project, or into another; what is already there stays as it is."""
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    number, first = next(numbered, (1, b""))
    beginning = _decode(number, first)
    if not isinstance(beginning, Beginning):
        raise InvalidParamsError("line 1 does not begin an export of Threadline", field="line 1")
    if beginning.format > storage_vault.VERSION:
        raise InvalidParamsError(
            f"written by a newer Threadline (format {beginning.format} > {storage_vault.VERSION}); upgrade this one",
            field="line 1",
        )
    project = into or beginning.project
    if into is None and project.project_id not in {p.project_id for p in home.projects()}:
        home.put(project)
    vault = home.vault(project.project_id)
    sessions = events = memories = 0
    others: list[Other] = []
    try:
        for part in _parts(numbered):
            if isinstance(part, Other):
                others.append(part)
                memories += isinstance(part, MemoryLine)
            else:
                _put(vault, *part)
                sessions += 1
                events += len(part[1])
    finally:
        _keep(vault, others)
    return Moved(project_id=project.project_id, sessions=sessions, events=events, memories=memories)


def _parts(numbered: Iterator[tuple[int, bytes]]) -> Iterator[Whole | Other]:
    """Read session after session with its events, and what follows; a file without its end was cut off."""
    whole: Whole | None = None
    sessions = events = others = number = 0
    for number, raw in numbered:
        line = _decode(number, raw)
        if isinstance(line, EventLine) and whole and line.record.session_id == whole[0].session_id:
            whole[1].append(line.record)
            events += 1
            continue
        if whole is not None:
            yield whole
            whole = None
        counted = Ending(sessions=sessions, events=events, others=others)
        match line:
            case SessionLine() if not others:
                whole, sessions = (line.record, []), sessions + 1
            case _ if isinstance(line, Other):
                others += 1
                yield line
            case Ending() if line == counted:
                return
            case _:
                raise InvalidParamsError(f"line {number} is out of place", field=f"line {number}")
    if whole is not None:
        yield whole
    raise InvalidParamsError(
        f"the file is cut off after line {number}; what it holds is imported, import it again when it is whole",
        field=f"line {number}",
    )


def _put(vault: Vault, session: Session, events: list[Event]) -> None:
    """Keep a session; one that was compacted is so again."""
    is_compacted = session.status == "compacted"
    owned = msgspec.structs.replace(
        cleaning.clean_session(session),
        project_id=vault.project_id,
        status="closed" if is_compacted else session.status,
    )
    with vault.transaction():
        vault.sessions.put(owned, [cleaning.clean_event(event) for event in events])
        kept = vault.sessions.get(owned.session_id)
        if is_compacted and kept is not None and kept.status == "closed":
            vault.sessions.compact(kept)


def _keep(vault: Vault, lines: Iterable[Other]) -> None:
    with vault.transaction():
        ops = [op for line in lines for op in _missing(vault, line)]
        if ops:
            vault.write(ops)


def _missing(vault: Vault, line: Other) -> Iterator[Op]:
    match line:
        case MemoryLine(record=memory) if memory.memory_id not in vault.memories:
            owned = msgspec.structs.replace(
                cleaning.clean_memory(memory), project_id=vault.project_id
            )
            yield vault.memories.put(memory.memory_id, owned)
        case JobLine(record=job) if job.job_id not in vault.jobs:
            given = msgspec.structs.replace(job, project_id=vault.project_id)
            yield vault.jobs.put(job.job_id, given)
        case ProcessedLine(record=processed) if processed.session_id not in vault.processed:
            yield vault.processed.put(processed.session_id, processed)
        case _ if isinstance(line, KeptLine):
            shelf = _shelves(vault)[type(line)]
            key = cleaning.clean_name(shelf.name, line.key)
            if key not in shelf:
                yield shelf.put(key, _owned(line.record, vault.project_id))
        case _:
            return


def _owned(record: Record, project_id: str) -> Record:
    cleaned = cleaning.clean_record(record)
    if "project_id" not in record.__struct_fields__:
        return cleaned
    return msgspec.structs.replace(cleaned, project_id=project_id)


def _decode(number: int, line: bytes) -> Line:
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidParamsError(f"line {number}: {error}", field=f"line {number}") from error
