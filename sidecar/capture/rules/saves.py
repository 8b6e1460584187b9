"""Which saves are worth an event."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from protocol.sessions import Session
from protocol.values import Record, Timestamp
from sidecar.capture.rules import sessions
from sidecar.capture.rules.sessions import Rule


class Save(Record, frozen=True, kw_only=True):
    """A file that was saved, relative to the root of its project."""

    path: str
    at: Timestamp


def news(
    saves: Iterable[Save], recorded: Mapping[str, datetime], interval: timedelta
) -> list[Save]:
    """Leave out the saves of files that were recorded a moment before; `recorded` has the last of each."""
    last = dict(recorded)
    kept: list[Save] = []
    for save in saves:
        before = last.get(save.path)
        if before is None or not before <= save.at < before + interval:
            last[save.path] = save.at
            kept.append(save)
    return kept


def still_counts(session: Session | None, moment: datetime, rule: Rule) -> bool:
    """Return whether what was recorded in a session spares recording it again at this moment."""
    return (
        session is not None
        and session.status == "active"
        and sessions.covers(session, moment, rule)
    )
