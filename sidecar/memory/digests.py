"""Write a digest for each past day, and summaries of sessions."""

from datetime import date, datetime, time, tzinfo

from protocol.memories import Evidence, Memory
from protocol.sessions import Session
from sidecar.memory.rules import digests
from sidecar.memory.rules.digests import Part
from sidecar.privacy import cleaning
from sidecar.storage import ulids
from sidecar.storage.vault import Vault


def summary(vault: Vault, session: Session) -> str | None:
    """Return what a session was about, if it was about anything."""
    if session.summary:
        return session.summary
    from sidecar.memory.extract import briefings  # noqa: PLC0415  # heavy, and seldom needed

    told = briefings.tell(vault.sessions.events(session.session_id))
    return told and cleaning.clean(told)


def digest(vault: Vault, zone: tzinfo, hour: int) -> list[Memory]:
    """Write the digests that are due; a day on which nothing happened has none."""
    days = set(digests.due(vault.clock(), zone, hour))
    # A day's digest is younger than the day; should a clock have been wrong, `_write` still finds it.
    written = vault.memories.values(
        "idempotencyKey", ulids.first_at(datetime.combine(min(days), time(), zone))
    )
    sessions: dict[date, list[Session]] = {}
    for session in vault.sessions.newest():
        day = digests.day_of(session, zone)
        is_open = day in days and day not in vault.silent_days
        if is_open and digests.key(day) not in written:
            sessions.setdefault(day, []).append(session)
        elif day < min(days):
            break
    return [
        memory
        for day in sorted(sessions)
        if (memory := _write(vault, day, sessions[day][::-1], zone)) is not None
    ]


def _write(vault: Vault, day: date, sessions: list[Session], zone: tzinfo) -> Memory | None:
    told = [(session, summary(vault, session)) for session in sessions]
    parts = [Part(session=session, told=words) for session, words in told if words]
    if not parts:
        vault.silent_days.add(day)
        return None
    composed = digests.compose(day, parts, zone)
    covered = [one for part in parts for one in _summaries(vault, part.session)]
    with vault.transaction():
        if vault.memories.find("idempotencyKey", digests.key(day)):
            return None
        now = vault.clock()
        memory = Memory(
            memory_id=vault.ids.next(),
            project_id=vault.project_id,
            type="episodic",
            title=composed.title,
            content=composed.content,
            agent_id=digests.AGENT,
            tags=("digest",),
            evidence=tuple(_evidence(part) for part in parts),
            covers=tuple(one.memory_id for one in covered),
            idempotency_key=digests.key(day),
            occurred_at=parts[-1].session.last_event_at,
            created_at=now,
            updated_at=now,
        )
        vault.write([vault.memories.put(memory.memory_id, memory)])
        return memory


def _summaries(vault: Vault, session: Session) -> list[Memory]:
    own = vault.memories.find("sessionId", session.session_id)
    return [one for one in own if one.type == "episodic" and one.status == "active"]


def _evidence(part: Part) -> Evidence:
    sha = part.session.head_commit_sha
    return Evidence(quote=part.told.split("\n", 1)[0], commit_sha=sha)
