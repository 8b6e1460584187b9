"""Rewriting: when a commit is made anew, its record follows; when one is dropped, its record says so."""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from protocol.events import Commit, Event, NewEvent
from sidecar.domain import privacy
from sidecar.domain.events import commit_key, keys
from sidecar.services import recording
from sidecar.storage.vault import Vault


def replace(vault: Vault, new: NewEvent, earlier: Sequence[str]) -> bool:
    """Let a commit stand where the earlier ones stood; False where none of them was recorded."""
    made = privacy.public_event(new)
    if made is None or made.commit is None:
        return False
    with vault.transaction():
        recording.drain(vault)
        records = _records(vault, [*earlier, made.commit.sha])
        if not records:
            return False
        keeper, *gone = records
        commit = msgspec.structs.replace(
            made.commit, replaces=_replaced(made.commit, records, earlier)
        )
        if keeper.commit != commit or gone:
            event = msgspec.structs.replace(
                keeper,
                commit=commit,
                files=made.files,
                idempotency_key=commit_key(commit.sha),
            )
            vault.sessions.replace(event, gone)
    return True


def mark(vault: Vault, shas: Iterable[str], *, dropped: bool) -> None:
    """Say of recorded commits whether any branch still holds them."""
    wanted = set(shas)
    if not wanted:
        return
    with vault.transaction():
        recording.drain(vault)
        for record in _records(vault, wanted):
            commit = record.commit
            if commit and commit.sha in wanted and commit.dropped != dropped:
                commit = msgspec.structs.replace(commit, dropped=dropped)
                vault.sessions.replace(msgspec.structs.replace(record, commit=commit), ())


def only_replaced(vault: Vault, shas: Iterable[str]) -> list[str]:
    """Pick the commits that are only remembered as what a dropped one replaced."""
    wanted = set(shas)
    if not wanted:
        return []
    with vault.transaction():
        dropped = _dropped(_records(vault, wanted), wanted)
    return [sha for commit in dropped for sha in commit.replaces if sha in wanted]


def revive(vault: Vault, events: Sequence[NewEvent]) -> list[NewEvent]:
    """Let dropped records be again what they replaced; give the commits that need a record of their own."""
    public = map(privacy.public_event, events)
    back = {event.commit.sha: event for event in public if event and event.commit}
    others: list[NewEvent] = []
    with vault.transaction():
        for record in _records(vault, back):
            if record.commit is None or not _dropped([record], back):
                continue
            first, *rest = [back[sha] for sha in record.commit.replaces if sha in back]
            others += rest
            known = (*record.commit.replaces, record.commit.sha)
            commit = first.commit and msgspec.structs.replace(
                first.commit, replaces=tuple(sha for sha in known if sha not in back)
            )
            event = msgspec.structs.replace(
                record, commit=commit, files=first.files, idempotency_key=first.idempotency_key
            )
            vault.sessions.replace(event, ())
    return others


def _dropped(records: Iterable[Event], back: Collection[str]) -> list[Commit]:
    commits = [record.commit for record in records if record.commit]
    return [
        commit
        for commit in commits
        if commit.dropped and commit.sha not in back and not set(commit.replaces).isdisjoint(back)
    ]


def _records(vault: Vault, shas: Iterable[str]) -> list[Event]:
    """Read what is recorded of commits, oldest first, also under the names they had before."""
    wanted = {commit_key(sha) for sha in shas}
    sessions = dict.fromkeys(vault.sessions.find(wanted).values())
    found = [
        event
        for session_id in sessions
        for event in vault.sessions.arrivals(session_id)
        if not wanted.isdisjoint(keys(event))
    ]
    return sorted(found, key=lambda event: (event.occurred_at, event.event_id))


def _replaced(made: Commit, records: Iterable[Event], earlier: Iterable[str]) -> tuple[str, ...]:
    """List every commit that the new one stands for."""
    known = [
        sha
        for record in records
        if record.commit
        for sha in (*record.commit.replaces, record.commit.sha)
    ]
    return tuple(dict.fromkeys(sha for sha in (*known, *earlier) if sha != made.sha))
