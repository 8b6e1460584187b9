"""Labels as the enricher gets to see them: events with ids, times and diffs, the same ones each time."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from benchmarks.enrichment.labels import Label, WrittenDiff, WrittenEvent
from protocol.events import Commit, Event, EventKind, FileChange, FileStatus
from sidecar.memory.rules.drafts import FileDiff, Reading
from sidecar.storage import ulids

_BEGIN = datetime(2025, 3, 4, 9, 0, tzinfo=UTC)
_BETWEEN = timedelta(minutes=7)
_STATUS: dict[str, FileStatus] = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed"}
_SHA = re.compile(r"\{sha (\d+)\}")


def session_id(label: Label) -> str:
    """Name the session of a label."""
    return ulids.encode(int(_digest(label.name)[:31], 16))


def read(label: Label) -> tuple[Reading, ...]:
    """Turn a label's events into what the enricher reads."""
    return tuple(_reading(label, number) for number in range(len(label.events)))


def _reading(label: Label, number: int) -> Reading:
    written = label.events[number]
    at = _BEGIN + number * _BETWEEN
    files = written.files or tuple(f"M {path}" for path in written.saves)
    event = Event(
        event_id=ulids.encode(int(_digest(label.name)[:31], 16) + number + 1),
        session_id=session_id(label),
        kind=_kind(written),
        occurred_at=at,
        recorded_at=at,
        source="git" if written.commit else "vscode",
        agent_id=written.by,
        files=tuple(_file(line) for line in files),
        commit=_commit(label, number, at) if written.commit else None,
        text=written.say.strip() if written.say else None,
    )
    return Reading(event=event, diffs=tuple(_diff(diff) for diff in written.diffs))


def _kind(written: WrittenEvent) -> EventKind:
    if written.commit is not None:
        return "commit"
    return "capture" if written.say is not None else "save"


def _commit(label: Label, number: int, at: datetime) -> Commit:
    written = label.events[number]
    return Commit(
        sha=_sha(label.name, number + 1),
        parents=(_sha(label.name, number),),
        author_name=written.author,
        author_email=f"{written.author.split()[0].lower()}@example.org",
        authored_at=at,
        committed_at=at,
        subject=_with_shas(written.commit or "", label.name),
        body=_with_shas(written.body.strip(), label.name),
        branch="main",
    )


def _file(line: str) -> FileChange:
    letter, _, path = line.partition(" ")
    before, arrow, after = path.partition(" -> ")
    status = _STATUS[letter]
    return FileChange(path=after or before, status=status, previous_path=before if arrow else None)


def _diff(diff: WrittenDiff) -> FileDiff:
    return FileDiff(path=diff.path, added=diff.added, removed=diff.removed, context=diff.context)


def _with_shas(text: str, name: str) -> str:
    return _SHA.sub(lambda match: _sha(name, int(match[1])), text)


def _sha(name: str, number: int) -> str:
    return _digest(f"{name} {number}")


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def texts(readings: Sequence[Reading]) -> dict[str, tuple[str, ...]]:
    """Tell, for each event's id and sha, the texts a quote of it may come from."""
    told: dict[str, tuple[str, ...]] = {}
    for reading in readings:
        found = tuple(_texts(reading))
        told[reading.event.event_id] = found
        if reading.event.commit is not None:
            told[reading.event.commit.sha] = found
    return told


def _texts(reading: Reading) -> list[str]:
    event = reading.event
    found = [event.text or ""]
    if event.commit is not None:
        found.append(f"{event.commit.subject}\n\n{event.commit.body}")
    for diff in reading.diffs:
        found += ["\n".join(lines) for lines in (diff.added, diff.removed, diff.context)]
    return found + [change.path for change in event.files]
